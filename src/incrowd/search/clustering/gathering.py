"""Gathering the records of a pool into classes anew, in compiled code: what a try of destroy and repair does.

Each cluster is made of a record drawn at random and the ones nearest to it, with attributes that weigh more or less by
chance. What is left joins the cluster where that costs least, and then the clusters are improved (see `improving`).
"""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from incrowd.privacy.compiled import Needs, is_good, lacking
from incrowd.search.clustering.forest import Forest
from incrowd.search.clustering.improving import dissolve, relocate, specialize
from incrowd.search.clustering.pool import (
    CLUSTERS,
    FARTHEST,
    LOOKS,
    PARTS,
    SHARES,
    Pool,
    above,
    drawn,
    give,
    settle,
    unite,
    weigh,
)
from incrowd.search.compiled import compiled_within

Array = npt.NDArray[Any]

HEAVIEST = 4  # how many times as much an attribute may weigh
PASSES = 2


@compiled_within
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
    total = _begin(pool, tuples, random)
    while is_good(needs, total) and at[CLUSTERS] < len(pool.size) and at[SHARES] + 2 * parts < len(pool.share_part):
        start = drawn(random, parts)
        while pool.left[start] == 0:
            start = start + 1 if start + 1 < parts else 0
        total -= _grow(pool, forest, needs, start)
    _finish(pool, forest, needs, crowding, everything)


@compiled_within
def _begin(pool: Pool, tuples: Array, random: Array) -> int:
    """Draw what attributes weigh, and let all parts be in no cluster; how many records they have."""
    weighs = drawn(random, 2)
    for a in range(len(pool.weights)):
        pool.weights[a] = 1 + drawn(random, HEAVIEST) if weighs else 1
    total = 0
    for i in range(pool.at[PARTS]):
        pool.left[i] = pool.records[i]
        for a in range(len(pool.weights)):
            pool.rows[i, a] = tuples[pool.tuples[i], a]
        total += pool.records[i]
    return int(total)


@compiled_within
def _finish(pool: Pool, forest: Forest, needs: Needs, crowding: int, everything: int) -> None:
    """Let what is left join clusters, and improve these."""
    for i in range(pool.at[PARTS]):
        if pool.left[i]:
            settle(pool, forest, crowding, i)
    for _ in range(PASSES):
        changed = relocate(pool, forest, needs, crowding)
        changed += specialize(pool, forest, needs, crowding)
        changed += dissolve(pool, forest, crowding, everything)
        if not changed:
            break
    unite(pool)


@compiled_within
def _grow(pool: Pool, forest: Forest, needs: Needs, start: int) -> int:
    """A new cluster around a part, with the nearest parts until it is good; how many records it has."""
    at, rows = pool.at, pool.rows
    cluster = at[CLUSTERS]
    at[CLUSTERS] += 1
    nodes = pool.nodes[cluster]
    pool.size[cluster], pool.head[cluster] = 0, -1
    for a in range(len(nodes)):
        nodes[a] = rows[start, a]
    give(pool, cluster, start, min(pool.left[start], lacking(needs, 0)))
    if not is_good(needs, pool.size[cluster]):
        _compare(pool, forest, nodes)
    while not is_good(needs, pool.size[cluster]):
        best, chosen = -FARTHEST, -1
        for i in range(at[PARTS]):
            if pool.left[i] > 0 and pool.held[i] > best:
                best, chosen = pool.held[i], i
        for a in range(len(nodes)):
            node = above(forest.parent, forest.end, nodes[a], rows[chosen, a])
            if node != nodes[a]:
                nodes[a] = node
                _widen(pool, forest, a, node)
        give(pool, cluster, chosen, min(pool.left[chosen], lacking(needs, pool.size[cluster])))
    weigh(pool, forest, cluster)
    return int(pool.size[cluster])


@compiled_within
def _compare(pool: Pool, forest: Forest, nodes: Array) -> None:
    """The detail that each part that is left would keep in a cluster."""
    parent, end, detail, parts, width = forest.parent, forest.end, forest.detail, pool.at[PARTS], len(nodes)
    rows, shared, weights, all_held = pool.rows, pool.shared, pool.weights, pool.held
    all_held[:parts] = 0
    for a in range(width):
        base, weight, node = pool.meeting.row[nodes[a]], weights[a], nodes[a]
        if base >= 0:
            for i in range(parts):
                common = pool.meeting.detail[base + rows[i, a]]
                shared[i, a] = common
                all_held[i] += weight * common
            continue
        for i in range(parts):
            common = detail[above(parent, end, node, rows[i, a])]
            shared[i, a] = common
            all_held[i] += weight * common
    pool.at[LOOKS] += parts * width


@compiled_within
def _widen(pool: Pool, forest: Forest, a: int, node: int) -> None:
    """The same after the cluster was generalized to a node: what lies outside of it shares as much as before."""
    end, detail, weight, parts = forest.end[node], forest.detail[node], pool.weights[a], pool.at[PARTS]
    rows, shared, held = pool.rows, pool.shared, pool.held
    for i in range(parts):
        if node <= rows[i, a] < end:
            held[i] += weight * (detail - shared[i, a])
            shared[i, a] = detail
    pool.at[LOOKS] += parts
