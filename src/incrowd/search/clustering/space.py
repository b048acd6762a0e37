"""The tuples of a table in their hierarchies, as arrays: what every search of clustering reads.

Hierarchies are laid out in preorder, one after the other: node x has the descendants x+1 to end[x]-1. `detail` is how
much a node still says, more for deeper ones, in whole numbers: sums are exact, so ties are ties, in any order of
addition.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from incrowd.privacy.model import Requirement
from incrowd.recodings.hierarchies import Hierarchy, Nodes
from incrowd.recodings.mapping import nodes_of
from incrowd.search.clustering.class_tally import ClassTally
from incrowd.search.native.kernels import Int32, Int64
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import count

Array = npt.NDArray[Any]
BUCKET, EVERY = 16, 2**62
Parts = tuple[Array, Array, Array]  # tuple, class and records of each part


class Forest(NamedTuple):
    """The hierarchies of all attributes: parent (-1 at roots), end of the descendants, and detail of each node."""

    parent: Int32
    end: Int32
    detail: Int64

    def above(self, nodes: Array, others: Array) -> Array:
        """The closest common ancestors of nodes, one by one."""
        found = nodes.copy()
        while (apart := (others < found) | (others >= self.end[found])).any():
            found[apart] = self.parent[found[apart]]
        return found


@dataclass(frozen=True)
class Space:
    """What stays the same while classes change.

    Args:
        forest: The hierarchies.
        roots: The root of each attribute.
        tuples: The tuples, as nodes of the forest: tuples x attributes.
        counts: Records of each tuple.
        tally: Says which classes are good.
    """

    forest: Forest
    roots: Nodes
    tuples: Nodes
    counts: Array
    tally: ClassTally

    @classmethod
    def of(
        cls,
        table: CompressedTable,
        requirement: Requirement,
        hierarchies: Sequence[Hierarchy],
        detail: Sequence[Array],
        start: Nodes | None = None,
    ) -> Space:
        """The tuples of a table; generalized ones to `start` with, as nodes of their hierarchies, or as they are."""
        sizes = [len(hierarchy.taxonomy.labels) for hierarchy in hierarchies]
        roots = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int32)
        pairs = list(zip(hierarchies, roots, strict=True))
        parent = [np.where(h.taxonomy.parent < 0, -1, h.taxonomy.parent + root) for h, root in pairs]
        end = [hierarchy.end + root for hierarchy, root in pairs]
        forest = Forest(
            np.concatenate(parent).astype(np.int32), np.concatenate(end).astype(np.int32), np.concatenate(detail)
        )
        tuples = nodes_of(table, hierarchies) if start is None else start
        return cls(forest, roots, tuples + roots, table.counts, ClassTally(table, requirement))

    @property
    def least_size(self) -> int:
        """How many records a good class has at least."""
        return self.tally.requirement.least_size

    @property
    def everything(self) -> int:
        """What a record can lose."""
        return int(self.forest.detail[self.tuples[:1]].sum())

    def nodes(self, tuples: Array, groups: Array) -> Nodes:
        """The closest common generalization of groups of some tuples, which are numbered without gaps."""
        order = np.argsort(groups, kind="stable")
        firsts = np.flatnonzero(np.diff(groups[order], prepend=-1))
        rows = self.tuples[tuples[order]]
        # what lies between two nodes in preorder lies below the same
        return self.forest.above(np.minimum.reduceat(rows, firsts), np.maximum.reduceat(rows, firsts))

    def detail(self, nodes: Nodes) -> Array:
        """How much detail each class holds."""
        found: Array = self.forest.detail[nodes].sum(axis=1)
        return found

    def branches(self, nodes: Nodes, tuples: Array) -> Nodes:
        """The child of a class's value that a tuple's value lies below, itself where they are equal."""
        found = self.tuples[tuples]
        while (deeper := (found != nodes) & (self.forest.parent[found] != nodes)).any():
            found[deeper] = self.forest.parent[found[deeper]]
        return found

    def worth(self, groups: Array, crowding: int) -> int:
        """How much detail a release of whole tuples in some classes holds, less what their sizes cost."""
        groups, size = compact(groups)
        sizes = count(groups, size, self.counts)
        nodes = self.nodes(np.arange(len(groups)), groups)
        return int(sizes @ self.detail(nodes)) - crowding * int(sizes @ sizes)


def compact(groups: Array) -> tuple[Array, int]:
    """Classes numbered by their first tuple, without gaps, and how many they are."""
    _, first, number = np.unique(groups, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[number], len(first)
