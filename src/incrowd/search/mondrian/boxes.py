"""Boxes of records, and which parts of a box would be good classes.

Where models need only sizes, only sizes are counted. Where they protect a column, its values are counted too, from the
histogram of the table; so a box then has all records of its tuples. A union of good classes is good: in a box whose
tuples would all be good classes by themselves, as far as protected columns go, sizes are enough again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.privacy.model import Requirement
from incrowd.search.protected_columns import ProtectedColumn
from incrowd.table.class_counts import ClassCounts, Histogram
from incrowd.table.compressed import CompressedTable

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

CELLS = 1 << 20  # of a table of cuts x values at a time
FEW = 64  # values that need not be looked for
FIRST = 4  # cuts that are looked at before many others are


@dataclass(frozen=True)
class Part:
    """Some records: how many of which tuples; of a box, or by position of those of a box."""

    tuples: Ints
    records: Ints


class Judge:
    """Knows what a good class is."""

    def __init__(self, table: CompressedTable, requirement: Requirement) -> None:
        self.requirement = requirement
        self._sizes = Requirement(requirement.attributes, tuple(m for m in requirement.models if m.column is None))
        self._columns = {name: ProtectedColumn(table.protected[name]) for name in requirement.columns}
        about = Requirement(requirement.attributes, tuple(m for m in requirement.models if m.column is not None))
        # tuples that are no good classes by themselves, whatever their size
        self._needy = ~about.good(ClassCounts(table.counts, table.protected)) if self._columns else None

    def box(self, part: Part) -> Box:
        """A box to ask about."""
        if self._needy is None or not self._needy.take(part.tuples).any():
            return Box(part.tuples, part.records, self._sizes, {})
        return Box(part.tuples, part.records, self.requirement, self._columns)


@dataclass(frozen=True)
class Box:
    """The records of a box, by position."""

    tuples: Ints
    records: Ints
    requirement: Requirement
    columns: Mapping[str, ProtectedColumn]

    @cached_property
    def values(self) -> dict[str, Histogram]:
        """The values of protected columns in each tuple; most boxes are too small to ask for them."""
        return {name: column.of(self.tuples) for name, column in self.columns.items()}

    def good_sizes(self, sizes: Ints) -> Mask:
        """Which classes of this many records are good, where sizes are enough."""
        return self.requirement.good(ClassCounts(sizes)) if self.requirement.models else sizes > 0

    def classes(self, groups: npt.NDArray[Any], size: int) -> ClassCounts:
        """What is known of groups of tuples; none of them may be empty."""
        sizes = np.bincount(groups, self.records, size).astype(np.int64)
        return ClassCounts(sizes, {name: column.grouped(groups, size) for name, column in self.values.items()})

    def parts(self, groups: npt.NDArray[Any]) -> Sequence[Part]:
        """The groups of a box as parts, none if one of them is not a good class."""
        sizes = np.bincount(groups, self.records).astype(np.int64)
        present = np.flatnonzero(sizes)
        if not self.columns:
            good = self.good_sizes(sizes[present])
        elif (sizes[present] < self.requirement.least_size).any():
            return ()
        else:
            good = self.requirement.good(self.classes(np.searchsorted(present, groups), len(present)))
        if not good.all():
            return ()
        return self._as_parts(groups, present)

    def _as_parts(self, groups: npt.NDArray[Any], present: Iterable[int]) -> Sequence[Part]:
        places = (np.flatnonzero(groups == group) for group in present)
        return [Part(positions, self.records[positions]) for positions in places]

    def cut_between(self, codes: Ints) -> Sequence[Part]:
        """Cut between two codes, so that the halves are as even as good classes can be; the lowest of equals."""
        lowest, total = codes.min(), self.records.sum()
        below = np.bincount(codes - lowest, self.records).astype(np.int64).cumsum()[:-1]  # records up to each code
        if self.columns:
            cut = self._good_cut(codes, below, int(total))
            return () if cut is None else self._as_parts((codes > lowest + cut).astype(np.int64), (0, 1))
        allowed = self.good_sizes(below) & self.good_sizes(total - below)
        uneven = np.where(allowed, abs(2 * below - total), total + 1)
        best = int(uneven.argmin())
        return self.parts((codes > lowest + best).astype(np.int64)) if allowed[best] else ()

    def _good_cut(self, codes: Ints, below: Ints, total: int) -> int | None:
        """The most even cut with two good halves, as codes above the lowest; None if there is none."""
        least, lowest = self.requirement.least_size, codes.min()
        cuts = np.flatnonzero(np.diff(below, prepend=0))  # others part nothing else
        cuts = cuts[(below[cuts] >= least) & (total - below[cuts] >= least)]
        cuts = cuts[np.argsort(abs(2 * below[cuts] - total), kind="stable")]
        for some in self._in_turn(cuts):
            ends = np.sort(some)
            stretches = np.searchsorted(ends, codes - lowest)
            sizes = np.concatenate([below[ends], total - below[ends]])  # what is below each cut, then what is above
            values = {name: _halves(column, stretches, len(ends)) for name, column in self.values.items()}
            below_and_above = self.requirement.good(ClassCounts(sizes, values)).reshape(2, len(ends))
            good = below_and_above[0] & below_and_above[1]
            found = good[np.searchsorted(ends, some)]
            if found.any():
                return int(some[found.argmax()])
        return None

    def _in_turn(self, cuts: Ints) -> Iterator[Ints]:
        """A few cuts, then as many at a time as a table of them has room for."""
        yield from (cuts[:FIRST],) if len(cuts) else ()
        if len(cuts) <= FIRST:
            return
        most = max((len(_present(column)[0]) for column in self.values.values()), default=1)
        room = max(1, CELLS // max(1, most))
        for start in range(FIRST, len(cuts), room):
            yield cuts[start : start + room]


def _halves(column: Histogram, stretches: npt.NDArray[Any], cuts: int) -> Histogram:
    """The values below each of some cuts, then those above each of them.

    Args:
        column: The values in each tuple.
        stretches: Between which cuts each tuple lies: 0 for those below the first.
        cuts: How many cuts there are.
    """
    present, places = _present(column)
    keys = stretches.take(column.tuples) * len(present) + places
    counted = np.bincount(keys, column.counts, (cuts + 1) * len(present)).astype(np.int64)
    below = counted.reshape(cuts + 1, len(present)).cumsum(axis=0)  # cuts and the whole x values
    halves = np.concatenate([below[:-1], below[-1] - below[:-1]])
    classes, places = np.nonzero(halves)
    return Histogram(column.values, classes, present[places], halves[classes, places], 2 * cuts)


def _present(column: Histogram) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """The values that occur, and the place of that of each entry among them; all of them where they are few."""
    if column.width <= FEW:
        return np.arange(column.width), column.codes
    present, places = np.unique(column.codes, return_inverse=True)
    return present, places
