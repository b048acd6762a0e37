"""The current classes of one quasi-identifier, as groups of records that fall apart step by step.

A step splits the groups of the records that it touches, and looks at no other: its time does not depend on how many
groups there are by then.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.table.grouping import Codes

Rows = npt.NDArray[np.intp] | slice
Weights = npt.NDArray[np.float64] | None

SPARE = 1024  # cells of a table that cost hardly more than none
_PACKED = 8  # cells per group that are counted for all attributes at once, about
WORTHWHILE = 0.7  # share of the records in changed groups above which it does not pay to leave the others out


@dataclass(frozen=True)
class Groups:
    """Groups that a step made."""

    rows: Rows  # the records in them
    numbers: Codes  # the group of each of these records, below `size`
    size: int  # how many groups there are
    weights: Weights  # the weight of each of these records, None if all are 1

    def some(self, chosen: Codes) -> Groups:
        """Some of the records, by position, in groups that may be empty then."""
        rows = chosen if isinstance(self.rows, slice) else self.rows.take(chosen)
        weights = None if self.weights is None else self.weights.take(chosen)
        return Groups(rows, self.numbers.take(chosen), self.size, weights)

    def compact(self) -> tuple[Groups, Codes]:
        """The same without empty groups, numbered anew, and which groups are left."""
        numbers, present = numbered(self.numbers, self.size)
        return Groups(self.rows, numbers, len(present), self.weights), present

    def part(self, part: slice) -> Groups:
        rows = part if isinstance(self.rows, slice) else self.rows[part]
        return Groups(rows, self.numbers[part], self.size, None if self.weights is None else self.weights[part])


@dataclass(frozen=True)
class Split:
    """What comes of groups when some records are separated."""

    touched: Groups  # the groups that the records are in then
    changed: Groups  # those of them that are really split off: the other attributes have seen the rest before
    renamed: Codes  # the number of each touched group among all groups
    size: int  # how many groups there are then


class Grouping:
    """The group of each record, and how groups are split; at first all records are in one group."""

    def __init__(self, records: int, weights: Weights) -> None:
        self._groups = np.zeros(records, np.int32)
        self._size = 1
        self._weights = weights
        self._scratch = np.empty(records, np.int32)  # by group; only what a step wrote there itself is read

    def everyone(self) -> Groups:
        """All records, as they are now."""
        return Groups(slice(None), self._groups, self._size, self._weights)

    def among(self, rows: Rows, width: int = 1) -> Groups:
        """The current groups of some records, which may have others, too; `width` cells per group will be counted."""
        _, numbers, size = self._present(take(self._groups, rows), width)
        return Groups(rows, numbers, size, None if self._weights is None else take(self._weights, rows))

    def keep(self, groups: Codes, weights: Weights) -> None:
        """Go on with fewer records, at least one of every group, each of which represents others of its group too."""
        self._groups, self._weights = groups, weights

    def of(self, parts: Sequence[Rows]) -> Groups:
        """The groups, as they are now, of all records in some parts, or more; a part has all records of its groups."""
        if 2 * sum(len(self._groups) if isinstance(rows, slice) else len(rows) for rows in parts) > len(self._groups):
            return self.everyone()
        inside = np.zeros(len(self._groups), bool)
        for rows in parts:
            inside[rows if isinstance(rows, slice) else rows.astype(np.intp)] = True
        rows = np.flatnonzero(inside)
        return self.among(rows, _PACKED)

    def tried(self, rows: Rows, children: Codes, width: int) -> Split:
        """What would come of the groups of some records, which must be all records of these groups.

        `children` says which child, below `width`, each of them would belong to.
        """
        old, local, number = self._present(take(self._groups, rows), width)
        numbers, keys = numbered(paired(local, width, children), number * width)
        parent = keys // width  # ascending, so the parts of a group lie side by side
        first = np.diff(parent, prepend=-1) > 0
        # The first part of a group keeps its number, the others get new ones.
        renamed = old.take(parent)
        others = np.flatnonzero(~first)
        renamed[others] = np.arange(self._size, self._size + len(others))
        touched = Groups(rows, numbers, len(keys), None if self._weights is None else take(self._weights, rows))
        whole = first & np.append(first[1:], True)  # groups that stayed as they were
        changed = _without(touched, whole) if whole.any() else touched
        return Split(touched, changed, renamed, self._size + len(others))

    def perform(self, split: Split) -> None:
        """Split groups as they were tried; nothing may have been split in between."""
        rows, renamed = split.touched.rows, split.renamed.astype(np.int32)
        self._groups[rows if isinstance(rows, slice) else rows.astype(np.intp)] = renamed.take(split.touched.numbers)
        self._size = split.size

    def _present(self, groups: Codes, width: int) -> tuple[Codes, Codes, int]:
        """The groups that occur, the place of each record's group among them, and how many there are.

        Where nearly all groups may occur, they are all taken.
        """
        if self._size * width <= 2 * len(groups):
            return np.arange(self._size), groups, self._size
        groups = groups.astype(np.intp)  # what numpy wants places to be; it would make them so again and again
        records = np.arange(len(groups), dtype=np.int32)
        self._scratch[groups] = records  # the last record of a group represents it
        old = groups[self._scratch.take(groups) == records]
        self._scratch[old] = np.arange(len(old), dtype=np.int32)
        return old, self._scratch.take(groups), len(old)


def _without(groups: Groups, left_out: npt.NDArray[np.bool_]) -> Groups:
    """Some groups without others; all of them where it would not pay."""
    inside = ~left_out.take(groups.numbers)
    if np.count_nonzero(inside) > WORTHWHILE * len(inside):
        return groups
    return groups.some(np.flatnonzero(inside)).compact()[0]


def take(values: npt.NDArray[Any], rows: Rows) -> npt.NDArray[Any]:
    """The values of some records; np.take needs half the time of values[rows], and this is what a step mostly does."""
    return values[rows] if isinstance(rows, slice) else values.take(rows)


def is_small(cells: int, records: int) -> bool:
    """Whether a table of this many cells is worth filling for this many records; sorting them is the other way."""
    return cells <= 4 * records + SPARE


def numbered(keys: Codes, room: int) -> tuple[Codes, Codes]:
    """The place of each key, all of which are below `room`, among the distinct ones, and those, ascending."""
    if not is_small(room, len(keys)):
        distinct, places = np.unique(keys, return_inverse=True)
        return places, distinct
    present = np.zeros(room, bool)
    present[keys] = True
    if present.all():  # then each is its own place
        return keys, np.arange(room)
    return (np.cumsum(present) - 1).take(keys), np.flatnonzero(present)


def paired(groups: Codes, width: int, parts: Codes) -> Codes:
    """A group and a part of it, below `width`, as one number for each record; made in one piece of memory."""
    keys = groups.astype(np.int64)
    keys *= width
    keys += parts
    return keys
