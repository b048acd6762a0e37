"""What a try of destroy and repair is about, in compiled code: a record, and the classes nearest to it."""

from __future__ import annotations

import numpy as np

from incrowd.search.clustering.agglomeration import draw
from incrowd.search.clustering.nearest import nearest_some
from incrowd.search.clustering.pool import CLUSTERS, PARTS, SHARES, START
from incrowd.search.clustering.recovery import LIVE, LOOKED, Recovery
from incrowd.search.compiled import compiled_within

MOST_RECORDS = 4096
DRAWS = 3  # classes drawn for a try; it begins in the one that has lost most
WORK_OF_QUERY, WORK_OF_FOUND = 9000, 100  # what a query counts, and each class that it finds, in looks at a value
USUAL, WORK_OF_MORE = 10_000, 5  # values that a query looks at for that at most, and what each more of them counts


@compiled_within
def below(state: Recovery, limit: int) -> int:
    """A random number from 0 up to a limit."""
    return int(np.int64(draw(state.random) % np.uint64(limit)))


@compiled_within
def taken(state: Recovery, classes_at_most: int, parts_at_most: int) -> int:
    """Choose the classes of a try, and put them into the pool; how many. They are the first of `near`."""
    at, near, found, members, classes = state.at, state.near, state.found, state.members, state.classes
    home = state.live[below(state, at[LIVE])]
    for _ in range(DRAWS - 1):  # where most is lost there is most to gain
        other = state.live[below(state, at[LIVE])]
        if state.detail[other] < state.detail[home]:
            home = other
    if members.length[home] > parts_at_most:
        return 0
    entry = members.head[home]
    for _ in range(below(state, members.length[home])):
        entry = members.after[entry]
    last = len(classes.rows) - 1
    for a in range(len(state.roots)):
        classes.rows[last, a] = state.tuples[members.tuples[entry], a]
    most = 2 + below(state, classes_at_most - 2)
    looked = nearest_some(state.tree, state.forest, classes, state.query, last, found[:most], state.far[:most])
    at[LOOKED] += WORK_OF_QUERY + WORK_OF_FOUND * most + WORK_OF_MORE * max(0, looked - USUAL)
    pool = state.pool
    pool.at[:] = 0
    _pour(state, home)
    pool.at[START] = pool.mark[members.tuples[entry]]
    number, records = 1, state.size[home]
    near[0] = home
    for other in found[:most]:
        if other < 0:
            break
        many = members.length[other]
        if other == home or pool.at[PARTS] + many > parts_at_most or pool.at[SHARES] + many > 2 * parts_at_most:
            continue
        if records + state.size[other] > MOST_RECORDS:
            continue
        _pour(state, other)
        records += state.size[other]
        near[number] = other
        number += 1
    for i in range(pool.at[PARTS]):
        pool.mark[pool.tuples[i]] = -1
    return number


@compiled_within
def _pour(state: Recovery, number: int) -> None:
    """Put a class into the pool, as a cluster; equal tuples are one part there, and one share of the cluster."""
    pool, members, latest = state.pool, state.members, state.pool.left
    cluster, first, entry = pool.at[CLUSTERS], pool.at[SHARES], members.head[number]
    pool.at[CLUSTERS] += 1
    pool.size[cluster], pool.detail[cluster], pool.head[cluster] = state.size[number], state.detail[number], -1
    pool.among[cluster], pool.rank[cluster] = cluster, cluster
    for a in range(len(state.roots)):
        pool.nodes[cluster, a] = state.classes.rows[number, a]
    while entry >= 0:
        one, records = members.tuples[entry], members.records[entry]
        part = pool.mark[one]
        if part < 0:
            part = pool.at[PARTS]
            pool.at[PARTS] += 1
            pool.mark[one], pool.tuples[part], pool.records[part], latest[part] = part, one, 0, -1
        pool.records[part] += records
        if latest[part] < first:
            share = pool.at[SHARES]
            pool.at[SHARES] += 1
            pool.share_part[share], pool.share_records[share], latest[part] = part, 0, share
            pool.share_after[share], pool.head[cluster] = pool.head[cluster], share
        pool.share_records[latest[part]] += records
        entry = members.after[entry]
