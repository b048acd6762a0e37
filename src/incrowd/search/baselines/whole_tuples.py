"""Local suppression where privacy models count the values of protected columns.

Which of several equal records keeps a cell is decided by a hash, which knows nothing of protected values. So tuples
stay whole, and every class that others would join is looked at again: under some models that could make it bad.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from incrowd.privacy.model import Requirement
from incrowd.run import Run
from incrowd.search.baselines.cell_suppression import Ints, Suppression, classes_of, patterns
from incrowd.search.baselines.domains import Mask
from incrowd.table.class_counts import ClassCounts, Histogram
from incrowd.table.grouping import count

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
