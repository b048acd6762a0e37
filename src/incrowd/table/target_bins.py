"""A numeric target with many values counts as a few ranges, each with about as many records."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import inf

import numpy as np

from incrowd.table.grouping import Codes, Counts, Floats
from incrowd.table.numbers import number_of, with_point
from incrowd.taxonomies.labels import interval_label, number_label, parse_interval

MOST_LABELS = 20  # a target of more numbers is binned
BINS = 5


def bins_of(values: Sequence[str | None], counts: Counts, *, comma: bool = False) -> tuple[str, ...]:
    """The ranges that the values of a target count as; none where they count as they are."""
    present = [value for value in values if value is not None]
    numbers = [number_of(with_point(value) if comma else value) for value in present]
    if len(present) <= MOST_LABELS or any(number is None for number in numbers):
        return ()
    order = np.argsort(np.array(numbers, np.float64), kind="stable")
    ascending = np.array(numbers, np.float64)[order]
    below = np.cumsum(counts[[i for i, value in enumerate(values) if value is not None]][order])
    places = np.searchsorted(below, [below[-1] * part / BINS for part in range(1, BINS)], side="left") + 1
    bounds = dict.fromkeys(ascending[place] for place in places if 0 < place < len(ascending))
    edges = [None, *(number_label(float(bound)) for bound in bounds), None]
    return tuple(interval_label(low, high) for low, high in pairwise(edges)) if bounds else ()


def places_in(values: Sequence[str | None], bins: Sequence[str | None]) -> Codes:
    """The bin of each value, the last place for a missing one; -1 for one that is in none."""
    bounds = lower_bounds(bins)
    numbers = [None if value is None else number_of(with_point(value)) for value in values]
    places = np.searchsorted(bounds, [inf if number is None else number for number in numbers], "right")
    found = [
        len(bins) - 1 if value is None else int(place) - 1 if number is not None else -1
        for value, number, place in zip(values, numbers, places, strict=True)
    ]
    return np.array(found, np.int64)


def lower_bounds(labels: Sequence[str | None]) -> Floats:
    """Where each bin begins; empty if these are not bins, but labels as they are."""
    present = [label for label in labels if label is not None]
    lows = [_low(label) for label in present[1:]]
    if len(present) < 2 or not present[0].startswith("<") or None in lows:
        return np.empty(0)
    return np.array([-inf, *lows], np.float64)


def _low(label: str) -> float | None:
    try:
        interval = parse_interval(label)
    except ValueError:
        return None
    return None if interval is None or interval.low is None else number_of(interval.low)
