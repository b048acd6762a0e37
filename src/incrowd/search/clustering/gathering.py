"""Gathering a few hundred records into classes, in compiled code: what a try of destroy and repair does.

A pool has parts (records of one tuple), clusters (classes to be), and shares: how many records of which part a cluster
has. Clusters are drawn together all the time: their nodes are the closest common generalization of their shares.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from incrowd.privacy.compiled import Needs, is_good, lacking, spare
from incrowd.search.clustering.agglomeration import draw
from incrowd.search.clustering.forest import Forest
from incrowd.search.compiled import compiled

Array = npt.NDArray[Any]

PARTS, CLUSTERS, SHARES, LOOKS = range(4)
HEAVIEST = 4  # how many times as much an attribute may weigh
PASSES = 2
MANY = 16  # shares of a cluster, of which one alone is not expected to hold it back
FARTHEST = 2**62


class Pool(NamedTuple):
    """Parts, clusters and shares; `at` says how many there are of each, and how many values were looked at.

    `mark` is the part of each tuple, -1 if it has none; `rows` the values of each part; `left` the records of each part
    that are in no cluster yet; `held` and `shared` the detail that a part would keep in the cluster that grows, and the
    same by attribute.
    """

    mark: Array
    tuples: Array
    records: Array
    left: Array
    rows: Array
    held: Array
    shared: Array
    nodes: Array
    size: Array
    detail: Array
    head: Array
    share_part: Array
    share_records: Array
    share_after: Array
    weights: Array
    trial: Array
    at: Array


def new_pool(tuples: int, attributes: int, parts: int) -> Pool:
    """Room for so many parts."""
    clusters, shares = 2 * parts, 6 * parts
    return Pool(
        np.full(tuples, -1, np.int32),
        np.empty(parts, np.int64),
        np.empty(parts, np.int64),
        np.empty(parts, np.int64),
        np.empty((parts, attributes), np.int32),
        np.empty(parts, np.int64),
        np.empty((parts, attributes), np.int64),
        np.empty((clusters, attributes), np.int32),
        np.empty(clusters, np.int64),
        np.empty(clusters, np.int64),
        np.empty(clusters, np.int64),
        np.empty(shares, np.int64),
        np.empty(shares, np.int64),
        np.empty(shares, np.int64),
        np.ones(attributes, np.int64),
        np.empty(attributes, np.int32),
        np.zeros(4, np.int64),
    )


@compiled
def gathered(
    pool: Pool, forest: Forest, tuples: Array, needs: Needs, crowding: int, everything: int, random: Array
) -> None:
    """Gather all parts of a pool into good clusters.

    Args:
        pool: Parts, and no clusters yet.
        forest: The hierarchies.
        tuples: The tuples, as nodes: tuples x attributes.
        needs: What a cluster needs.
        crowding: What a unit of the sum of squared class sizes costs, in units of detail.
        everything: The detail of a record that has lost nothing.
        random: The state of the random numbers.
    """
    parts, at = pool.at[PARTS], pool.at
    weighs = _drawn(random, 2)
    for a in range(len(pool.weights)):
        pool.weights[a] = 1 + _drawn(random, HEAVIEST) if weighs else 1
    total = 0
    for i in range(parts):
        pool.left[i] = pool.records[i]
        for a in range(len(pool.weights)):
            pool.rows[i, a] = tuples[pool.tuples[i], a]
        total += pool.records[i]
    while is_good(needs, total) and at[CLUSTERS] < len(pool.size) and at[SHARES] + 2 * parts < len(pool.share_part):
        start = _drawn(random, parts)
        while pool.left[start] == 0:
            start = start + 1 if start + 1 < parts else 0
        total -= _grow(pool, forest, needs, start)
    for i in range(parts):
        if pool.left[i]:
            _settle(pool, forest, crowding, i)
    for _ in range(PASSES):
        changed = _relocate(pool, forest, needs, crowding)
        changed += _dissolve(pool, forest, crowding, everything)
        if not changed:
            break
    _unite(pool)


@compiled
def _drawn(random: Array, limit: int) -> int:
    """A random number from 0 up to a limit."""
    return int(np.int64(draw(random) % np.uint64(limit)))


@compiled
def _unite(pool: Pool) -> None:
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
                pool.size[other], pool.detail[other], pool.head[other] = 0, 0, -1


@compiled
def pool_cost(pool: Pool, crowding: int) -> int:
    """What all clusters cost: the detail that they hold less counts less, their sizes squared count more."""
    cost = np.int64(0)
    for c in range(pool.at[CLUSTERS]):
        cost += pool.size[c] * (crowding * pool.size[c] - pool.detail[c])
    return int(cost)


@compiled
def _grow(pool: Pool, forest: Forest, needs: Needs, start: int) -> int:
    """A new cluster around a part, with the nearest parts until it is good; how many records it has."""
    at, rows = pool.at, pool.rows
    cluster = at[CLUSTERS]
    at[CLUSTERS] += 1
    nodes = pool.nodes[cluster]
    pool.size[cluster], pool.head[cluster] = 0, -1
    nodes[:] = rows[start]
    _share(pool, cluster, start, min(pool.left[start], lacking(needs, 0)))
    if not is_good(needs, pool.size[cluster]):
        _compare(pool, forest, nodes)
    while not is_good(needs, pool.size[cluster]):
        best, chosen = -FARTHEST, -1
        for i in range(at[PARTS]):
            if pool.left[i] > 0 and pool.held[i] > best:
                best, chosen = pool.held[i], i
        for a in range(len(nodes)):
            node = _above(forest.parent, forest.end, nodes[a], rows[chosen, a])
            if node != nodes[a]:
                nodes[a] = node
                _widen(pool, forest, a, node)
        _share(pool, cluster, chosen, min(pool.left[chosen], lacking(needs, pool.size[cluster])))
    _weigh(pool, forest, cluster)
    return int(pool.size[cluster])


@compiled
def _compare(pool: Pool, forest: Forest, nodes: Array) -> None:
    """The detail that each part that is left would keep in a cluster."""
    parent, end, detail, parts, width = forest.parent, forest.end, forest.detail, pool.at[PARTS], len(nodes)
    rows, shared, weights, left, all_held = pool.rows, pool.shared, pool.weights, pool.left, pool.held
    for i in range(parts):
        if left[i] > 0:
            held = np.int64(0)
            for a in range(width):
                common = detail[_above(parent, end, nodes[a], rows[i, a])]
                shared[i, a] = common
                held += weights[a] * common
            all_held[i] = held
    pool.at[LOOKS] += parts * width


@compiled
def _widen(pool: Pool, forest: Forest, a: int, node: int) -> None:
    """The same after the cluster was generalized to a node: what lies outside of it shares as much as before."""
    end, detail, weight, parts = forest.end[node], forest.detail[node], pool.weights[a], pool.at[PARTS]
    rows, shared, held = pool.rows, pool.shared, pool.held
    for i in range(parts):
        if node <= rows[i, a] < end:
            held[i] += weight * (detail - shared[i, a])
            shared[i, a] = detail
    pool.at[LOOKS] += parts


@compiled
def _share(pool: Pool, cluster: int, part: int, amount: int) -> None:
    """Give a cluster some of the records that a part has left."""
    share = pool.at[SHARES]
    pool.at[SHARES] += 1
    pool.share_part[share], pool.share_records[share] = part, amount
    pool.share_after[share], pool.head[cluster] = pool.head[cluster], share
    pool.left[part] -= amount
    pool.size[cluster] += amount


@compiled
def _weigh(pool: Pool, forest: Forest, cluster: int) -> None:
    held = np.int64(0)
    for a in range(len(pool.weights)):
        held += forest.detail[pool.nodes[cluster, a]]
    pool.detail[cluster] = held


@njit(nogil=True, inline="always")
def _above(parent: Array, end: Array, node: int, other: int) -> int:
    """The closest common ancestor of two nodes."""
    while not node <= other < end[node]:
        node = parent[node]
    return node


@compiled
def _cheapest(
    pool: Pool, forest: Forest, row: Array, amount: int, crowding: int, but: int, limit: int
) -> tuple[int, int]:
    """The cluster that records of a tuple join at the least cost, below a limit, and that cost; -1 if there is none.

    The cost is what the cluster loses of its detail, less the detail that the records keep, and what sizes cost.
    """
    nodes, sizes, holds, clusters = pool.nodes, pool.size, pool.detail, pool.at[CLUSTERS]
    parent, end, detail, width = forest.parent, forest.end, forest.detail, len(row)
    best, chosen = limit, -1
    for c in range(clusters):
        size = sizes[c]
        if c == but or size == 0:
            continue
        held = np.int64(0)
        for a in range(width):
            held += detail[_above(parent, end, nodes[c, a], row[a])]
        cost = size * (holds[c] - held) - amount * held + crowding * amount * (2 * size + amount)
        if cost < best:
            best, chosen = cost, c
    pool.at[LOOKS] += clusters * width
    return chosen, best


@compiled
def _join(pool: Pool, forest: Forest, row: Array, cluster: int) -> None:
    """Make room in a cluster for the values of a tuple."""
    for a in range(len(row)):
        pool.nodes[cluster, a] = _above(forest.parent, forest.end, pool.nodes[cluster, a], row[a])
    _weigh(pool, forest, cluster)


@compiled
def _settle(pool: Pool, forest: Forest, crowding: int, part: int) -> None:
    """Let what is left of a part join the cluster where that costs least."""
    row = pool.rows[part]
    cluster, _ = _cheapest(pool, forest, row, pool.left[part], crowding, -1, FARTHEST)
    _share(pool, cluster, part, pool.left[part])
    _join(pool, forest, row, cluster)


@compiled
def _without(pool: Pool, forest: Forest, cluster: int, share: int) -> int:
    """The detail of a cluster without one of its shares; its nodes are in `trial` then.

    Of a cluster with many shares it is not worth the work: the others hold it where it is.
    """
    many, one = 0, pool.head[cluster]
    while one >= 0 and many < MANY:
        many, one = many + 1, pool.share_after[one]
    if many == MANY:
        pool.trial[:] = pool.nodes[cluster]
        return int(pool.detail[cluster])
    parent, end, trial, rows, width = forest.parent, forest.end, pool.trial, pool.rows, len(pool.trial)
    one, first = pool.head[cluster], True
    while one >= 0:
        if one != share:
            part = pool.share_part[one]
            for a in range(width):
                trial[a] = rows[part, a] if first else _above(parent, end, trial[a], rows[part, a])
            first = False
            pool.at[LOOKS] += width
        one = pool.share_after[one]
    held = np.int64(0)
    for a in range(width):
        held += forest.detail[trial[a]]
    return int(held)


@compiled
def _relocate(pool: Pool, forest: Forest, needs: Needs, crowding: int) -> int:
    """Move shares that their clusters can spare to where they cost least; how many moved."""
    moved = 0
    for cluster in range(pool.at[CLUSTERS]):
        before, share = -1, pool.head[cluster]
        while share >= 0:
            after, amount, size = pool.share_after[share], pool.share_records[share], pool.size[cluster]
            target = -1
            if spare(needs, size) >= amount:
                held, rest = _without(pool, forest, cluster, share), size - amount
                saved = rest * held - size * pool.detail[cluster] + crowding * (size * size - rest * rest)
                row = pool.rows[pool.share_part[share]]
                target, _ = _cheapest(pool, forest, row, amount, crowding, cluster, saved)
            if target >= 0:
                pool.nodes[cluster, :] = pool.trial
                pool.size[cluster], pool.detail[cluster] = rest, held
                if before >= 0:
                    pool.share_after[before] = after
                else:
                    pool.head[cluster] = after
                _move(pool, forest, share, target)
                moved += 1
            else:
                before = share
            share = after
    return moved


@compiled
def _move(pool: Pool, forest: Forest, share: int, target: int) -> None:
    """Let a share that is in no cluster any more join one."""
    pool.share_after[share], pool.head[target] = pool.head[target], share
    pool.size[target] += pool.share_records[share]
    _join(pool, forest, pool.rows[pool.share_part[share]], target)


@compiled
def _dissolve(pool: Pool, forest: Forest, crowding: int, everything: int) -> int:
    """Dissolve clusters whose shares cost less in others; how many."""
    dissolved = 0
    for cluster in range(pool.at[CLUSTERS]):
        size = pool.size[cluster]
        limit = size * (everything - pool.detail[cluster] + crowding * size)  # what it has lost
        share, target = pool.head[cluster], 0
        while share >= 0 and target >= 0:
            row, lost = pool.rows[pool.share_part[share]], pool.share_records[share] * everything
            most = limit - lost
            target, rise = _cheapest(pool, forest, row, pool.share_records[share], crowding, cluster, most)
            limit -= lost + rise
            share = pool.share_after[share]
        if size == 0 or target < 0:
            continue
        share = pool.head[cluster]
        pool.size[cluster], pool.detail[cluster], pool.head[cluster] = 0, 0, -1
        while share >= 0:
            after = pool.share_after[share]
            row = pool.rows[pool.share_part[share]]
            target, _ = _cheapest(pool, forest, row, pool.share_records[share], crowding, cluster, FARTHEST)
            _move(pool, forest, share, target)
            share = after
        dissolved += 1
    return dissolved
