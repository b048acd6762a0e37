"""Protected columns of a compressed table, for searches that look at some of its tuples at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.table.class_counts import Histogram


class ProtectedColumn:
    """A protected column, whose entries can be found by tuple.

    Args:
        histogram: How often each value occurs in each tuple.
    """

    def __init__(self, histogram: Histogram) -> None:
        self._histogram = histogram
        self._starts = np.searchsorted(histogram.tuples, np.arange(histogram.size + 1))

    def of(self, tuples: npt.NDArray[Any] | slice) -> Histogram:
        """The histogram of some tuples, which are numbered anew in their order."""
        every = self._histogram
        if isinstance(tuples, slice) and tuples == slice(None):
            return every
        chosen = np.arange(every.size)[tuples] if isinstance(tuples, slice) else tuples
        first, number = self._starts[chosen], self._starts[chosen + 1] - self._starts[chosen]
        place = np.repeat(np.arange(len(chosen)), number)
        entries = np.arange(len(place)) + np.repeat(first - np.cumsum(number) + number, number)
        return Histogram(every.values, place, every.codes.take(entries), every.counts.take(entries), len(chosen))
