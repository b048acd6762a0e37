"""An index of classes that finds the nearest one exactly: a tree of boxes of generalized tuples, in compiled code.

A node of the tree is a bucket of classes, or a split at a node g of one attribute's hierarchy: its children are the
classes below each child of g, those at g itself, and all others. The bound of a child differs from its parent's in that
one attribute only, so going down costs one term; a subtree is left out if even a class of one record in it would be
farther than the nearest found, or as far and, by its key, not chosen. Buckets split when they grow full, so classes may
come and go. With buckets without limit it is the plain loop over all classes.

Hierarchies are laid behind each other in preorder: node x has the descendants x+1 to end[x]-1. `detail` says how much a
node still tells, more for deeper ones, in whole numbers: sums are exact, so ties are ties, in any order of addition.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

Array = npt.NDArray[Any]

BELOW, AT, OTHER = 0, 1, 2  # which classes a child of a split holds
FARTHEST = 2**62


class Forest(NamedTuple):
    """The hierarchies of all attributes: parent (-1 at roots), end of the descendants, and detail of each node."""

    parent: Array
    end: Array
    detail: Array


class Classes(NamedTuple):
    """The classes: their generalized tuples (classes x attributes), sizes and random keys."""

    nodes: Array
    size: Array
    key: Array


class Tree(NamedTuple):
    """The index. `used` holds the number of tree nodes; the others have one entry per tree node, or per class."""

    used: Array
    attribute: Array  # attribute that it splits, -1 for a bucket
    split: Array  # hierarchy node that it splits
    kind: Array
    box: Array  # tree nodes x attributes: the hierarchy node that all its classes lie below
    parent: Array
    first: Array  # first child
    sibling: Array
    filled: Array  # classes in the subtree
    room: Array  # classes that a bucket may hold
    head: Array  # first class of a bucket
    after: Array  # per class: the next one of its bucket
    before: Array
    home: Array  # per class: its bucket


class Query(NamedTuple):
    """The path to the root of each value of the class in question: attributes x levels; and a stack for the descent."""

    low: Array
    high: Array
    detail: Array
    stack: Array
    bounds: Array


@njit(cache=True)
def new_tree(classes: int, roots: Array, bucket: int) -> Tree:
    """An empty tree; memory that is not used is not touched."""
    most = 8 * classes + 64
    ints = np.empty((7, most), np.int32)
    tree = Tree(
        np.ones(1, np.int64),
        ints[0],
        ints[1],
        np.empty(most, np.int8),
        np.empty((most, len(roots)), np.int32),
        ints[2],
        ints[3],
        ints[4],
        ints[5],
        np.empty(most, np.int64),
        ints[6],
        np.full(classes, -1, np.int32),
        np.full(classes, -1, np.int32),
        np.full(classes, -1, np.int32),
    )
    tree.box[0] = roots
    _clear(tree, 0, -1, bucket)
    return tree


@njit(cache=True)
def new_query(forest: Forest, roots: Array, classes: int) -> Query:
    """Room for a query."""
    deepest = 1
    for node in range(len(forest.parent)):
        depth, above = 1, forest.parent[node]
        while above >= 0:
            depth, above = depth + 1, forest.parent[above]
        deepest = max(deepest, depth)
    shape = (len(roots), deepest)
    most = 8 * classes + 64
    return Query(
        np.empty(shape, np.int32),
        np.empty(shape, np.int32),
        np.empty(shape, np.int64),
        np.empty(most, np.int32),
        np.empty(most, np.int64),
    )


@njit(cache=True)
def _clear(tree: Tree, place: int, parent: int, bucket: int) -> None:
    tree.attribute[place] = -1
    tree.kind[place] = OTHER
    tree.parent[place] = parent
    tree.first[place] = -1
    tree.sibling[place] = -1
    tree.filled[place] = 0
    tree.room[place] = bucket
    tree.head[place] = -1


@njit(cache=True)
def _child(tree: Tree, forest: Forest, place: int, value: int, bucket: int) -> int:
    """The child of a split that a value belongs to, made if there is none yet."""
    node = tree.split[place]
    kind, box = OTHER, tree.box[place, tree.attribute[place]]
    if value == node:
        kind, box = AT, node
    elif node < value < forest.end[node]:
        kind = BELOW
    child = tree.first[place]
    while child >= 0:
        if tree.kind[child] == kind:
            below = tree.box[child, tree.attribute[place]]
            if kind != BELOW or below <= value < forest.end[below]:
                return int(child)
        child = tree.sibling[child]
    if kind == BELOW:
        box = value
        while forest.parent[box] != node:
            box = forest.parent[box]
    child = tree.used[0]
    tree.used[0] += 1
    _clear(tree, child, place, bucket)
    tree.kind[child] = kind
    tree.box[child] = tree.box[place]
    tree.box[child, tree.attribute[place]] = box
    tree.sibling[child] = tree.first[place]
    tree.first[place] = child
    return int(child)


@njit(cache=True)
def insert(tree: Tree, forest: Forest, classes: Classes, number: int, bucket: int) -> None:
    """Put a class into the tree."""
    place = 0
    tree.filled[0] += 1
    while tree.attribute[place] >= 0:
        place = _child(tree, forest, place, classes.nodes[number, tree.attribute[place]], bucket)
        tree.filled[place] += 1
    _put(tree, place, number)
    if tree.filled[place] > tree.room[place]:
        _split(tree, forest, classes, place, bucket)


@njit(cache=True)
def _put(tree: Tree, place: int, number: int) -> None:
    head = tree.head[place]
    tree.home[number], tree.before[number], tree.after[number] = place, -1, head
    if head >= 0:
        tree.before[head] = number
    tree.head[place] = number


@njit(cache=True)
def remove(tree: Tree, number: int) -> None:
    """Take a class out of the tree."""
    place, before, after = tree.home[number], tree.before[number], tree.after[number]
    if before >= 0:
        tree.after[before] = after
    else:
        tree.head[place] = after
    if after >= 0:
        tree.before[after] = before
    while place >= 0:
        tree.filled[place] -= 1
        place = tree.parent[place]


@njit(cache=True)
def _split(tree: Tree, forest: Forest, classes: Classes, place: int, bucket: int) -> None:
    """Split a full bucket where most pairs of its classes get the largest bound between them."""
    best, attribute, split = 0.0, -1, -1
    for a in range(classes.nodes.shape[1]):
        node = _common(tree, forest, classes, place, a)
        score = _separation(tree, forest, classes, place, a, node)
        if score > best:
            best, attribute, split = score, a, node
    if attribute < 0:  # all alike: try again when it has grown
        tree.room[place] *= 2
        return
    member = tree.head[place]
    tree.attribute[place], tree.split[place], tree.head[place] = attribute, split, -1
    while member >= 0:
        after = tree.after[member]
        child = _child(tree, forest, place, classes.nodes[member, attribute], bucket)
        _put(tree, child, member)
        tree.filled[child] += 1
        member = after


@njit(cache=True)
def _common(tree: Tree, forest: Forest, classes: Classes, place: int, attribute: int) -> int:
    """The closest common ancestor of a bucket's classes in one attribute."""
    member = tree.head[place]
    node = classes.nodes[member, attribute]
    while member >= 0:
        value = classes.nodes[member, attribute]
        while not node <= value < forest.end[node]:
            node = forest.parent[node]
        member = tree.after[member]
    return int(node)


@njit(cache=True)
def _separation(tree: Tree, forest: Forest, classes: Classes, place: int, attribute: int, node: int) -> float:
    """Share of pairs that a split would part, times the detail between its node and the children."""
    members, same, gap = 0, 0, 0
    first = tree.head[place]
    while first >= 0:
        value = classes.nodes[first, attribute]
        low = high = value
        if value != node:
            while forest.parent[low] != node:
                low = forest.parent[low]
            high = forest.end[low] - 1
            gap += forest.detail[low] - forest.detail[node]
        other = tree.head[place]
        while other >= 0:
            same += low <= classes.nodes[other, attribute] <= high
            other = tree.after[other]
        members += 1
        first = tree.after[first]
    return (1 - same / (members * members)) * gap / members


@njit(cache=True)
def _aim(query: Query, forest: Forest, nodes: Array) -> None:
    for a in range(len(nodes)):
        node, level = nodes[a], 0
        while node >= 0:
            query.low[a, level], query.high[a, level] = node, forest.end[node]
            query.detail[a, level] = forest.detail[node]
            node, level = forest.parent[node], level + 1


@njit(cache=True, inline="always")
def _term(
    low: Array, high: Array, known: Array, detail: Array, a: int, node: int, own: int, others: int, exact: bool
) -> int:
    """What generalizing attribute a to the common ancestor costs `own` records here and `others` at or below node."""
    level = 0
    while not low[a, level] <= node < high[a, level]:
        level += 1
    common = known[a, level]
    cost = own * (known[a, 0] - common) + others * (detail[node] - common)
    return cost if exact or low[a, level] != node else 0  # below the node may lie the value itself


@njit(cache=True)
def nearest(tree: Tree, forest: Forest, classes: Classes, query: Query, number: int, k: int) -> int:
    """The class with the smallest distance to a class of less than k records; of equals the one with the smallest key.

    If the two have 2k records or more, only as many as the small class lacks take part: the stub.
    """
    own = classes.size[number]
    _aim(query, forest, classes.nodes[number])
    low, high, known, detail = query.low, query.high, query.detail, forest.detail
    nodes, sizes, keys, stack, bounds = classes.nodes, classes.size, classes.key, query.stack, query.bounds
    attributes, head, after = tree.attribute, tree.head, tree.after
    best, chosen = FARTHEST, -1
    stack[0], bounds[0], height = 0, 0, 1
    while height:
        height -= 1
        place, bound = stack[height], bounds[height]
        if bound > best:
            continue
        if attributes[place] >= 0:
            height = _descend(tree, query, detail, place, bound, best, own, height)
            continue
        other = head[place]
        while other >= 0:
            if other != number:
                others = sizes[other] if own + sizes[other] < 2 * k else k - own
                distance = 0
                for a in range(nodes.shape[1]):
                    if nodes[other, a] != low[a, 0]:
                        distance += _term(low, high, known, detail, a, nodes[other, a], own, others, True)
                        if distance > best:
                            break
                if distance < best or (distance == best and keys[other] < keys[chosen]):
                    best, chosen = distance, other
            other = after[other]
    return chosen


@njit(cache=True, inline="always")
def _descend(tree: Tree, query: Query, detail: Array, place: int, bound: int, best: int, own: int, height: int) -> int:
    """Push the children of a split that may hold the nearest, the one around the class itself on top."""
    low, high, known = query.low, query.high, query.detail
    box, kind, filled, sibling = tree.box, tree.kind, tree.filled, tree.sibling
    a, around = tree.attribute[place], -1
    rest = bound - _term(low, high, known, detail, a, box[place, a], own, 1, False)
    child = tree.first[place]
    while child >= 0:
        if filled[child]:
            below = bound
            if kind[child] != OTHER:
                below = rest + _term(low, high, known, detail, a, box[child, a], own, 1, kind[child] == AT)
            if below == rest and kind[child] != OTHER:
                around = child
            elif below <= best:
                query.stack[height], query.bounds[height] = child, below
                height += 1
        child = sibling[child]
    if around >= 0:
        query.stack[height], query.bounds[height] = around, rest
        height += 1
    return height
