"""The nearest classes of an index, found exactly, in compiled code (see `class_index` for the tree).

A subtree is left out if even a class of one record in it would be farther than the nearest found. The bound of a child
differs from its parent's in one attribute only, so going down costs one term.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from incrowd.privacy.compiled import SizeRule, could_be_two, lacking
from incrowd.search.clustering.class_index import (
    AT,
    ATTRIBUTE,
    FILLED,
    FIRST,
    KIND,
    OTHER,
    SIBLING,
    VALUE,
    Classes,
    Tree,
)
from incrowd.search.clustering.forest import Forest
from incrowd.search.compiled import compiled_within

Array = npt.NDArray[Any]

FARTHEST = 2**62
TABLE = 65_536  # hierarchies with up to so many nodes get a table of what a class shares with each node


class Query(NamedTuple):
    """The class in question, and a stack for the descent.

    `low`, `high` and `detail` are the paths from its values to the roots: attributes x levels. `shared` is the detail
    that its value and any other node have in common, by node; empty where there are too many nodes for that.
    """

    low: Array
    high: Array
    detail: Array
    shared: Array
    stack: Array
    bounds: Array


def new_query(forest: Forest, roots: Array, classes: int) -> Query:
    """Room for a query."""
    deepest, above = 0, np.arange(len(forest.parent))
    while len(above):
        deepest, above = deepest + 1, forest.parent[above]
        above = above[above >= 0]
    shape, most = (len(roots), deepest), 8 * classes + 64
    return Query(
        np.empty(shape, np.int32),
        np.empty(shape, np.int32),
        np.empty(shape, np.int64),
        np.empty(len(forest.parent) if len(forest.parent) <= TABLE else 0, np.int64),
        np.empty(most, np.int32),
        np.empty(most, np.int64),
    )


@compiled_within
def _aim(query: Query, forest: Forest, nodes: Array) -> None:
    low, high, detail, shared = query.low, query.high, query.detail, query.shared
    for a in range(len(nodes)):
        node, level = nodes[a], 0
        while node >= 0:
            low[a, level], high[a, level], detail[a, level] = node, forest.end[node], forest.detail[node]
            node, level = forest.parent[node], level + 1
        if len(shared):
            for above in range(level - 1, -1, -1):  # from the root down, so that the closest ancestor comes last
                for below in range(low[a, above], high[a, above]):
                    shared[below] = detail[a, above]


@njit(nogil=True, inline="always")
def _term(query: Query, details: Array, a: int, node: int, own: int, others: int, exact: bool) -> int:
    """What generalizing attribute a to the common ancestor costs `own` records here and `others` at or below node."""
    if len(query.shared):
        common = query.shared[node]
    else:
        level = 0
        while not query.low[a, level] <= node < query.high[a, level]:
            level += 1
        common = query.detail[a, level]
    below = details[node] - common
    if not exact and below == 0:
        return 0  # the value itself may lie below the node
    return int(own * (query.detail[a, 0] - common) + others * below)


@compiled_within
def nearest(
    tree: Tree, forest: Forest, classes: Classes, query: Query, number: int, needs: SizeRule, looks: int
) -> int:
    """The class with the smallest distance to a class that is not good; of equals the one with the smallest key.

    If the two together could be two good classes, only as many records as the small class lacks take part: the stub.
    After so many `looks` at classes the nearest of these is taken; the search begins where near ones are.
    """
    rows, keys, width = classes.rows, classes.key, classes.rows.shape[1] - 2
    own = int(rows[number, width])
    _aim(query, forest, rows[number, :width])
    links, detail, stack, bounds = tree.links, forest.detail, query.stack, query.bounds
    best, chosen = FARTHEST, -1
    stack[0], bounds[0], height = 0, 0, 1
    while height:
        height -= 1
        place, bound = stack[height], bounds[height]
        if bound > best:
            continue
        if links[place, ATTRIBUTE] >= 0:
            height = _descend(tree, query, detail, place, bound, best, own, height)
            continue
        if looks <= 0 and chosen >= 0:
            break
        looks -= links[place, FILLED]
        other = links[place, FIRST]
        while other >= 0:
            if other != number:
                size = int(rows[other, width])
                others = lacking(needs, own) if could_be_two(needs, own + size) else size
                distance = 0
                for a in range(width):
                    if rows[other, a] != query.low[a, 0]:
                        distance += _term(query, detail, a, rows[other, a], own, others, True)
                        if distance > best:
                            break
                if distance < best or (distance == best and keys[other] < keys[chosen]):
                    best, chosen = distance, other
            other = rows[other, width + 1]
    return chosen


@njit(nogil=True, inline="always")
def _descend(tree: Tree, query: Query, detail: Array, place: int, bound: int, best: int, own: int, height: int) -> int:
    """Push the children of a split that may hold the nearest, the one around the class itself on top."""
    links, stack, bounds = tree.links, query.stack, query.bounds
    a, around = links[place, ATTRIBUTE], -1
    rest = bound - _term(query, detail, a, tree.box[place, a], own, 1, False)
    child = links[place, FIRST]
    while child >= 0:
        if links[child, FILLED]:
            below, kind = bound, links[child, KIND]
            if kind != OTHER:
                below = rest + _term(query, detail, a, links[child, VALUE], own, 1, kind == AT)
            if below == rest and kind != OTHER:
                around = child
            elif below <= best:
                stack[height], bounds[height] = child, below
                height += 1
        child = links[child, SIBLING]
    if around >= 0:
        stack[height], bounds[height] = around, rest
        height += 1
    return height


@compiled_within
def nearest_some(
    tree: Tree, forest: Forest, classes: Classes, query: Query, number: int, found: Array, far: Array
) -> int:
    """The classes with the smallest distances to a class, where all records of both take part.

    `found` and `far` get the nearest and their distances, in order; of equals the one with the smallest key comes
    first; -1 where there are no more. Returns how many values were looked at.
    """
    rows, keys, width = classes.rows, classes.key, classes.rows.shape[1] - 2
    own, most = int(rows[number, width]), len(found)
    _aim(query, forest, rows[number, :width])
    links, detail, stack, bounds = tree.links, forest.detail, query.stack, query.bounds
    found[:], far[:], looked = -1, FARTHEST, 0
    stack[0], bounds[0], height = 0, 0, 1
    while height:
        height -= 1
        place, bound = stack[height], bounds[height]
        looked += 1
        if bound > far[most - 1]:
            continue
        if links[place, ATTRIBUTE] >= 0:
            height = _descend(tree, query, detail, place, bound, far[most - 1], own, height)
            continue
        other = links[place, FIRST]
        while other >= 0:
            distance, worst, size = 0, far[most - 1], int(rows[other, width])
            for a in range(width):
                if rows[other, a] != query.low[a, 0]:
                    distance += _term(query, detail, a, rows[other, a], own, size, True)
                    if distance > worst:
                        break
            looked += a + 1
            if other != number and distance <= worst:
                at = most
                while at and (
                    distance < far[at - 1]
                    or (distance == far[at - 1] and (found[at - 1] < 0 or keys[other] < keys[found[at - 1]]))
                ):
                    if at < most:
                        found[at], far[at] = found[at - 1], far[at - 1]
                    at -= 1
                if at < most:
                    found[at], far[at] = other, distance
            other = rows[other, width + 1]
    return looked
