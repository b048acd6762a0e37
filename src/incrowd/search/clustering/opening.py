"""Opening one more class among those of a pool, in compiled code: the other thing that destroy and repair try.

The new cluster grows from the record that the try began at, by those who gain most in it, and with some thrift, so that
the ones that it has lose little. They leave the clusters that have lost most. A cluster that is not good any more is
dissolved, and then those that have changed are improved (see `improving`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.privacy.compiled import SizeRule, is_good
from incrowd.search.clustering.forest import Forest
from incrowd.search.clustering.gathering import grow, improve, list_parts, weigh_attributes
from incrowd.search.clustering.pool import (
    CLUSTERS,
    FARTHEST,
    FRESH,
    LOOKS,
    NONE,
    PARTS,
    QUARTERS,
    START,
    Pool,
    above,
    drawn,
    freshen,
    pool_cost,
    put_shares,
    weigh,
)
from incrowd.search.compiled import compiled_within

Array = npt.NDArray[Any]

WORTHY = 4  # one in so many clusters grows by those who are nearest, whatever they gain


@compiled_within
def opened(
    pool: Pool, forest: Forest, tuples: Array, needs: SizeRule, crowding: int, everything: int, random: Array, most: int
) -> bool:
    """Open one cluster more; whether that is of any use, otherwise the pool is left unfinished.

    Args:
        pool: Parts, and the clusters that there are, of which none has changed.
        forest: The hierarchies.
        tuples: The tuples, as nodes: tuples x attributes.
        needs: What a cluster needs.
        crowding: What a unit of the sum of squared class sizes costs, in units of detail.
        everything: The detail of a record that has lost nothing.
        random: The state of the random numbers.
        most: What all clusters may cost before they are improved.
    """
    clusters = pool.at[CLUSTERS]
    weigh_attributes(pool, random)
    list_parts(pool, tuples)
    if drawn(random, WORTHY):
        _value(pool, forest)
    pool.at[LOOKS] += pool.at[PARTS] * len(pool.weights)
    grow(pool, forest, needs, pool.at[START], drawn(random, QUARTERS + 1))
    for i in range(pool.at[PARTS]):
        pool.left[i] = pool.records[i] - pool.left[i]  # what the others have to give
    _take(pool, clusters)
    if _is_the_same(pool, clusters) or pool_cost(pool, crowding) > most:
        return False
    _mend(pool, forest, needs, crowding, clusters)
    if pool_cost(pool, crowding) > most:
        return False
    improve(pool, forest, needs, crowding, everything)
    return True


@compiled_within
def _value(pool: Pool, forest: Forest) -> None:
    """Note the detail that each part has, in the cluster where it has least, as attributes weigh."""
    pool.worth[: pool.at[PARTS]] = FARTHEST
    for c in range(pool.at[CLUSTERS]):
        worth, share = np.int64(0), pool.head[c]
        for a in range(len(pool.weights)):
            worth += QUARTERS * pool.weights[a] * forest.detail[pool.nodes[c, a]]
        while share >= 0:
            part = pool.share_part[share]
            pool.worth[part] = min(pool.worth[part], worth)
            share = pool.share_after[share]


@compiled_within
def _take(pool: Pool, clusters: int) -> None:
    """Take what the new cluster has from the others, from those that have lost most first."""
    last, last_detail = -1, -FARTHEST
    for _ in range(clusters):
        chosen, least = -1, FARTHEST
        for c in range(clusters):
            detail = pool.detail[c]
            if (detail > last_detail or (detail == last_detail and c > last)) and detail < least:
                chosen, least = c, detail
        last, last_detail = chosen, least
        before, share, size = -1, pool.head[chosen], pool.size[chosen]
        while share >= 0:
            part, after = pool.share_part[share], pool.share_after[share]
            amount = min(pool.left[part], pool.share_records[share])
            pool.left[part] -= amount
            pool.share_records[share] -= amount
            pool.size[chosen] -= amount
            if pool.share_records[share] > 0:
                before = share
            elif before >= 0:
                pool.share_after[before] = after
            else:
                pool.head[chosen] = after
            share = after
        if pool.size[chosen] < size:
            freshen(pool, chosen)


@compiled_within
def _is_the_same(pool: Pool, clusters: int) -> bool:
    """Whether the new cluster only took the place of another."""
    if pool.at[FRESH] > 2:
        return False
    for i in range(pool.at[FRESH]):
        c = pool.among[i]
        if c != clusters and pool.size[c] > 0:
            return False
    return True


@compiled_within
def _mend(pool: Pool, forest: Forest, needs: SizeRule, crowding: int, clusters: int) -> None:
    """Draw clusters that gave something together, and dissolve those that are not good any more."""
    rows, away = pool.rows, -1
    for i in range(pool.at[FRESH]):
        c = pool.among[i]
        if c == clusters:
            continue
        share = pool.head[c]
        if not is_good(needs, pool.size[c]):
            pool.head[c], pool.size[c], pool.detail[c] = -1, 0, 0
            while share >= 0:
                after = pool.share_after[share]
                pool.share_after[share], away = away, share
                share = after
            continue
        nodes, first = pool.nodes[c], True
        while share >= 0:
            row = rows[pool.share_part[share]]
            for a in range(len(nodes)):
                nodes[a] = row[a] if first else above(forest.parent, forest.end, nodes[a], row[a])
            first, share = False, pool.share_after[share]
            pool.at[LOOKS] += len(nodes)
        weigh(pool, forest, c)
    put_shares(pool, forest, away, crowding, NONE)
