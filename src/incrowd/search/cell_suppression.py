"""Local suppression: cells that are no longer told, so that every record that is released stands in a crowd.

Works on tuples of cells, tuples x attributes; 0 is a cell that tells nothing. A suppressed cell is a value like others
to whoever counts: a record with one has a crowd only among records with the same cells told and the same ones not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import comb

import numpy as np
import numpy.typing as npt

from incrowd.measures import group
from incrowd.search.domains import Mask
from incrowd.table import Floats, count

MOST_PATTERNS = 1023  # all sets of cells to suppress in ten attributes
Ints = npt.NDArray[np.int64]


def cover(unsafe: Mask, members: Mask, costs: Floats) -> Mask:
    """The cells to suppress so that no unsafe combination is told: greedily, few of them.

    For each tuple the cell that is part of most unsafe combinations is suppressed, until none of them is whole; of
    several the one with the least cost, then the first attribute.

    Args:
        unsafe: Which combinations are unsafe in which tuple: tuples x combinations.
        members: Which attributes each has: combinations x attributes.
        costs: What suppressing a cell costs, 0 to 1: tuples x attributes.
    """
    whole, suppressed = unsafe.copy(), np.zeros(costs.shape, bool)
    while len(waiting := np.flatnonzero(whole.any(axis=1))):
        hits = whole[waiting].astype(np.int64) @ members.astype(np.int64)
        chosen = np.where(hits > 0, 2 * hits - costs[waiting], -1).argmax(axis=1)
        suppressed[waiting, chosen] = True
        whole[waiting] &= ~members[:, chosen].T
    return suppressed


class Suppression:
    """Tuples of which more and more cells are suppressed; a tuple may fall into parts, which differ in that.

    Args:
        cells: The cells: tuples x attributes.
        records: Records of each tuple.
        weights: What a suppressed cell of each attribute costs, to choose between as many cells.
    """

    def __init__(self, cells: Ints, records: Ints, weights: Sequence[float]) -> None:
        self._told = cells
        self._weights = weights
        self.tuples: Ints = np.arange(len(cells))  # the tuple of each part
        self.records = records
        self.cells = cells.copy()

    @property
    def suppressed(self) -> Mask:
        """The suppressed cells: parts x attributes."""
        return np.asarray(self.cells != self._told[self.tuples])

    def small(self, places: Ints, k: int) -> Mask:
        """The parts that lie in classes of fewer than k over some attributes."""
        groups, firsts = _classes(self.cells[:, places])
        return np.asarray((count(groups, len(firsts), self.records) < k)[groups])

    def complete(self, quasi_identifiers: Sequence[tuple[Ints, int]]) -> None:
        """Suppress until every quasi-identifier holds.

        It ends, since each turn suppresses a cell at least (a small class does not grow otherwise), and where all are
        suppressed all records are equal. With one quasi-identifier one turn is enough.

        Args:
            quasi_identifiers: The attributes and the k of each; no k is larger than the number of records.
        """
        holding = 0
        while holding < len(quasi_identifiers):
            holding = 0
            for places, k in quasi_identifiers:
                if (small := self.small(places, k)).any():
                    self._mend(places, k, small)
                else:
                    holding += 1
        if len(quasi_identifiers) == 1:
            self._restore()

    def _mend(self, places: Ints, k: int, small: Mask) -> None:
        """Suppress cells of the parts in small classes, few at first, until they have crowds; the rest draws others."""
        groups, firsts = _classes(self.cells[~small][:, places])
        classes, sizes = self.cells[~small][:, places][firsts], count(groups, len(firsts), self.records[~small])
        left = np.flatnonzero(small)
        for pattern in patterns([self._weights[place] for place in places]):
            trial = self.cells[left][:, places]
            trial[:, pattern] = 0
            every = np.concatenate([classes, trial])
            groups, firsts = _classes(every)
            crowds = count(groups, len(firsts), np.concatenate([sizes, self.records[left]]))
            leaving = crowds[groups[len(classes) :]] >= k
            self.cells[np.ix_(left[leaving], places)] = trial[leaving]
            classes, sizes = every[firsts[crowds >= k]], crowds[crowds >= k]
            left = left[~leaving]
            if not len(left):
                return
        self._draw(places, k, left, classes, sizes)

    def _draw(self, places: Ints, k: int, left: Ints, classes: Ints, sizes: Ints) -> None:
        """The last few, less than k, become one class together with records of another, or with all of them.

        That class is taken with which fewest cells are suppressed; then that of which fewest records are taken.
        """
        own = self.cells[left][:, places]
        shared = np.where((own == own[0]).all(axis=0), own[0], 0)
        lacking = k - int(self.records[left].sum())
        common = np.where(classes == shared, shared, 0)  # classes x attributes
        taken = np.where(sizes - lacking >= k, lacking, sizes)
        lost = (common == 0) @ (self.records[left] @ (own != 0)) + taken * ((classes != 0) & (common == 0)).sum(axis=1)
        best = np.lexsort((taken, lost))[0]
        members = np.flatnonzero((self.cells[:, places] == classes[best]).all(axis=1))
        members = members[~np.isin(members, left)]
        before = np.cumsum(self.records[members]) - self.records[members]
        drawn = np.minimum(self.records[members], taken[best] - before)
        members, drawn = members[drawn > 0], drawn[drawn > 0]
        self._split(members[-1], int(drawn[-1]))
        self.cells[np.ix_(np.append(left, members), places)] = common[best]

    def _split(self, part: int, records: int) -> None:
        """Leave a part that many records; the others are a part of their own."""
        if others := int(self.records[part]) - records:
            self.tuples = np.append(self.tuples, self.tuples[part])
            self.cells = np.concatenate([self.cells, self.cells[part : part + 1]])
            self.records = np.append(self.records, others)
            self.records[part] = records

    def _restore(self) -> None:
        """Tell again what all records of a class have in common: it is the same class then, or part of a larger one."""
        groups, firsts = _classes(self.cells)
        told = self._told[self.tuples]
        low, high = np.full((2, len(firsts), told.shape[1]), told.max() + 1)
        high[:] = -1
        np.minimum.at(low, groups, told)
        np.maximum.at(high, groups, told)
        self.cells = np.where(low == high, low, self.cells[firsts])[groups]


def patterns(weights: Sequence[float]) -> Iterator[list[int]]:
    """Sets of attributes, from small ones to all: every one, or of many attributes the small ones, then ever larger.

    Args:
        weights: What suppressing each attribute costs; of equally many the set with the least sum comes first.
    """
    size, listed = 1, 0
    while size <= len(weights) and (listed := listed + comb(len(weights), size)) <= MOST_PATTERNS:
        sets = combinations(range(len(weights)), size)
        yield from map(list, sorted(sets, key=lambda chosen: (round(sum(weights[i] for i in chosen), 9), chosen)))
        size += 1
    cheapest = sorted(range(len(weights)), key=lambda index: (round(weights[index], 9), index))
    for more in range(size, len(weights) + 1):
        yield cheapest[:more]


def _classes(cells: Ints) -> tuple[Ints, Ints]:
    """The class of each row of cells, and a row of each class, in the order of their cells."""
    if not len(cells):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    columns = list(cells.T)
    return group(columns, [int(column.max()) + 1 for column in columns])
