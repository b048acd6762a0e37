"""What joining, splitting and exchanging whole tuples ask about classes, in compiled code: who is near, what it costs.

A class is a set of whole tuples. Costs are in units of detail, as distances are: what all records concerned lose.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from incrowd.privacy.size_rule import SizeRule
from incrowd.run import Run
from incrowd.search.clustering.class_index import Classes, Tree, insert, new_classes, new_tree
from incrowd.search.clustering.exchange import BUCKET, LOOKED, PART, Sweep, best_class, new_sweep
from incrowd.search.clustering.exchange import INSERTED as IN_SWEEP
from incrowd.search.clustering.forest import Forest
from incrowd.search.clustering.nearest import Query, nearest_some, new_query
from incrowd.search.compiled import compiled

Array = npt.NDArray[Any]

INSERTED, ASKED = range(2)
LOOKING = 500  # how many units of work one search for the nearest counts
MOST_MEMBERS = 256  # tuples of a class that are looked at one by one


class Neighbours(NamedTuple):
    """The search for the nearest classes of some classes.

    `found` and `far` are the nearest classes and their distances, asking x so many. `at` says how many classes are
    INSERTED in the tree, and how many have ASKED.
    """

    forest: Forest
    classes: Classes
    tree: Tree
    query: Query
    asking: Array
    found: Array
    far: Array
    at: Array


def neighbours(
    forest: Forest, roots: Array, nodes: Array, sizes: Array, asking: Array, most: int, bucket: int, run: Run
) -> tuple[Array, Array]:
    """The nearest classes of some classes, and their distances: asking x most, -1 where there are no more."""
    classes = new_classes(nodes, sizes)
    classes.key[:] = np.arange(len(nodes))
    shape = (len(asking), most)
    state = Neighbours(
        forest,
        classes,
        new_tree(len(nodes), roots, bucket),
        new_query(forest, roots, len(nodes)),
        asking,
        np.full(shape, -1, np.int64),
        np.zeros(shape, np.int64),
        np.zeros(2, np.int64),
    )
    run.in_slices(lambda amount: ask_some(state, amount))
    return state.found, state.far


@compiled
def ask_some(state: Neighbours, amount: int) -> bool:
    """Go on for an amount of work; whether all have asked."""
    at = state.at
    while amount > 0 and at[INSERTED] < len(state.classes.key):
        insert(state.tree, state.forest, state.classes, at[INSERTED])
        at[INSERTED] += 1
        amount -= 1
    while amount > 0 and at[ASKED] < len(state.asking):
        place = at[ASKED]
        asking = state.asking[place]
        nearest_some(state.tree, state.forest, state.classes, state.query, asking, state.found[place], state.far[place])
        at[ASKED] += 1
        amount -= LOOKING
    return bool(at[INSERTED] == len(state.classes.key) and at[ASKED] == len(state.asking))


@compiled
def common_of(forest: Forest, nodes: Array, groups: Array, size: int) -> Array:
    """The closest common generalization of each group of tuples: groups x attributes; all -1 of one without any."""
    width = nodes.shape[1]
    out = np.full((size, width), -1, np.int32)
    for i in range(len(groups)):
        row = out[groups[i]]
        for a in range(width):
            row[a] = nodes[i, a] if row[a] < 0 else _above(forest, row[a], nodes[i, a])
    return out


@compiled
def _above(forest: Forest, node: int, other: int) -> int:
    """The closest common ancestor of two nodes."""
    while not node <= other < forest.end[node]:
        node = forest.parent[node]
    return int(node)


@compiled
def closest_members(
    forest: Forest, tuples: Array, counts: Array, nodes: Array, sizes: Array, order: Array, first: Array,
    asking: Array, donors: Array, lends: Array,
) -> tuple[Array, Array]:  # fmt: skip
    """The tuple of each donor that costs least where it moves to the class that asks, and that cost.

    Args:
        forest: The hierarchies.
        tuples: The tuples: tuples x attributes.
        counts: Records of each.
        nodes: The classes: classes x attributes.
        sizes: Records of each.
        order: The tuples, class by class.
        first: Where those of each class begin, and where the last ones end.
        asking: The classes that ask.
        donors: Classes near to each: asking x so many.
        lends: Which classes may lend a tuple.

    Returns:
        The tuple, -1 where a donor lends none, and the cost: asking x donors.
    """
    found, cost = np.full(donors.shape, -1, np.int64), np.zeros(donors.shape, np.int64)
    detail = forest.detail
    for i in range(len(asking)):
        own, size = nodes[asking[i]], sizes[asking[i]]
        for j in range(donors.shape[1]):
            donor = donors[i, j]
            if donor < 0 or not lends[donor] or not 1 < first[donor + 1] - first[donor] <= MOST_MEMBERS:
                continue
            for place in range(first[donor], first[donor + 1]):
                member = order[place]
                lost = np.int64(0)
                for a in range(len(own)):
                    after = detail[_above(forest, own[a], tuples[member, a])]
                    lost += size * (detail[own[a]] - after) + counts[member] * (detail[nodes[donor, a]] - after)
                if found[i, j] < 0 or lost < cost[i, j]:
                    found[i, j], cost[i, j] = member, lost
    return found, cost


@compiled
def branches_of(forest: Forest, nodes: Array, tuples: Array) -> Array:
    """The child of a class's value that a tuple's value lies below, itself where they are equal: tuples x attributes.

    Args:
        forest: The hierarchies.
        nodes: The class of each tuple, as nodes.
        tuples: The tuples, as nodes.
    """
    out = tuples.copy()
    for i in range(len(tuples)):
        for a in range(tuples.shape[1]):
            node = tuples[i, a]
            while node != nodes[i, a] and forest.parent[node] != nodes[i, a]:
                node = forest.parent[node]
            out[i, a] = node
    return out


def proposed(
    forest: Forest, roots: Array, tuples: Array, classes: Array, sizes: Array, parts: Array, needs: SizeRule,
    crowding: int, run: Run, *, anywhere: bool = False,
) -> Array:  # fmt: skip
    """The class that each part should move to, whatever that does to the classes; -1 where it is well where it is.

    Args:
        forest: The hierarchies.
        roots: The root of each attribute.
        tuples: The tuples, as nodes: tuples x attributes.
        classes: The classes, as nodes: classes x attributes.
        sizes: Records of each class.
        parts: Tuple, class and records of each part: parts x 3.
        needs: What a class needs.
        crowding: What a unit of the sum of squared class sizes costs, in units of detail.
        run: Asked between two slices whether to go on.
        anywhere: Whether a part has to leave its class, even for one that costs more; -1 where there is none then.
    """
    state = new_sweep(forest, roots, tuples, classes, parts, needs, crowding, BUCKET)
    state.size[:] = sizes
    targets = np.full(len(parts), -1, np.int64)
    run.in_slices(lambda amount: propose_some(state, targets, anywhere, amount) or not run.should_continue())
    return targets


@compiled
def propose_some(state: Sweep, targets: Array, anywhere: bool, amount: int) -> bool:
    """Go on until so many classes and tree nodes were looked at; whether all is done."""
    at, out = state.at, state.parts
    until = at[LOOKED] + amount
    while at[LOOKED] < until:
        at[LOOKED] += 1
        if at[IN_SWEEP] < len(state.size):
            insert(state.tree, state.forest, state.classes, at[IN_SWEEP])
            at[IN_SWEEP] += 1
        elif at[PART] < len(targets):
            part = at[PART]
            home = out[part, 1]
            own = state.detail[home]
            if anywhere:
                state.detail[home] = -1
            targets[part] = best_class(state, state.tuples[out[part, 0]], home, out[part, 2])
            state.detail[home] = own
            at[PART] += 1
        else:
            return True
    return False
