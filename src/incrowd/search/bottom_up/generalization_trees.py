"""What the values of one attribute can be generalized to, step by step, for a search that starts at the bottom.

A ladder is a tree: its leaves are the values, a generalization {c} -> p replaces the children of a node by the node.
With a taxonomy it is the taxonomy. Without one it is built before the search, from the histogram of the attribute:

- Numbers and dates: a binary tree of intervals. It arises bottom-up, too: of all neighbouring intervals the two that
  lose least by it (class information, weighted by records, or NCP without a target) are joined, again and again; of
  equals those with fewest records, then the lowest. Missing values join last, under the root.
- Categories without a taxonomy: the suppressed values "*", which grow by the rarest value that is still shown (of
  equals the first), until all are suppressed. The first step takes two: one value alone gains nothing by another name.
  Missing values are a category like the others.

The children of a node of a given taxonomy need not generalize all at once, and its rare values need not generalize with
their siblings, if that is wanted: see `siblings`. Taxonomies that a rule built out of the values stay as they are.

An attribute with very many values need not take as many steps: values are first run together (neighbouring numbers,
rarest categories) into atoms with at least 1/1024 of the records, whose values generalize all at once.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.recodings.steps import Generalization, GeneralizeNode, MergeIntervals, Suppress
from incrowd.search.bottom_up.merges import CellJoints, InformationJoints, Joints
from incrowd.search.bottom_up.siblings import CellPairs, InformationPairs, PartialTree
from incrowd.table.attributes import FlatAttribute, NumberAttribute, TaxonomyAttribute
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import Codes, Counts

ATOMS = 1024  # an atom of values that generalize together has at least this fraction of the records
SIBLINGS = 128  # children of a node that are joined two by two; where there are more, the rarest are one

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Ladder:
    """The tree of an attribute.

    Args:
        leaves: The node of each code.
        parent: The parent of each node, -1 for the root.
        children: The children of each node.
        first: A code below each node. Nodes of a cut differ in it, and it orders them.
        changes: The generalization to each inner node, in codes.
    """

    leaves: Ints
    parent: Ints
    children: tuple[tuple[int, ...], ...]
    first: Ints
    changes: dict[int, Generalization]

    def sum_up(self, values: Any) -> Any:
        """What each node has, from what each code has; values: codes x ..."""
        total = np.zeros((len(self.parent), *values.shape[1:]), values.dtype)
        total[self.leaves] = values
        depth = np.zeros(len(self.parent), np.int64)
        above = self.parent
        while (inside := above >= 0).any():
            depth += inside
            above = np.where(inside, self.parent[above], -1)
        order = np.argsort(-depth, kind="stable")
        for level in np.split(order, np.flatnonzero(np.diff(depth[order])) + 1)[:-1]:
            np.add.at(total, self.parent[level], total[level])
        return total

    def cut(self, performed: npt.NDArray[np.bool_]) -> Ints:
        """The node of each code, where some nodes were generalized to."""
        nodes = self.leaves
        while (up := (self.parent[nodes] >= 0) & performed[self.parent[nodes]]).any():
            nodes = np.where(up, self.parent[nodes], nodes)
        return nodes

    def below(self, node: int, codes: Codes) -> Ints:
        """The child of a node that each of some codes under it belongs to."""
        distinct, inverse = np.unique(codes, return_inverse=True)
        nodes = self.leaves[distinct]
        while (deeper := self.parent[nodes] != node).any():
            nodes = np.where(deeper, self.parent[nodes], nodes)
        return np.asarray(nodes[inverse])

    def sum_children(self, values: Any) -> Any:
        """What the children of each node have together."""
        total = np.zeros_like(values)
        below = self.parent >= 0
        np.add.at(total, self.parent[below], values[below])
        return total


def ladder_of(
    table: CompressedTable, attribute: int, measure: str, *, groups: bool = False, rare: Sequence[int] = ()
) -> Ladder:
    """The ladder of an attribute: its taxonomy, or one built for the measure.

    Args:
        table: The table.
        attribute: Position of the attribute.
        measure: What a generalization loses.
        groups: Whether children of a node of a given taxonomy may become groups.
        rare: Values with a given taxonomy that are suppressed by themselves, rarest first.
    """
    described, counts = table.attributes[attribute], table.value_counts(attribute)
    if isinstance(described, TaxonomyAttribute):
        if described.rule is not None or not (groups or rare):
            return _taxonomy_ladder(described)
        pairs = CellPairs(counts) if measure == "ncp" else InformationPairs(table.label_counts(attribute))
        tree = PartialTree(described, counts, pairs if groups else None, SIBLINGS)
        tree.grow(_suppressions(np.array(rare, np.int64), counts))
        return _built(described.size, tree.below, tree.changes)
    if isinstance(described, FlatAttribute):
        return _suppression_ladder(described, counts)
    if measure == "ncp":
        return _interval_ladder(described, counts, CellJoints(described, counts))
    return _interval_ladder(described, counts, InformationJoints(table.label_counts(attribute)))


def _taxonomy_ladder(attribute: TaxonomyAttribute) -> Ladder:
    taxonomy = attribute.taxonomy
    return Ladder(
        np.array(taxonomy.leaves, np.int64),
        taxonomy.parent.astype(np.int64),
        taxonomy.children,
        taxonomy.start.astype(np.int64),
        {node: GeneralizeNode(node) for node, below in enumerate(taxonomy.children) if below},
    )


def _built(size: int, below: Sequence[Sequence[int]], changes: Sequence[Generalization]) -> Ladder:
    """A ladder whose leaves are the codes, and whose inner nodes follow, children before parents."""
    parent = np.full(size + len(below), -1, np.int64)
    first = np.arange(size + len(below), dtype=np.int64)
    for node, nodes in enumerate(below, size):
        parent[list(nodes)] = node
        first[node] = first[nodes[0]]
    children: list[tuple[int, ...]] = [() for _ in range(size)] + [tuple(nodes) for nodes in below]
    return Ladder(np.arange(size), parent, tuple(children), first, dict(enumerate(changes, size)))


def _suppression_ladder(attribute: FlatAttribute, counts: Counts) -> Ladder:
    """The suppressed values, growing."""
    size = attribute.size
    atoms = _suppressions(np.argsort(counts, kind="stable"), counts)
    below = [(size + step - 1, *atom) if step else atom for step, atom in enumerate(atoms)]
    return _built(size, below, [Suppress(atom, step > 0) for step, atom in enumerate(atoms)])


def _suppressions(rarest: Ints, counts: Counts) -> list[tuple[int, ...]]:
    """Values that are suppressed one after the other; the first two, and those that nobody has, at once."""
    if len(rarest) < 2:
        return []
    first = int(np.count_nonzero(counts[rarest] == 0)) + 2
    edges = [0, *(edge for edge in _atoms(counts[rarest]) if edge >= min(first, len(rarest)))]
    return [tuple(rarest[start:stop].tolist()) for start, stop in pairwise(edges)]


def _interval_ladder(attribute: NumberAttribute, counts: Counts, joints: Joints) -> Ladder:
    """Intervals, joined two by two."""
    size, ranks = attribute.size, len(attribute.numbers)
    edges = _atoms(counts[:ranks])
    below: list[tuple[int, ...]] = []
    merges: list[tuple[int, ...]] = []
    nodes = {}  # of the intervals by where they start and stop
    for start, stop in pairwise(edges):
        if stop - start > 1:
            below.append(tuple(range(start, stop)))
            merges.append(tuple(range(start, stop + 1)))
        nodes[start, stop] = size + len(below) - 1 if stop - start > 1 else start
    for start, middle, stop in _join(edges, joints):
        nodes[start, stop] = size + len(below)
        below.append((nodes[start, middle], nodes[middle, stop]))
        merges.append((start, middle, stop))
    if attribute.missing is not None and ranks:
        below.append((nodes[0, ranks], attribute.missing))
        merges.append((0, ranks, size))
    return _built(size, below, [MergeIntervals(merge) for merge in merges])


def _atoms(counts: Counts) -> list[int]:
    """Where atoms begin and end: single values if they are few, else runs with enough records (or the last one)."""
    if len(counts) <= ATOMS:
        return list(range(len(counts) + 1))
    enough = -(-int(counts.sum()) // ATOMS)
    edges, total = [0], 0
    for value, count in enumerate(counts.tolist(), 1):
        total += count
        if total >= enough:
            edges.append(value)
            total = 0
    return edges if edges[-1] == len(counts) else [*edges, len(counts)]


def _join(edges: Sequence[int], joints: Joints) -> list[tuple[int, int, int]]:
    """Join neighbouring intervals until one is left: start, middle and stop of each pair, in the order joined."""
    following = dict(pairwise(edges))
    preceding = {stop: start for start, stop in following.items()}
    waiting: list[Any] = []

    def offer(starts: Sequence[int]) -> None:
        middles = [following[start] for start in starts]
        for pair in joints.of(
            [(start, middle, following[middle]) for start, middle in zip(starts, middles, strict=True)]
        ):
            heapq.heappush(waiting, pair)

    offer(edges[:-2])
    joined = []
    while waiting:
        start, middle, stop = heapq.heappop(waiting).places
        if following.get(start) == middle and following.get(middle) == stop:
            joined.append((start, middle, stop))
            del following[middle], preceding[middle]
            following[start], preceding[stop] = stop, start
            offer([at for at in (preceding.get(start), start) if at is not None and following[at] in following])
    return joined
