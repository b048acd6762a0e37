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
from math import floor, isfinite
from typing import Any, NoReturn, Protocol

from incrowd.errors import PolicyError, TaxonomyError, UnknownNameError
from incrowd.taxonomies.labels import ANY, interval_label, number_label
from incrowd.taxonomies.taxonomy import Taxonomy

__all__ = ["Bounds", "Flat", "Intervals", "Prefix", "Rule", "rule_of", "words_of"]

MASK = "*"  # takes the place of a character
LARGEST_EXPONENT = 308


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
            _refuse(self, "lengths", "be strictly decreasing whole numbers of at least 1", lengths)

    def ancestors(self, value: str) -> tuple[str, ...]:
        """The masked texts of a value from its parent to the root; the mask keeps the length of the value."""
        masked = [value[:length].ljust(len(value), MASK) for length in self.lengths]
        return tuple(dict.fromkeys(label for label in (*masked, ANY) if label != value))

    def build(self, values: Sequence[str]) -> Taxonomy:
        """The taxonomy of the values, in alphabetical order.

        Raises:
            TaxonomyError: There is no value, one is blank, or one looks like a masked one.
        """
        return _build(self, sorted(set(values)))


@dataclass(frozen=True)
class Intervals:
    """Groups numbers into nested intervals of fixed width: with widths (5, 10), 23 -> [20-25) -> [20-30) -> *.

    Attributes:
        widths: The width of the intervals of each level, ascending, each a multiple of the one before.
        origin: Where an interval of every level starts.
    """

    widths: tuple[float, ...]
    origin: float = 0

    def __post_init__(self) -> None:
        widths = _as_tuple(self, "widths")
        if not _are_numbers(widths) or widths[0] <= 0 or not _ascending(widths):
            _refuse(self, "widths", "be ascending numbers above 0", widths)
        exact = [_exact(width) for width in widths]
        if any((wide / narrow).denominator != 1 for narrow, wide in pairwise(exact)):
            _refuse(self, "widths", "each be a multiple of the one before", widths)
        if not _are_numbers((self.origin,)):
            _refuse(self, "origin", "be a number", self.origin)

    def ancestors(self, value: str) -> tuple[str, ...]:
        """The intervals of a number from the narrowest to the root.

        Raises:
            TaxonomyError: The value is not a number.
        """
        origin, widths = self._exact
        return _interval_labels(origin, widths, floor((_number(value, self) - origin) / widths[0]))

    @cached_property
    def _exact(self) -> tuple[Fraction, tuple[Fraction, ...]]:
        return _exact(self.origin), tuple(map(_exact, self.widths))

    def build(self, values: Sequence[str]) -> Taxonomy:
        """The taxonomy of the values, in numeric order.

        Raises:
            TaxonomyError: There is no value, or one is not a number.
        """
        return _build(self, _numeric_order(values, self))


@dataclass(frozen=True)
class Bounds:
    """Groups numbers into given intervals: with bounds (18, 65), "<18", "[18-65)" and ">=65" below "*".

    Attributes:
        bounds: Where an interval ends and the next one starts, strictly ascending.
    """

    bounds: tuple[float, ...]

    def __post_init__(self) -> None:
        bounds = _as_tuple(self, "bounds")
        if not _are_numbers(bounds) or not _ascending(bounds):
            _refuse(self, "bounds", "be strictly ascending numbers", bounds)

    def ancestors(self, value: str) -> tuple[str, ...]:
        """The interval of a number, and the root.

        Raises:
            TaxonomyError: The value is not a number.
        """
        place = bisect_right([_exact(bound) for bound in self.bounds], _number(value, self))
        texts = [None, *map(number_label, self.bounds), None]
        return interval_label(texts[place], texts[place + 1]), ANY

    def build(self, values: Sequence[str]) -> Taxonomy:
        """The taxonomy of the values, in numeric order; an interval without a value does not occur in it.

        Raises:
            TaxonomyError: There is no value, or one is not a number.
        """
        return _build(self, _numeric_order(values, self))


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
        return _build(self, sorted(set(values)))


def _build(rule: Rule, values: Iterable[str]) -> Taxonomy:
    return Taxonomy.from_paths(((value, *rule.ancestors(value)) for value in values), f"{type(rule).__name__} taxonomy")


def _numeric_order(values: Sequence[str], rule: Rule) -> list[str]:
    return sorted(set(values), key=lambda value: (_number(value, rule), value))


@lru_cache(maxsize=1024)
def _interval_labels(origin: Fraction, widths: tuple[Fraction, ...], place: int) -> tuple[str, ...]:
    """The labels of the narrow interval at a place, counted from the origin, and of all that contain it."""
    labels = []
    for width in widths:
        low = origin + place * widths[0] // width * width
        labels.append(interval_label(number_label(low), number_label(low + width)))
    return (*labels, ANY)


def _number(value: str, rule: Rule) -> Fraction:
    """The number that a text stands for, exactly."""
    try:
        number = Decimal(value)
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
        _refuse(rule, name, "be a list of at least one number", given)
    object.__setattr__(rule, name, tuple(given))
    return tuple(given)


def _are_numbers(numbers: Iterable[Any]) -> bool:
    return all(isinstance(n, int | float) and not isinstance(n, bool) and isfinite(n) for n in numbers)


def _ascending(numbers: Sequence[Any]) -> bool:
    return all(low < high for low, high in pairwise(numbers))


def _refuse(rule: Any, name: str, must: str, got: object) -> NoReturn:
    raise PolicyError(f"The '{name}' parameter of {type(rule).__name__} must {must}. Got {got!r}.")


def rule_of(column: str, words: Mapping[str, Any]) -> Rule:
    """The rule of a column from the words of a policy file: prefix, widths (with origin), bounds or flat."""
    kinds = ("prefix", "widths", "bounds", "flat", "origin")
    for key in words if isinstance(words, Mapping) else ():
        if key not in kinds:
            raise UnknownNameError("rule", key, kinds, f"the taxonomy of '{column}'")
    try:
        if "prefix" in words:
            return Prefix(tuple(words["prefix"]))
        if "widths" in words:
            return Intervals(tuple(words["widths"]), words.get("origin", 0))
        if "bounds" in words:
            return Bounds(tuple(words["bounds"]))
        if "flat" in words:
            return Flat()
    except TypeError:
        pass
    raise PolicyError(
        f"The taxonomy of '{column}' must be a file, or one of prefix = [3, 2], widths = [5, 10], bounds = [18, 65], "
        "flat = true."
    )


def words_of(rule: Rule) -> dict[str, Any]:
    """A rule in the words of a policy file."""
    if isinstance(rule, Prefix):
        return {"prefix": list(rule.lengths)}
    if isinstance(rule, Intervals):
        return {"widths": list(rule.widths), "origin": rule.origin}
    return {"bounds": list(rule.bounds)} if isinstance(rule, Bounds) else {"flat": True}
