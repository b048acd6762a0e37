"""Rules that build a taxonomy when the values of a column are known.

A rule is a frozen part of the policy: `build` makes the taxonomy of the values at hand, `ancestors` names the groups
of any single value, also of one that was not at hand. Arithmetic is exact, so 0.3 lies in [0.3-0.4) and nowhere else.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import pairwise
from math import floor, inf
from typing import Any, ClassVar, NoReturn, Protocol

from incrowd.errors import PolicyError, TaxonomyError, UnknownNameError, shown
from incrowd.schemas.shapes import is_number
from incrowd.taxonomies.labels import ANY, interval_label, number_label
from incrowd.taxonomies.taxonomy import Taxonomy

__all__ = ["Bounds", "Flat", "Frequent", "Intervals", "Prefix", "Rule", "rule_of", "words_of"]

MASK = "*"  # takes the place of a character
LARGEST_EXPONENT = 308
MOST = 10**15  # of numbers of rules: intervals among larger ones have bounds that nobody can tell apart


class Rule(Protocol):
    """What every rule can do."""

    def ancestors(self, value: str) -> tuple[str, ...]:
        """The labels from the parent of a value to the root, whether or not the value was seen before."""

    def build(self, values: Sequence[str]) -> Taxonomy:
        """The taxonomy of the distinct values; their order plays no part."""


@dataclass(frozen=True)
class Prefix:
    """Groups values by their first characters: with lengths (3, 2), 12345 -> 123** -> 12*** -> *.

    Attributes:
        lengths: How many characters each level keeps, strictly decreasing, the last at least 1.
    """

    lengths: tuple[int, ...]

    def __post_init__(self) -> None:
        lengths = _as_tuple(self, "lengths")
        whole = all(isinstance(length, int) and not isinstance(length, bool) and length > 0 for length in lengths)
        if not whole or not _ascending(lengths[::-1]):
            refuse(self, "lengths", "be strictly decreasing whole numbers of at least 1", lengths)

    def ancestors(self, value: str) -> tuple[str, ...]:
        """The masked texts of a value from its parent to the root; the mask keeps the length of the value."""
        masked = [value[:length].ljust(len(value), MASK) for length in self.lengths]
        return tuple(dict.fromkeys(label for label in (*masked, ANY) if label != value))

    def build(self, values: Sequence[str]) -> Taxonomy:
        """The taxonomy of the values, in alphabetical order.

        Raises:
            TaxonomyError: There is no value, one is blank, or one looks like a masked one.
        """
        return build(self, sorted(set(values)))


@dataclass(frozen=True)
class Intervals:
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
            refuse(self, "widths", "be ascending numbers above 0", widths)
        exact = [_exact(width) for width in widths]
        if any((wide / narrow).denominator != 1 for narrow, wide in pairwise(exact)):
            refuse(self, "widths", "each be a multiple of the one before", widths)
        if not _are_numbers((self.origin,)):
            refuse(self, "origin", "be a number of at most 15 digits", self.origin)

    def ancestors(self, value: str) -> tuple[str, ...]:
        """The intervals of a number from the narrowest to the root.

        Raises:
            TaxonomyError: The value is not a number.
        """
        origin, widths = self._exact
        labels = _interval_labels(origin, widths, floor((_number(value, self) - origin) / widths[0]))
        return tuple(label.replace(".", ",") for label in labels) if self.comma else labels

    @cached_property
    def _exact(self) -> tuple[Fraction, tuple[Fraction, ...]]:
        return _exact(self.origin), tuple(map(_exact, self.widths))

    def build(self, values: Sequence[str]) -> Taxonomy:
        """The taxonomy of the values, in numeric order.

        Raises:
            TaxonomyError: There is no value, or one is not a number.
        """
        return build(self, _numeric_order(values, self))


class BuiltIntervals(Intervals):
    """Those of a column without a rule: as wide as its own numbers need, which are exact."""

    _widest = inf


@dataclass(frozen=True)
class Bounds:
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
                refuse(self, "bounds", "be strictly ascending numbers", level)
        if any(not set(wide) < set(narrow) for narrow, wide in pairwise((bounds, *self.coarser))):
            refuse(self, "bounds", "each be some of those of the level before", (bounds, *self.coarser))

    def ancestors(self, value: str) -> tuple[str, ...]:
        """The intervals of a number from the narrowest to the root.

        Raises:
            TaxonomyError: The value is not a number.
        """
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

    def build(self, values: Sequence[str]) -> Taxonomy:
        """The taxonomy of the values, in numeric order; an interval without a value does not occur in it.

        Raises:
            TaxonomyError: There is no value, or one is not a number.
        """
        return build(self, _numeric_order(values, self))


@dataclass(frozen=True)
class Frequent:
    """Keeps frequent values right below the root, and groups all others: Malta -> other -> *, but France -> *.

    Attributes:
        values: The frequent values.
        other: The label of all others.
    """

    values: tuple[str, ...]
    other: str = "other"

    def __post_init__(self) -> None:
        if not isinstance(self.values, list | tuple) or not all(isinstance(value, str) for value in self.values):
            refuse(self, "values", "be a list of texts", self.values)
        object.__setattr__(self, "values", tuple(self.values))
        if not isinstance(self.other, str) or not self.other.strip() or self.other in (*self.values, ANY):
            refuse(self, "other", "be a label of its own", self.other)

    def ancestors(self, value: str) -> tuple[str, ...]:
        """The root, and below it the group of all other values for one that is not frequent."""
        return (ANY,) if value in self._frequent else (self.other, ANY)

    @cached_property
    def _frequent(self) -> frozenset[str]:
        return frozenset(self.values)

    def build(self, values: Sequence[str]) -> Taxonomy:
        """The taxonomy of the values, in alphabetical order.

        Raises:
            TaxonomyError: There is no value, one is blank, or one is the label of the others.
        """
        return build(self, sorted(set(values)))


@dataclass(frozen=True)
class Flat:
    """Puts every value right below the root.

    Attributes:
        root: The label of the root, which must be none of the values.
    """

    root: str = ANY

    def ancestors(self, value: str) -> tuple[str, ...]:
        """The root."""
        return (self.root,)

    def build(self, values: Sequence[str]) -> Taxonomy:
        """The taxonomy of the values, in alphabetical order.

        Raises:
            TaxonomyError: There is no value, one is blank, or one is the root.
        """
        return build(self, sorted(set(values)))


def build(rule: Rule, values: Iterable[str]) -> Taxonomy:
    """The taxonomy of values in the order that a rule wants them."""
    return Taxonomy.from_paths(((value, *rule.ancestors(value)) for value in values), f"{type(rule).__name__} taxonomy")


def _numeric_order(values: Sequence[str], rule: Intervals | Bounds) -> list[str]:
    return sorted(set(values), key=lambda value: (_number(value, rule), value))


@lru_cache(maxsize=1024)
def _interval_labels(origin: Fraction, widths: tuple[Fraction, ...], place: int) -> tuple[str, ...]:
    """The labels of the narrow interval at a place, counted from the origin, and of all that contain it."""
    labels = []
    for width in widths:
        low = origin + place * widths[0] // width * width
        labels.append(interval_label(number_label(low), number_label(low + width)))
    return (*labels, ANY)


def _number(value: str, rule: Intervals | Bounds) -> Fraction:
    """The number that a text stands for, exactly."""
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
    """The parameter as a tuple, so that a list from a policy file will do."""
    given = getattr(rule, name)
    if not isinstance(given, list | tuple) or not given:
        refuse(rule, name, "be a list of at least one number", given)
    object.__setattr__(rule, name, tuple(given))
    return tuple(given)


def _are_numbers(numbers: Iterable[Any], most: float = MOST) -> bool:
    return all(is_number(number) and abs(number) <= most for number in numbers)


def _ascending(numbers: Sequence[Any]) -> bool:
    return all(low < high for low, high in pairwise(numbers))


def refuse(rule: Any, name: str, must: str, got: object) -> NoReturn:
    """Raise the PolicyError for a parameter that cannot be."""
    raise PolicyError(f"The '{name}' parameter of {type(rule).__name__} must {must}. Got {shown(got)}.")


_WITH: Mapping[str, tuple[str, ...]] = {  # every kind of rule, and what may be said with it
    "prefix": (),
    "widths": ("origin", "comma"),
    "bounds": ("comma",),
    "frequent": ("other",),
    "calendar": ("order",),
    "domain": (),
    "flat": (),
}
KINDS = tuple(dict.fromkeys([*_WITH, *(word for words in _WITH.values() for word in words)]))


def rule_of(column: str, words: Mapping[str, Any]) -> Rule:
    """The rule of a column from the words of a policy file.

    These are prefix, widths (with origin), bounds (both with comma), frequent (with other), calendar (with order),
    domain or flat.
    """
    for key in words if isinstance(words, Mapping) else ():
        if key not in KINDS:
            raise UnknownNameError("rule", key, KINDS, f"the taxonomy of '{column}'")
    kinds = [key for key in words if key in _WITH] if isinstance(words, Mapping) else []
    if len(kinds) > 1:
        raise PolicyError(f"The taxonomy of '{column}' has two rules, {kinds[0]} and {kinds[1]}; choose one")
    for key in words if kinds else ():
        if key not in (*kinds, *_WITH[kinds[0]]):
            raise PolicyError(f"The taxonomy of '{column}' is by {kinds[0]}, where {key} says nothing; leave it out")
    try:
        if (rule := _rule_of(words)) is not None:
            return rule
    except TypeError:
        pass
    raise PolicyError(
        f"The taxonomy of '{column}' must be a file, or one of prefix = [3, 2], widths = [5, 10], bounds = [18, 65], "
        'frequent = ["a", "b"], calendar = ["month", "year"], domain = "country", flat = true.'
    )


def _rule_of(words: Mapping[str, Any]) -> Rule | None:
    from incrowd.taxonomies.calendar import Calendar
    from incrowd.taxonomies.domains import Domain

    if "prefix" in words:
        return Prefix(tuple(words["prefix"]))
    if "widths" in words:
        return Intervals(tuple(words["widths"]), words.get("origin", 0), _comma(words))
    if "bounds" in words:
        bounds = words["bounds"]
        nested = bool(bounds) and isinstance(bounds[0], list | tuple)
        levels = (tuple(bounds[0]), tuple(bounds[1:])) if nested else (tuple(bounds), ())
        return Bounds(*levels, _comma(words))
    if "frequent" in words:
        return Frequent(words["frequent"], words.get("other", "other"))
    if "calendar" in words:
        return Calendar(words["calendar"], words.get("order", "ymd"))
    if "domain" in words:
        return Domain(words["domain"])
    return Flat() if "flat" in words and words["flat"] is True else None


def _comma(words: Mapping[str, Any]) -> bool:
    comma = words.get("comma", False)
    if not isinstance(comma, bool):
        raise PolicyError(f"The 'comma' parameter of a rule must be true or false. Got {shown(comma)}.")
    return comma


def words_of(rule: Rule) -> dict[str, Any]:
    """A rule in the words of a policy file."""
    from incrowd.taxonomies.calendar import Calendar
    from incrowd.taxonomies.domains import Domain

    if isinstance(rule, Prefix):
        return {"prefix": list(rule.lengths)}
    if isinstance(rule, Intervals):
        return {"widths": list(rule.widths), "origin": rule.origin, **({"comma": True} if rule.comma else {})}
    if isinstance(rule, Bounds):
        levels = [list(level) for level in (rule.bounds, *rule.coarser)]
        return {"bounds": levels if rule.coarser else levels[0], **({"comma": True} if rule.comma else {})}
    if isinstance(rule, Frequent):
        return {"frequent": list(rule.values), "other": rule.other}
    if isinstance(rule, Calendar):
        return {"calendar": list(rule.levels), "order": rule.order}
    return {"domain": rule.name} if isinstance(rule, Domain) else {"flat": True}
