"""What clustering asks about classes, without compiled code: who is near, what it costs, what they have in common."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.run import Run
from incrowd.search.clustering.forest import Forest

Array = npt.NDArray[Any]

FARTHEST = 2**62
MOST_MEMBERS = 256  # tuples of a class that are looked at one by one


class Shared:
    """What one class has in common with others.

    Args:
        forest: The hierarchies.
    """

    def __init__(self, forest: Forest) -> None:
        self._forest = forest
        self._ends, self._parents, self._details = forest.end.tolist(), forest.parent.tolist(), forest.detail.tolist()
        self._by_node = np.zeros(len(forest.end), np.int64)

    def with_all(self, row: Array, rows: Array) -> Array:
        """The detail that a class has in common with each of some classes (rows x attributes)."""
        ends, parents, details, by_node = self._ends, self._parents, self._details, self._by_node
        for value in row.tolist():
            path, node = [], value
            while node >= 0:
                path.append(node)
                node = parents[node]
            for node in reversed(path):  # from the root down, so that the closest ancestor comes last
                by_node[node : ends[node]] = details[node]
        found: Array = by_node[rows].sum(axis=1)
        return found

    def above(self, row: Array, other: Array) -> Array:
        """The closest common generalization of two classes."""
        return above(self._forest, row, other)


def above(forest: Forest, nodes: Array, others: Array) -> Array:
    """The closest common ancestors of nodes, one by one."""
    found = nodes.copy()
    while (apart := (others < found) | (others >= forest.end[found])).any():
        found[apart] = forest.parent[found[apart]]
    return found


def common_of(forest: Forest, nodes: Array, groups: Array, size: int) -> Array:
    """The closest common generalization of each group of tuples: groups x attributes; all -1 of one without any."""
    low = np.full((size, nodes.shape[1]), np.iinfo(np.int32).max, np.int32)
    high = np.full((size, nodes.shape[1]), -1, np.int32)
    np.minimum.at(low, groups, nodes)
    np.maximum.at(high, groups, nodes)
    some = high[:, 0] >= 0
    low[some] = above(forest, low[some], high[some])  # what lies between two nodes in preorder lies below the same
    low[~some] = -1
    return low


def neighbours(
    forest: Forest, roots: Array, nodes: Array, sizes: Array, asking: Array, most: int, bucket: int, run: Run
) -> tuple[Array, Array]:
    """The nearest classes of some classes, and their distances: asking x most, -1 where there are no more."""
    shape = (len(asking), most)
    found, far = np.full(shape, -1, np.int64), np.full(shape, FARTHEST, np.int64)
    held, shared, some = forest.detail[nodes].sum(axis=1), Shared(forest), min(most, len(nodes) - 1)
    for place, number in enumerate(asking.tolist()):
        if place % 100 == 0:
            run.check()
        common = shared.with_all(nodes[number], nodes)
        distance = sizes[number] * (held[number] - common) + sizes * (held - common)
        distance[number] = FARTHEST
        nearest = np.argsort(distance, kind="stable")[:some]
        found[place, :some], far[place, :some] = nearest, distance[nearest]
    return found, far


def closest_members(
    forest: Forest, tuples: Array, counts: Array, nodes: Array, sizes: Array, order: Array, first: Array,
    asking: Array, donors: Array, lends: Array,
) -> tuple[Array, Array]:  # fmt: skip
    """The tuple of each donor that costs least where it moves to the class that asks, and that cost. See `joining`."""
    found, cost = np.full(donors.shape, -1, np.int64), np.zeros(donors.shape, np.int64)
    length = np.diff(first)
    may = (donors >= 0) & lends[donors] & (length[donors] > 1) & (length[donors] <= MOST_MEMBERS)
    if not may.any():
        return found, cost
    donor, many = donors[may], length[donors[may]]
    starts = np.cumsum(many) - many
    members = order[np.repeat(first[donor] - starts, many) + np.arange(int(many.sum()))]
    own, home = np.repeat(asking[np.nonzero(may)[0]], many), np.repeat(donor, many)
    held = forest.detail[above(forest, nodes[own], tuples[members])].sum(axis=1)
    before = forest.detail[nodes].sum(axis=1)
    lost = sizes[own] * (before[own] - held) + counts[members] * (before[home] - held)
    least = np.minimum.reduceat(lost, starts)
    place = np.flatnonzero(lost == np.repeat(least, many))
    place = place[np.unique(np.repeat(np.arange(len(many)), many)[place], return_index=True)[1]]  # the first of equals
    found[may], cost[may] = members[place], least
    return found, cost


def branches_of(forest: Forest, nodes: Array, tuples: Array) -> Array:
    """The child of a class's value that a tuple's value lies below, or itself: tuples x attributes."""
    out = tuples.copy()
    while (deeper := (out != nodes) & (forest.parent[out] != nodes)).any():
        out[deeper] = forest.parent[out[deeper]]
    return out
