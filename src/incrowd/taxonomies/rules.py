"""Rules that build a taxonomy when the values of a column are known.

A rule is a frozen part of the policy: `build` makes the taxonomy of the values at hand, `ancestors` names the groups
of any single value, also of one that was not at hand. Arithmetic is exact, so 0.3 lies in [0.3-0.4) and nowhere else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import pairwise
from math import floor, inf
from typing import Any, ClassVar, NoReturn, Self

from incrowd.errors import PolicyError, TaxonomyError, UnknownNameError, shown
from incrowd.schemas.shapes import is_number
from incrowd.taxonomies.calendar import LEVELS, ORDERS, parts_of
from incrowd.taxonomies.domains import DOMAINS, UNKNOWN
from incrowd.taxonomies.labels import ANY, interval_label, number_label
from incrowd.taxonomies.taxonomy import Taxonomy

MASK = "*"  # takes the place of a character
LARGEST_EXPONENT = 308
MOST = 10**15  # of numbers of rules: intervals among larger ones have bounds that nobody can tell apart


class Rule(ABC):
    """What every rule can do."""

    @abstractmethod
    def ancestors(self, value: str) -> tuple[str, ...]:
        """The labels from the parent of a value to the root, whether or not the value was seen before.

        Raises:
            TaxonomyError: The rule cannot group that value.
        """

    def build(self, values: Sequence[str]) -> Taxonomy:
        """The taxonomy of the distinct values; their order plays no part.

        Raises:
            TaxonomyError: There is no value, one is blank or the label of a group, or the rule cannot group it.
        """
        paths = ((value, *self.ancestors(value)) for value in sorted(set(values), key=self._place))
        return Taxonomy.from_paths(paths, f"{type(self).__name__} taxonomy")

    def _place(self, value: str) -> Any:
        """What values are sorted by: the alphabet."""
        return value

    @abstractmethod
    def options(self) -> dict[str, Any]:
        """The rule as a policy file has it."""

    @classmethod
    @abstractmethod
    def of_options(cls, options: Mapping[str, Any]) -> Self | None:
        """The rule of a policy file; None if that is not how it is written."""


@dataclass(frozen=True)
class Prefix(Rule):
    """Groups values by their first characters: with lengths (3, 2), 12345 -> 123** -> 12*** -> *.

    Attributes:
        lengths: How many characters each level keeps, strictly decreasing, the last at least 1.
    """

    lengths: tuple[int, ...]

    def __post_init__(self) -> None:
        lengths = _as_tuple(self, "lengths")
        whole = all(isinstance(length, int) and not isinstance(length, bool) and length > 0 for length in lengths)
        if not whole or not _ascending(lengths[::-1]):
            _refuse(self, "lengths", "be strictly decreasing whole numbers of at least 1", lengths)

    def ancestors(self, value: str) -> tuple[str, ...]:
        masked = [value[:length].ljust(len(value), MASK) for length in self.lengths]
        return tuple(dict.fromkeys(label for label in (*masked, ANY) if label != value))

    def options(self) -> dict[str, Any]:
        return {"prefix": list(self.lengths)}

    @classmethod
    def of_options(cls, options: Mapping[str, Any]) -> Self:
        return cls(tuple(options["prefix"]))


@dataclass(frozen=True)
class Intervals(Rule):
    """Groups numbers into nested intervals of fixed width: with widths (5, 10), 23 -> [20-25) -> [20-30) -> *.

    Attributes:
        widths: The width of the intervals of each level, ascending, each a multiple of the one before.
        origin: Where an interval of every level starts.
        comma: Whether numbers have a decimal comma, in values and in labels.
    """

    widths: tuple[float, ...]
    origin: float = 0
    comma: bool = False

    _widest: ClassVar[float] = MOST

    def __post_init__(self) -> None:
        widths = _as_tuple(self, "widths")
        if not _are_numbers(widths, self._widest) or widths[0] <= 0 or not _ascending(widths):
            _refuse(self, "widths", "be ascending numbers above 0", widths)
        exact = [_exact(width) for width in widths]
        if any((wide / narrow).denominator != 1 for narrow, wide in pairwise(exact)):
            _refuse(self, "widths", "each be a multiple of the one before", widths)
        if not _are_numbers((self.origin,)):
            _refuse(self, "origin", "be a number of at most 15 digits", self.origin)

    def ancestors(self, value: str) -> tuple[str, ...]:
        origin, widths = self._exact
        labels = _interval_labels(origin, widths, floor((_number(value, self) - origin) / widths[0]))
        return tuple(label.replace(".", ",") for label in labels) if self.comma else labels

    @cached_property
    def _exact(self) -> tuple[Fraction, tuple[Fraction, ...]]:
        return _exact(self.origin), tuple(map(_exact, self.widths))

    def _place(self, value: str) -> Any:
        return _number(value, self), value

    def options(self) -> dict[str, Any]:
        return {"widths": list(self.widths), "origin": self.origin, **_comma_option(self)}

    @classmethod
    def of_options(cls, options: Mapping[str, Any]) -> Self:
        return cls(tuple(options["widths"]), options.get("origin", 0), _comma(options))


class BuiltIntervals(Intervals):
    """Those of a column without a rule: as wide as its own numbers need, which are exact."""

    _widest = inf


@dataclass(frozen=True)
class Bounds(Rule):
    """Groups numbers into given intervals: with bounds (18, 65), "<18", "[18-65)" and ">=65" below "*".

    Attributes:
        bounds: Where an interval ends and the next one starts, strictly ascending.
        coarser: The bounds of the levels above, each a part of those of the level below.
        comma: Whether numbers have a decimal comma, in values and in labels.
    """

    bounds: tuple[float, ...]
    coarser: tuple[tuple[float, ...], ...] = ()
    comma: bool = False

    def __post_init__(self) -> None:
        bounds = _as_tuple(self, "bounds")
        object.__setattr__(self, "coarser", tuple(tuple(level) for level in self.coarser))
        for level in (bounds, *self.coarser):
            if not level or not _are_numbers(level) or not _ascending(level):
                _refuse(self, "bounds", "be strictly ascending numbers", level)
        if any(not set(wide) < set(narrow) for narrow, wide in pairwise((bounds, *self.coarser))):
            _refuse(self, "bounds", "each be some of those of the level before", (bounds, *self.coarser))

    def ancestors(self, value: str) -> tuple[str, ...]:
        number = _number(value, self)
        found = [labels[bisect_right(exact, number)] for exact, labels in self._levels]
        return (*dict.fromkeys(found), ANY)

    @cached_property
    def _levels(self) -> list[tuple[list[Fraction], list[str]]]:
        """Of each level the exact bounds, and the labels of the intervals between them."""
        levels = []
        for bounds in (self.bounds, *self.coarser):
            shown = [number_label(bound).replace(".", "," if self.comma else ".") for bound in bounds]
            texts = [None, *shown, None]
            levels.append(([_exact(bound) for bound in bounds], [interval_label(*ends) for ends in pairwise(texts)]))
        return levels

    def _place(self, value: str) -> Any:
        return _number(value, self), value

    def options(self) -> dict[str, Any]:
        levels = [list(level) for level in (self.bounds, *self.coarser)]
        return {"bounds": levels if self.coarser else levels[0], **_comma_option(self)}

    @classmethod
    def of_options(cls, options: Mapping[str, Any]) -> Self:
        bounds = options["bounds"]
        nested = bool(bounds) and isinstance(bounds[0], list | tuple)
        levels = (tuple(bounds[0]), tuple(bounds[1:])) if nested else (tuple(bounds), ())
        return cls(*levels, _comma(options))


@dataclass(frozen=True)
class Frequent(Rule):
    """Keeps frequent values right below the root, and groups all others: Malta -> other -> *, but France -> *.

    Attributes:
        values: The frequent values.
        other: The label of all others.
    """

    values: tuple[str, ...]
    other: str = "other"

    def __post_init__(self) -> None:
        if not isinstance(self.values, list | tuple) or not all(isinstance(value, str) for value in self.values):
            _refuse(self, "values", "be a list of texts", self.values)
        object.__setattr__(self, "values", tuple(self.values))
        if not isinstance(self.other, str) or not self.other.strip() or self.other in (*self.values, ANY):
            _refuse(self, "other", "be a label of its own", self.other)

    def ancestors(self, value: str) -> tuple[str, ...]:
        return (ANY,) if value in self._frequent else (self.other, ANY)

    @cached_property
    def _frequent(self) -> frozenset[str]:
        return frozenset(self.values)

    def options(self) -> dict[str, Any]:
        return {"frequent": list(self.values), "other": self.other}

    @classmethod
    def of_options(cls, options: Mapping[str, Any]) -> Self:
        return cls(options["frequent"], options.get("other", "other"))


@dataclass(frozen=True)
class Flat(Rule):
    """Puts every value right below the root.

    Attributes:
        root: The label of the root, which must be none of the values.
    """

    root: str = ANY

    def ancestors(self, value: str) -> tuple[str, ...]:
        return (self.root,)

    def options(self) -> dict[str, Any]:
        return {"flat": True}

    @classmethod
    def of_options(cls, options: Mapping[str, Any]) -> Self | None:
        return cls() if options["flat"] is True else None


@dataclass(frozen=True)
class Calendar(Rule):
    """Groups dates: with levels (month, quarter, year), 1984-05-17 -> 1984-05 -> 1984-Q2 -> 1984 -> *.

    Times of day are grouped by their day first, if that is asked for.

    Attributes:
        levels: Some of day, month, quarter, year and decade, in this order.
        order: How dates are written: "ymd" (1984-05-17, 19840517), "dmy" (17.05.1984) or "mdy" (05/17/1984), years in
            four digits.
    """

    levels: tuple[str, ...]
    order: str = "ymd"

    def __post_init__(self) -> None:
        known = list(LEVELS)
        if (
            not isinstance(self.levels, list | tuple)
            or not self.levels
            or any(each not in known for each in self.levels)
        ):
            _refuse(self, "levels", f"be some of {', '.join(known)}", self.levels)
        object.__setattr__(self, "levels", tuple(self.levels))
        if any(known.index(fine) >= known.index(coarse) for fine, coarse in pairwise(self.levels)):
            _refuse(self, "levels", f"go from fine to coarse: {', '.join(known)}", self.levels)
        if self.order not in ORDERS:
            _refuse(self, "order", f"be one of {', '.join(ORDERS)}", self.order)

    def ancestors(self, value: str) -> tuple[str, ...]:
        parts = self._parts(value)
        spans = [LEVELS[level](*parts) for level in self.levels]
        return (*(span for span in spans if span != value), ANY)

    def _parts(self, value: str) -> tuple[int, int, int]:
        parts = parts_of(value, self.order)
        if parts is None:
            raise TaxonomyError(
                f"Calendar groups dates written {self.order}, got '{value}'; correct the value, change the order, or "
                "give the column a taxonomy file"
            )
        return parts

    def _place(self, value: str) -> Any:
        return self._parts(value), value

    def options(self) -> dict[str, Any]:
        return {"calendar": list(self.levels), "order": self.order}

    @classmethod
    def of_options(cls, options: Mapping[str, Any]) -> Self:
        return cls(options["calendar"], options.get("order", "ymd"))


@dataclass(frozen=True)
class Domain(Rule):
    """Groups values of a known domain: FR -> Western Europe -> Europe -> *, or E11.9 -> E11.- -> E00-E90 ... -> *.

    Attributes:
        name: "country" (codes of two or three letters, or English names) or "icd10" (diagnoses).
    """

    name: str

    def __post_init__(self) -> None:
        if self.name not in DOMAINS:
            _refuse(self, "name", f"be one of {', '.join(DOMAINS)}", self.name)

    def ancestors(self, value: str) -> tuple[str, ...]:
        return (*(DOMAINS[self.name](value) or (UNKNOWN,)), ANY)

    def _place(self, value: str) -> Any:
        return *self.ancestors(value)[::-1], value

    def options(self) -> dict[str, Any]:
        return {"domain": self.name}

    @classmethod
    def of_options(cls, options: Mapping[str, Any]) -> Self:
        return cls(options["domain"])


@lru_cache(maxsize=1024)
def _interval_labels(origin: Fraction, widths: tuple[Fraction, ...], place: int) -> tuple[str, ...]:
    """The labels of the narrow interval at a place, counted from the origin, and of all that contain it."""
    labels = []
    for width in widths:
        low = origin + place * widths[0] // width * width
        labels.append(interval_label(number_label(low), number_label(low + width)))
    return (*labels, ANY)


def _number(value: str, rule: Intervals | Bounds) -> Fraction:
    text = value
    if rule.comma:  # points stand between thousands, before a comma
        text = value.replace(".", "").replace(",", ".") if "," in value else value.replace(".", ",")
    try:
        number = Decimal(text)
    except InvalidOperation:
        number = Decimal("nan")
    if number.is_finite() and not number:
        return Fraction(0)
    # A text as short as 1e999999999 would make a number that fills the memory.
    if not number.is_finite() or abs(number.adjusted()) > LARGEST_EXPONENT:
        raise TaxonomyError(
            f"{type(rule).__name__} groups numbers, got '{value}'; correct the value or give the column a taxonomy file"
        )
    return Fraction(number)


def _exact(number: float) -> Fraction:
    """The number as it is written: 0.1 is a tenth."""
    return Fraction(repr(float(number))) if isinstance(number, float) else Fraction(number)


def _as_tuple(rule: Any, name: str) -> tuple[Any, ...]:
    given = getattr(rule, name)
    if not isinstance(given, list | tuple) or not given:
        _refuse(rule, name, "be a list of at least one number", given)
    object.__setattr__(rule, name, tuple(given))
    return tuple(given)


def _are_numbers(numbers: Iterable[Any], most: float = MOST) -> bool:
    return all(is_number(number) and abs(number) <= most for number in numbers)


def _ascending(numbers: Sequence[Any]) -> bool:
    return all(low < high for low, high in pairwise(numbers))


def _refuse(rule: Any, name: str, must: str, got: object) -> NoReturn:
    raise PolicyError(f"The '{name}' parameter of {type(rule).__name__} must {must}. Got {shown(got)}.")


_RULES: Mapping[str, tuple[type[Rule], tuple[str, ...]]] = {  # every kind of rule, and what may be said with it
    "prefix": (Prefix, ()),
    "widths": (Intervals, ("origin", "comma")),
    "bounds": (Bounds, ("comma",)),
    "frequent": (Frequent, ("other",)),
    "calendar": (Calendar, ("order",)),
    "domain": (Domain, ()),
    "flat": (Flat, ()),
}
KINDS = tuple(dict.fromkeys([*_RULES, *(name for _, options in _RULES.values() for name in options)]))


def rule_of(column: str, options: Mapping[str, Any]) -> Rule:
    """The rule of a column from what a policy file says."""
    options = options if isinstance(options, Mapping) else {}
    for key in options:
        if key not in KINDS:
            raise UnknownNameError("rule", key, KINDS, f"the taxonomy of '{column}'")
    kinds = [key for key in options if key in _RULES]
    if len(kinds) > 1:
        raise PolicyError(f"The taxonomy of '{column}' has two rules, {kinds[0]} and {kinds[1]}; choose one")
    for kind in kinds:
        rule, others = _RULES[kind]
        for key in options:
            if key not in (kind, *others):
                raise PolicyError(f"The taxonomy of '{column}' is by {kind}, where {key} says nothing; leave it out")
        with suppress(TypeError):
            if (made := rule.of_options(options)) is not None:
                return made
    raise PolicyError(
        f"The taxonomy of '{column}' must be a file, or one of prefix = [3, 2], widths = [5, 10], bounds = [18, 65], "
        'frequent = ["a", "b"], calendar = ["month", "year"], domain = "country", flat = true.'
    )


def _comma(options: Mapping[str, Any]) -> bool:
    comma = options.get("comma", False)
    if not isinstance(comma, bool):
        raise PolicyError(f"The 'comma' parameter of a rule must be true or false. Got {shown(comma)}.")
    return comma


def _comma_option(rule: Intervals | Bounds) -> dict[str, Any]:
    return {"comma": True} if rule.comma else {}
