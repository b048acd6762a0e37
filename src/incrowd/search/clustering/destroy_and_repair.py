"""Destroy and repair: a few classes near to each other are made anew, and that is kept if it is better.

A try begins at a record, with the classes nearest to it. Either they are taken apart and their records are gathered
anew: each cluster is made of a record drawn at random and the ones nearest to it, and what is left joins the cluster
where that costs least. Or one more class is opened around the record, among many of them: it grows by those who gain
most in it, with some thrift, so that the ones that it has lose little; they leave the classes that have lost most, and
a class that is not good any more is dissolved. What comes out worse by far is given up, otherwise it is improved (see
`pool`). The result is kept if it costs less, at first also if it costs a little more, which leads out of dead ends; how
much more falls to nothing with the work that is done. Every class is good after every try, so it may end after any.

What is tried follows from the key of the run, and how much from the work that is allowed, never from a clock. Measured
on Adult (30,162 records, 8 attributes): without opening the loss is 0.7 % higher at k = 5, without gathering 1.4 %.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from incrowd.run import Run
from incrowd.search.clustering.agglomeration import draw, parts_of
from incrowd.search.clustering.class_index import (
    Classes,
    Query,
    Tree,
    insert,
    nearest,
    new_classes,
    new_query,
    new_tree,
    remove,
    reset,
    twin,
)
from incrowd.search.clustering.pool import (
    CLUSTERS,
    FARTHEST,
    FRESH,
    LOOKS,
    NONE,
    PARTS,
    QUARTERS,
    SHARES,
    START,
    Pool,
    cheapest,
    draw_together,
    freshen,
    give,
    grow,
    improve,
    join,
    list_parts,
    meeting_of,
    new_pool,
    pool_cost,
    put_shares,
)
from incrowd.search.clustering.space import BUCKET, Array, Forest, Parts, Space
from incrowd.search.compiled import compiled_form, kernel

LIVE, CLASSES_LEFT, ENTRIES_LEFT, TRIES, KEPT, IDLE, INSERTED, LOOKED = range(8)
SPARE_NODES = 4096  # of the tree; it is built anew when no more are left
MOST_RECORDS = 4096
NEAREST: Any = np.int64(9)  # classes that are gathered anew at most, and their parts
NEAREST_PARTS: Any = np.int64(200)
AROUND: Any = np.int64(32)  # the same where one is opened among them
AROUND_PARTS: Any = np.int64(1200)
NO_THRIFT: Any = np.int64(0)
WHOLE: Any = np.int64(2**40)  # no stubs
EVERY: Any = np.int64(2**62)
DRAWS = 3  # classes drawn for a try; it begins in the one that has lost most
AGAIN = 2  # how often the records of a try are gathered, until that is better
COOLING = 400  # tries per class until it may not cost more any longer, if the work is not done before
LEAST_COOLING = 5000  # tries that there are before in any case
WARMER = 25  # it may cost what one record has lost more at first, and as much again per this many that a class needs
SHARE = 1024
PATIENCE = 10  # tries per class without success before it ends
WORK_OF_QUERY, WORK_OF_FOUND = 9000, 100  # what a query counts, and each class that it finds, in looks at a value
USUAL, WORK_OF_MORE = 10_000, 5  # values that a query looks at for that at most, and what each more of them counts


class Members(NamedTuple):
    """The parts of each class, as lists: `head` and `length` per class; tuple, records and the next part per part."""

    head: Array
    length: Array
    tuples: Array
    records: Array
    after: Array


class Recovery(NamedTuple):
    """All that the tries know.

    Classes that exist are listed in `live`, each at its `place`; numbers of classes and parts that are free in
    `free_classes` and `free_entries`. The rows of the index have the size 1, `size` are the true ones; the last row is
    that of the record a try begins at. `near` are the classes of a try, `found` those that were looked up, with how
    `far` they are. `at` says how many are LIVE, how many of both lists are left, the TRIES, the classes that were KEPT
    when made anew, the tries since the last improvement (IDLE), classes INSERTED in the tree, and values LOOKED at.
    """

    forest: Forest
    least_size: int
    crowding: int
    everything: int
    tuples: Array
    classes: Classes
    tree: Tree
    query: Query
    size: Array
    detail: Array
    members: Members
    live: Array
    place: Array
    free_classes: Array
    free_entries: Array
    near: Array
    found: Array
    far: Array
    pool: Pool
    random: Array
    at: Array


def made_anew(space: Space, classes: Array, parts: Array, crowding: int, work: int, run: Run) -> tuple[Parts, int]:
    """Try until the work is done, nothing improves any more, or the run should not go on.

    Returns:
        The parts, and how many classes were made anew.
    """
    state = new_recovery(space, classes, parts, crowding, run.key.number("recovery"))
    some = compiled_form(recover_some)  # whatever the size of the table: there is too much work to do it without

    def recover(amount: int) -> bool:
        done = some(state, work, amount)
        run.amount(min(work, int(state.at[LOOKED])), work, f"looks, {state.at[KEPT]:,} classes made anew")
        return done or not run.should_continue()

    run.in_slices(recover)
    return parts_of_classes(state), int(state.at[KEPT])


def parts_of_classes(state: Recovery) -> Parts:
    """Tuple, class and records of each part; classes are numbered without gaps."""
    return compiled_form(parts_of)(state.members.head[state.live[: state.at[LIVE]]], *state.members[2:])


def new_recovery(space: Space, classes: Array, parts: Array, crowding: int, seed: int) -> Recovery:
    """Before the first try."""
    forest, roots, tuples = space.forest, space.roots, space.tuples
    number, room, entries = len(classes), 2 * len(classes) + 64, 2 * len(parts) + 1024
    rows = np.zeros((room + 1, len(roots)), np.int32)
    rows[:number] = classes
    size, detail = np.zeros(room, np.int64), np.zeros(room, np.int64)
    size[:number] = np.bincount(parts[:, 1], parts[:, 2], number)
    detail[:number] = space.detail(classes)
    indexed = new_classes(rows, np.ones(room + 1, np.int64))
    indexed.key[:] = np.arange(room + 1)
    at: Array = np.zeros(8, np.int64)
    at[[LIVE, CLASSES_LEFT, ENTRIES_LEFT]] = number, room - number, entries - len(parts)
    return Recovery(
        forest,
        space.least_size,
        crowding,
        space.everything,
        tuples,
        indexed,
        new_tree(room + SPARE_NODES, roots, BUCKET),
        new_query(forest, roots, room + SPARE_NODES),
        size,
        detail,
        _members(parts, room, entries),
        np.arange(room),
        np.arange(room),
        np.arange(number, number + room) % room,  # those that exist are the last, and none of them is free yet
        np.arange(len(parts), len(parts) + entries) % entries,
        np.empty(AROUND, np.int64),
        np.empty(AROUND, np.int64),
        np.empty(AROUND, np.int64),
        new_pool(len(tuples), len(roots), int(AROUND_PARTS), meeting_of(forest, roots)),
        np.array([seed % 2**63], np.uint64),
        at,
    )


def _members(parts: Array, room: int, entries: int) -> Members:
    """Parts as lists, class by class."""
    number, order = len(parts), np.argsort(parts[:, 1], kind="stable")
    lists = np.full(room, -1, np.int64), np.zeros(room, np.int64)
    of_parts = np.empty(entries, np.int64), np.empty(entries, np.int64), np.full(entries, -1, np.int64)
    members = Members(*lists, *of_parts)
    members.tuples[:number], members.records[:number] = parts[order, 0], parts[order, 2]
    groups = parts[order, 1]
    same = np.flatnonzero(groups[1:] == groups[:-1])
    members.after[same] = same + 1
    firsts = np.flatnonzero(np.diff(groups, prepend=-1))
    members.head[groups[firsts]] = firsts
    members.length[groups[firsts]] = np.diff(np.append(firsts, number))
    return members


@kernel
def recover_some(state: Recovery, work: int, amount: int) -> bool:
    """Go on until this many more values were looked at; whether all is done."""
    at = state.at
    until = at[LOOKED] + amount
    while at[INSERTED] < at[LIVE] and at[TRIES] == 0:
        insert(state.tree, state.forest, state.classes, state.live[at[INSERTED]])
        at[INSERTED] += 1
    while at[LOOKED] < until:
        tries = LEAST_COOLING + COOLING * at[LIVE]
        # how much more than before a try may cost, in 1024ths of what it may at first
        allowed = max(0, min(SHARE - SHARE * at[LOOKED] // work, SHARE - SHARE * at[TRIES] // tries))
        if at[LOOKED] >= work or at[LIVE] < 2 or (allowed == 0 and at[IDLE] > PATIENCE * at[LIVE]):
            return True
        if state.tree.used[0] + SPARE_NODES > len(state.tree.links):  # its nodes are never given back one by one
            reset(state.tree)
            for i in range(at[LIVE]):
                insert(state.tree, state.forest, state.classes, state.live[i])
            at[LOOKED] += 100 * at[LIVE]
        _try(state, allowed)
        at[TRIES] += 1
    return False


@kernel
def _below(random: Array, limit: int) -> int:
    """A random number from 0 up to a limit."""
    return int(np.int64(draw(random) % np.uint64(limit)))


@kernel
def _try(state: Recovery, allowed: int) -> None:
    """Take some classes, make them anew, and keep that if it costs less, or little more."""
    at, pool, needed = state.at, state.pool, state.least_size
    at[IDLE] += 1
    opens = _below(state.random, 2) == 1
    number = _take_classes(state, AROUND if opens else NEAREST, AROUND_PARTS if opens else NEAREST_PARTS)
    if number < 2:
        return
    before, records = np.int64(0), np.int64(0)
    for i in range(number):
        size, detail = state.size[state.near[i]], state.detail[state.near[i]]
        before += size * (state.crowding * size - detail)
        records += size
    lost = max(np.int64(0), before // records + state.everything)  # by one of the records
    limit = before + lost * allowed // SHARE * (1 + needed // WARMER)
    hopeless = before + lost * needed * (1 if opens else 3) // 2
    for _ in range(1 if opens else AGAIN):
        useful = _open(state, hopeless) if opens else _gather(state, hopeless)
        at[LOOKED] += pool.at[LOOKS]
        after = pool_cost(pool, state.crowding) + _crowded(state, number)
        if useful and after <= limit:  # an equal one too: it may lead on
            at[IDLE] = 0 if after < before else at[IDLE]
            _replace(state, number, opens)
            break


# The classes of a try


@kernel
def _take_classes(state: Recovery, classes_at_most: int, parts_at_most: int) -> int:
    """Choose the classes of a try, and put them into the pool; how many. They are the first of `near`."""
    at, near, found, members, classes = state.at, state.near, state.found, state.members, state.classes
    home = state.live[_below(state.random, at[LIVE])]
    for _ in range(DRAWS - 1):  # where most is lost there is most to gain
        other = state.live[_below(state.random, at[LIVE])]
        if state.detail[other] < state.detail[home]:
            home = other
    if members.length[home] > parts_at_most:
        return 0
    entry = members.head[home]
    for _ in range(_below(state.random, members.length[home])):
        entry = members.after[entry]
    last = len(classes.rows) - 1
    for a in range(state.tuples.shape[1]):
        classes.rows[last, a] = state.tuples[members.tuples[entry], a]
    most = 2 + _below(state.random, classes_at_most - 2)
    looked = nearest(state.tree, state.forest, classes, state.query, last, WHOLE, EVERY, found[:most], state.far[:most])
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


@kernel
def _pour(state: Recovery, number: int) -> None:
    """Put a class into the pool, as a cluster; equal tuples are one part there, and one share of the cluster."""
    pool, members, latest = state.pool, state.members, state.pool.left
    cluster, first, entry = pool.at[CLUSTERS], pool.at[SHARES], members.head[number]
    pool.at[CLUSTERS] += 1
    pool.size[cluster], pool.detail[cluster], pool.head[cluster] = state.size[number], state.detail[number], -1
    pool.among[cluster], pool.rank[cluster] = cluster, cluster
    for a in range(state.tuples.shape[1]):
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


# Gathering


@kernel
def _gather(state: Recovery, most: Any) -> bool:
    """Gather all parts of the pool into good clusters; whether that is of any use, otherwise it is left unfinished.

    It is not if all clusters cost more than `most` before they are improved.
    """
    pool, forest, least_size, total = state.pool, state.forest, state.least_size, np.int64(0)
    at, parts = pool.at, pool.at[PARTS]
    at[CLUSTERS:] = 0
    list_parts(pool, state.tuples)
    for i in range(parts):
        total += pool.records[i]
    while total >= least_size and at[CLUSTERS] < len(pool.size) and at[SHARES] + 2 * parts < len(pool.share_part):
        start = _below(state.random, parts)
        while pool.left[start] == 0:
            start = start + 1 if start + 1 < parts else 0
        total -= grow(pool, forest, least_size, start, NO_THRIFT)
    for i in range(parts):
        if pool.left[i]:
            row, amount = pool.rows[i], pool.left[i]
            cluster, _ = cheapest(pool, forest, row, amount, state.crowding, NONE, FARTHEST, at[CLUSTERS])
            give(pool, cluster, i, amount)
            join(pool, forest, row, cluster)
    if pool_cost(pool, state.crowding) > most:
        return False
    improve(pool, forest, least_size, state.crowding)
    return True


# Opening


@kernel
def _open(state: Recovery, most: Any) -> bool:
    """Open one cluster more; whether that is of any use, otherwise the pool is left unfinished."""
    pool, forest, crowding = state.pool, state.forest, state.crowding
    clusters = pool.at[CLUSTERS]
    list_parts(pool, state.tuples)
    pool.worth[: pool.at[PARTS]] = FARTHEST
    for c in range(clusters):  # what each part has, in the cluster where it has least
        share = pool.head[c]
        while share >= 0:
            part = pool.share_part[share]
            pool.worth[part] = min(pool.worth[part], QUARTERS * pool.detail[c])
            share = pool.share_after[share]
    pool.at[LOOKS] += pool.at[PARTS] * state.tuples.shape[1]
    grow(pool, forest, state.least_size, pool.at[START], _below(state.random, QUARTERS + 1))
    for i in range(pool.at[PARTS]):
        pool.left[i] = pool.records[i] - pool.left[i]  # what the others have to give
    _take_records(pool, clusters)
    if _is_the_same(pool, clusters) or pool_cost(pool, crowding) > most:
        return False
    _mend(pool, forest, state.least_size, crowding, clusters)
    if pool_cost(pool, crowding) > most:
        return False
    improve(pool, forest, state.least_size, crowding)
    return True


@kernel
def _take_records(pool: Pool, clusters: int) -> None:
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


@kernel
def _is_the_same(pool: Pool, clusters: int) -> bool:
    """Whether the new cluster only took the place of another."""
    if pool.at[FRESH] > 2:
        return False
    for i in range(pool.at[FRESH]):
        c = pool.among[i]
        if c != clusters and pool.size[c] > 0:
            return False
    return True


@kernel
def _mend(pool: Pool, forest: Forest, least_size: int, crowding: int, clusters: int) -> None:
    """Draw clusters that gave something together, and dissolve those that are not good any more."""
    away = -1
    for i in range(pool.at[FRESH]):
        c = pool.among[i]
        if c == clusters:
            continue
        if pool.size[c] >= least_size:
            pool.detail[c] = draw_together(pool, forest, c, pool.nodes[c], NONE)
            continue
        share = pool.head[c]
        pool.head[c], pool.size[c], pool.detail[c] = -1, 0, 0
        while share >= 0:
            after = pool.share_after[share]
            pool.share_after[share], away = away, share
            share = after
    put_shares(pool, forest, away, crowding, NONE)


# Keeping


@kernel
def _crowded(state: Recovery, taken: int) -> int:
    """What it costs that clusters of the pool are one with classes outside of it."""
    pool, cost = state.pool, np.int64(0)
    for i in range(pool.at[FRESH] if state.crowding else 0):
        cluster = pool.among[i]
        if pool.size[cluster] == 0:
            continue
        other = twin(state.tree, state.forest, state.classes, pool.nodes[cluster])
        for j in range(taken):
            other = -1 if other == state.near[j] else other
        if other >= 0:
            cost += 2 * state.crowding * pool.size[cluster] * state.size[other]
    return int(cost)


@kernel
def _replace(state: Recovery, taken: int, opens: bool) -> None:
    """Put what was made in the place of the classes that were taken, if there is room."""
    at, members, pool, near = state.at, state.members, state.pool, state.near
    if pool.at[CLUSTERS] > at[CLASSES_LEFT] or pool.at[SHARES] > at[ENTRIES_LEFT]:
        return
    for i in range(taken):
        number = near[i]
        if opens and pool.rank[i] >= pool.at[FRESH]:
            continue  # it is still there as it was
        at[KEPT] += 1
        remove(state.tree, state.classes, number)
        entry = members.head[number]
        while entry >= 0:
            state.free_entries[at[ENTRIES_LEFT]] = entry
            at[ENTRIES_LEFT] += 1
            entry = members.after[entry]
        at[LIVE] -= 1
        moved = state.live[at[LIVE]]
        state.live[state.place[number]], state.place[moved] = moved, state.place[number]
        state.free_classes[at[CLASSES_LEFT]] = number
        at[CLASSES_LEFT] += 1
    for cluster in range(pool.at[CLUSTERS]):
        if pool.size[cluster] > 0 and pool.rank[cluster] < pool.at[FRESH]:
            _create(state, cluster)


@kernel
def _create(state: Recovery, cluster: int) -> None:
    """A class out of a cluster of the pool; where sizes count, it is one with the class that has the same values."""
    at, members, pool = state.at, state.members, state.pool
    number = np.int64(twin(state.tree, state.forest, state.classes, pool.nodes[cluster]) if state.crowding else -1)
    if number < 0:
        at[CLASSES_LEFT] -= 1
        number = state.free_classes[at[CLASSES_LEFT]]
        state.live[at[LIVE]], state.place[number] = number, at[LIVE]
        at[LIVE] += 1
        state.size[number], state.detail[number] = 0, pool.detail[cluster]
        for a in range(state.tuples.shape[1]):
            state.classes.rows[number, a] = pool.nodes[cluster, a]
        insert(state.tree, state.forest, state.classes, number)
        members.head[number], members.length[number] = -1, 0
    state.size[number] += pool.size[cluster]
    share = pool.head[cluster]
    while share >= 0:
        at[ENTRIES_LEFT] -= 1
        entry = state.free_entries[at[ENTRIES_LEFT]]
        members.tuples[entry] = pool.tuples[pool.share_part[share]]
        members.records[entry] = pool.share_records[share]
        members.after[entry], members.head[number] = members.head[number], entry
        members.length[number] += 1
        share = pool.share_after[share]
