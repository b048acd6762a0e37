"""What is known of classes while they merge: their records, and the values of the protected columns that models count.

Entries of protected values lie behind each other in one array per column, those of a class in one run. Classes that
become one get a new run at the end, so that a merge reads and writes the entries of the classes that it touches and no
others; when most entries are out of use, they are moved together.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import numpy.typing as npt

from incrowd.search.protected_columns import ranges
from incrowd.table.class_counts import ClassCounts, Histogram
from incrowd.table.grouping import Counts

Ints = npt.NDArray[np.int64]
_MOST_UNUSED = 3  # times the entries in use, before they are moved together


class MergingCounts:
    """The counts of numbered classes, some of which become others."""

    def __init__(self, classes: ClassCounts, columns: Collection[str]) -> None:
        self.records: Counts = classes.records.copy()
        self._entries = {name: _Entries(classes.values[name]) for name in columns}

    def of(self, classes: Ints) -> ClassCounts:
        return self.merged(classes, np.arange(len(classes)))

    def merged(self, classes: Ints, starts: Ints) -> ClassCounts:
        """What some classes have together: those that become one are next to each other, from each of `starts` on."""
        records = self.records[classes]
        if len(starts) < len(classes):
            records = np.add.reduceat(records, starts)
        if not self._entries:
            return ClassCounts(records)
        lengths = np.diff(np.append(starts, len(classes)))
        groups = np.repeat(np.arange(len(starts)), lengths)
        return ClassCounts(records, {n: e.grouped(classes, groups, len(starts)) for n, e in self._entries.items()})

    def replace(self, touched: Ints, kept: Ints, merged: ClassCounts) -> None:
        """Some classes have become others, under the numbers of some of them."""
        self.records[kept] = merged.records
        for name, entries in self._entries.items():
            entries.replace(touched, kept, merged.values[name])


class _Entries:
    """The entries of one protected column, in runs by class."""

    def __init__(self, values: Histogram) -> None:
        edges = np.searchsorted(values.tuples, np.arange(values.size + 1))
        self._values = values.values
        self._start, self._length = edges[:-1].copy(), np.diff(edges)
        self._codes, self._counts = values.codes.astype(np.int64), values.counts.astype(np.int64)
        self._used = self._alive = len(self._codes)

    def grouped(self, classes: Ints, groups: Ints, size: int) -> Histogram:
        lengths = self._length[classes]
        places = ranges(self._start[classes], lengths)
        rows = np.repeat(np.arange(len(classes)), lengths)
        own = Histogram(self._values, rows, self._codes[places], self._counts[places], len(classes))
        return own.grouped(groups, size)

    def replace(self, touched: Ints, kept: Ints, merged: Histogram) -> None:
        self._alive += len(merged.codes) - int(self._length[touched].sum())
        self._length[touched] = 0
        edges = np.searchsorted(merged.tuples, np.arange(merged.size + 1)) + self._used
        self._start[kept], self._length[kept] = edges[:-1], np.diff(edges)
        end = self._used + len(merged.codes)
        if end > len(self._codes):
            self._codes, self._counts = (np.resize(part, 2 * end) for part in (self._codes, self._counts))
        self._codes[self._used : end], self._counts[self._used : end] = merged.codes, merged.counts
        self._used = end
        if self._used > (1 + _MOST_UNUSED) * self._alive:
            self._move_together()

    def _move_together(self) -> None:
        places = ranges(self._start, self._length)
        self._codes, self._counts = self._codes[places], self._counts[places]
        self._start = np.cumsum(self._length) - self._length
        self._used = len(places)
