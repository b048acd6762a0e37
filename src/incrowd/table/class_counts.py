"""Counting values within tuples and classes: sparse histograms of one column, and what is known of some classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from incrowd.table.grouping import Codes, Counts, count, tallied

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Histogram:
    """How many records of each tuple (or class) have each value of a column, kept sparsely.

    Entry e says that `counts[e]` records of `tuples[e]` have the value `codes[e]`; entries are sorted by tuple, then by
    value, and none is empty.

    Args:
        values: The value of each code; None for missing values, which comes last.
        tuples: The tuple of each entry.
        codes: The value of each entry.
        size: How many tuples there are, those without an entry included.
    """

    values: tuple[str | None, ...]
    tuples: Codes
    codes: Codes
    counts: Counts
    size: int

    @property
    def width(self) -> int:
        return len(self.values)

    def table(self, groups: Codes, size: int, kept: Mask | None = None) -> Counts:
        """Records per group and value, dense: size x values."""
        one_each, several = self.one_each, self._several if kept is None else None
        weights = None if several is not None else self.counts
        if kept is not None:
            weights = self.counts * (kept if one_each else kept[self.tuples])

        def keys(part: slice | Codes) -> tuple[Codes, Counts | None]:
            made = (groups[part] if one_each else groups.take(self.tuples[part])).astype(np.int64)
            made *= self.width
            made += self.codes[part]
            return made, None if weights is None else weights[part]

        found = tallied(len(self.counts), size * self.width, keys)
        if several is not None and len(several):
            found += count(keys(several)[0], len(found), self.counts[several] - 1)
        return found.reshape(size, self.width)

    @cached_property
    def _several(self) -> Codes | None:
        """The entries of more than one record, where these are few: the others are counted faster without weights."""
        found = np.flatnonzero(self.counts != 1)
        return found if len(found) * 8 <= len(self.counts) else None

    @cached_property
    def one_each(self) -> bool:
        """Whether entry e belongs to tuple e; as many entries as tuples are not enough, since a tuple may have none."""
        return len(self.tuples) == self.size and bool((np.diff(self.tuples, prepend=-1) == 1).all())

    @cached_property
    def records(self) -> int:
        return int(self.counts.sum())

    @property
    def distinct(self) -> bool:
        """Whether every record has a value of its own."""
        return self.records == len(self.counts) == len(np.unique(self.codes))

    @cached_property
    def starts(self) -> Codes:
        """Where the entries of each tuple that has some begin."""
        if not len(self.tuples):
            return self.tuples
        return np.concatenate([[0], (self.tuples[1:] != self.tuples[:-1]).nonzero()[0] + 1])

    @cached_property
    def in_each(self) -> Counts:
        found = np.zeros(self.size, np.int64)
        if len(self.starts):
            found[self.tuples[self.starts]] = np.add.reduceat(self.counts, self.starts)
        return found

    def grouped(self, groups: Codes, size: int, kept: Mask | None = None) -> Histogram:
        """The histogram of groups of tuples; sparse, however many values there are."""
        of_entry = groups.astype(np.int64) * self.width  # the first key of each group
        of_entry = of_entry if self.one_each else of_entry.take(self.tuples)
        keys, counts = of_entry + self.codes, self.counts
        if kept is not None:
            chosen = kept[self.tuples]
            keys, counts = keys[chosen], counts[chosen]
        return counted(self.values, keys, counts, size)


def counted(values: tuple[str | None, ...], keys: Codes, counts: Counts, size: int) -> Histogram:
    """The histogram of entries, each with its group times the number of values plus its value as a key."""
    room, width = size * len(values), len(values)
    if room <= 4 * len(keys) + 1024:  # a table of all groups and values is small: no need to sort
        table = count(keys, room, None if counts.max(initial=1) == 1 else counts)
        keys = np.flatnonzero(table)
        return Histogram(values, keys // width, keys % width, table[keys], size)
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    counts = np.add.reduceat(counts[order], starts) if len(starts) else counts[:0]
    keys = keys[starts]
    return Histogram(values, keys // width, keys % width, counts, size)


@dataclass(frozen=True)
class ClassCounts:
    """What is known of some classes.

    Args:
        values: For each protected column, how many records of each class have each value.
    """

    records: Counts
    values: Mapping[str, Histogram] = field(default_factory=dict)
