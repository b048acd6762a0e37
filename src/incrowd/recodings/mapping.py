"""What a local search found, as data: which records of which tuple take which generalized tuple.

Tuples and classes are rows of hierarchy nodes; a part says how many records of a tuple belong to a class. Everything is
kept in one order (tuples and classes by their nodes, the parts of a tuple from the largest to the smallest), so that
equal mappings are equal arrays.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.recodings.hierarchies import Hierarchy, Nodes
from incrowd.schemas.shapes import SchemaError
from incrowd.table.compressed import CompressedTable

Numbers = npt.NDArray[np.int64]
_ROOM = 2**62  # what packed codes are below


@dataclass(frozen=True, eq=False)
class LocalMapping:
    """A mapping from tuples to classes.

    Args:
        hierarchies: The hierarchy of each attribute.
        tuples: The original tuples, tuples x attributes, in lexicographic order.
        classes: The released tuples, classes x attributes, in lexicographic order.
        part_tuples: The tuple of each part, ascending.
        part_classes: The class of each part; one more than the last for records that are left out.
        part_records: How many records it has; within a tuple the largest part comes first.
    """

    hierarchies: tuple[Hierarchy, ...]
    tuples: Nodes
    classes: Nodes
    part_tuples: Numbers
    part_classes: Numbers
    part_records: Numbers

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LocalMapping):
            return NotImplemented
        mine, theirs = vars(self), vars(other)
        return all(np.array_equal(mine[name], theirs[name]) for name in self.__dataclass_fields__)

    @cached_property
    def first_part(self) -> Numbers:
        """Where the parts of each tuple begin, and where the last ones end."""
        return np.searchsorted(self.part_tuples, np.arange(len(self.tuples) + 1))

    @cached_property
    def left_out(self) -> npt.NDArray[np.bool_]:
        return np.asarray(self.part_classes == len(self.classes))

    @cached_property
    def split(self) -> npt.NDArray[np.bool_]:
        return np.diff(self.first_part) > 1

    @classmethod
    def build(
        cls,
        hierarchies: Sequence[Hierarchy],
        tuples: Nodes,
        part_tuples: Any,
        part_nodes: Any,
        part_records: Any,
        left_out: npt.NDArray[np.bool_] | None = None,
    ) -> LocalMapping:
        """Put parts in order."""
        stay = np.ones(len(part_tuples), bool) if left_out is None else ~left_out
        classes, of_released = distinct(part_nodes[stay])
        of_part = np.full(len(part_tuples), len(classes))
        of_part[stay] = of_released
        order = np.lexsort((of_part, part_tuples))
        part_tuples, of_part, part_records = part_tuples[order], of_part[order], part_records[order]
        new = np.ones(len(order), bool)
        new[1:] = (np.diff(part_tuples) != 0) | (np.diff(of_part) != 0)
        starts = np.flatnonzero(new)
        part_tuples, of_part = part_tuples[starts], of_part[starts]
        records = np.add.reduceat(part_records, starts)
        order = np.lexsort((of_part, -records, part_tuples))
        return cls(
            tuple(hierarchies),
            np.asarray(tuples, np.int32),
            np.asarray(classes, np.int32),
            part_tuples[order].astype(np.int64),
            of_part[order].astype(np.int64),
            records[order].astype(np.int64),
        )

    def lines(self) -> Iterable[str]:
        """One line per tuple: its nodes, and class times records of each part."""
        first = self.first_part
        parts = [f"{c}*{n}" for c, n in zip(self.part_classes.tolist(), self.part_records.tolist(), strict=True)]
        for number, nodes in enumerate(self.tuples.tolist()):
            yield " ".join(map(str, nodes)) + ": " + " ".join(parts[first[number] : first[number + 1]])

    @classmethod
    def from_lines(cls, hierarchies: Sequence[Hierarchy], classes: Sequence[str], lines: Sequence[str]) -> LocalMapping:
        """From the lines of a file: of classes, and of tuples as `lines` gave them."""
        tuples, parts = [], []
        for number, line in enumerate(lines):
            nodes, _, shares = line.partition(": ")
            tuples.append(nodes)
            parts += [(number, *map(int, share.split("*"))) for share in shares.split()]
        matrix = np.array(parts, np.int64).reshape(-1, 3)
        shaped = _matrix(tuples, hierarchies, "tuples"), _matrix(classes, hierarchies, "classes")
        made = cls(tuple(hierarchies), *shaped, matrix[:, 0], matrix[:, 1], matrix[:, 2])
        made.check()
        return made

    def check(self) -> None:
        """Raise SchemaError unless every tuple is one of values, and every part of it lies in a class that has them."""
        if (self.part_classes > len(self.classes)).any() or (self.part_records < 1).any():
            raise SchemaError("tuples", "have parts of at least one record, in classes that there are")
        stay = self.part_classes < len(self.classes)  # one more than the last class is for records that are left out
        if len(np.unique(self.part_classes[stay])) < len(self.classes):
            raise SchemaError("classes", "each have records")
        order = np.lexsort((self.part_classes, -self.part_records, self.part_tuples))
        repeated = np.diff(self.part_tuples * (len(self.classes) + 1) + self.part_classes) == 0
        if repeated.any() or (order != np.arange(len(order))).any():
            raise SchemaError("tuples", "have their parts from the largest to the smallest, each in another class")
        for place, hierarchy in enumerate(self.hierarchies):
            start, stop = hierarchy.spans()
            inner = self.tuples[self.part_tuples[stay], place]
            outer = self.classes[self.part_classes[stay], place]
            if not np.isin(self.tuples[:, place], hierarchy.leaves).all():
                raise SchemaError("tuples", f"have values of column '{hierarchy.name}'")
            if ((start[outer] > start[inner]) | (stop[inner] > stop[outer])).any():
                raise SchemaError("tuples", f"lie in classes that have their values of column '{hierarchy.name}'")


def mapping_of(
    table: CompressedTable, hierarchies: Sequence[Hierarchy], part_tuples: Any, part_groups: Any, part_records: Any
) -> LocalMapping:
    """The mapping that releases every group of records as its closest common generalization; group -1 is left out."""
    tuples = nodes_of(table, hierarchies)
    _, groups = np.unique(part_groups, return_inverse=True)  # those left out are one of them
    nodes = np.stack(
        [common(hierarchy, tuples[part_tuples, a], groups) for a, hierarchy in enumerate(hierarchies)], axis=1
    )
    return LocalMapping.build(hierarchies, tuples, part_tuples, nodes[groups], part_records, part_groups < 0)


def nodes_of(table: CompressedTable, hierarchies: Sequence[Hierarchy]) -> Nodes:
    """The tuples of a table as nodes, tuples x attributes; they stay in lexicographic order, as leaves keep theirs."""
    columns = [hierarchy.leaves[codes] for hierarchy, codes in zip(hierarchies, table.codes, strict=True)]
    return np.stack(columns, axis=1).astype(np.int32)


def common(hierarchy: Hierarchy, nodes: Nodes, groups: Numbers) -> Nodes:
    """The closest common ancestor of the nodes of each group; groups are numbered from 0 without gaps."""
    size = int(groups.max()) + 1
    low, high = np.full(size, np.iinfo(np.int32).max, np.int32), np.full(size, -1, np.int32)
    np.minimum.at(low, groups, nodes)
    np.maximum.at(high, groups, nodes)
    while (apart := high >= hierarchy.end[low]).any():  # in preorder, what lies between two nodes lies below the same
        low[apart] = hierarchy.taxonomy.parent[low[apart]]
    return low


def _matrix(lines: Sequence[str], hierarchies: Sequence[Hierarchy], place: str) -> Nodes:
    """Rows of nodes, lines x attributes, from lines of numbers, which ascend."""
    rows = [line.split() for line in lines]
    if any(len(row) != len(hierarchies) for row in rows):
        raise SchemaError(place, f"have {len(hierarchies)} numbers each, one for each attribute")
    nodes = np.array(rows).astype(np.int64).reshape(-1, len(hierarchies))
    for hierarchy, column in zip(hierarchies, nodes.T, strict=True):
        if (column >= hierarchy.size).any():
            raise SchemaError(place, f"be nodes of column '{hierarchy.name}', of which there are {hierarchy.size}")
    if len(distinct(nodes)[0]) < len(nodes) or (np.lexsort(nodes.T[::-1]) != np.arange(len(nodes))).any():
        raise SchemaError(place, "ascend")
    return nodes.astype(np.int32)


def distinct(rows: Any) -> tuple[Any, Numbers]:
    """The distinct rows of a matrix in lexicographic order, and which of them each row is."""
    order = np.lexsort(rows.T[::-1])
    ordered = rows[order]
    new = np.ones(len(rows), bool)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    number = np.empty(len(rows), np.int64)
    number[order] = np.cumsum(new) - 1
    return ordered[new], number


def trace(
    number: Numbers, counts: Numbers, tuples: Numbers, groups: Numbers, records: Numbers
) -> tuple[Numbers, Numbers, Numbers]:
    """Parts of the original tuples from parts of the tuples that they were generalized to.

    The records of a generalized tuple are laid in a row twice: by original tuple, and by part. Every stretch between
    two borders of either belongs to one original tuple and one part.

    Args:
        number: The generalized tuple of each original one.
        counts: Records of each original tuple.
        tuples: The generalized tuple of each part.
        groups: The group of each part.
        records: The records of each part.
    """
    by_tuple = np.argsort(number, kind="stable")
    by_part = np.lexsort((groups, tuples))
    ends = [np.cumsum(counts[by_tuple]), np.cumsum(records[by_part])]
    borders = np.unique(np.concatenate(ends))
    stretch = np.diff(borders, prepend=0)
    own = by_tuple[np.searchsorted(ends[0], borders)]
    part = by_part[np.searchsorted(ends[1], borders)]
    return own, groups[part], stretch


class TupleLookup:
    """Maps rows of codes to the number of the equal row of a matrix.

    Codes are packed into one integer; where more are left than fit, what was packed is replaced by its rank among
    the packed values that occur.
    """

    def __init__(self, tuples: npt.NDArray[Any], sizes: Sequence[int]) -> None:
        self._sizes = sizes
        self._stages: dict[int, Numbers] = {}
        key, room = np.zeros(len(tuples), np.int64), 1
        for place, size in enumerate(sizes):
            if room * size >= _ROOM:
                self._stages[place], key = np.unique(key, return_inverse=True)
                room = len(tuples)
            key = key * size + tuples[:, place]
            room *= size
        self._order = np.argsort(key)
        self._keys = key[self._order]

    def __call__(self, rows: npt.NDArray[Any]) -> Numbers:
        """The number of each row, -1 where there is none."""
        key, known = np.zeros(len(rows), np.int64), np.ones(len(rows), bool)
        for place, size in enumerate(self._sizes):
            if place in self._stages:
                key, found = _ranks(self._stages[place], key)
                known &= found
            key = key * size + rows[:, place]
        place_of, found = _ranks(self._keys, key)
        return np.where(known & found, self._order[place_of], -1)


def _ranks(ordered: Numbers, keys: Numbers) -> tuple[Numbers, npt.NDArray[np.bool_]]:
    place = np.minimum(np.searchsorted(ordered, keys), len(ordered) - 1)
    return place, ordered[place] == keys
