"""Whether classes would be good: counts of protected columns, added up from tuples and classes and taken off again.

Asking for a few classes costs as much as these few have entries, not as the table has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.privacy.model import Requirement
from incrowd.search import leaving_out
from incrowd.table.class_counts import ClassCounts, Histogram, Mask
from incrowd.table.compressed import CompressedTable

Array = npt.NDArray[Any]
ENTRIES = 8_000_000  # counts to add up at a time


@dataclass(frozen=True)
class Entries:
    """What is counted of each of some things (tuples, or classes).

    Args:
        counts: Their records, and the values of each protected column.
        first: By column, where the entries of each thing begin, and where the last ones end.
    """

    counts: ClassCounts
    first: Mapping[str, Array]

    @classmethod
    def of(cls, counts: ClassCounts, columns: Sequence[str]) -> Entries:
        """Of classes whose values are counted."""
        things = np.arange(len(counts.records) + 1)
        return cls(counts, {name: np.searchsorted(counts.values[name].tuples, things) for name in columns})


@dataclass(frozen=True)
class Term:
    """Things that are added to groups, or taken off.

    Args:
        entries: What is known of the things.
        numbers: Which things.
        groups: The group of each.
        sign: 1 to add, -1 to take off.
    """

    entries: Entries
    numbers: Array
    groups: Array
    sign: int = 1


class ClassTally:
    """Asks a requirement about sets of tuples."""

    def __init__(self, table: CompressedTable, requirement: Requirement) -> None:
        self.requirement = requirement
        self._table = table
        self._columns = requirement.columns
        values = {name: table.protected[name] for name in self._columns}
        self.tuples = Entries.of(ClassCounts(table.counts, values), self._columns)

    def classes(self, groups: Array, size: int) -> Entries:
        """What is known of the classes that groups of all tuples are."""
        return Entries.of(self._table.class_counts(groups, size), self._columns)

    def good_classes(self, classes: Entries) -> Mask:
        """Which classes are good."""
        return self.requirement.good(classes.counts)

    def settled(self, groups: Array, budget: int) -> Array | None:
        """Classes of all tuples, of which -1 is left out, without bad ones; None where more than the budget is out."""
        return leaving_out.settled(self._table, self.requirement, groups, budget)

    def good_groups(self, tuples: Array, groups: Array, size: int) -> Mask:
        """Which groups of some tuples are good."""
        return self.good([Term(self.tuples, tuples, groups)], size)

    def good(self, terms: Sequence[Term], size: int) -> Mask:
        """Which groups are good once everything is added to them and taken off."""
        step = max(1, size * ENTRIES // max(1, sum(map(self._amount, terms))))
        if step >= size:
            return self._good(terms, size)
        found = np.empty(size, bool)
        for start in range(0, size, step):
            stop = min(size, start + step)
            chosen = [(term.groups >= start) & (term.groups < stop) for term in terms]
            pairs = zip(terms, chosen, strict=True)
            some = [Term(t.entries, t.numbers[c], t.groups[c] - start, t.sign) for t, c in pairs]
            found[start:stop] = self._good(some, stop - start)
        return found

    def _amount(self, term: Term) -> int:
        return sum(int((first[term.numbers + 1] - first[term.numbers]).sum()) for first in term.entries.first.values())

    def _good(self, terms: Sequence[Term], size: int) -> Mask:
        records = np.zeros(size, np.int64)
        for term in terms:
            np.add.at(records, term.groups, term.sign * term.entries.counts.records[term.numbers])
        return self.requirement.good(ClassCounts(records, {name: _summed(terms, name, size) for name in self._columns}))


def _summed(terms: Sequence[Term], name: str, size: int) -> Histogram:
    """The values of a column in each group."""
    keys, weights = [], []
    for term in terms:
        histogram, first = term.entries.counts.values[name], term.entries.first[name]
        begins, lengths = first[term.numbers], first[term.numbers + 1] - first[term.numbers]
        total = int(lengths.sum())
        entries = np.repeat(begins - np.cumsum(lengths) + lengths, lengths) + np.arange(total)
        keys.append(np.repeat(term.groups.astype(np.int64), lengths) * histogram.width + histogram.codes[entries])
        weights.append(term.sign * histogram.counts[entries])
    values = terms[0].entries.counts.values[name].values
    key = np.concatenate(keys)
    order = np.argsort(key, kind="stable")
    key = key[order]
    starts = np.flatnonzero(np.diff(key, prepend=-1))
    if not len(starts):
        return Histogram(values, key, key, key, size)
    counts = np.add.reduceat(np.concatenate(weights)[order], starts)
    some = counts != 0
    key = key[starts][some]
    return Histogram(values, key // len(values), key % len(values), counts[some], size)
