"""A few hundred records that are gathered into classes anew: what is known of them, and how they improve.

A pool has parts (records of one tuple), clusters (classes to be), and shares: how many records of which part a cluster
has. Clusters are drawn together all the time: their nodes are the closest common generalization of their shares. What
is done with it is in `native/pool.c` and `native/improve.c`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from incrowd.search.clustering.space import Array, Forest
from incrowd.search.native.kernels import Int32, Int64, kernel

PARTS, CLUSTERS, SHARES, LOOKS, START, WAITING, FRESH = range(7)
WIDEST = 700  # nodes of a hierarchy whose pairs get a table


class Meeting(NamedTuple):
    """The detail that two nodes of an attribute have in common: `detail[row[node] + other]`.

    Rows of hierarchies that are too large for that are -1.
    """

    row: Int64
    detail: Int64


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

    mark: Int32
    tuples: Int64
    records: Int64
    left: Int64
    order: Int64
    held: Int64
    worth: Int64
    score: Int64
    rows: Int32
    columns: Int32
    shared: Int64
    nodes: Int32
    size: Int64
    detail: Int64
    head: Int64
    among: Int64
    rank: Int64
    share_part: Int64
    share_records: Int64
    share_after: Int64
    trial: Int32
    bases: Int64
    meeting: Meeting
    at: Int64


def new_pool(tuples: int, attributes: int, parts: int, meeting: Meeting) -> Pool:
    """Room for this many parts."""
    clusters, shares = 2 * parts, 6 * parts
    arrays = [
        np.full(tuples, -1, np.int32),
        *np.empty((7, parts), np.int64),
        np.empty((parts, attributes), np.int32),
        np.empty((attributes, parts), np.int32),
        np.empty((attributes, parts), np.int64),
        np.empty((clusters, attributes), np.int32),
        *np.empty((3, clusters), np.int64),
        np.arange(clusters),
        np.arange(clusters),
        *np.empty((3, shares), np.int64),
        np.empty(attributes, np.int32),
        np.empty(attributes, np.int64),
    ]
    return Pool._make([*arrays, meeting, np.zeros(7, np.int64)])


# What tests call on its own: see the C sources.
pool_cost = kernel("pool_cost", Pool, int)
give = kernel("give", Pool, int, int, int)
weigh = kernel("weigh", Pool, Forest, int)
relocate = kernel("relocate", Pool, Forest, int, int)
specialize = kernel("specialize", Pool, Forest, int, int)
open_cluster = kernel("open_cluster", Pool, Forest, Int32, int, int, int, int)
