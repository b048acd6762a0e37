"""Protected columns of a compressed table, for searches that look at some of its tuples at a time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.table.class_counts import Histogram, counted
from incrowd.table.grouping import Codes


class ProtectedColumn:
    """A protected column, whose entries can be found by tuple."""

    def __init__(self, histogram: Histogram) -> None:
        codes = histogram.codes.astype(
            np.min_scalar_type(max(0, histogram.width - 1))
        )  # small ones are faster to fetch
        self._histogram = replace(histogram, codes=codes)
        self._single = histogram.one_each
        self._starts = (
            np.arange(0) if self._single else np.searchsorted(histogram.tuples, np.arange(histogram.size + 1))
        )

    def of(self, tuples: npt.NDArray[Any] | slice) -> Histogram:
        """The histogram of some tuples, which are numbered anew in their order."""
        every = self._histogram
        if isinstance(tuples, slice) and tuples == slice(None):
            return every
        chosen = np.arange(every.size)[tuples] if isinstance(tuples, slice) else tuples
        size = len(chosen)
        place = np.arange(size)
        if not self._single:
            first, number = self._entries(chosen)
            place = np.repeat(place, number)
            chosen = ranges(first, number)
        return Histogram(every.values, place, every.codes.take(chosen), every.counts.take(chosen), size)

    def grouped(self, tuples: npt.NDArray[Any] | slice, groups: Codes, size: int) -> Histogram:
        """The histogram of groups of some tuples; the same as `of(tuples).grouped(groups, size)`."""
        every = self._histogram
        if isinstance(tuples, slice):
            return self.of(tuples).grouped(groups, size)
        keys = groups.astype(np.int64) * every.width
        if not self._single:
            first, number = self._entries(tuples)
            keys = np.repeat(keys, number)
            tuples = ranges(first, number)
        keys += every.codes.take(tuples)
        return counted(every.values, keys, every.counts.take(tuples), size)

    def _entries(self, tuples: npt.NDArray[Any]) -> tuple[Codes, Codes]:
        """Where the entries of some tuples begin, and how many there are of each."""
        first = self._starts.take(tuples)
        return first, self._starts.take(tuples + 1) - first


def ranges(first: Codes, number: Codes) -> Codes:
    """The numbers of ranges, one after another, each given by its first number and its length."""
    ends = np.cumsum(number)
    ranges: Codes = np.arange(ends[-1] if len(ends) else 0) + np.repeat(first - ends + number, number)
    return ranges
