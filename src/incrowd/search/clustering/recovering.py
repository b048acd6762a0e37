"""Destroy and repair, in compiled code: a few classes near to each other are made anew, and kept if that is better.

A try begins at a record. The classes nearest to it are taken apart, and their records are gathered anew (see
`gathering` and `improving`). The result is kept if it costs less, at first also if it costs a little more, which leads
out of dead ends; how much more falls to nothing with the work that is done. Every class is good after every try, so it
may end after any of them.

What is tried follows from the seed, and how much from the work that is allowed, never from a clock.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from incrowd.privacy.compiled import Needs
from incrowd.run import Run
from incrowd.search.clustering.agglomeration import draw
from incrowd.search.clustering.class_index import (
    Classes,
    Query,
    Tree,
    insert,
    nearest_some,
    new_classes,
    new_query,
    new_tree,
    remove,
    reset,
)
from incrowd.search.clustering.forest import Forest
from incrowd.search.clustering.gathering import gathered
from incrowd.search.clustering.pool import CLUSTERS, LOOKS, PARTS, Pool, meeting_of, new_pool, pool_cost
from incrowd.search.compiled import compiled, compiled_within

Array = npt.NDArray[Any]

LIVE, CLASSES_LEFT, ENTRIES_LEFT, TRIES, KEPT, IDLE, INSERTED, LOOKED = range(8)
NEAREST = 9  # classes that are looked up for a try at most
MOST_PARTS = 200  # parts in a try at most
MOST_RECORDS = 4096
DRAWS = 3  # classes drawn for a try; it begins in the one that has lost most
AGAIN = 2  # how often the records of a try are gathered, until that is better
COOLING = 100  # tries per class until it may not cost more any longer, if the work is not done before
LEAST_COOLING = 5000  # tries that there are before in any case
SHARE = 1024
PATIENCE = 10  # tries per class without success before it ends
BUCKET = 16
SPARE_NODES = 4096  # of the tree; it is built anew when no more are left
WORK_OF_QUERY = 1500  # what a query counts, in looks at a value


class Members(NamedTuple):
    """The parts of each class: `head` and `length` per class; tuple, records and the next part per part."""

    head: Array
    length: Array
    tuples: Array
    records: Array
    after: Array


class Recovery(NamedTuple):
    """All that the tries know.

    Classes that exist are listed in `live`, each at its `place`; numbers of classes and parts that are free in
    `free_classes` and `free_entries`. The rows of the index have the size 1, `size` are the true ones; the last row is
    that of the record a try begins at. `at` says how many are LIVE, how many of both lists are left, the TRIES, those
    that were KEPT, those since the last improvement (IDLE), classes INSERTED in the tree, and values LOOKED at.
    """

    forest: Forest
    roots: Array
    needs: Needs
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
    far: Array
    pool: Pool
    random: Array
    at: Array


def recovered(state: Recovery, work: int, run: Run) -> tuple[Array, Array, Array]:
    """Try until so many values were looked at, nothing improves any more, or the run should not go on.

    Args:
        state: The classes.
        work: How many values may be looked at.
        run: Asked between two slices whether to go on.

    Returns:
        Tuple, class and records of each part.
    """

    def some(amount: int) -> bool:
        done: bool = recover_some(state, work, amount)
        run.amount(min(work, int(state.at[LOOKED])), work, f"looks, {state.at[KEPT]:,} classes made anew")
        return done or not run.goes_on()

    run.in_slices(some)
    parts: tuple[Array, Array, Array] = parts_of(state)
    return parts


def new_recovery(
    forest: Forest,
    roots: Array,
    tuples: Array,
    classes: Array,
    parts: Array,
    needs: Needs,
    crowding: int,
    seed: int,
) -> Recovery:
    """Before the first try.

    Args:
        forest: The hierarchies.
        roots: The root of each attribute.
        tuples: The tuples, as nodes: tuples x attributes.
        classes: The classes, as nodes: classes x attributes.
        parts: Tuple, class and records of each part: parts x 3.
        needs: What a class needs.
        crowding: What a unit of the sum of squared class sizes costs, in units of detail.
        seed: Of the random numbers.
    """
    number, room = len(classes), 2 * len(classes) + 64
    entries = 2 * len(parts) + 1024
    rows = np.zeros((room + 1, len(roots)), np.int32)
    rows[:number] = classes
    size, detail = np.zeros(room, np.int64), np.zeros(room, np.int64)
    size[:number] = np.bincount(parts[:, 1], parts[:, 2], number)
    detail[:number] = forest.detail[classes].sum(axis=1)
    indexed = new_classes(rows, np.ones(room + 1, np.int64))
    indexed.key[:] = np.arange(room + 1)
    at = np.zeros(8, np.int64)
    at[[LIVE, CLASSES_LEFT, ENTRIES_LEFT]] = number, room - number, entries - len(parts)
    tree = new_tree(room + SPARE_NODES, roots, BUCKET)
    return Recovery(
        forest,
        roots,
        needs,
        crowding,
        int(forest.detail[tuples[:1]].sum()),
        tuples,
        indexed,
        tree,
        new_query(forest, roots, room + SPARE_NODES),
        size,
        detail,
        _members(parts, room, entries),
        np.arange(room),
        np.arange(room),
        np.arange(number, number + room) % room,  # those that exist are the last, and none of them is free yet
        np.arange(len(parts), len(parts) + entries) % entries,
        np.empty(NEAREST, np.int64),
        np.empty(NEAREST, np.int64),
        new_pool(len(tuples), len(roots), MOST_PARTS, meeting_of(forest, roots)),
        np.array([seed % 2**63], np.uint64),
        at,
    )


def _members(parts: Array, room: int, entries: int) -> Members:
    """Parts as lists, class by class."""
    order = np.argsort(parts[:, 1], kind="stable")
    members = Members(
        np.full(room, -1, np.int64),
        np.zeros(room, np.int64),
        np.empty(entries, np.int64),
        np.empty(entries, np.int64),
        np.full(entries, -1, np.int64),
    )
    number = len(parts)
    members.tuples[:number], members.records[:number] = parts[order, 0], parts[order, 2]
    groups = parts[order, 1]
    same = np.flatnonzero(groups[1:] == groups[:-1])
    members.after[same] = same + 1
    firsts = np.flatnonzero(np.diff(groups, prepend=-1))
    members.head[groups[firsts]] = firsts
    members.length[groups[firsts]] = np.diff(np.append(firsts, number))
    return members


@compiled
def recover_some(state: Recovery, work: int, amount: int) -> bool:
    """Go on until so many more values were looked at; whether all is done."""
    at = state.at
    until = at[LOOKED] + amount
    while at[INSERTED] < at[LIVE] and at[TRIES] == 0:
        insert(state.tree, state.forest, state.classes, state.live[at[INSERTED]])
        at[INSERTED] += 1
    while at[LOOKED] < until:
        allowed = _allowed(state, work)
        if at[LOOKED] >= work or at[LIVE] < 2 or (allowed == 0 and at[IDLE] > PATIENCE * at[LIVE]):
            return True
        if state.tree.used[0] + SPARE_NODES > len(state.tree.links):
            _rebuild(state)
        _try(state, allowed)
        at[TRIES] += 1
    return False


@compiled_within
def _rebuild(state: Recovery) -> None:
    """Build the tree anew: its nodes are never given back one by one."""
    reset(state.tree)
    for i in range(state.at[LIVE]):
        insert(state.tree, state.forest, state.classes, state.live[i])
    state.at[LOOKED] += 100 * state.at[LIVE]


@compiled_within
def _below(state: Recovery, limit: int) -> int:
    """A random number from 0 up to a limit."""
    return int(np.int64(draw(state.random) % np.uint64(limit)))


@compiled_within
def _allowed(state: Recovery, work: int) -> int:
    """How much more than before a try may cost, in 1024ths of what it may at first."""
    at = state.at
    tries = LEAST_COOLING + COOLING * at[LIVE]
    return int(max(0, min(SHARE - SHARE * at[LOOKED] // work, SHARE - SHARE * at[TRIES] // tries)))


@compiled_within
def _try(state: Recovery, allowed: int) -> None:
    """Take some classes apart, gather them anew, and keep that if it costs less, or little more."""
    at, pool = state.at, state.pool
    at[IDLE] += 1
    taken = _taken(state)
    if taken < 2:
        return
    before, records = np.int64(0), np.int64(0)
    for i in range(taken):
        size, detail = state.size[state.near[i]], state.detail[state.near[i]]
        before += size * (state.crowding * size - detail)
        records += size
    lost = before // records + state.everything  # by one of the records
    limit = before + max(np.int64(0), lost) * allowed // SHARE
    for _ in range(AGAIN):
        pool.at[CLUSTERS:] = 0
        gathered(pool, state.forest, state.tuples, state.needs, state.crowding, state.everything, state.random)
        at[LOOKED] += pool.at[LOOKS]
        after = pool_cost(pool, state.crowding)
        if after <= limit:  # an equal one too: it may lead on
            at[IDLE] = 0 if after < before else at[IDLE]
            _replace(state, taken)
            break


@compiled_within
def _taken(state: Recovery) -> int:
    """Choose the classes of a try, and put their parts into the pool; the classes are the first of `near`."""
    at, near, members, classes = state.at, state.near, state.members, state.classes
    home = state.live[_below(state, at[LIVE])]
    for _ in range(DRAWS - 1):  # where most is lost there is most to gain
        other = state.live[_below(state, at[LIVE])]
        if state.detail[other] < state.detail[home]:
            home = other
    if members.length[home] > MOST_PARTS:
        return 0
    entry = members.head[home]
    for _ in range(_below(state, members.length[home])):
        entry = members.after[entry]
    last = len(classes.rows) - 1
    for a in range(len(state.roots)):
        classes.rows[last, a] = state.tuples[members.tuples[entry], a]
    most = 2 + _below(state, NEAREST - 2)
    nearest_some(state.tree, state.forest, classes, state.query, last, near[:most], state.far[:most])
    at[LOOKED] += WORK_OF_QUERY + 60 * most
    pool = state.pool
    pool.at[:] = 0
    _pour(state, home)
    taken, records = 1, state.size[home]
    found = near[:most].copy()
    near[0] = home
    for other in found:
        if other < 0:
            break
        if other == home or pool.at[PARTS] + members.length[other] > MOST_PARTS:
            continue
        if records + state.size[other] > MOST_RECORDS:
            continue
        _pour(state, other)
        records += state.size[other]
        near[taken] = other
        taken += 1
        if taken == NEAREST:
            break
    for i in range(pool.at[PARTS]):
        pool.mark[pool.tuples[i]] = -1
    return taken


@compiled_within
def _pour(state: Recovery, number: int) -> None:
    """Put the parts of a class into the pool; equal tuples are one part there."""
    pool, members = state.pool, state.members
    entry = members.head[number]
    while entry >= 0:
        one = members.tuples[entry]
        if pool.mark[one] < 0:
            pool.mark[one] = pool.at[PARTS]
            pool.tuples[pool.at[PARTS]], pool.records[pool.at[PARTS]] = one, 0
            pool.at[PARTS] += 1
        pool.records[pool.mark[one]] += members.records[entry]
        entry = members.after[entry]


@compiled_within
def _replace(state: Recovery, taken: int) -> None:
    """Put what was gathered in the place of the classes that were taken apart, if there is room."""
    at, members, pool, near = state.at, state.members, state.pool, state.near
    if pool.at[1] > at[CLASSES_LEFT] or pool.at[2] > at[ENTRIES_LEFT]:
        return
    at[KEPT] += taken
    for i in range(taken):
        number = near[i]
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
    for cluster in range(pool.at[1]):
        if pool.size[cluster] > 0:
            _create(state, cluster)


@compiled_within
def _create(state: Recovery, cluster: int) -> None:
    """A class out of a cluster of the pool."""
    at, members, pool = state.at, state.members, state.pool
    at[CLASSES_LEFT] -= 1
    number = state.free_classes[at[CLASSES_LEFT]]
    state.live[at[LIVE]], state.place[number] = number, at[LIVE]
    at[LIVE] += 1
    state.size[number], state.detail[number] = pool.size[cluster], pool.detail[cluster]
    for a in range(len(state.roots)):
        state.classes.rows[number, a] = pool.nodes[cluster, a]
    insert(state.tree, state.forest, state.classes, number)
    members.head[number], members.length[number] = -1, 0
    share = pool.head[cluster]
    while share >= 0:
        at[ENTRIES_LEFT] -= 1
        entry = state.free_entries[at[ENTRIES_LEFT]]
        members.tuples[entry] = pool.tuples[pool.share_part[share]]
        members.records[entry] = pool.share_records[share]
        members.after[entry], members.head[number] = members.head[number], entry
        members.length[number] += 1
        share = pool.share_after[share]


@compiled
def parts_of(state: Recovery) -> tuple[Array, Array, Array]:
    """Tuple, class and records of each part; classes are numbered without gaps."""
    members, at = state.members, state.at
    total = 0
    for i in range(at[LIVE]):
        total += members.length[state.live[i]]
    tuples, groups, records = np.empty(total, np.int64), np.empty(total, np.int64), np.empty(total, np.int64)
    size = 0
    for i in range(at[LIVE]):
        entry = members.head[state.live[i]]
        while entry >= 0:
            tuples[size], groups[size], records[size] = members.tuples[entry], i, members.records[entry]
            size += 1
            entry = members.after[entry]
    return tuples, groups, records
