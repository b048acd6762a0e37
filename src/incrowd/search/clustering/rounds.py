"""The rounds of the method "cover": whatever forms good groups at the levels of a round leaves as classes.

A round looks at every tuple that is left. Groups are first counted in buckets, several of them in one, which is quick;
only tuples of buckets that could hold a good group are grouped exactly. Where a protected column counts, the
requirement is asked about the groups that are large enough and have changed since they were last found bad, all of a
round at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from heapq import heappop, heappush
from itertools import islice
from math import prod
from typing import NamedTuple

import numpy as np

from incrowd.recodings.hierarchies import Hierarchy
from incrowd.run import Run
from incrowd.search.clustering.class_tally import ClassTally
from incrowd.search.clustering.space import Array
from incrowd.search.native.kernels import Int64, UInt32, UInt64, given, kernel
from incrowd.table.compressed import CompressedTable

COARSE = 2.5  # levels per attribute that a second stage has at least, on average
FIRST_STAGE = 4  # of all rounds, the share that goes to the first stage where there are two
CHECKS = 60_000_000  # tuples to ask the requirement about, over all rounds


class Levels(NamedTuple):
    """A random number for the node of each code at each level of each attribute, behind each other.

    The sum over the attributes tells groups apart (should two sums ever be equal, their common group is only more
    general). `rounds` are the levels of the attributes in each round, rounds x attributes; `first` is where in `hashes`
    a level of an attribute begins, attributes x levels; `heights` says how many levels each has.
    """

    hashes: UInt64
    first: Int64
    rounds: Int64
    heights: Int64


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
    few = thinned(losses, rounds - rounds // FIRST_STAGE)
    two = prod(map(len, losses)) > rounds and sum(map(len, few)) >= COARSE * len(few)
    first = _choices(losses, kept, rounds // FIRST_STAGE if two else rounds, run)
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
    """Numbers that look random (SplitMix64)."""
    z = (numbers.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    found: Array = z ^ (z >> np.uint64(31))
    return found


class Covering(NamedTuple):
    """All that the rounds know.

    `base` is the key of each tuple at the lowest levels, `raised` what a higher level of an attribute adds. `left` are
    the tuples that are left over, `keys` their keys in this round; `picked` those of them that may be in a good group,
    `groups` the group of each, numbered by its first tuple, and `sizes` the records of each group. `key`, `number` and
    `seen` are a hash table of the groups: their key, their number, and the last round in which a place was used.
    """

    levels: Levels
    codes: UInt32
    base: UInt64
    raised: UInt64
    counts: Int64
    least_size: int
    buckets: Int64
    left: Int64
    keys: UInt64
    picked: Int64
    groups: Int64
    sizes: Int64
    key: UInt64
    number: Int64
    seen: Int64


pick_groups = kernel("pick_groups", Covering, int, int)

# of tuples, their groups and how many these are: which are good, and how many tuples that was asked about
Good = Callable[[Array, Array, int], tuple[Array, int]]


def covered(levels: Levels, codes: Array, counts: Array, least_size: int, work: int, run: Run) -> Rounds:
    """Go through the rounds in their order; groups of at least this size leave."""
    return _rounds(levels, codes, counts, least_size, work, run, lambda tuples, groups, size: (np.ones(size, bool), 0))


def covered_well(levels: Levels, codes: Array, tally: ClassTally, work: int, run: Run) -> Rounds:
    """The same where a protected column counts: groups leave that the requirement calls good."""
    counts = tally.tuples.counts.records
    sign, last = mixed(np.arange(len(counts))), np.zeros(len(counts), np.uint64)

    def good(tuples: Array, groups: Array, size: int) -> tuple[Array, int]:
        signs, found = np.zeros(size, np.uint64), np.zeros(size, bool)
        np.add.at(signs, groups, sign[tuples])
        found[groups[last[tuples] != signs[groups]]] = True  # the same group again need not be asked about
        asked = found[groups]
        if asked.any():
            number = np.cumsum(found) - 1
            found[found] = tally.good_groups(tuples[asked], number[groups[asked]], int(found.sum()))
        bad = ~found[groups]
        last[tuples[bad]] = signs[groups[bad]]
        return found, int(asked.sum())

    return _rounds(levels, codes, counts, tally.requirement.least_size, work, run, good)


def _rounds(levels: Levels, codes: Array, counts: Array, least_size: int, work: int, run: Run, is_good: Good) -> Rounds:
    """Groups of a round that are large enough, and good, leave."""
    state = _new_covering(levels, codes, counts, least_size)
    bound = given(state, Covering)
    found, total = np.full(len(counts), -1, np.int64), int(counts.sum())
    waiting, groups, done, number, checks = len(counts), 0, 0, 0, CHECKS

    def some(amount: int) -> bool:
        nonlocal waiting, groups, done, number, work, checks
        while amount > 0:
            if number == len(levels.rounds) or waiting == 0 or work <= 0 or checks <= 0:
                return True
            amount, work = amount - waiting, work - waiting
            picked = pick_groups(bound, number, waiting)
            number += 1
            if picked == 0:
                continue
            tuples, own = state.picked[:picked], state.groups[:picked]
            large = state.sizes[: int(own.max()) + 1] >= least_size
            if not large.any():
                continue
            stay = large[own]
            tuples, own = tuples[stay], (np.cumsum(large) - 1)[own[stay]]
            good, asked = is_good(tuples, own, int(large.sum()))
            checks, leaves = checks - asked, good[own]
            found[tuples[leaves]] = (groups - 1 + np.cumsum(good))[own[leaves]]
            groups, done = groups + int(good.sum()), done + int(counts[tuples[leaves]].sum())
            left = state.left[:waiting]
            left = left[found[left] < 0]
            waiting = len(left)
            state.left[:waiting] = left
        run.amount(done, total, f"records covered in {number:,} rounds")
        return False

    run.in_slices(some)
    run.amount(done, total, f"records covered in {number:,} rounds")
    return Rounds(found, groups, number, done)


def _new_covering(levels: Levels, codes: Array, counts: Array, least_size: int) -> Covering:
    tuples, room = codes.shape[1], 16
    while room < 2 * tuples:
        room *= 2
    base, raised = np.zeros(tuples, np.uint64), levels.hashes.copy()
    for a, first in enumerate(levels.first):
        lowest = levels.hashes[first[0] : first[0] + int(codes[a].max()) + 1]
        base += lowest[codes[a]]
        for start in first[1 : levels.heights[a]]:
            raised[start : start + len(lowest)] -= lowest
    return Covering(
        levels,
        codes,
        base,
        raised,
        counts.astype(np.int64),
        least_size,
        np.empty(room, np.int64),
        np.arange(tuples),
        np.empty(tuples, np.uint64),
        np.empty(tuples, np.int64),
        np.empty(tuples, np.int64),
        np.empty(tuples, np.int64),
        np.empty(room, np.uint64),
        np.empty(room, np.int64),
        np.full(room, -1, np.int64),
    )
