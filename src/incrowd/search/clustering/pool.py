"""A few hundred records that are gathered into classes anew, in compiled code: what is known of them.

A pool has parts (records of one tuple), clusters (classes to be), and shares: how many records of which part a cluster
has. Clusters are drawn together all the time: their nodes are the closest common generalization of their shares.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from incrowd.search.clustering.agglomeration import draw
from incrowd.search.clustering.forest import Forest
from incrowd.search.compiled import compiled_within

Array = npt.NDArray[Any]

PARTS, CLUSTERS, SHARES, LOOKS, START, WAITING, FRESH = range(7)
NONE: Any = np.int64(-1)  # both typed: a function is compiled anew for every plain number that it is called with
FARTHEST: Any = np.int64(2**62)
QUARTERS: Any = np.int64(4)  # of a whole, in which a growing cluster is thrifty
WIDEST = 700  # nodes of a hierarchy whose pairs get a table


class Meeting(NamedTuple):
    """The detail that two nodes of an attribute have in common: `detail[row[node] + other]`.

    Rows of hierarchies that are too large for that are -1.
    """

    row: Array
    detail: Array


def meeting_of(forest: Forest, roots: Array) -> Meeting:
    """What the nodes of each attribute have in common."""
    row, tables, used = np.full(len(forest.parent), -1, np.int64), [np.zeros(0, np.int64)], 0
    for root, end in zip(roots.tolist(), forest.end[roots].tolist(), strict=True):
        size = end - root
        if size > WIDEST:
            continue
        table = np.empty((size, size), np.int64)
        for node in range(size):  # a parent comes before its children, and shares as much with what is outside of them
            above, stop = forest.parent[root + node], forest.end[root + node] - root
            table[node] = table[above - root] if above >= 0 else forest.detail[root]
            table[node, node:stop] = forest.detail[root + node]
        row[root:end] = used + np.arange(size) * size - root
        tables.append(table.ravel())
        used += size * size
    return Meeting(row, np.concatenate(tables))


class Pool(NamedTuple):
    """Parts, clusters and shares; `at` says how many there are of each, and how many values were looked at (LOOKS).

    `mark` is the part of each tuple, -1 if it has none; `rows` the values of each part; `left` the records of each part
    that are in no cluster yet. While a cluster grows, `order` lists the parts that are WAITING to be taken, `columns`
    has their values by attribute; `held` and `shared` the detail that they would keep in it, and the same by attribute;
    `worth` what they have, and `score` how good they are. `among` lists the clusters, those that have changed (FRESH)
    first, each at its `rank`. `bases` is where the rows of a tuple's values begin in the table of what nodes have in
    common; START is the part that a try began at.
    """

    mark: Array
    tuples: Array
    records: Array
    left: Array
    rows: Array
    columns: Array
    order: Array
    held: Array
    worth: Array
    score: Array
    shared: Array
    nodes: Array
    size: Array
    detail: Array
    head: Array
    among: Array
    rank: Array
    share_part: Array
    share_records: Array
    share_after: Array
    weights: Array
    trial: Array
    bases: Array
    meeting: Meeting
    at: Array


def new_pool(tuples: int, attributes: int, parts: int, meeting: Meeting) -> Pool:
    """Room for so many parts."""
    clusters, shares = 2 * parts, 6 * parts
    return Pool(
        np.full(tuples, -1, np.int32),
        np.empty(parts, np.int64),
        np.empty(parts, np.int64),
        np.empty(parts, np.int64),
        np.empty((parts, attributes), np.int32),
        np.empty((attributes, parts), np.int32),
        np.empty(parts, np.int64),
        np.empty(parts, np.int64),
        np.empty(parts, np.int64),
        np.empty(parts, np.int64),
        np.empty((attributes, parts), np.int64),
        np.empty((clusters, attributes), np.int32),
        np.empty(clusters, np.int64),
        np.empty(clusters, np.int64),
        np.empty(clusters, np.int64),
        np.arange(clusters),
        np.arange(clusters),
        np.empty(shares, np.int64),
        np.empty(shares, np.int64),
        np.empty(shares, np.int64),
        np.ones(attributes, np.int64),
        np.empty(attributes, np.int32),
        np.empty(attributes, np.int64),
        meeting,
        np.zeros(7, np.int64),
    )


@compiled_within
def pool_cost(pool: Pool, crowding: int) -> int:
    """What all clusters cost: the detail that they hold less counts less, their sizes squared count more."""
    cost = np.int64(0)
    for c in range(pool.at[CLUSTERS]):
        cost += pool.size[c] * (crowding * pool.size[c] - pool.detail[c])
    return int(cost)


@compiled_within
def drawn(random: Array, limit: int) -> int:
    """A random number from 0 up to a limit."""
    return int(np.int64(draw(random) % np.uint64(limit)))


@compiled_within
def give(pool: Pool, cluster: int, part: int, amount: int) -> None:
    """Give a cluster some of the records that a part has left."""
    share = pool.at[SHARES]
    pool.at[SHARES] += 1
    pool.share_part[share], pool.share_records[share] = part, amount
    pool.share_after[share], pool.head[cluster] = pool.head[cluster], share
    pool.left[part] -= amount
    pool.size[cluster] += amount


@compiled_within
def weigh(pool: Pool, forest: Forest, cluster: int) -> None:
    """Note the detail that a cluster holds."""
    held = np.int64(0)
    for a in range(len(pool.weights)):
        held += forest.detail[pool.nodes[cluster, a]]
    pool.detail[cluster] = held


@njit(nogil=True, inline="always")
def above(parent: Array, end: Array, node: int, other: int) -> int:
    """The closest common ancestor of two nodes."""
    while not node <= other < end[node]:
        node = parent[node]
    return node


@compiled_within
def cheapest(
    pool: Pool, forest: Forest, row: Array, amount: int, crowding: int, but: int, limit: int, among: int
) -> tuple[int, int]:
    """The cluster that records of a tuple join at the least cost, below a limit, and that cost; -1 if there is none.

    The first so many are looked at (`among`).
    The cost is what the cluster loses of its detail, less the detail that the records keep, and what sizes cost.
    """
    nodes, sizes, holds = pool.nodes, pool.size, pool.detail
    parent, end, detail, width = forest.parent, forest.end, forest.detail, len(row)
    best, chosen, bases, table = limit, -1, pool.bases, pool.meeting.detail
    for a in range(width):
        bases[a] = pool.meeting.row[row[a]]
    for i in range(among):
        c = pool.among[i]
        size = sizes[c]
        if c == but or size == 0:
            continue
        held = np.int64(0)
        for a in range(width):
            if bases[a] >= 0:
                held += table[np.uint64(bases[a] + nodes[c, a])]
            else:
                held += detail[above(parent, end, nodes[c, a], row[a])]
        cost = size * (holds[c] - held) - amount * held + crowding * amount * (2 * size + amount)
        if cost < best:
            best, chosen = cost, c
    pool.at[LOOKS] += among * width
    return chosen, best


@compiled_within
def join(pool: Pool, forest: Forest, row: Array, cluster: int) -> None:
    """Make room in a cluster for the values of a tuple."""
    for a in range(len(row)):
        pool.nodes[cluster, a] = above(forest.parent, forest.end, pool.nodes[cluster, a], row[a])
    weigh(pool, forest, cluster)


@compiled_within
def settle(pool: Pool, forest: Forest, crowding: int, part: int) -> None:
    """Let what is left of a part join the cluster where that costs least."""
    row = pool.rows[part]
    cluster, _ = cheapest(pool, forest, row, pool.left[part], crowding, NONE, FARTHEST, pool.at[CLUSTERS])
    give(pool, cluster, part, pool.left[part])
    join(pool, forest, row, cluster)


@compiled_within
def put_share(pool: Pool, forest: Forest, share: int, target: int) -> None:
    """Let a share that is in no cluster any more join one."""
    pool.share_after[share], pool.head[target] = pool.head[target], share
    pool.size[target] += pool.share_records[share]
    freshen(pool, target)
    join(pool, forest, pool.rows[pool.share_part[share]], target)


@compiled_within
def put_shares(pool: Pool, forest: Forest, share: int, crowding: int, but: int) -> None:
    """Let a list of shares that are in no cluster any more join where each costs least, but not one cluster."""
    while share >= 0:
        after = pool.share_after[share]
        row, amount = pool.rows[pool.share_part[share]], pool.share_records[share]
        target, _ = cheapest(pool, forest, row, amount, crowding, but, FARTHEST, pool.at[CLUSTERS])
        put_share(pool, forest, share, target)
        share = after


@compiled_within
def freshen(pool: Pool, cluster: int) -> None:
    """Note that a cluster has changed."""
    place, fresh = pool.rank[cluster], pool.at[FRESH]
    if place >= fresh:
        other = pool.among[fresh]
        pool.among[fresh], pool.among[place] = cluster, other
        pool.rank[cluster], pool.rank[other] = fresh, place
        pool.at[FRESH] += 1


@compiled_within
def unite(pool: Pool) -> None:
    """Clusters with the same values are one."""
    for c in range(pool.at[CLUSTERS]):
        if pool.size[c] == 0:
            continue
        for other in range(c + 1, pool.at[CLUSTERS]):
            if pool.size[other] == 0 or pool.detail[other] != pool.detail[c]:
                continue
            same = True
            for a in range(len(pool.weights)):
                same = same and pool.nodes[c, a] == pool.nodes[other, a]
            if same:
                share = pool.head[other]
                while pool.share_after[share] >= 0:
                    share = pool.share_after[share]
                pool.share_after[share], pool.head[c] = pool.head[c], pool.head[other]
                pool.size[c] += pool.size[other]
                freshen(pool, c)
                freshen(pool, other)
                pool.size[other], pool.detail[other], pool.head[other] = 0, 0, -1
