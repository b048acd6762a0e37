"""Levels of a taxonomy: how far its nodes are above the values, and what a table shows at some level.

The level of a node is the number of steps down to the farthest value below it, so values are at level 0. At a level
every value is shown as the highest node above it that is no higher. A value on a path that is shorter than others,
such as a frequent one right below the root, so stays itself until nothing but the root is above.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from incrowd.taxonomies.taxonomy import Taxonomy

Ints = npt.NDArray[np.int64]


def levels_of_nodes(tree: Taxonomy) -> Ints:
    """The level of each node."""
    found = np.zeros(len(tree.labels), np.int64)
    for node in range(len(found) - 1, 0, -1):  # children come after their parents
        parent = tree.parent[node]
        found[parent] = max(found[parent], found[node] + 1)
    return found


def cut_at(tree: Taxonomy, level: int) -> tuple[int, ...]:
    """The nodes that are shown at a level, in the order of the leaves below them."""
    levels = levels_of_nodes(tree)
    low = levels <= level
    above = np.append(False, low[tree.parent[1:]])  # whether the parent is no higher either
    return tuple(np.flatnonzero(low & ~above).tolist())


def cuts_up_to(tree: Taxonomy, top: tuple[int, ...]) -> Iterator[list[int]]:
    """What is shown at each level from the values on, until every value is shown as the node of the top above it."""
    levels, outside = levels_of_nodes(tree), above(tree, top)
    for level in range(int(levels[list(top)].max()) + 1):
        low = {node for node in np.flatnonzero(levels <= level).tolist() if node not in outside}
        yield sorted(node for node in low if int(tree.parent[node]) not in low)


def above(tree: Taxonomy, nodes: tuple[int, ...]) -> frozenset[int]:
    """The nodes that lie above some nodes."""
    found: set[int] = set()
    for node in nodes:
        while (node := int(tree.parent[node])) >= 0 and node not in found:
            found.add(node)
    return frozenset(found)


def ending_at(tree: Taxonomy, nodes: tuple[int, ...]) -> tuple[Taxonomy, Ints]:
    """A taxonomy without what is below the nodes of a cut, and the node that each of its nodes was before."""
    kept = np.array(sorted({*nodes, *above(tree, nodes)}), np.int64)  # preorder stays preorder
    place = np.full(len(tree.labels), -1, np.int64)
    place[kept] = np.arange(len(kept))
    parents = tree.parent[kept].astype(np.int64)
    labels = tuple(tree.labels[node] for node in kept.tolist())
    return Taxonomy(labels, np.where(parents < 0, -1, place[parents]).astype(np.int32)), kept
