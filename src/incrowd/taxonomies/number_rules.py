"""Rules that group numbers: into intervals of fixed width, between given bounds, and below and above some number.

Arithmetic is exact, so 0.3 lies in [0.3-0.4) and nowhere else.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import pairwise
from math import floor, inf
from typing import Any, ClassVar, Self

from incrowd.errors import PolicyError, TaxonomyError, shown
from incrowd.schemas.shapes import is_number
from incrowd.taxonomies.labels import ANY, interval_label, number_label
from incrowd.taxonomies.rule import Rule, as_tuple, ascending, refuse

LARGEST_EXPONENT = 308
MOST = 10**15  # of numbers of rules: intervals among larger ones have bounds that nobody can tell apart
Tails = tuple[Fraction | None, Fraction | None]  # where bottom and top coding begin


@dataclass(frozen=True)
class Intervals(Rule):
    """Groups numbers into nested intervals of fixed width: with widths (5, 10), 23 -> [20-25) -> [20-30) -> *.

    With bottom and top coding, what lies outside is one group from the first level on: with bottom 18 and top 90,
    97 -> >=90 -> * and 12 -> <18 -> *; intervals end there, so 19 -> [18-20).

    Attributes:
        widths: The width of the intervals of each level, ascending, each a multiple of the one before.
        origin: Where an interval of every level starts.
        comma: Whether numbers have a decimal comma, in values and in labels.
        bottom: Numbers below it are one group; None for no such group.
        top: Numbers from it on are one group; None for no such group.
    """

    widths: tuple[float, ...]
    origin: float = 0
    comma: bool = False
    bottom: float | None = None
    top: float | None = None

    _widest: ClassVar[float] = MOST

    def __post_init__(self) -> None:
        widths = as_tuple(self, "widths")
        if not _are_numbers(widths, self._widest) or widths[0] <= 0 or not ascending(widths):
            refuse(self, "widths", "be ascending numbers above 0", widths)
        exact = [_exact(width) for width in widths]
        if any((wide / narrow).denominator != 1 for narrow, wide in pairwise(exact)):
            refuse(self, "widths", "each be a multiple of the one before", widths)
        if not _are_numbers((self.origin,)):
            refuse(self, "origin", "be a number of at most 15 digits", self.origin)
        _check_tails(self)

    def ancestors(self, value: str) -> tuple[str, ...]:
        origin, widths, ends = self._exact
        number = _number(value, self)
        tail = _tail(number, ends)
        labels = (tail, ANY) if tail else _interval_labels(origin, widths, floor((number - origin) / widths[0]), ends)
        return tuple(label.replace(".", ",") for label in labels) if self.comma else labels

    @cached_property
    def _exact(self) -> tuple[Fraction, tuple[Fraction, ...], Tails]:
        return _exact(self.origin), tuple(map(_exact, self.widths)), _exact_tails(self)

    def _place(self, value: str) -> Any:
        return _number(value, self), value

    def options(self) -> dict[str, Any]:
        return {"widths": list(self.widths), "origin": self.origin, **_comma_option(self), **_tail_options(self)}

    @classmethod
    def of_options(cls, options: Mapping[str, Any]) -> Self:
        tails = options.get("bottom"), options.get("top")
        return cls(tuple(options["widths"]), options.get("origin", 0), _comma(options), *tails)


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
        bounds = as_tuple(self, "bounds")
        object.__setattr__(self, "coarser", tuple(tuple(level) for level in self.coarser))
        for level in (bounds, *self.coarser):
            if not level or not _are_numbers(level) or not ascending(level):
                refuse(self, "bounds", "be strictly ascending numbers", level)
        if any(not set(wide) < set(narrow) for narrow, wide in pairwise((bounds, *self.coarser))):
            refuse(self, "bounds", "each be some of those of the level before", (bounds, *self.coarser))

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
class Coding(Rule):
    """Bottom and top coding alone: with bottom 18 and top 90, 12 -> <18 -> *, 97 -> >=90 -> *, and 40 -> *.

    Attributes:
        bottom: Numbers below it are one group; None for no such group.
        top: Numbers from it on are one group; None for no such group.
        comma: Whether numbers have a decimal comma, in values and in labels.
    """

    bottom: float | None = None
    top: float | None = None
    comma: bool = False

    def __post_init__(self) -> None:
        if self.bottom is None and self.top is None:
            refuse(self, "top", "be a number where there is no bottom", None)
        _check_tails(self)

    def ancestors(self, value: str) -> tuple[str, ...]:
        tail = _tail(_number(value, self), self._exact)
        return ((tail.replace(".", ",") if self.comma else tail), ANY) if tail else (ANY,)

    @cached_property
    def _exact(self) -> Tails:
        return _exact_tails(self)

    def _place(self, value: str) -> Any:
        return _number(value, self), value

    def options(self) -> dict[str, Any]:
        return {**_tail_options(self), **_comma_option(self)}

    @classmethod
    def of_options(cls, options: Mapping[str, Any]) -> Self:
        return cls(options.get("bottom"), options.get("top"), _comma(options))


@lru_cache(maxsize=1024)
def _interval_labels(origin: Fraction, widths: tuple[Fraction, ...], place: int, ends: Tails) -> tuple[str, ...]:
    """The labels of the narrow interval at a place, counted from the origin, and of all that contain it."""
    labels = []
    bottom, top = ends
    for width in widths:
        low = origin + place * widths[0] // width * width
        high = low + width
        low, high = low if bottom is None else max(low, bottom), high if top is None else min(high, top)
        labels.append(interval_label(number_label(low), number_label(high)))
    return (*dict.fromkeys(labels), ANY)


def _tail(number: Fraction, ends: Tails) -> str | None:
    """The group of a number that lies outside, if it does."""
    bottom, top = ends
    if bottom is not None and number < bottom:
        return interval_label(None, number_label(bottom))
    return interval_label(number_label(top), None) if top is not None and number >= top else None


def _exact_tails(rule: Intervals | Coding) -> Tails:
    bottom, top = (None if end is None else _exact(end) for end in (rule.bottom, rule.top))
    return bottom, top


def _check_tails(rule: Intervals | Coding) -> None:
    for name, end in (("bottom", rule.bottom), ("top", rule.top)):
        if end is not None and not _are_numbers((end,)):
            refuse(rule, name, "be a number of at most 15 digits", end)
    if rule.bottom is not None and rule.top is not None and rule.bottom >= rule.top:
        refuse(rule, "top", f"be above the bottom, {rule.bottom:g}", rule.top)


def _tail_options(rule: Intervals | Coding) -> dict[str, Any]:
    return {name: end for name, end in (("bottom", rule.bottom), ("top", rule.top)) if end is not None}


def _number(value: str, rule: Intervals | Bounds | Coding) -> Fraction:
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


def _are_numbers(numbers: Iterable[Any], most: float = MOST) -> bool:
    return all(is_number(number) and abs(number) <= most for number in numbers)


def _comma(options: Mapping[str, Any]) -> bool:
    comma = options.get("comma", False)
    if not isinstance(comma, bool):
        raise PolicyError(f"The 'comma' parameter of a rule must be true or false. Got {shown(comma)}.")
    return comma


def _comma_option(rule: Intervals | Bounds | Coding) -> dict[str, Any]:
    return {"comma": True} if rule.comma else {}
