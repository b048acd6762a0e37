"""Gathering the records of a pool into classes anew, in compiled code: one thing that destroy and repair try.

Each cluster is made of a record drawn at random and the ones nearest to it, with attributes that weigh more or less by
chance. What is left joins the cluster where that costs least, and then the clusters are improved (see `improving`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.privacy.compiled import SizeRule, is_good, lacking
from incrowd.search.clustering.forest import Forest
from incrowd.search.clustering.improving import dissolve, relocate, specialize
from incrowd.search.clustering.pool import (
    CLUSTERS,
    FARTHEST,
    LOOKS,
    PARTS,
    QUARTERS,
    SHARES,
    WAITING,
    Pool,
    above,
    drawn,
    freshen,
    give,
    pool_cost,
    settle,
    unite,
    weigh,
)
from incrowd.search.compiled import compiled_within

Array = npt.NDArray[Any]

HEAVIEST = 4  # how many times as much an attribute may weigh
PASSES = 2
NO_THRIFT: Any = np.int64(0)


@compiled_within
def gathered(
    pool: Pool, forest: Forest, tuples: Array, needs: SizeRule, crowding: int, everything: int, random: Array, most: int
) -> bool:
    """Gather all parts of a pool into good clusters; whether that is of any use, otherwise they are left as they are.

    Args:
        pool: Parts, and no clusters yet.
        forest: The hierarchies.
        tuples: The tuples, as nodes: tuples x attributes.
        needs: What a cluster needs.
        crowding: What a unit of the sum of squared class sizes costs, in units of detail.
        everything: The detail of a record that has lost nothing.
        random: The state of the random numbers.
        most: What all clusters may cost before they are improved.
    """
    parts, at, total = pool.at[PARTS], pool.at, np.int64(0)
    weigh_attributes(pool, random)
    list_parts(pool, tuples)
    for i in range(parts):
        total += pool.records[i]
    while is_good(needs, total) and at[CLUSTERS] < len(pool.size) and at[SHARES] + 2 * parts < len(pool.share_part):
        start = drawn(random, parts)
        while pool.left[start] == 0:
            start = start + 1 if start + 1 < parts else 0
        total -= grow(pool, forest, needs, start, NO_THRIFT)
    for i in range(parts):
        if pool.left[i]:
            settle(pool, forest, crowding, i)
    if pool_cost(pool, crowding) > most:
        return False
    improve(pool, forest, needs, crowding, everything)
    return True


@compiled_within
def weigh_attributes(pool: Pool, random: Array) -> None:
    """Draw what attributes weigh."""
    weighs = drawn(random, 2)
    for a in range(len(pool.weights)):
        pool.weights[a] = 1 + drawn(random, HEAVIEST) if weighs else 1


@compiled_within
def list_parts(pool: Pool, tuples: Array) -> None:
    """Look up the values of all parts, which wait to be taken; what they have does not count."""
    for i in range(pool.at[PARTS]):
        pool.order[i], pool.left[i], pool.worth[i] = i, pool.records[i], 0
        for a in range(len(pool.weights)):
            value = tuples[pool.tuples[i], a]
            pool.rows[i, a], pool.columns[a, i] = value, value
    pool.at[WAITING] = pool.at[PARTS]


@compiled_within
def improve(pool: Pool, forest: Forest, needs: SizeRule, crowding: int, everything: int) -> None:
    """Improve the clusters that have changed, and what can be better in them than before."""
    for _ in range(PASSES):
        changed = relocate(pool, forest, needs, crowding)
        changed += specialize(pool, forest, needs, crowding)
        changed += dissolve(pool, forest, crowding, everything)
        if not changed:
            break
    unite(pool)


@compiled_within
def grow(pool: Pool, forest: Forest, needs: SizeRule, start: int, thrift: int) -> int:
    """A new cluster around a part, with the best parts until it is good; how many records it has.

    The best are those that keep most detail compared to what they have. With `thrift`, in quarters, counts also what
    the records lose that are in the cluster already.
    """
    at, rows, order, worth, score = pool.at, pool.rows, pool.order, pool.worth, pool.score
    cluster = at[CLUSTERS]
    at[CLUSTERS] += 1
    nodes = pool.nodes[cluster]
    pool.size[cluster], pool.head[cluster], pool.among[cluster], pool.rank[cluster] = 0, -1, cluster, cluster
    freshen(pool, cluster)
    for a in range(len(nodes)):
        nodes[a] = rows[start, a]
    give(pool, cluster, start, min(pool.left[start], lacking(needs, 0)))
    if not is_good(needs, pool.size[cluster]):
        _compare(pool, forest, nodes)
    best, waiting = -FARTHEST, at[WAITING]
    place = waiting
    while not is_good(needs, pool.size[cluster]):
        while place < waiting and score[place] != best:  # the next one that is as good
            place += 1
        if place == waiting:
            best, place = _scored(pool, QUARTERS + thrift * pool.size[cluster]), 0
            continue
        chosen, widened = order[place], False
        for a in range(len(nodes)):
            node = above(forest.parent, forest.end, nodes[a], rows[chosen, a])
            if node != nodes[a]:
                nodes[a], widened = node, True
                _widen(pool, forest, a, node)
        give(pool, cluster, chosen, min(pool.left[chosen], lacking(needs, pool.size[cluster])))
        if pool.left[chosen] == 0:
            worth[place] = FARTHEST
        place = waiting if widened else place + 1
    weigh(pool, forest, cluster)
    return int(pool.size[cluster])


@compiled_within
def _scored(pool: Pool, factor: int) -> int:
    """Compare what parts would keep with what they have; the best score."""
    best, score, held, worth = -FARTHEST, pool.score, pool.held, pool.worth
    for i in range(pool.at[WAITING]):
        score[i] = factor * held[i] - worth[i]
        best = max(best, score[i])
    return int(best)


@compiled_within
def _wait(pool: Pool) -> None:
    """List the parts that have records left, with their values by attribute."""
    order, columns, parts = pool.order, pool.columns, pool.at[WAITING]
    some = 0
    for i in range(parts):
        part = order[i]
        if pool.left[part] > 0:
            order[some], pool.worth[some] = part, pool.worth[i]
            for a in range(len(pool.weights)):
                columns[a, some] = columns[a, i]
            some += 1
    pool.at[WAITING] = some


@compiled_within
def _compare(pool: Pool, forest: Forest, nodes: Array) -> None:
    """The detail that each part that is left would keep in a cluster."""
    _wait(pool)
    parent, end, detail, waiting, width = forest.parent, forest.end, forest.detail, pool.at[WAITING], len(nodes)
    columns, shared, weights, all_held, table = pool.columns, pool.shared, pool.weights, pool.held, pool.meeting.detail
    all_held[:waiting] = 0
    for a in range(width):
        base, weight, node = pool.meeting.row[nodes[a]], weights[a], nodes[a]
        if base >= 0:
            for i in range(waiting):
                common = table[np.uint64(base + columns[a, i])]
                shared[a, i] = common
                all_held[i] += weight * common
            continue
        for i in range(waiting):
            common = detail[above(parent, end, node, columns[a, i])]
            shared[a, i] = common
            all_held[i] += weight * common
    pool.at[LOOKS] += waiting * width


@compiled_within
def _widen(pool: Pool, forest: Forest, a: int, node: int) -> None:
    """The same after the cluster was generalized to a node: what lies outside of it shares as much as before."""
    end, detail, weight, waiting = forest.end[node], forest.detail[node], pool.weights[a], pool.at[WAITING]
    column, shared, held = pool.columns[a], pool.shared[a], pool.held
    for i in range(waiting):
        common = detail if node <= column[i] < end else shared[i]
        held[i] += weight * (common - shared[i])
        shared[i] = common
    pool.at[LOOKS] += waiting
