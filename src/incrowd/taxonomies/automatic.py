"""Hierarchies that are proposed for a column whose distinct values and their counts are known.

What is proposed is a rule, as in a policy file, and says as little of single people as it can: bounds are
rounded, and a value is named only where enough records share it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import ceil, floor
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.taxonomies.rules import Bounds, Calendar, Frequent, Prefix

__all__ = ["bounds_of", "calendar_of", "frequent_of", "prefix_of", "roundest"]

INTERVALS = (16, 8, 4, 2)  # about this many on each level, each with about the same number of records
LEAST_RECORDS = 5  # of an interval, about
FEW_VALUES = 10  # numbers with no more values need no bounds: a search joins neighbours by itself
MOST_FREQUENT = 100  # values that a policy file lists
FREQUENT_SHARE = 200  # a frequent value has at least one of this many records
LONG_SPAN = 20  # years, from which on decades help

Numbers = npt.NDArray[Any]


def bounds_of(numbers: Numbers, counts: npt.NDArray[np.int64]) -> Bounds | None:
    """Nested round bounds, so that skewed numbers do not end in one interval.

    The i-th of m bounds is the roundest number between the quantiles (i - 1/2) / m and (i + 1/2) / m, so an interval
    has at most 2 / m of the records, unless a single value has more. Such a value stands in an interval of its own. A
    coarser level keeps those of the bounds that are nearest to its own quantiles.

    Returns:
        The rule, None where there is nothing to group.
    """
    if len(numbers) <= FEW_VALUES:
        return None
    below = np.append(0, counts.cumsum())  # records below each distinct number, and all of them
    records = int(below[-1])
    most = min(INTERVALS[0], max(2, records // LEAST_RECORDS))
    finest = _finest(numbers, below, most)
    levels: list[list[Fraction]] = [finest] if finest else []
    shares = {bound: int(below[np.searchsorted(numbers, float(bound))]) for bound in finest}
    for size in (size for size in INTERVALS[1:] if size < most):
        wanted = [Fraction(records * i, size) for i in range(1, size)]
        kept = sorted({min(levels[-1], key=lambda bound: (abs(shares[bound] - place), bound)) for place in wanted})
        if len(kept) < len(levels[-1]):
            levels.append(kept)
    return Bounds(*_plain(levels)) if levels else None


def _plain(levels: Sequence[Sequence[Fraction]]) -> tuple[tuple[float, ...], tuple[tuple[float, ...], ...]]:
    plain = [tuple(int(b) if b.denominator == 1 else float(b) for b in level) for level in levels]
    return plain[0], tuple(plain[1:])


def _finest(numbers: Numbers, below: npt.NDArray[np.int64], most: int) -> list[Fraction]:
    """The bounds of the finest level, ascending; each of them has records on both sides."""
    records = int(below[-1])
    found: set[Fraction] = set()
    for i in range(1, most):
        low, high = (_rank(below, Fraction(records * (2 * i + half), 2 * most)) for half in (-1, 1))
        if low == high:  # one value has all of these records
            if low:
                found.add(roundest(numbers.item(low - 1), numbers.item(low)))
            if low + 1 < len(numbers):
                found.add(roundest(numbers.item(low), numbers.item(low + 1)))
        else:
            found.add(roundest(numbers.item(low), numbers.item(high)))
    return sorted(found)


def _rank(below: npt.NDArray[np.int64], place: Fraction) -> int:
    return min(len(below) - 2, int(np.searchsorted(below, float(place), side="right")) - 1)


def roundest(low: float, high: float) -> Fraction:
    """The roundest number above `low` and up to `high`: a multiple of the largest 1, 2 or 5 times a power of ten.

    Of several such multiples it is the one nearest to the middle.
    """
    bottom, top = Fraction(low), Fraction(high)
    middle = (bottom + top) / 2
    if bottom < 0 <= top:
        return Fraction(0)
    exponent = len(str(int(max(abs(bottom), abs(top))))) + 1
    while True:
        for factor in (5, 2, 1):
            step = factor * Fraction(10) ** exponent
            first, last = floor(bottom / step) + 1, floor(top / step)
            if first <= last:
                nearest = min(max(round(middle / step), first), last)
                return nearest * step
        exponent -= 1
        if exponent < -300:
            return top


def prefix_of(values: Iterable[str]) -> Prefix | None:
    """All prefixes of codes of a few characters, as zip codes are; None where they are too short."""
    length = max(map(len, values), default=0)
    if length < 2:
        return None
    return Prefix(tuple(range(length - 1, 0, -1)) if length <= 6 else (4, 3, 2, 1))


def frequent_of(values: Sequence[str], counts: Sequence[int], least: int) -> Frequent | None:
    """Frequent values for themselves and all others together; None where that groups nothing."""
    enough = max(least, ceil(sum(counts) / FREQUENT_SHARE))
    by_count = sorted(zip(counts, values, strict=True), key=lambda item: (-item[0], item[1]))
    frequent = [value for count, value in by_count if count >= enough][:MOST_FREQUENT]
    if not frequent or len(values) - len(frequent) < 2:
        return None
    taken = set(values)
    other = next(label for label in _labels_of_others() if label not in taken)
    return Frequent(tuple(frequent), other)


def _labels_of_others() -> Iterable[str]:
    yield from ("other", "other values", "all other values")
    number = 2
    while True:
        yield f"other ({number})"
        number += 1


def calendar_of(years: tuple[int, int], order: str = "ymd", *, times: bool = False) -> Calendar:
    """Months, quarters and years of dates, also decades where there are many years, and days where there are times."""
    longer = ("decade",) if years[1] - years[0] >= LONG_SPAN else ()
    return Calendar((*(("day",) if times else ()), "month", "quarter", "year", *longer), order)
