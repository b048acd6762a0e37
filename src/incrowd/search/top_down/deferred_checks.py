"""Promises about protected columns, looked at when a refinement is about to be performed, and not before.

The next refinement is the best one by gain and by the anonymity that it loses, which the first model of a requirement
measures. Whether the other models hold only matters for that one: if they do not, it is forgotten, since what is
invalid once stays invalid, and the next best is looked at. So every refinement is looked at once at most, where levels
kept for all of them would have to be brought up to date with every step; what is performed is the same.

A union of good classes is good. So tuples that would be good classes by themselves need not be counted as long as those
among them that would not be, taken together, are a good class in each group. Only groups where they are not are counted
in full.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from incrowd.privacy.model import Requirement
from incrowd.search.protected_columns import ProtectedColumn
from incrowd.search.top_down.groups import Groups, take
from incrowd.search.top_down.promises import Promises
from incrowd.table.class_counts import ClassCounts
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import count

Mask = npt.NDArray[np.bool_]

WORTHWHILE = 0.7  # share of tuples that need others above which all are counted at once


class DeferredChecks:
    """What is left to be looked at late: the promises whose levels are not known for all candidates."""

    def __init__(self, table: CompressedTable, promises: Promises) -> None:
        self._table = table
        self._left = [replace(r, models=promises.left(number)) for number, r in enumerate(promises.requirements)]
        self._columns = {name: ProtectedColumn(table.protected[name]) for left in self._left for name in left.columns}
        self._needy: dict[int, Mask] = {}  # by requirement: tuples that are no good class by themselves
        self.needed = any(left.models for left in self._left)

    def hold(self, requirement: int, groups: Groups) -> bool:
        """Whether the deferred promises of a requirement hold for some groups, of which all tuples are given."""
        left = self._left[requirement]
        if not left.models:
            return True
        needy = np.flatnonzero(take(self._needing(requirement), groups.rows))
        if len(needy) > WORTHWHILE * len(groups.numbers):
            return bool(self._good(left, groups).all())
        alone, present = groups.some(needy).compact()
        bad = present[~self._good(left, alone)]
        if not len(bad):
            return True
        failing = np.zeros(groups.size, bool)
        failing[bad] = True
        in_full, _ = groups.some(np.flatnonzero(failing.take(groups.numbers))).compact()
        return bool(self._good(left, in_full).all())

    def _needing(self, requirement: int) -> Mask:
        """The tuples that are not a good class by themselves."""
        if requirement not in self._needy:
            alone = ClassCounts(self._table.counts, self._table.protected)
            self._needy[requirement] = ~self._left[requirement].good(alone)
        return self._needy[requirement]

    def _good(self, left: Requirement, groups: Groups) -> Mask:
        """Which groups are good, if they had these tuples only."""
        records = count(groups.numbers, groups.size, groups.weights)
        values = {name: self._columns[name].grouped(groups.rows, groups.numbers, groups.size) for name in left.columns}
        return left.good(ClassCounts(records, values))
