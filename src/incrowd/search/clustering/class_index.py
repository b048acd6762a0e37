"""An index of classes, which finds the nearest ones exactly: a tree of boxes of generalized tuples.

A node of the tree is a bucket of classes, or a split at a node g of one attribute's hierarchy: its children are the
classes below each child of g, those at g itself, and all others. Buckets split when they grow full, so classes may
come and go. With buckets without limit it is the plain loop over all classes.

A search skips a subtree if even a class of one record in it would be farther than the nearest found. The bound of a
child differs from its parent's in one attribute only, so going down costs one term.

The index itself is in `native/class_index.c`; what is here makes the memory that it works in.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from incrowd.search.clustering.space import Array, Forest
from incrowd.search.native.kernels import Int32, Int64, UInt64

TABLE = 65_536  # hierarchies with up to this many nodes get a table of what a class shares with each node
BELOW, AT, OTHER = range(3)  # which classes a child of a split holds

# What a search reads of a tree node lies side by side in memory: a row of `links`.
ATTRIBUTE, SPLIT, KIND, VALUE, FILLED, SIBLING, FIRST, LINKS = range(8)


class Classes(NamedTuple):
    """The classes: a row for each, with its generalized tuple, its size and the next class of its bucket; random keys.

    Size and next class are the last two columns, so that one look at memory brings all that a distance needs.
    """

    rows: Int32
    key: UInt64


class Tree(NamedTuple):
    """The index.

    A row of `links` holds: ATTRIBUTE that a tree node splits (-1 for a bucket), SPLIT, the hierarchy node that it
    splits, KIND of classes it holds among its siblings, VALUE, the hierarchy node that they lie at or below in the
    attribute that the parent splits, FILLED, the number of classes in it, its SIBLING, and its FIRST child or class.
    """

    bucket: int  # classes that a new bucket may hold
    used: Int64  # number of tree nodes
    links: Int32
    box: Int32  # tree nodes x attributes: the hierarchy node that all its classes lie below
    parent: Int32
    room: Int64  # classes that a bucket may hold
    before: Int32  # per class: the one before in its bucket
    home: Int32  # per class: its bucket


def new_tree(classes: int, roots: Array, bucket: int) -> Tree:
    """An empty tree; memory that is not used is not touched."""
    most = 8 * classes + 64
    links, box = np.empty((most, LINKS), np.int32), np.empty((most, len(roots)), np.int32)
    links[0, [ATTRIBUTE, SIBLING, FIRST]], links[0, KIND], links[0, FILLED] = -1, OTHER, 0
    box[0] = roots
    parent, room = np.empty(most, np.int32), np.empty(most, np.int64)
    parent[0], room[0] = -1, bucket
    before, home = np.full(classes, -1, np.int32), np.full(classes, -1, np.int32)
    return Tree(bucket, np.ones(1, np.int64), links, box, parent, room, before, home)


def new_classes(nodes: Array, size: Array) -> Classes:
    """Classes from their tuples and sizes; keys are to be filled in."""
    ends = np.full(len(nodes), -1)
    return Classes(np.column_stack([nodes, size, ends]).astype(np.int32), np.zeros(len(nodes), np.uint64))


class Query(NamedTuple):
    """The class in question, and a stack for the descent.

    `low`, `high` and `detail` are the paths from its values to the roots: attributes x levels. `shared` is the detail
    that its value and any other node have in common, by node; empty where there are too many nodes for that.
    """

    low: Int32
    high: Int32
    detail: Int64
    shared: Int64
    stack: Int32
    bounds: Int64


def new_query(forest: Forest, roots: Array, classes: int) -> Query:
    deepest, nodes = 0, forest.parent
    while len(nodes):
        deepest, nodes = deepest + 1, forest.parent[nodes[nodes >= 0]]
    shape, most = (len(roots), deepest), 8 * classes + 64
    return Query(
        np.empty(shape, np.int32),
        np.empty(shape, np.int32),
        np.empty(shape, np.int64),
        np.empty(len(forest.parent) if len(forest.parent) <= TABLE else 0, np.int64),
        np.empty(most, np.int32),
        np.empty(most, np.int64),
    )
