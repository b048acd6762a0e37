"""An index of classes: a tree of boxes of generalized tuples, in compiled code. `nearest` finds the nearest with it.

A node of the tree is a bucket of classes, or a split at a node g of one attribute's hierarchy: its children are the
classes below each child of g, those at g itself, and all others. Buckets split when they grow full, so classes may
come and go. With buckets without limit it is the plain loop over all classes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from incrowd.search.clustering.forest import Forest
from incrowd.search.compiled import compiled_within

Array = npt.NDArray[Any]

BELOW, AT, OTHER = 0, 1, 2  # which classes a child of a split holds

# What a search reads of a tree node lies side by side in memory: a row of `links`.
ATTRIBUTE, SPLIT, KIND, VALUE, FILLED, SIBLING, FIRST = range(7)


class Classes(NamedTuple):
    """The classes: a row for each, with its generalized tuple, its size and the next class of its bucket; random keys.

    Size and next class are the last two columns, so that one look at memory brings all that a distance needs.
    """

    rows: Array
    key: Array


class Tree(NamedTuple):
    """The index.

    A row of `links` holds: ATTRIBUTE that a tree node splits (-1 for a bucket), SPLIT, the hierarchy node that it
    splits, KIND of classes it holds among its siblings, VALUE, the hierarchy node that they lie at or below in the
    attribute that the parent splits, FILLED, the number of classes in it, its SIBLING, and its FIRST child or class.
    """

    bucket: int  # classes that a new bucket may hold
    used: Array  # number of tree nodes
    links: Array
    box: Array  # tree nodes x attributes: the hierarchy node that all its classes lie below
    parent: Array
    room: Array  # classes that a bucket may hold
    before: Array  # per class: the one before in its bucket
    home: Array  # per class: its bucket


def new_tree(classes: int, roots: Array, bucket: int) -> Tree:
    """An empty tree; memory that is not used is not touched."""
    most = 8 * classes + 64
    links, box = np.empty((most, 7), np.int32), np.empty((most, len(roots)), np.int32)
    links[0, [ATTRIBUTE, SIBLING, FIRST]], links[0, KIND], links[0, FILLED] = -1, OTHER, 0
    box[0] = roots
    parent, room = np.empty(most, np.int32), np.empty(most, np.int64)
    parent[0], room[0] = -1, bucket
    before, home = np.full(classes, -1, np.int32), np.full(classes, -1, np.int32)
    return Tree(bucket, np.ones(1, np.int64), links, box, parent, room, before, home)


@compiled_within
def reset(tree: Tree) -> None:
    """Empty a tree."""
    tree.used[0] = 1
    _clear(tree, 0, -1)


def new_classes(nodes: Array, size: Array) -> Classes:
    """Classes from their tuples and sizes; keys are to be filled in."""
    ends = np.full(len(nodes), -1)
    return Classes(np.column_stack([nodes, size, ends]).astype(np.int32), np.zeros(len(nodes), np.uint64))


@compiled_within
def _clear(tree: Tree, place: int, parent: int) -> None:
    links = tree.links
    links[place, ATTRIBUTE] = links[place, SIBLING] = links[place, FIRST] = -1
    links[place, KIND] = OTHER
    links[place, FILLED] = 0
    tree.parent[place] = parent
    tree.room[place] = tree.bucket


@compiled_within
def _child(tree: Tree, forest: Forest, place: int, value: int) -> int:
    """The child of a split that a value belongs to, made if there is none yet."""
    links, end = tree.links, forest.end
    node, attribute = links[place, SPLIT], links[place, ATTRIBUTE]
    kind, box = OTHER, tree.box[place, attribute]
    if value == node:
        kind, box = AT, node
    elif node < value < end[node]:
        kind = BELOW
    child = links[place, FIRST]
    while child >= 0:
        if links[child, KIND] == kind:
            below = links[child, VALUE]
            if kind != BELOW or below <= value < end[below]:
                return int(child)
        child = links[child, SIBLING]
    if kind == BELOW:
        box = value
        while forest.parent[box] != node:
            box = forest.parent[box]
    child = tree.used[0]
    tree.used[0] += 1
    _clear(tree, child, place)
    for a in range(tree.box.shape[1]):
        tree.box[child, a] = tree.box[place, a]
    tree.box[child, attribute] = box
    links[child, KIND], links[child, VALUE] = kind, box
    links[child, SIBLING] = links[place, FIRST]
    links[place, FIRST] = child
    return int(child)


@compiled_within
def insert(tree: Tree, forest: Forest, classes: Classes, number: int) -> None:
    """Put a class into the tree."""
    links, place = tree.links, 0
    links[0, FILLED] += 1
    while links[place, ATTRIBUTE] >= 0:
        place = _child(tree, forest, place, classes.rows[number, links[place, ATTRIBUTE]])
        links[place, FILLED] += 1
    _put(tree, classes, place, number)
    if links[place, FILLED] > tree.room[place]:
        _split(tree, forest, classes, place)


@compiled_within
def twin(tree: Tree, forest: Forest, classes: Classes, nodes: Array) -> int:
    """A class of the tree with these very values, -1 if there is none."""
    links, rows, place = tree.links, classes.rows, 0
    while links[place, ATTRIBUTE] >= 0:
        place = _child(tree, forest, place, nodes[links[place, ATTRIBUTE]])
    other = links[place, FIRST]
    while other >= 0:
        same = True
        for a in range(len(nodes)):
            same = same and rows[other, a] == nodes[a]
        if same:
            break
        other = rows[other, -1]
    return int(other)


@compiled_within
def _put(tree: Tree, classes: Classes, place: int, number: int) -> None:
    head = tree.links[place, FIRST]
    tree.home[number], tree.before[number], classes.rows[number, -1] = place, -1, head
    if head >= 0:
        tree.before[head] = number
    tree.links[place, FIRST] = number


@compiled_within
def remove(tree: Tree, classes: Classes, number: int) -> None:
    """Take a class out of the tree."""
    place, before, after = tree.home[number], tree.before[number], classes.rows[number, -1]
    if before >= 0:
        classes.rows[before, -1] = after
    else:
        tree.links[place, FIRST] = after
    if after >= 0:
        tree.before[after] = before
    while place >= 0:
        tree.links[place, FILLED] -= 1
        place = tree.parent[place]


@compiled_within
def _split(tree: Tree, forest: Forest, classes: Classes, place: int) -> None:
    """Split a full bucket where most pairs of its classes get the largest bound between them."""
    rows, links = classes.rows, tree.links
    best, attribute, split = 0.0, -1, -1
    for a in range(rows.shape[1] - 2):
        node = _common(rows, forest, links[place, FIRST], a)
        score = _separation(rows, forest, links[place, FIRST], a, node)
        if score > best:
            best, attribute, split = score, a, node
    if attribute < 0:  # all alike: try again when it has grown
        tree.room[place] *= 2
        return
    member = links[place, FIRST]
    links[place, ATTRIBUTE], links[place, SPLIT], links[place, FIRST] = attribute, split, -1
    while member >= 0:
        after = rows[member, -1]
        child = _child(tree, forest, place, rows[member, attribute])
        _put(tree, classes, child, member)
        links[child, FILLED] += 1
        member = after


@compiled_within
def _common(rows: Array, forest: Forest, member: int, attribute: int) -> int:
    """The closest common ancestor of a bucket's classes in one attribute."""
    node = rows[member, attribute]
    while member >= 0:
        value = rows[member, attribute]
        while not node <= value < forest.end[node]:
            node = forest.parent[node]
        member = rows[member, -1]
    return int(node)


@compiled_within
def _separation(rows: Array, forest: Forest, head: int, attribute: int, node: int) -> float:
    """Share of pairs that a split would part, times the detail between its node and the children."""
    members, same, gap = 0, 0, 0
    first = head
    while first >= 0:
        value = rows[first, attribute]
        low = high = value
        if value != node:
            while forest.parent[low] != node:
                low = forest.parent[low]
            high = forest.end[low] - 1
            gap += forest.detail[low] - forest.detail[node]
        other = head
        while other >= 0:
            same += low <= rows[other, attribute] <= high
            other = rows[other, -1]
        members += 1
        first = rows[first, -1]
    return (1 - same / (members * members)) * gap / members
