"""A few hundred records that are gathered into classes anew: what is known of them, and how they improve.

A pool has parts (records of one tuple), clusters (classes to be), and shares: how many records of which part a cluster
has. Clusters are drawn together all the time: their nodes are the closest common generalization of their shares.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from incrowd.search.clustering.space import Array, Forest, above
from incrowd.search.compiled import kernel

PARTS, CLUSTERS, SHARES, LOOKS, START, WAITING, FRESH = range(7)
NONE: Any = np.int64(-1)  # both typed: a function is compiled anew for every plain number that it is called with
FARTHEST: Any = np.int64(2**62)
QUARTERS: Any = np.int64(4)  # of a whole, in which a growing cluster is thrifty
WIDEST = 700  # nodes of a hierarchy whose pairs get a table
PASSES = 2
MANY = 16  # shares of a cluster, of which one alone is not expected to hold it back


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
    order: Array
    held: Array
    worth: Array
    score: Array
    rows: Array
    columns: Array
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
    trial: Array
    bases: Array
    meeting: Meeting
    at: Array


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


@kernel
def pool_cost(pool: Pool, crowding: int) -> int:
    """What all clusters cost: the detail that they hold less counts less, their sizes squared count more."""
    cost = np.int64(0)
    for c in range(pool.at[CLUSTERS]):
        cost += pool.size[c] * (crowding * pool.size[c] - pool.detail[c])
    return int(cost)


@kernel
def give(pool: Pool, cluster: int, part: int, amount: int) -> None:
    """Give a cluster some of the records that a part has left."""
    share = pool.at[SHARES]
    pool.at[SHARES] += 1
    pool.share_part[share], pool.share_records[share] = part, amount
    pool.share_after[share], pool.head[cluster] = pool.head[cluster], share
    pool.left[part] -= amount
    pool.size[cluster] += amount


@kernel
def weigh(pool: Pool, forest: Forest, cluster: int) -> None:
    """Note the detail that a cluster holds."""
    held = np.int64(0)
    for a in range(len(pool.trial)):
        held += forest.detail[pool.nodes[cluster, a]]
    pool.detail[cluster] = held


@kernel
def cheapest(
    pool: Pool, forest: Forest, row: Array, amount: int, crowding: int, but: int, limit: int, among: int
) -> tuple[int, int]:
    """The cluster that records of a tuple join at the least cost, below a limit, and that cost; -1 if there is none.

    The first ones of `among` are looked at, except the cluster `but`. The cost is what the cluster loses of its detail,
    less the detail that the records keep, and what sizes cost.
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


@kernel
def join(pool: Pool, forest: Forest, row: Array, cluster: int) -> None:
    """Make room in a cluster for the values of a tuple."""
    for a in range(len(row)):
        pool.nodes[cluster, a] = above(forest.parent, forest.end, pool.nodes[cluster, a], row[a])
    weigh(pool, forest, cluster)


@kernel
def put_share(pool: Pool, forest: Forest, share: int, target: int) -> None:
    """Let a share that is in no cluster any more join one."""
    pool.share_after[share], pool.head[target] = pool.head[target], share
    pool.size[target] += pool.share_records[share]
    freshen(pool, target)
    join(pool, forest, pool.rows[pool.share_part[share]], target)


@kernel
def put_shares(pool: Pool, forest: Forest, share: int, crowding: int, but: int) -> None:
    """Let a list of shares that are in no cluster any more join where each costs least, except one cluster."""
    while share >= 0:
        after = pool.share_after[share]
        row, amount = pool.rows[pool.share_part[share]], pool.share_records[share]
        target, _ = cheapest(pool, forest, row, amount, crowding, but, FARTHEST, pool.at[CLUSTERS])
        put_share(pool, forest, share, target)
        share = after


@kernel
def freshen(pool: Pool, cluster: int) -> None:
    """Note that a cluster has changed."""
    place, fresh = pool.rank[cluster], pool.at[FRESH]
    if place >= fresh:
        other = pool.among[fresh]
        pool.among[fresh], pool.among[place] = cluster, other
        pool.rank[cluster], pool.rank[other] = fresh, place
        pool.at[FRESH] += 1


@kernel
def draw_together(pool: Pool, forest: Forest, cluster: int, nodes: Array, but: int) -> int:
    """The closest common generalization of a cluster's shares, except one; its detail."""
    one, first, rows = pool.head[cluster], True, pool.rows
    while one >= 0:
        if one != but:
            part = pool.share_part[one]
            for a in range(len(nodes)):
                nodes[a] = rows[part, a] if first else above(forest.parent, forest.end, nodes[a], rows[part, a])
            first = False
            pool.at[LOOKS] += len(nodes)
        one = pool.share_after[one]
    held = np.int64(0)
    for a in range(len(nodes)):
        held += forest.detail[nodes[a]]
    return int(held)


# Growing


@kernel
def list_parts(pool: Pool, tuples: Array) -> None:
    """Look up the values of all parts, which wait to be taken; what they have does not count."""
    for i in range(pool.at[PARTS]):
        pool.order[i], pool.left[i], pool.worth[i] = i, pool.records[i], 0
        for a in range(len(pool.trial)):
            value = tuples[pool.tuples[i], a]
            pool.rows[i, a], pool.columns[a, i] = value, value
    pool.at[WAITING] = pool.at[PARTS]


@kernel
def grow(pool: Pool, forest: Forest, least_size: int, start: int, thrift: int) -> int:
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
    give(pool, cluster, start, min(pool.left[start], least_size))
    if pool.size[cluster] < least_size:
        _compare(pool, forest, nodes)
    best, waiting = -FARTHEST, at[WAITING]
    place = waiting
    while pool.size[cluster] < least_size:
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
        give(pool, cluster, chosen, min(pool.left[chosen], least_size - pool.size[cluster]))
        if pool.left[chosen] == 0:
            worth[place] = FARTHEST
        place = waiting if widened else place + 1
    weigh(pool, forest, cluster)
    return int(pool.size[cluster])


@kernel
def _scored(pool: Pool, factor: int) -> int:
    """Compare what parts would keep with what they have; the best score."""
    best, score, held, worth = -FARTHEST, pool.score, pool.held, pool.worth
    for i in range(pool.at[WAITING]):
        score[i] = factor * held[i] - worth[i]
        best = max(best, score[i])
    return int(best)


@kernel
def _compare(pool: Pool, forest: Forest, nodes: Array) -> None:
    """List the parts that have records left, and the detail that each would keep in a cluster."""
    order, columns, some = pool.order, pool.columns, 0
    for i in range(pool.at[WAITING]):
        part = order[i]
        if pool.left[part] > 0:
            order[some], pool.worth[some] = part, pool.worth[i]
            for a in range(len(nodes)):
                columns[a, some] = columns[a, i]
            some += 1
    pool.at[WAITING] = some
    parent, end, detail, waiting = forest.parent, forest.end, forest.detail, pool.at[WAITING]
    shared, held, table = pool.shared, pool.held, pool.meeting.detail
    held[:waiting] = 0
    for a in range(len(nodes)):
        base, node = pool.meeting.row[nodes[a]], nodes[a]
        if base >= 0:
            for i in range(waiting):
                common = table[np.uint64(base + columns[a, i])]
                shared[a, i] = common
                held[i] += common
            continue
        for i in range(waiting):
            common = detail[above(parent, end, node, columns[a, i])]
            shared[a, i] = common
            held[i] += common
    pool.at[LOOKS] += waiting * len(nodes)


@kernel
def _widen(pool: Pool, forest: Forest, a: int, node: int) -> None:
    """The same after the cluster was generalized to a node: what lies outside of it shares as much as before."""
    end, detail, waiting = forest.end[node], forest.detail[node], pool.at[WAITING]
    column, shared, held = pool.columns[a], pool.shared[a], pool.held
    for i in range(waiting):
        common = detail if node <= column[i] < end else shared[i]
        held[i] += common - shared[i]
        shared[i] = common
    pool.at[LOOKS] += waiting


# Improving: where only some clusters have changed, the records of the others have nowhere new to go but to these.


@kernel
def improve(pool: Pool, forest: Forest, least_size: int, crowding: int) -> None:
    """Improve the clusters that have changed, and what can be better in them than before."""
    for _ in range(PASSES):
        if not relocate(pool, forest, least_size, crowding) + specialize(pool, forest, least_size, crowding):
            break
    unite(pool)


@kernel
def relocate(pool: Pool, forest: Forest, least_size: int, crowding: int) -> int:
    """Move what clusters can spare of their shares to where it costs least; how many moved."""
    moved = 0
    for cluster in range(pool.at[CLUSTERS]):
        before, share = -1, pool.head[cluster]
        while share >= 0:
            among = pool.at[CLUSTERS] if pool.rank[cluster] < pool.at[FRESH] else pool.at[FRESH]
            after, size = pool.share_after[share], pool.size[cluster]
            amount = min(pool.share_records[share], size - least_size)
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
                some = pool.at[SHARES]
                pool.at[SHARES] += 1
                pool.share_part[some], pool.share_records[some] = pool.share_part[share], amount
                pool.share_records[share] -= amount
                pool.size[cluster] -= amount
                put_share(pool, forest, some, target)
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


@kernel
def _without(pool: Pool, forest: Forest, cluster: int, share: int) -> int:
    """The detail of a cluster without one of its shares; its nodes are in `trial` then.

    Of a cluster with many shares it is not worth the work: the others hold it where it is.
    """
    many, one = 0, pool.head[cluster]
    while one >= 0 and many < MANY:
        many, one = many + 1, pool.share_after[one]
    if many < MANY:
        return draw_together(pool, forest, cluster, pool.trial, share)
    for a in range(len(pool.trial)):
        pool.trial[a] = pool.nodes[cluster, a]
    return int(pool.detail[cluster])


@kernel
def specialize(pool: Pool, forest: Forest, least_size: int, crowding: int) -> int:
    """Keep the records below one child of a cluster's value only, where the others cost less elsewhere; how often."""
    changed = 0
    for cluster in range(pool.at[CLUSTERS]):
        if pool.rank[cluster] >= pool.at[FRESH]:
            continue
        for a in range(len(pool.trial)):
            node = pool.nodes[cluster, a]
            if pool.size[cluster] > least_size and forest.end[node] > node + 1:
                child = _leading(pool, forest, cluster, a)
                if child >= 0 and _pays(pool, forest, least_size, crowding, cluster, a, child):
                    _split_off(pool, forest, crowding, cluster, a, child)
                    changed += 1
    return changed


@kernel
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


@kernel
def _pays(pool: Pool, forest: Forest, least_size: int, crowding: int, cluster: int, a: int, child: int) -> bool:
    """Whether the records of a cluster that are not below a node cost less elsewhere than what the others gain."""
    rows, size, out, share = pool.rows, pool.size[cluster], np.int64(0), pool.head[cluster]
    while share >= 0:
        if not child <= rows[pool.share_part[share], a] < forest.end[child]:
            out += pool.share_records[share]
        share = pool.share_after[share]
    if out > size - least_size:
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


@kernel
def _split_off(pool: Pool, forest: Forest, crowding: int, cluster: int, a: int, child: int) -> None:
    """Let the records of a cluster that are not below a node join others, and draw it together."""
    share, away = pool.head[cluster], -1
    pool.head[cluster], pool.size[cluster] = -1, 0
    while share >= 0:
        value, after = pool.rows[pool.share_part[share], a], pool.share_after[share]
        if child <= value < forest.end[child]:
            pool.share_after[share], pool.head[cluster] = pool.head[cluster], share
            pool.size[cluster] += pool.share_records[share]
        else:
            pool.share_after[share], away = away, share
        share = after
    pool.detail[cluster] = draw_together(pool, forest, cluster, pool.nodes[cluster], NONE)
    put_shares(pool, forest, away, crowding, cluster)


@kernel
def unite(pool: Pool) -> None:
    """Clusters with the same values are one."""
    for c in range(pool.at[CLUSTERS]):
        if pool.size[c] == 0:
            continue
        for other in range(c + 1, pool.at[CLUSTERS]):
            if pool.size[other] == 0 or pool.detail[other] != pool.detail[c]:
                continue
            same = True
            for a in range(len(pool.trial)):
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
