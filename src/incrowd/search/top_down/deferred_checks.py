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

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from incrowd.privacy.model import Requirement
from incrowd.search.protected_columns import ProtectedColumn
from incrowd.search.top_down.groups import Groups, numbered, take
from incrowd.search.top_down.promises import Promises
from incrowd.table.class_counts import ClassCounts
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import Codes, count

Mask = npt.NDArray[np.bool_]

WORTHWHILE = 0.7  # share of tuples that need others above which all are counted at once


class DeferredChecks:
    """What is left to be looked at late.

    Args:
        table: The compressed table; its tuples are what groups consist of.
        promises: All promises; those whose levels are known for all candidates are not looked at.
    """

    def __init__(self, table: CompressedTable, promises: Promises) -> None:
        self._table = table
        self._left = [replace(r, models=promises.left(number)) for number, r in enumerate(promises.requirements)]
        self._columns = {name: ProtectedColumn(table.protected[name]) for left in self._left for name in left.columns}
        self._needy: dict[int, Mask] = {}  # by requirement: tuples that are no good class by themselves
        self.needed = any(left.models for left in self._left)

    def hold(self, requirement: int, groups: Groups) -> bool:
        """Whether the late promises of a requirement hold for some groups, of which all tuples are given."""
        left = self._left[requirement]
        if not left.models:
            return True
        needy = np.flatnonzero(take(self._needing(requirement), groups.rows))
        if len(needy) > WORTHWHILE * len(groups.numbers):
            return bool(self._good(left, groups).all())
        alone = _some(groups, needy)
        bad = alone.present[~self._good(left, alone.groups)]
        if not len(bad):
            return True
        failing = np.zeros(groups.size, bool)
        failing[bad] = True
        in_full = _some(groups, np.flatnonzero(failing.take(groups.numbers)))
        return bool(self._good(left, in_full.groups).all())

    def _needing(self, requirement: int) -> Mask:
        """The tuples that are no good class by themselves."""
        if requirement not in self._needy:
            alone = ClassCounts(self._table.counts, self._table.protected)
            self._needy[requirement] = ~self._left[requirement].good(alone)
        return self._needy[requirement]

    def _good(self, left: Requirement, groups: Groups) -> Mask:
        """Which groups are good, if they had these tuples only."""
        records = count(groups.numbers, groups.size, groups.weights)
        values = {name: self._columns[name].grouped(groups.rows, groups.numbers, groups.size) for name in left.columns}
        return left.good(ClassCounts(records, values))


@dataclass(frozen=True)
class _Some:
    """Some tuples of groups: the groups that have them, numbered anew, and which those are."""

    groups: Groups
    present: Codes


def _some(groups: Groups, places: Codes) -> _Some:
    """Some tuples of groups, by position."""
    numbers, present = numbered(groups.numbers.take(places), groups.size)
    rows = places if isinstance(groups.rows, slice) else groups.rows.take(places)
    weights = None if groups.weights is None else groups.weights.take(places)
    return _Some(Groups(rows, numbers, len(present), weights), present)
