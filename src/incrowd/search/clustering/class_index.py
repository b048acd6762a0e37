"""An index of classes, which finds the nearest ones exactly: a tree of boxes of generalized tuples.

A node of the tree is a bucket of classes, or a split at a node g of one attribute's hierarchy: its children are the
classes below each child of g, those at g itself, and all others. Buckets split when they grow full, so classes may
come and go. With buckets without limit it is the plain loop over all classes.

A search skips a subtree if even a class of one record in it would be farther than the nearest found. The bound of a
child differs from its parent's in one attribute only, so going down costs one term.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from incrowd.search.clustering.space import Array, Forest, above
from incrowd.search.compiled import in_numpy, inlined, kernel

FARTHEST = 2**62
TABLE = 65_536  # hierarchies with up to this many nodes get a table of what a class shares with each node
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


@kernel
def reset(tree: Tree) -> None:
    tree.used[0] = 1
    _clear(tree, 0, -1)


def new_classes(nodes: Array, size: Array) -> Classes:
    """Classes from their tuples and sizes; keys are to be filled in."""
    ends = np.full(len(nodes), -1)
    return Classes(np.column_stack([nodes, size, ends]).astype(np.int32), np.zeros(len(nodes), np.uint64))


@kernel
def _clear(tree: Tree, place: int, parent: int) -> None:
    links = tree.links
    links[place, ATTRIBUTE] = links[place, SIBLING] = links[place, FIRST] = -1
    links[place, KIND] = OTHER
    links[place, FILLED] = 0
    tree.parent[place] = parent
    tree.room[place] = tree.bucket


@kernel
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


@kernel
def insert(tree: Tree, forest: Forest, classes: Classes, number: int) -> None:
    links, place = tree.links, 0
    links[0, FILLED] += 1
    while links[place, ATTRIBUTE] >= 0:
        place = _child(tree, forest, place, classes.rows[number, links[place, ATTRIBUTE]])
        links[place, FILLED] += 1
    _put(tree, classes, place, number)
    if links[place, FILLED] > tree.room[place]:
        _split(tree, forest, classes, place)


@kernel
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


@kernel
def _put(tree: Tree, classes: Classes, place: int, number: int) -> None:
    head = tree.links[place, FIRST]
    tree.home[number], tree.before[number], classes.rows[number, -1] = place, -1, head
    if head >= 0:
        tree.before[head] = number
    tree.links[place, FIRST] = number


@kernel
def remove(tree: Tree, classes: Classes, number: int) -> None:
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


@kernel
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


@kernel
def _common(rows: Array, forest: Forest, member: int, attribute: int) -> int:
    """The closest common ancestor of a bucket's classes in one attribute."""
    node = rows[member, attribute]
    while member >= 0:
        node = above(forest.parent, forest.end, node, rows[member, attribute])
        member = rows[member, -1]
    return int(node)


@kernel
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


@kernel
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


@inlined
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


@inlined
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


def _nearest_at_once(
    tree: Tree, forest: Forest, classes: Classes, query: Query, number: int, stub: int, looks: int, found: Array,
    far: Array,
) -> int:  # fmt: skip
    """What `nearest` does, among all classes that have records."""
    rows, sizes = classes.rows[:, :-2], classes.rows[:, -2].astype(np.int64)
    common, held, own = forest.shared(rows[number])[rows].sum(axis=1), forest.detail[rows].sum(axis=1), sizes[number]
    others = np.where(own + sizes >= 2 * stub, stub - own, sizes)
    distance = own * (held[number] - common) + others * (held - common)
    distance[sizes == 0] = distance[number] = FARTHEST
    near = np.flatnonzero(distance <= np.partition(distance, min(len(found), len(sizes)) - 1)[: len(found)].max())
    near = near[np.lexsort((classes.key[near], distance[near]))][: len(found)]
    near = near[distance[near] < FARTHEST]
    found[:], far[:] = -1, FARTHEST
    found[: len(near)], far[: len(near)] = near, distance[near]
    return rows.size


@in_numpy(_nearest_at_once)
def nearest(
    tree: Tree, forest: Forest, classes: Classes, query: Query, number: int, stub: int, looks: int, found: Array,
    far: Array,
) -> int:  # fmt: skip
    """Find the classes with the smallest distances to a class; returns how many values were looked at.

    `found` and `far` get the nearest and their distances, in order; of equals the one with the smallest key comes
    first; -1 where there are no more. If two classes together have at least 2 x `stub` records, only as many records of
    the other take part as the class lacks to `stub`; otherwise all. After this many `looks` at classes the nearest of
    these are taken; the search begins where near ones are.
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
        if looks <= 0 and found[most - 1] >= 0:
            break
        looks -= int(links[place, FILLED])
        other = links[place, FIRST]
        while other >= 0:
            distance, worst, size = 0, far[most - 1], int(rows[other, width])
            others = stub - own if own + size >= 2 * stub else size
            for a in range(width):
                if rows[other, a] != query.low[a, 0]:
                    distance += _term(query, detail, a, rows[other, a], own, others, True)
                    if distance > worst:
                        break
            looked += a + 1
            if other != number and distance <= worst:
                _note(found, far, keys, other, distance)
            other = rows[other, width + 1]
    return looked


@kernel
def _note(found: Array, far: Array, keys: Array, other: int, distance: int) -> None:
    """Put a class among the nearest, if it is one of them."""
    most = at = len(found)
    while at and (
        distance < far[at - 1] or (distance == far[at - 1] and (found[at - 1] < 0 or keys[other] < keys[found[at - 1]]))
    ):
        if at < most:
            found[at], far[at] = found[at - 1], far[at - 1]
        at -= 1
    if at < most:
        found[at], far[at] = other, distance
