"""The rounds of the method "cover" in compiled code: whatever forms good groups at the levels of a round leaves."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from incrowd.privacy.compiled import Needs, is_good
from incrowd.run import Run
from incrowd.search.compiled import compiled

Array = npt.NDArray[Any]

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
ROUND, LEAVING, PLACE, WAITING, STAY, GROUPS, COVERED, WORK = range(8)


class Levels(NamedTuple):
    """The node of each code at each level of each attribute, behind each other, and where each of them begins.

    `rounds` are the levels of the attributes in each round, rounds x attributes; `first` is where in `nodes` a level of
    an attribute begins, attributes x levels.
    """

    nodes: Array
    first: Array
    rounds: Array


class Groups(NamedTuple):
    """A hash table of the groups of a round: key, records, the number of a group that is good, last round."""

    key: Array
    records: Array
    number: Array
    seen: Array


class Covering(NamedTuple):
    """All that the rounds know.

    `left` are the tuples that are left over, `slots` the place of the group of each in the hash table, `found` the
    group of each tuple that has left. `at` holds the ROUND, whether it is LEAVING (else groups are counted), the PLACE
    in `left` that is next, how many tuples are WAITING there, how many of them STAY, the number of GROUPS, the records
    that are COVERED, and how many tuples may still be looked at (WORK).
    """

    levels: Levels
    codes: Array
    counts: Array
    needs: Needs
    table: Groups
    left: Array
    slots: Array
    found: Array
    at: Array


def covered(levels: Levels, codes: Array, counts: Array, needs: Needs, work: int, run: Run) -> Covering:
    """Go through the rounds in their order; groups that are good then leave as these groups.

    Args:
        levels: The levels of the attributes, and the rounds.
        codes: The tuples: tuples x attributes.
        counts: Records of each tuple.
        needs: What a group needs.
        work: How many tuples may be looked at; no round begins after that.
        run: Asked between two slices whether to go on.

    Returns:
        The state after the last round; `found` is the group of each tuple, -1 for those that are left over.
    """
    state = new_covering(levels, codes, counts, needs, work)
    records = int(counts.sum())

    def some(amount: int) -> bool:
        done: bool = cover_some(state, amount)
        run.amount(int(state.at[COVERED]), records, f"records covered in {state.at[ROUND]:,} rounds")
        return done

    run.in_slices(some)
    return state


def new_covering(levels: Levels, codes: Array, counts: Array, needs: Needs, work: int) -> Covering:
    """Before the first round."""
    tuples, room = len(codes), 16
    while room < 2 * tuples:
        room *= 2
    table = Groups(
        np.empty(room, np.uint64), np.empty(room, np.int64), np.empty(room, np.int64), np.full(room, -1, np.int64)
    )
    at = np.zeros(8, np.int64)
    at[[WAITING, WORK]] = tuples, work
    slots, found = np.empty(tuples, np.int64), np.full(tuples, -1, np.int64)
    return Covering(levels, codes, counts.astype(np.int64), needs, table, np.arange(tuples), slots, found, at)


@compiled
def cover_some(state: Covering, amount: int) -> bool:
    """Go on with the rounds until so many tuples were looked at; whether all is done."""
    at = state.at
    while amount > 0:
        if at[PLACE] == 0 and not at[LEAVING]:
            if at[ROUND] == len(state.levels.rounds) or at[WAITING] == 0 or at[WORK] <= 0:
                return True
            at[WORK] -= at[WAITING]
        begin, end = at[PLACE], min(at[WAITING], at[PLACE] + amount)
        if at[LEAVING]:
            _leave(state, begin, end)
        else:
            tally(state, begin, end)
        amount -= end - begin
        at[PLACE] = end
        if end == at[WAITING]:
            at[PLACE] = 0
            if at[LEAVING]:
                at[WAITING], at[STAY] = at[STAY], 0
                at[ROUND] += 1
            at[LEAVING] = 1 - at[LEAVING]
    return False


@compiled
def tally(state: Covering, begin: int, end: int) -> None:
    """Count the records of each group among tuples that are left, and note where in the table each tuple's is."""
    codes, counts, nodes = state.codes, state.counts, state.levels.nodes
    left, slots = state.left[begin:end], state.slots[begin:end]
    key_of, records, number, seen = state.table
    last, now = np.uint64(len(seen) - 1), state.at[ROUND]
    starts = np.empty(codes.shape[1], np.uint64)
    for a in range(len(starts)):
        starts[a] = state.levels.first[a, state.levels.rounds[now, a]]
    for i in range(len(left)):
        key, row = np.uint64(0), codes[left[i]]
        for a in range(len(starts)):  # should two keys ever collide, their common group is only more general
            key = (key ^ nodes[starts[a] + row[a]]) * _MULTIPLIER
            key ^= key >> np.uint64(29)
        place = key & last
        while seen[place] == now and key_of[place] != key:
            place = (place + np.uint64(1)) & last
        if seen[place] != now:
            seen[place], key_of[place], records[place], number[place] = now, key, 0, -1
        records[place] += counts[left[i]]
        slots[i] = place


@compiled
def _leave(state: Covering, begin: int, end: int) -> None:
    """Let tuples leave whose group is good; the others move up in the list of those that are left."""
    at, left, table = state.at, state.left, state.table
    tuples, slots = left[begin:end], state.slots[begin:end]
    stay, groups, records = at[STAY], at[GROUPS], 0
    for i in range(len(tuples)):
        number, slot = tuples[i], slots[i]
        if is_good(state.needs, table.records[slot]):
            if table.number[slot] < 0:
                table.number[slot] = groups
                groups += 1
            state.found[number] = table.number[slot]
            records += state.counts[number]
        else:
            left[stay] = number
            stay += 1
    at[STAY], at[GROUPS] = stay, groups
    at[COVERED] += records
