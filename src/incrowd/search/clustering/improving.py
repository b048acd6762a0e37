"""Improving the clusters of a pool, in compiled code: records move where they cost less, while all stay good.

Where only some clusters have changed, the records of the others have nowhere new to go but to these.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.privacy.compiled import SizeRule, spare
from incrowd.search.clustering.forest import Forest
from incrowd.search.clustering.pool import (
    CLUSTERS,
    FARTHEST,
    FRESH,
    LOOKS,
    SHARES,
    Pool,
    above,
    cheapest,
    freshen,
    put_share,
    put_shares,
    weigh,
)
from incrowd.search.compiled import compiled_within

Array = npt.NDArray[Any]

MANY = 16  # shares of a cluster, of which one alone is not expected to hold it back


@compiled_within
def relocate(pool: Pool, forest: Forest, needs: SizeRule, crowding: int) -> int:
    """Move what clusters can spare of their shares to where it costs least; how many moved."""
    moved = 0
    for cluster in range(pool.at[CLUSTERS]):
        before, share = -1, pool.head[cluster]
        while share >= 0:
            among = pool.at[CLUSTERS] if pool.rank[cluster] < pool.at[FRESH] else pool.at[FRESH]
            after, size = pool.share_after[share], pool.size[cluster]
            amount = min(pool.share_records[share], spare(needs, size))
            target, whole = -1, amount == pool.share_records[share]
            if amount > 0 and (whole or pool.at[SHARES] < len(pool.share_part)):
                rest, held = size - amount, pool.detail[cluster]
                if whole:
                    held = _without(pool, forest, cluster, share)
                saved = rest * held - size * pool.detail[cluster] + crowding * (size * size - rest * rest)
                row = pool.rows[pool.share_part[share]]
                target, _ = cheapest(pool, forest, row, amount, crowding, cluster, saved, among)
            if target >= 0:
                moved += 1
                freshen(pool, cluster)
            if target >= 0 and not whole:
                _send(pool, forest, cluster, share, amount, target)
            if target >= 0 and whole:
                for a in range(len(pool.trial)):
                    pool.nodes[cluster, a] = pool.trial[a]
                pool.size[cluster], pool.detail[cluster] = rest, held
                if before >= 0:
                    pool.share_after[before] = after
                else:
                    pool.head[cluster] = after
                put_share(pool, forest, share, target)
            else:
                before = share
            share = after
    return moved


@compiled_within
def _send(pool: Pool, forest: Forest, cluster: int, share: int, amount: int, target: int) -> None:
    """Let some of a share's records, not all, join another cluster."""
    some = pool.at[SHARES]
    pool.at[SHARES] += 1
    pool.share_part[some], pool.share_records[some] = pool.share_part[share], amount
    pool.share_records[share] -= amount
    pool.size[cluster] -= amount
    put_share(pool, forest, some, target)


@compiled_within
def _without(pool: Pool, forest: Forest, cluster: int, share: int) -> int:
    """The detail of a cluster without one of its shares; its nodes are in `trial` then.

    Of a cluster with many shares it is not worth the work: the others hold it where it is.
    """
    many, one = 0, pool.head[cluster]
    while one >= 0 and many < MANY:
        many, one = many + 1, pool.share_after[one]
    if many == MANY:
        for a in range(len(pool.trial)):
            pool.trial[a] = pool.nodes[cluster, a]
        return int(pool.detail[cluster])
    parent, end, trial, rows, width = forest.parent, forest.end, pool.trial, pool.rows, len(pool.trial)
    one, first = pool.head[cluster], True
    while one >= 0:
        if one != share:
            part = pool.share_part[one]
            for a in range(width):
                trial[a] = rows[part, a] if first else above(parent, end, trial[a], rows[part, a])
            first = False
            pool.at[LOOKS] += width
        one = pool.share_after[one]
    held = np.int64(0)
    for a in range(width):
        held += forest.detail[trial[a]]
    return int(held)


@compiled_within
def specialize(pool: Pool, forest: Forest, needs: SizeRule, crowding: int) -> int:
    """Keep the records below one child of a cluster's value only, where the others cost less elsewhere; how often."""
    changed = 0
    for cluster in range(pool.at[CLUSTERS]):
        if pool.rank[cluster] >= pool.at[FRESH]:
            continue
        for a in range(len(pool.weights)):
            node = pool.nodes[cluster, a]
            if spare(needs, pool.size[cluster]) > 0 and forest.end[node] > node + 1:
                child = _leading(pool, forest, cluster, a)
                if child >= 0 and _pays(pool, forest, needs, crowding, cluster, a, child):
                    _split_off(pool, forest, crowding, cluster, a, child)
                    changed += 1
    return changed


@compiled_within
def _leading(pool: Pool, forest: Forest, cluster: int, a: int) -> int:
    """The child of a cluster's value that more than half of its records lie below, if there is one; else any, or -1."""
    node, lead, child, share = pool.nodes[cluster, a], np.int64(0), -1, pool.head[cluster]
    while share >= 0:  # each record votes for its child, or against the one that leads
        value, amount = pool.rows[pool.share_part[share], a], pool.share_records[share]
        if child >= 0 and child <= value < forest.end[child]:
            lead += amount
        elif lead >= amount:
            lead -= amount
        elif value != node:
            lead, child = amount - lead, value
            while forest.parent[child] != node:
                child = forest.parent[child]
        pool.at[LOOKS] += 1
        share = pool.share_after[share]
    return int(child)


@compiled_within
def _pays(pool: Pool, forest: Forest, needs: SizeRule, crowding: int, cluster: int, a: int, child: int) -> bool:
    """Whether the records of a cluster that are not below a node cost less elsewhere than what the others gain."""
    rows, size, out, share = pool.rows, pool.size[cluster], np.int64(0), pool.head[cluster]
    while share >= 0:
        if not child <= rows[pool.share_part[share], a] < forest.end[child]:
            out += pool.share_records[share]
        share = pool.share_after[share]
    if out > spare(needs, size):
        return False
    rest, before = size - out, pool.detail[cluster]
    held = before - forest.detail[pool.nodes[cluster, a]] + forest.detail[child]
    saved = rest * held - size * before + crowding * (size * size - rest * rest)
    share = pool.head[cluster]
    while share >= 0:
        row, amount = rows[pool.share_part[share]], pool.share_records[share]
        if not child <= row[a] < forest.end[child]:
            target, rise = cheapest(pool, forest, row, amount, crowding, cluster, FARTHEST, pool.at[CLUSTERS])
            if target < 0:
                return False
            saved -= rise
        share = pool.share_after[share]
    return bool(saved > 0)


@compiled_within
def _split_off(pool: Pool, forest: Forest, crowding: int, cluster: int, a: int, child: int) -> None:
    """Let the records of a cluster that are not below a node join others, and draw it together."""
    rows, nodes, share, away = pool.rows, pool.nodes[cluster], pool.head[cluster], -1
    pool.head[cluster], pool.size[cluster] = -1, 0
    while share >= 0:
        row, after = rows[pool.share_part[share]], pool.share_after[share]
        if child <= row[a] < forest.end[child]:
            first = pool.head[cluster] < 0
            for b in range(len(nodes)):
                nodes[b] = row[b] if first else above(forest.parent, forest.end, nodes[b], row[b])
            pool.share_after[share], pool.head[cluster] = pool.head[cluster], share
            pool.size[cluster] += pool.share_records[share]
        else:
            pool.share_after[share], away = away, share
        share = after
    weigh(pool, forest, cluster)
    put_shares(pool, forest, away, crowding, cluster)


@compiled_within
def dissolve(pool: Pool, forest: Forest, crowding: int, everything: int) -> int:
    """Dissolve clusters whose shares cost less in others; how many."""
    dissolved = 0
    for cluster in range(pool.at[CLUSTERS]):
        size = pool.size[cluster]
        limit = size * (everything - pool.detail[cluster] + crowding * size)  # what it has lost
        share, target = pool.head[cluster], 0
        while share >= 0 and target >= 0:
            row, amount = pool.rows[pool.share_part[share]], pool.share_records[share]
            most = limit - amount * everything
            target, rise = cheapest(pool, forest, row, amount, crowding, cluster, most, pool.at[CLUSTERS])
            limit = most - rise
            share = pool.share_after[share]
        if size == 0 or target < 0:
            continue
        share = pool.head[cluster]
        pool.size[cluster], pool.detail[cluster], pool.head[cluster] = 0, 0, -1
        freshen(pool, cluster)
        put_shares(pool, forest, share, crowding, cluster)
        dissolved += 1
    return dissolved
