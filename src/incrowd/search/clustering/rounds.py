"""The rounds of the method "cover": whatever forms good groups at the levels of a round leaves as classes.

A round looks at every tuple that is left. Groups are first counted in buckets, several of them in one, which is quick;
only tuples of buckets that could hold a good group are grouped exactly. Where a protected column counts, the
requirement is asked about the groups that are large enough and have changed since they were last found bad, all of a
round at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from itertools import islice
from math import prod
from typing import NamedTuple

import numpy as np

from incrowd.recodings.hierarchies import Hierarchy
from incrowd.run import Run
from incrowd.search.clustering.class_tally import ClassTally
from incrowd.search.clustering.space import Array
from incrowd.search.compiled import kernel, ready
from incrowd.table.compressed import CompressedTable

COARSE = 2.5  # levels per attribute that a second stage has at least, on average
FIRST = 4  # of all rounds, the share that goes to the first stage where there are two
CHECKS = 60_000_000  # tuples to ask the requirement about, over all rounds

ROUND, WAITING, GROUPS, COVERED, WORK = range(5)


class Levels(NamedTuple):
    """A random number for the node of each code at each level of each attribute, behind each other.

    The sum over the attributes tells groups apart (should two sums ever be equal, their common group is only more
    general). `rounds` are the levels of the attributes in each round, rounds x attributes; `first` is where in `hashes`
    a level of an attribute begins, attributes x levels; `heights` says how many levels each has.
    """

    hashes: Array
    first: Array
    rounds: Array
    heights: Array


Stages = tuple[Levels, Levels | None]


class Rounds(NamedTuple):
    """What the rounds did: the group of each tuple (-1 of those left over), groups, rounds, and records covered."""

    found: Array
    groups: int
    rounds: int
    covered: int


def stages_of(
    table: CompressedTable,
    hierarchies: Sequence[Hierarchy],
    detail: Sequence[Array],
    rounds: int,
    run: Run,
    fixed: Sequence[int] = (),
) -> Stages:
    """The levels of the attributes with the rounds over them: at first, and if these leave most records over.

    If there are too many choices of levels, the first stage is the cheapest of them, and the second one goes on with
    fewer levels per attribute to the most general ones. There is none if these would be too few.
    Attributes that are `fixed` have their most specific level alone.
    """
    levels = [level_nodes(hierarchy) for hierarchy in hierarchies]
    levels = [column[:1] if a in fixed else column for a, column in enumerate(levels)]
    losses = []  # what all records lose together at each level, in whole units
    for a, column in enumerate(levels):
        counts, lowest = table.value_counts(a), detail[a][hierarchies[a].leaves]
        losses.append([int(counts @ (lowest - detail[a][nodes])) for nodes in column])
    kept = [range(len(column)) for column in losses]
    few = thinned(losses, rounds - rounds // FIRST)
    two = prod(map(len, losses)) > rounds and sum(map(len, few)) >= COARSE * len(few)
    first = _choices(losses, kept, rounds // FIRST if two else rounds, run)
    above = [mixed(nodes + (a << 40)) for a, column in enumerate(levels) for nodes in column]
    starts = iter(np.cumsum([0, *map(len, above)]).tolist())
    places = np.zeros((len(levels), max(map(len, levels))), np.int64)
    for a, column in enumerate(levels):
        places[a, : len(column)] = list(islice(starts, len(column)))
    found = Levels(np.concatenate(above), places, first, np.array([*map(len, levels)]))
    if not two:
        return found, None
    second = _choices(losses, few, rounds, run)
    done = {tuple(choice) for choice in first.tolist()}
    return found, found._replace(rounds=np.array([c for c in second.tolist() if tuple(c) not in done], np.int64))


def _choices(losses: Sequence[Sequence[int]], kept: Sequence[Sequence[int]], rounds: int, run: Run) -> Array:
    """The cheapest choices of one level per attribute among those kept: rounds x attributes."""
    order = []
    for choice in islice(
        cheapest_first([[column[i] for i in some] for column, some in zip(losses, kept, strict=True)]), rounds
    ):
        order.append([some[i] for some, i in zip(kept, choice, strict=True)])
        if len(order) % 1000 == 0:
            run.check()
    return np.array(order, np.int64)


def level_nodes(hierarchy: Hierarchy) -> list[Array]:
    """The node of each code at the levels of a hierarchy that differ, from the most specific to the root."""
    levels: list[Array] = []
    for level in range(hierarchy.taxonomy.height + 1, 0, -1):
        nodes = hierarchy.to_level(hierarchy.leaves, level).astype(np.int64)
        if not levels or (nodes != levels[-1]).any():
            levels.append(nodes)
    return levels


def thinned(losses: Sequence[Sequence[int]], rounds: int) -> list[list[int]]:
    """Fewer levels of each attribute, so that there are at most this many choices of them, where that is possible.

    The lowest and the highest stay. Of the others the one goes first that is closest to the next higher one, which its
    records would have to take instead.
    """
    left = [list(range(len(column))) for column in losses]
    while prod(map(len, left)) > rounds:
        gaps = [
            (losses[a][some[i + 1]] - losses[a][some[i]], a, i)
            for a, some in enumerate(left)
            for i in range(1, len(some) - 1)
        ]
        if not gaps:
            break
        _, a, i = min(gaps)
        del left[a][i]
    return left


def cheapest_first(losses: Sequence[Sequence[int]]) -> Iterator[tuple[int, ...]]:
    """All choices of one level per attribute, by the sum of their losses, each once; losses ascend."""
    start = (0,) * len(losses)
    heap = [(sum(column[0] for column in losses), start, 0)]
    while heap:
        cost, choice, last = heappop(heap)
        yield choice
        for a in range(last, len(losses)):  # from the attribute that was raised last on: one way to every choice
            if choice[a] + 1 < len(losses[a]):
                raised = (*choice[:a], choice[a] + 1, *choice[a + 1 :])
                more = losses[a][choice[a] + 1] - losses[a][choice[a]]
                heappush(heap, (cost + more, raised, a))


def mixed(numbers: Array) -> Array:
    """Array that look random (SplitMix64)."""
    z = (numbers.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    found: Array = z ^ (z >> np.uint64(31))
    return found


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
    least_size: int
    buckets: Array
    table: Groups
    left: Array
    keys: Array
    picked: Array
    slots: Array
    found: Array
    at: Array


class Suspects(NamedTuple):
    """The groups of a round that may be good.

    `sign` adds up the `number` of each tuple of a group, by its place in the hash table, and `last` is that of the last
    group of each tuple that was found bad: the same again need not be asked about. `tuples` and `numbers` are the
    tuples to ask about and their groups, `slots` the place of each group.
    """

    number: Array
    sign: Array
    last: Array
    tuples: Array
    numbers: Array
    slots: Array


def covered(levels: Levels, codes: Array, counts: Array, least_size: int, work: int, run: Run) -> Rounds:
    """Go through the rounds in their order; groups of at least this size leave.

    Args:
        levels: The levels of the attributes, and the rounds.
        codes: The tuples: attributes x tuples.
        counts: Records of each tuple.
        least_size: Records that a good group has at least.
        work: How many tuples may be looked at; no round begins after that.
        run: Asked between two slices whether to go on.
    """
    state = _new_covering(levels, codes, counts, least_size, work)
    some, records = ready(cover_some, len(counts)), int(counts.sum())

    def cover(amount: int) -> bool:
        done = some(state, amount)
        run.amount(int(state.at[COVERED]), records, f"records covered in {state.at[ROUND]:,} rounds")
        return done

    run.in_slices(cover)
    return _rounds_of(state)


def covered_well(levels: Levels, codes: Array, tally: ClassTally, work: int, run: Run) -> Rounds:
    """The same where a protected column counts: groups leave that the requirement calls good."""
    counts = tally.tuples.counts.records
    state = _new_covering(levels, codes, counts, tally.requirement.least_size, work)
    tuples, room, records = len(counts), len(state.table.key), int(counts.sum())
    suspects = Suspects(
        mixed(np.arange(tuples)),
        np.zeros(room, np.uint64),
        np.zeros(tuples, np.uint64),
        np.empty(tuples, np.int64),
        np.empty(tuples, np.int64),
        np.empty(tuples, np.int64),
    )
    at, checks, suspect = state.at, CHECKS, ready(find_suspects, tuples)
    while at[ROUND] < len(levels.rounds) and at[WAITING] and at[WORK] > 0 and checks > 0:
        run.check()
        at[WORK] -= at[WAITING]
        asked, groups = suspect(state, suspects)
        if asked:
            checks -= asked
            _settle(
                state, suspects, asked, tally.good_groups(suspects.tuples[:asked], suspects.numbers[:asked], groups)
            )
        at[ROUND] += 1
        run.amount(int(at[COVERED]), records, f"records covered in {at[ROUND]:,} rounds")
    return _rounds_of(state)


def _settle(state: Covering, suspects: Suspects, asked: int, good: Array) -> None:
    """Let the good groups of a round leave, and remember the others."""
    at, tuples, groups = state.at, suspects.tuples[:asked], suspects.numbers[:asked]
    leaves = good[groups]
    number = at[GROUPS] + np.cumsum(good) - 1
    state.found[tuples[leaves]] = number[groups[leaves]]
    suspects.last[tuples[~leaves]] = suspects.sign[suspects.slots[groups[~leaves]]]
    at[GROUPS] += good.sum()
    at[COVERED] += state.counts[tuples[leaves]].sum()
    left = state.left[: at[WAITING]]
    left = left[state.found[left] < 0]
    state.left[: len(left)], at[WAITING] = left, len(left)


def _rounds_of(state: Covering) -> Rounds:
    at = state.at.tolist()
    return Rounds(state.found, at[GROUPS], at[ROUND], at[COVERED])


def _new_covering(levels: Levels, codes: Array, counts: Array, least_size: int, work: int) -> Covering:
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
        least_size,
        np.empty(room, np.int64),
        table,
        np.arange(tuples),
        np.empty(tuples, np.uint64),
        np.empty(tuples, np.int64),
        np.empty(tuples, np.int64),
        np.full(tuples, -1, np.int64),
        at,
    )


@kernel
def cover_some(state: Covering, amount: int) -> bool:
    """Go on with the rounds until this many tuples were looked at; whether all is done."""
    at = state.at
    while amount > 0:
        if at[ROUND] == len(state.levels.rounds) or at[WAITING] == 0 or at[WORK] <= 0:
            return True
        amount -= at[WAITING]
        at[WORK] -= at[WAITING]
        picked = _pick(state)
        if picked:
            _leave(state, picked)
        at[ROUND] += 1
    return False


@kernel
def _pick(state: Covering) -> int:
    """Pick the tuples that are left whose group may be good, and count the groups of these; how many they are."""
    counts, left, keys, buckets, least_size = state.counts, state.left, state.keys, state.buckets, state.least_size
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
        if buckets[key >> shift] < least_size:
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


@kernel
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


@kernel
def _leave(state: Covering, picked: int) -> None:
    """Let tuples leave whose group is good; the others move up in the list of those that are left."""
    at, table = state.at, state.table
    groups, records = at[GROUPS], 0
    for i in range(picked):
        number, slot = state.picked[i], state.slots[i]
        if table.records[slot] >= state.least_size:
            if table.number[slot] < 0:
                table.number[slot] = groups
                groups += 1
            state.found[number] = table.number[slot]
            records += state.counts[number]
    if groups > at[GROUPS]:
        left, stay = state.left, 0
        for i in range(at[WAITING]):
            if state.found[left[i]] < 0:
                left[stay] = left[i]
                stay += 1
        at[WAITING] = stay
    at[GROUPS] = groups
    at[COVERED] += records


@kernel
def find_suspects(state: Covering, suspects: Suspects) -> tuple[int, int]:
    """Count the groups of a round; how many tuples to ask about, and in how many groups."""
    picked, slots, table = state.picked, state.slots, state.table
    many = _pick(state)
    sign, last = suspects.sign, suspects.last
    for i in range(many):
        sign[slots[i]] = np.uint64(0)
    for i in range(many):
        sign[slots[i]] += suspects.number[picked[i]]
    tuples, groups = 0, 0
    for i in range(many):
        slot = slots[i]
        if table.records[slot] >= state.least_size and last[picked[i]] != sign[slot] and table.number[slot] < 0:
            table.number[slot] = groups
            suspects.slots[groups] = slot
            groups += 1
    for i in range(many):
        if table.number[slots[i]] >= 0:
            suspects.tuples[tuples], suspects.numbers[tuples] = picked[i], table.number[slots[i]]
            tuples += 1
    return tuples, groups
