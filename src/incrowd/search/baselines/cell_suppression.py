"""Local suppression: cells that are no longer shown, so that every record that is released stands in a crowd.

Works on tuples of cells, tuples x attributes; 0 is a cell that says nothing. A suppressed cell is a value like others
to whoever counts: a record with one has a crowd only among records with the same cells shown and the same ones not.

Where privacy models count the values of protected columns, tuples stay whole (`WholeTuples`): which of several equal
records keeps a cell is decided by a hash, which knows nothing of protected values. Every class that others would join
is looked at again then: under some models that could make it bad.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from math import comb

import numpy as np
import numpy.typing as npt

from incrowd.privacy.model import Requirement
from incrowd.run import Run
from incrowd.search.baselines.domains import Mask
from incrowd.search.loss_scale import Whole
from incrowd.table.class_counts import ClassCounts, Histogram
from incrowd.table.grouping import count, group

BLOCK = 1 << 14  # tuples whose cells are chosen at a time
MOST_PATTERNS = 1023  # all sets of cells to suppress in ten attributes
Ints = npt.NDArray[np.int64]
Needed = Sequence[tuple[Ints, Requirement]]  # what the classes over which attributes must satisfy


def cover(unsafe: Mask, members: Mask, costs: Whole, most: int) -> Mask:
    """The cells to suppress so that no unsafe combination is shown: greedily, few of them.

    For each tuple the cell that is part of most unsafe combinations is suppressed, until none of them is whole; of
    several the one with the least cost, then the first attribute. Costs are whole numbers up to `most`. unsafe: tuples
    x combinations; members: combinations x attributes; costs: tuples x attributes.
    """
    whole, suppressed = unsafe.copy(), np.zeros(costs.shape, bool)
    in_floats = members.astype(np.float64)  # whole numbers all the same, and multiplied many times faster
    while len(waiting := np.flatnonzero(whole.any(axis=1))):
        hits = (whole[waiting] @ in_floats).astype(costs.dtype)
        chosen = np.where(hits > 0, hits * (2 * most) - costs[waiting], -1).argmax(axis=1)
        suppressed[waiting, chosen] = True
        whole[waiting] &= ~members[:, chosen].T
    return suppressed


class Suppression:
    """Tuples of which more and more cells are suppressed; a tuple may fall into parts, which differ in that.

    `weights` are what a suppressed cell of each attribute costs, to choose between as many cells.
    """

    def __init__(self, cells: Ints, records: Ints, weights: Sequence[float]) -> None:
        self._told = cells
        self._weights = weights
        self.tuples: Ints = np.arange(len(cells))  # the tuple of each part
        self.records = records
        self.cells = cells.copy()

    @property
    def suppressed(self) -> Mask:
        """Parts x attributes."""
        return np.asarray(self.cells != self._told[self.tuples])

    def bad(self, places: Ints, requirement: Requirement) -> Mask:
        """The parts that lie in classes over some attributes that are not good."""
        groups, firsts = classes_of(self.cells[:, places])
        return np.asarray(~_good(requirement, count(groups, len(firsts), self.records))[groups])

    def complete(self, needed: Needed, run: Run) -> None:
        """Suppress until every requirement holds; all records together satisfy each.

        It ends, since each turn suppresses a cell at least (a bad class does not grow otherwise), and where all are
        suppressed all records are equal. With one requirement one turn is enough.
        """
        holding = 0
        while holding < len(needed):
            holding = 0
            for places, requirement in needed:
                if (bad := self.bad(places, requirement)).any():
                    self._join(places, requirement, bad, run)
                else:
                    holding += 1
        if len(needed) == 1:
            self._restore()

    def _join(self, places: Ints, requirement: Requirement, bad: Mask, run: Run) -> None:
        """Suppress cells of the parts in bad classes, few at first, until they have crowds; the rest draws others."""
        groups, firsts = classes_of(self.cells[~bad][:, places])
        classes, sizes = self.cells[~bad][:, places][firsts], count(groups, len(firsts), self.records[~bad])
        left = np.flatnonzero(bad)
        total = int(self.records[left].sum())
        for pattern in patterns([self._weights[place] for place in places]):
            run.check()
            trial = self.cells[left][:, places]
            trial[:, pattern] = 0
            every = np.concatenate([classes, trial])
            groups, firsts = classes_of(every)
            crowds = count(groups, len(firsts), np.concatenate([sizes, self.records[left]]))
            good = _good(requirement, crowds)
            leaving = good[groups[len(classes) :]]
            self.cells[np.ix_(left[leaving], places)] = trial[leaving]
            classes, sizes = every[firsts[good]], crowds[good]
            left = left[~leaving]
            if not len(left):
                return
            run.amount(total - int(self.records[left].sum()), total, "records given a crowd")
        self._draw(places, requirement, left, classes, sizes)

    def _draw(self, places: Ints, requirement: Requirement, left: Ints, classes: Ints, sizes: Ints) -> None:
        """The last few become one class together with as many records of another as they lack, or with all of them.

        That class is taken with which fewest cells are suppressed; then that of which fewest records are taken.
        """
        own = self.cells[left][:, places]
        shared = np.where((own == own[0]).all(axis=0), own[0], 0)
        lacking = requirement.least_size - int(self.records[left].sum())
        common = np.where(classes == shared, shared, 0)  # classes x attributes
        taken = np.where(_good(requirement, sizes - lacking), lacking, sizes)
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
        """Show again what all records of a class have in common: it is the same class then, or part of a larger one."""
        groups, firsts = classes_of(self.cells)
        told = self._told[self.tuples]
        low, high = np.full((2, len(firsts), told.shape[1]), told.max() + 1)
        high[:] = -1
        np.minimum.at(low, groups, told)
        np.maximum.at(high, groups, told)
        self.cells = np.where(low == high, low, self.cells[firsts])[groups]


def _good(requirement: Requirement, sizes: Ints) -> Mask:
    return requirement.good(ClassCounts(sizes))


def patterns(weights: Sequence[float]) -> Iterator[list[int]]:
    """Sets of attributes, from small ones to all: every one, or of many attributes the small ones, then ever larger.

    Of equally many the set with the least sum of weights comes first.
    """
    size, listed = 1, 0
    while size <= len(weights) and (listed := listed + comb(len(weights), size)) <= MOST_PATTERNS:
        sets = combinations(range(len(weights)), size)
        yield from map(list, sorted(sets, key=lambda chosen: (sum(weights[i] for i in chosen), chosen)))
        size += 1
    cheapest = sorted(range(len(weights)), key=lambda index: (weights[index], index))
    for more in range(size, len(weights) + 1):
        yield cheapest[:more]


def classes_of(cells: Ints) -> tuple[Ints, Ints]:
    """The class of each row of cells, and a row of each class, in the order of their cells."""
    if not len(cells):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    columns = list(cells.T)
    return group(columns, [int(column.max()) + 1 for column in columns])


TRIED = 100  # classes that the last few are tried with before the first of them is taken


class WholeTuples(Suppression):
    """Tuples of which more and more cells are suppressed, each as a whole."""

    def __init__(
        self, cells: Ints, records: Ints, weights: Sequence[float], protected: Mapping[str, Histogram]
    ) -> None:
        super().__init__(cells, records, weights)
        self._protected = protected

    def bad(self, places: Ints, requirement: Requirement) -> Mask:
        return self._bad_with(self.cells[:, places], requirement)

    def _bad_with(self, cells: Ints, requirement: Requirement) -> Mask:
        groups, firsts = classes_of(cells)
        return np.asarray(~requirement.good(self._counts(groups, len(firsts), requirement))[groups])

    def _counts(self, groups: Ints, size: int, requirement: Requirement, kept: Mask | None = None) -> ClassCounts:
        records = count(groups, size, self.records if kept is None else self.records * kept)
        columns = requirement.columns
        return ClassCounts(records, {name: self._protected[name].grouped(groups, size, kept) for name in columns})

    def _join(self, places: Ints, requirement: Requirement, bad: Mask, run: Run) -> None:
        """Suppress cells of the tuples in bad classes, few at first, until they have crowds; the rest draws others.

        A tuple joins a class only if that is good then, with all who join it at the same time.
        """
        left = np.flatnonzero(bad)
        total = int(self.records[left].sum())
        for pattern in patterns([self._weights[place] for place in places]):
            run.check()
            trial = self.cells[:, places]
            trial[np.ix_(left, np.array(pattern))] = 0
            leaving = ~self._bad_with(trial, requirement)[left]
            self.cells[np.ix_(left[leaving], places)] = trial[left[leaving]]
            left = left[~leaving]
            if not len(left):
                return
            run.amount(total - int(self.records[left].sum()), total, "records given a crowd")
        self._draw_classes(places, requirement, left)

    def _draw_classes(self, places: Ints, requirement: Requirement, left: Ints) -> None:
        """The last few become one class together with another one, with two others, and so on, until it is good.

        Of the classes with which it would be good that one is taken with which fewest cells are suppressed, then the
        smallest; where there is none near by, the first of all by the same rule. In the end all records are one class.
        """
        inside = np.zeros(len(self.cells), bool)
        inside[left] = True
        own = self.cells[left][:, places]
        shared = np.where((own == own[0]).all(axis=0), own[0], 0)
        while not inside.all() and not self._is_good(inside, requirement):
            others = np.flatnonzero(~inside)
            groups, firsts = classes_of(self.cells[others][:, places])
            classes = self.cells[others][:, places][firsts]
            sizes = count(groups, len(firsts), self.records[others])
            common = np.where(classes == shared, shared, 0)  # classes x attributes
            shown = self.records[inside] @ (self.cells[inside][:, places] != 0)
            lost = (common == 0) @ shown + sizes * ((classes != 0) & (common == 0)).sum(axis=1)
            order = np.lexsort((sizes, lost))
            best = self._first_good(order, groups, others, inside, requirement)
            inside[others[groups == best]] = True
            shared = common[best]
        self.cells[np.ix_(np.flatnonzero(inside), places)] = shared

    def _is_good(self, inside: Mask, requirement: Requirement) -> bool:
        groups = np.zeros(len(inside), np.int64)
        return bool(requirement.good(self._counts(groups, 1, requirement, inside))[0])

    def _first_good(self, order: Ints, groups: Ints, others: Ints, inside: Mask, requirement: Requirement) -> int:
        """The first class that is good together with some tuples, else the first of all."""
        for chosen in order[:TRIED].tolist():
            together = inside.copy()
            together[others[groups == chosen]] = True
            if self._is_good(together, requirement):
                return int(chosen)
        return int(order[0])
