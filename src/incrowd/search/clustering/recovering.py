"""Destroy and repair, in compiled code: a few classes near to each other are made anew, and kept if that is better.

A try begins at a record, with the classes nearest to it. Either they are taken apart and their records are gathered
anew (see `gathering`), or one more is opened around the record, among many of them (see `opening`). What comes out
worse by far is given up, otherwise it is improved (see `improving`). The result is kept if it costs less, at first also
if it costs a little more, which leads out of dead ends; how much more falls to nothing with the work that is done.
Every class is good after every try, so it may end after any of them.

What is tried follows from the key of the run, and how much from the work that is allowed, never from a clock.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.privacy.compiled import lacking
from incrowd.run import Run
from incrowd.search.clustering.choosing import below, taken
from incrowd.search.clustering.class_index import insert, remove, reset, twin
from incrowd.search.clustering.gathering import gathered
from incrowd.search.clustering.opening import opened
from incrowd.search.clustering.pool import CLUSTERS, FRESH, LOOKS, SHARES, pool_cost
from incrowd.search.clustering.recovery import (
    CLASSES_LEFT,
    ENTRIES_LEFT,
    IDLE,
    INSERTED,
    KEPT,
    LIVE,
    LOOKED,
    MOST_PARTS,
    SPARE_NODES,
    TRIES,
    WIDEST,
    Recovery,
    new_recovery,
    parts_of,
)
from incrowd.search.compiled import compiled, compiled_within

__all__ = ["KEPT", "new_recovery", "recovered"]

Array = npt.NDArray[Any]

NEAREST: Any = np.int64(9)  # classes that are gathered anew at most, and their parts
NEAREST_PARTS: Any = np.int64(200)
AROUND: Any = np.int64(WIDEST)  # the same where one is opened among them
AROUND_PARTS: Any = np.int64(MOST_PARTS)
AGAIN = 2  # how often the records of a try are gathered, until that is better
COOLING = 400  # tries per class until it may not cost more any longer, if the work is not done before
LEAST_COOLING = 5000  # tries that there are before in any case
WARMER = 25  # it may cost what one record has lost more at first, and as much again per so many that a class needs
SHARE = 1024
PATIENCE = 10  # tries per class without success before it ends


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
        return done or not run.should_continue()

    run.in_slices(some)
    parts: tuple[Array, Array, Array] = parts_of(state)
    return parts


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
def _allowed(state: Recovery, work: int) -> int:
    """How much more than before a try may cost, in 1024ths of what it may at first."""
    at = state.at
    tries = LEAST_COOLING + COOLING * at[LIVE]
    return int(max(0, min(SHARE - SHARE * at[LOOKED] // work, SHARE - SHARE * at[TRIES] // tries)))


@compiled_within
def _try(state: Recovery, allowed: int) -> None:
    """Take some classes, make them anew, and keep that if it costs less, or little more."""
    at, pool, needed = state.at, state.pool, lacking(state.needs, 0)
    at[IDLE] += 1
    opens = below(state, 2) == 1
    number = taken(state, AROUND if opens else NEAREST, AROUND_PARTS if opens else NEAREST_PARTS)
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
        useful = _made(state, opens, hopeless)
        at[LOOKED] += pool.at[LOOKS]
        after = pool_cost(pool, state.crowding) + _crowded(state, number)
        if useful and after <= limit:  # an equal one too: it may lead on
            at[IDLE] = 0 if after < before else at[IDLE]
            _replace(state, number, opens)
            break


@compiled_within
def _made(state: Recovery, opens: bool, most: int) -> bool:
    """Make the classes in the pool anew; whether that is of any use."""
    pool, needs, crowding, everything = state.pool, state.needs, state.crowding, state.everything
    if opens:
        return opened(pool, state.forest, state.tuples, needs, crowding, everything, state.random, most)
    pool.at[CLUSTERS:] = 0
    return gathered(pool, state.forest, state.tuples, needs, crowding, everything, state.random, most)


@compiled_within
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


@compiled_within
def _replace(state: Recovery, taken: int, opens: bool) -> None:
    """Put what was gathered in the place of the classes that were taken apart, if there is room."""
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


@compiled_within
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
        for a in range(len(state.roots)):
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
