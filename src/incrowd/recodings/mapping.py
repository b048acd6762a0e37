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
from incrowd.table.compressed import CompressedTable

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class LocalMapping:
    """A mapping from tuples to classes.

    Args:
        hierarchies: The hierarchy of each attribute.
        tuples: The original tuples, tuples x attributes, in lexicographic order.
        classes: The released tuples, classes x attributes, in lexicographic order.
        part_tuples: The tuple of each part, ascending.
        part_classes: The class of each part.
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
    def split(self) -> npt.NDArray[np.bool_]:
        """Which tuples have more than one part."""
        return np.diff(self.first_part) > 1

    @classmethod
    def build(
        cls, hierarchies: Sequence[Hierarchy], tuples: Nodes, part_tuples: Any, part_nodes: Any, part_records: Any
    ) -> LocalMapping:
        """Put parts in order.

        Args:
            hierarchies: The hierarchy of each attribute.
            tuples: The original tuples, in lexicographic order.
            part_tuples: The tuple of each part.
            part_nodes: The released tuple of each part, parts x attributes.
            part_records: Records of each part.
        """
        classes, of_part = distinct(part_nodes)
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
    def from_lines(cls, hierarchies: Sequence[Hierarchy], classes: Nodes, lines: Sequence[str]) -> LocalMapping:
        """From what `lines` gave."""
        tuples, parts = [], []
        for number, line in enumerate(lines):
            nodes, _, shares = line.partition(": ")
            tuples.append([int(node) for node in nodes.split()])
            parts += [(number, *map(int, share.split("*"))) for share in shares.split()]
        matrix = np.array(parts, np.int64).reshape(-1, 3)
        shaped = np.array(tuples, np.int32).reshape(-1, len(hierarchies))
        return cls(tuple(hierarchies), shaped, classes, matrix[:, 0], matrix[:, 1], matrix[:, 2])


def mapping_of(
    table: CompressedTable, hierarchies: Sequence[Hierarchy], part_tuples: Any, part_groups: Any, part_records: Any
) -> LocalMapping:
    """The mapping that releases every group of records as its closest common generalization.

    Args:
        table: The table; parts speak of its tuples.
        hierarchies: The hierarchy of each of its attributes.
        part_tuples: The tuple of each part.
        part_groups: The group of each part.
        part_records: Records of each part.
    """
    tuples = nodes_of(table, hierarchies)
    _, groups = np.unique(part_groups, return_inverse=True)
    nodes = np.stack(
        [common(hierarchy, tuples[part_tuples, a], groups) for a, hierarchy in enumerate(hierarchies)], axis=1
    )
    return LocalMapping.build(hierarchies, tuples, part_tuples, nodes[groups], part_records)


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
