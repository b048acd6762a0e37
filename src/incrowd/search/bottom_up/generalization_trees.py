"""What the values of one attribute can be generalized to, step by step, for a search that starts at the bottom.

A tree is a tree: its leaves are the values, a generalization {c} -> p replaces the children of a node by the node.
With a taxonomy it is the taxonomy. Without one it is built before the search, from the histogram of the attribute:

- Numbers and dates: a binary tree of intervals. It arises bottom-up, too: of all neighbouring intervals the two that
  lose least by it (class information, weighted by records, or NCP without a target) are joined, again and again; of
  equals those with fewest records, then the lowest. Missing values join last, under the root.
- Categories without a taxonomy: the suppressed values "*", which grow by the rarest value that is still shown (of
  equals the first), until all are suppressed. The first step takes two: one value alone gains nothing by another name.
  Missing values are a category like the others.

Taxonomies that a rule built out of the values stay as they are. In one that is given, if that is wanted:

- Children of a node become groups, two by two, in the same way as intervals, but whether neighbours or not, until all
  are one: the node. Where a node has very many children, the rarest ones are run together first.
- Rare values leave their place in the tree. They become "*" as in a column without a taxonomy, and the others
  generalize without them. All meet at the root.

A node with one child only is that child. Missing values are a child of the root like the others.

An attribute with very many values need not take as many steps: values are first run together (neighbouring numbers,
rarest categories) into atoms with at least 1/1024 of the records, whose values generalize all at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.recodings.steps import Generalization, GeneralizeNode, JoinSets, MergeIntervals, Suppress
from incrowd.search.bottom_up.merges import CellJoins, InformationJoins, Joins, Part, join
from incrowd.search.loss_scale import LossScale
from incrowd.table.attributes import FlatAttribute, NumberAttribute, TaxonomyAttribute
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import Codes, Counts

ATOMS = 1024  # an atom of values that generalize together has at least this fraction of the records
SIBLINGS = 128  # children of a node that are joined two by two; where there are more, the rarest are one

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class GeneralizationTree:
    """The tree of an attribute."""

    leaves: Ints  # the node of each code
    parent: Ints  # the parent of each node, -1 for the root
    children: tuple[tuple[int, ...], ...]
    first: Ints  # A code below each node. Nodes of a cut differ in it, and it orders them
    changes: dict[int, Generalization]  # the generalization to each inner node, in codes

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


def tree_of(
    table: CompressedTable, attribute: int, measure: str, *, groups: bool = False, rare: Sequence[int] = ()
) -> GeneralizationTree:
    """The tree of an attribute: its taxonomy, or one built for what a generalization loses by some measure.

    With `groups` children of a node of a given taxonomy may become groups; `rare` values are suppressed by themselves.
    """
    described, counts = table.attributes[attribute], table.value_counts(attribute)
    if isinstance(described, TaxonomyAttribute):
        if described.rule is not None or described.top or not (groups or rare):
            return _taxonomy_tree(described)
    elif isinstance(described, FlatAttribute):
        builder = _Builder(described.size)
        builder.suppress(_suppressions(np.argsort(counts, kind="stable"), counts))
        return builder.tree()
    builder = _Builder(described.size, _joins(table, attribute, measure))
    if isinstance(described, TaxonomyAttribute):
        builder.grow_taxonomy(described, _suppressions(np.array(rare, np.int64), counts), groups=groups)
    else:
        builder.grow_intervals(described, _atoms(counts[: len(described.numbers)]))
    return builder.tree()


def _joins(table: CompressedTable, attribute: int, measure: str) -> Joins:
    if measure != "ncp":
        return InformationJoins(table.label_counts(attribute))
    described, counts = table.attributes[attribute], table.value_counts(attribute)
    if isinstance(described, TaxonomyAttribute):
        return CellJoins(counts, lambda *parts: sum(len(part.codes) for part in parts) - 1)
    scale = LossScale(described)

    def width(*parts: Part) -> int:
        start, stop = parts[0].codes[0], parts[-1].codes[-1] + 1
        return scale.interval(start, stop) if stop - start > 1 else 0

    return CellJoins(counts, width)


def _taxonomy_tree(attribute: TaxonomyAttribute) -> GeneralizationTree:
    taxonomy = attribute.taxonomy
    return GeneralizationTree(
        np.array(taxonomy.leaves, np.int64),
        taxonomy.parent.astype(np.int64),
        taxonomy.children,
        taxonomy.start.astype(np.int64),
        {node: GeneralizeNode(node) for node, below in enumerate(taxonomy.children) if below},
    )


class _Builder:
    """A tree whose leaves are the codes, and whose inner nodes follow, children before parents."""

    def __init__(self, size: int, joins: Joins | None = None) -> None:
        self._size, self._joins = size, joins
        self._below: list[tuple[int, ...]] = []
        self._changes: list[Generalization] = []

    def tree(self) -> GeneralizationTree:
        size, nodes = self._size, self._size + len(self._below)
        parent, first = np.full(nodes, -1, np.int64), np.arange(nodes, dtype=np.int64)
        for node, below in enumerate(self._below, size):
            parent[list(below)] = node
            first[node] = first[below[0]]
        children: list[tuple[int, ...]] = [() for _ in range(size)] + self._below
        return GeneralizationTree(np.arange(size), parent, tuple(children), first, dict(enumerate(self._changes, size)))

    def _add(self, below: Iterable[int], change: Generalization) -> int:
        self._below.append(tuple(below))
        self._changes.append(change)
        return self._size + len(self._below) - 1

    def _part(self, node: int, codes: Sequence[int]) -> Part:
        return Part(node, codes, self._joins.counts(codes) if self._joins else 0)

    def suppress(self, atoms: Sequence[tuple[int, ...]]) -> int | None:
        """The suppressed values, growing; the node of all of them."""
        node = None
        for atom in atoms:
            node = self._add(atom if node is None else (node, *atom), Suppress(atom, node is not None))
        return node

    def grow_intervals(self, attribute: NumberAttribute, edges: Sequence[int]) -> None:
        """Intervals, joined two by two; missing values join last."""
        assert self._joins is not None
        parts = []
        for start, stop in pairwise(edges):
            codes = range(start, stop)
            several = len(codes) > 1
            node = self._add(codes, MergeIntervals(tuple(range(start, stop + 1)))) if several else start
            parts.append(self._part(node, codes))
        if not parts:
            return
        top = join(parts, self._joins, self._joined_intervals, neighbours=True)
        if attribute.missing is not None:
            self._add((top.node, attribute.missing), MergeIntervals((0, len(attribute.numbers), self._size)))

    def _joined_intervals(self, one: Part, other: Part) -> Part:
        start, middle, stop = one.codes[0], other.codes[0], other.codes[-1] + 1
        node = self._add((one.node, other.node), MergeIntervals((start, middle, stop)))
        return Part(node, range(start, stop), one.counts + other.counts)

    def grow_taxonomy(self, attribute: TaxonomyAttribute, atoms: Sequence[tuple[int, ...]], *, groups: bool) -> None:
        """The nodes of a taxonomy; `atoms` are rare values that become suppressed, those that do at once together."""
        suppressed = self.suppress(atoms)
        rare = {code for atom in atoms for code in atom}
        taxonomy = attribute.taxonomy
        made: dict[int, list[Part]] = {}
        for node in reversed(range(len(taxonomy.labels))):  # children come after their parents
            below = [part for child in taxonomy.children[node] for part in made.pop(child)]
            if not taxonomy.children[node]:
                code = int(taxonomy.start[node])
                made[node] = [] if code in rare else [self._part(code, (code,))]
            elif node == 0 and suppressed is not None:
                top = self._one(below, groups=True) if groups else below
                change = JoinSets(tuple(tuple(part.codes) for part in top), more=True)
                self._add([*(part.node for part in top), suppressed], change)
            else:
                made[node] = self._one(below, groups=groups)

    def _one(self, parts: Sequence[Part], *, groups: bool) -> list[Part]:
        """One of the children of a node, if it has any: all at once, or two by two."""
        if not groups or len(parts) < 3:
            return [self._joined_sets(*parts)] if parts else []
        assert self._joins is not None
        return [join(self._few(parts), self._joins, self._joined_sets)]

    def _joined_sets(self, *parts: Part) -> Part:
        """One of several sets, which come in the order of their first values."""
        if len(parts) == 1:
            return parts[0]
        ordered = sorted(parts, key=lambda part: part.codes[0])
        node = self._add((part.node for part in ordered), JoinSets(tuple(tuple(part.codes) for part in ordered)))
        return Part(node, sorted(code for part in parts for code in part.codes), sum(part.counts for part in parts))

    def _few(self, parts: Sequence[Part]) -> list[Part]:
        """The children of a node, the rarest of them run together where there are too many."""
        if len(parts) <= SIBLINGS:
            return list(parts)
        rarest = sorted(parts, key=lambda part: (int(np.sum(part.counts)), part.codes[0]))
        spare = len(parts) - SIBLINGS + 1
        return [self._joined_sets(*rarest[:spare]), *rarest[spare:]]


def _suppressions(rarest: Ints, counts: Counts) -> list[tuple[int, ...]]:
    """Values that are suppressed one after the other; the first two, and those that nobody has, at once."""
    if len(rarest) < 2:
        return []
    first = int(np.count_nonzero(counts[rarest] == 0)) + 2
    edges = [0, *(edge for edge in _atoms(counts[rarest]) if edge >= min(first, len(rarest)))]
    return [tuple(rarest[start:stop].tolist()) for start, stop in pairwise(edges)]


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
