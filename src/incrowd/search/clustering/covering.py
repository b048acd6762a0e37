"""The rounds of the method "cover" in compiled code: whatever forms good groups at the levels of a round leaves.

A round looks at every tuple that is left. Groups are first counted in buckets, several of them in one, which is quick;
only tuples of buckets that could hold a good group are grouped exactly.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from incrowd.privacy.compiled import SizeRule, is_good
from incrowd.run import Run
from incrowd.search.clustering.levels import Levels, Rounds
from incrowd.search.compiled import compiled, compiled_within

Array = npt.NDArray[Any]

ROUND, WAITING, GROUPS, COVERED, WORK = range(5)


class Groups(NamedTuple):
    """A hash table of the groups of a round: key, records, the number of a group that is good, last round."""

    key: Array
    records: Array
    number: Array
    seen: Array


class Covering(NamedTuple):
    """All that the rounds know.

    `base` is the key of each tuple at the lowest levels, `raised` what a higher level of an attribute adds; `left` are
    the tuples that are left over, `keys` their keys in this round; `picked` those of them that may be in a good group,
    `slots` the place of the group of each in the hash table; `found` the group of each tuple that has left. `at` holds
    the ROUND, how many tuples are WAITING in `left`, the number of GROUPS, the records that are COVERED, and how many
    tuples may still be looked at (WORK).
    """

    levels: Levels
    codes: Array
    base: Array
    raised: Array
    counts: Array
    needs: SizeRule
    buckets: Array
    table: Groups
    left: Array
    keys: Array
    picked: Array
    slots: Array
    found: Array
    at: Array


def covered(levels: Levels, codes: Array, counts: Array, needs: SizeRule, work: int, run: Run) -> Rounds:
    """Go through the rounds in their order; groups that are good then leave as these groups.

    Args:
        levels: The levels of the attributes, and the rounds.
        codes: The tuples: attributes x tuples.
        counts: Records of each tuple.
        needs: What a group needs.
        work: How many tuples may be looked at; no round begins after that.
        run: Asked between two slices whether to go on.
    """
    state = new_covering(levels, codes, counts, needs, work)
    records = int(counts.sum())

    def some(amount: int) -> bool:
        done: bool = cover_some(state, amount)
        run.amount(int(state.at[COVERED]), records, f"records covered in {state.at[ROUND]:,} rounds")
        return done

    run.in_slices(some)
    return rounds_of(state)


def rounds_of(state: Covering) -> Rounds:
    """What the rounds did."""
    at = state.at.tolist()
    return Rounds(state.found, at[GROUPS], at[ROUND], at[COVERED])


def new_covering(levels: Levels, codes: Array, counts: Array, needs: SizeRule, work: int) -> Covering:
    """Before the first round."""
    tuples, room = codes.shape[1], 16
    while room < 2 * tuples:
        room *= 2
    table = Groups(
        np.empty(room, np.uint64), np.empty(room, np.int64), np.empty(room, np.int64), np.full(room, -1, np.int64)
    )
    base, raised = np.zeros(tuples, np.uint64), levels.hashes.copy()
    for a, first in enumerate(levels.first):
        lowest = levels.hashes[first[0] : first[0] + int(codes[a].max()) + 1]
        base += lowest[codes[a]]
        for start in first[1 : levels.heights[a]]:
            raised[start : start + len(lowest)] -= lowest
    at = np.zeros(5, np.int64)
    at[[WAITING, WORK]] = tuples, work
    return Covering(
        levels,
        codes,
        base,
        raised,
        counts.astype(np.int64),
        needs,
        np.empty(room, np.int64),
        table,
        np.arange(tuples),
        np.empty(tuples, np.uint64),
        np.empty(tuples, np.int64),
        np.empty(tuples, np.int64),
        np.full(tuples, -1, np.int64),
        at,
    )


@compiled
def cover_some(state: Covering, amount: int) -> bool:
    """Go on with the rounds until so many tuples were looked at; whether all is done."""
    at = state.at
    while amount > 0:
        if at[ROUND] == len(state.levels.rounds) or at[WAITING] == 0 or at[WORK] <= 0:
            return True
        amount -= at[WAITING]
        at[WORK] -= at[WAITING]
        picked = pick(state)
        if picked:
            _leave(state, picked)
        at[ROUND] += 1
    return False


@compiled_within
def pick(state: Covering) -> int:
    """Pick the tuples that are left whose group may be good, and count the groups of these; how many they are."""
    counts, left, keys, buckets, needs = state.counts, state.left, state.keys, state.buckets, state.needs
    waiting, shift = state.at[WAITING], np.uint64(60)
    while np.uint64(1) << (np.uint64(64) - shift) < np.uint64(2 * waiting):
        shift -= np.uint64(1)
    _key(state)
    buckets[: np.uint64(1) << (np.uint64(64) - shift)] = 0
    for i in range(waiting):
        buckets[keys[i] >> shift] += counts[left[i]]
    picked, slots = 0, state.slots
    key_of, records, number, seen = state.table
    last, now = np.uint64(len(seen) - 1), state.at[ROUND]
    for i in range(waiting):
        key = keys[i]
        if not is_good(needs, buckets[key >> shift]):
            continue
        place = key & last
        while seen[place] == now and key_of[place] != key:
            place = (place + np.uint64(1)) & last
        if seen[place] != now:
            seen[place], key_of[place], records[place], number[place] = now, key, 0, -1
        records[place] += counts[left[i]]
        state.picked[picked], slots[picked] = left[i], place
        picked += 1
    return picked


@compiled_within
def _key(state: Covering) -> None:
    """The keys of the tuples that are left: what the attributes above their lowest level add to those at the lowest."""
    codes, left, keys, raised, first = state.codes, state.left, state.keys, state.raised, state.levels.first
    choice, waiting = state.levels.rounds[state.at[ROUND]], state.at[WAITING]
    for i in range(waiting):
        keys[i] = state.base[left[i]]
    for a in range(len(choice)):
        if choice[a]:
            above, column = raised[first[a, choice[a]] :], codes[a]
            for i in range(waiting):
                keys[i] += above[column[left[i]]]


@compiled_within
def _leave(state: Covering, picked: int) -> None:
    """Let tuples leave whose group is good; the others move up in the list of those that are left."""
    at, table = state.at, state.table
    groups, records = at[GROUPS], 0
    for i in range(picked):
        number, slot = state.picked[i], state.slots[i]
        if is_good(state.needs, table.records[slot]):
            if table.number[slot] < 0:
                table.number[slot] = groups
                groups += 1
            state.found[number] = table.number[slot]
            records += state.counts[number]
    if groups > at[GROUPS]:
        move_up(state)
    at[GROUPS] = groups
    at[COVERED] += records


@compiled_within
def move_up(state: Covering) -> None:
    """Take those that have left from the list of those that are left."""
    left, stay = state.left, 0
    for i in range(state.at[WAITING]):
        if state.found[left[i]] < 0:
            left[stay] = left[i]
            stay += 1
    state.at[WAITING] = stay
