"""The rounds of the method "cover" where a protected column counts: groups leave that the requirement calls good.

Compiled code counts the groups of a round, and picks those that are large enough to be good and have changed since they
were last found bad; the requirement is asked about these, all of a round at once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from incrowd.privacy.compiled import SizeRule, is_good
from incrowd.run import Run
from incrowd.search.clustering.class_tally import Ledger
from incrowd.search.clustering.covering import (
    COVERED,
    GROUPS,
    ROUND,
    WAITING,
    WORK,
    Covering,
    move_up,
    new_covering,
    pick,
    rounds_of,
)
from incrowd.search.clustering.levels import Levels, Rounds
from incrowd.search.compiled import compiled

Array = npt.NDArray[Any]

CHECKS = 60_000_000  # tuples to ask the requirement about, over all rounds


class Suspects(NamedTuple):
    """The groups of a round that may be good.

    `sign` adds up a number of each tuple of a group, by its place in the hash table, and `last` is that of the last
    group of each tuple that was found bad: the same again need not be asked about. `tuples` and `numbers` are the
    tuples to ask about and their groups, `slots` the place of each group.
    """

    sign: Array
    last: Array
    tuples: Array
    numbers: Array
    slots: Array


def covered_well(levels: Levels, codes: Array, ledger: Ledger, work: int, run: Run) -> Rounds:
    """Go through the rounds in their order; groups that are good then leave as these groups.

    Args:
        levels: The levels of the attributes, and the rounds.
        codes: The tuples: attributes x tuples.
        ledger: Says which groups are good.
        work: How many tuples may be looked at; no round begins after that.
        run: Asked between two rounds whether to go on.
    """
    counts = ledger.tuples.counts.records
    state = new_covering(levels, codes, counts, SizeRule(ledger.requirement.least_size), work)
    tuples, room = len(counts), len(state.table.key)
    suspects = Suspects(
        np.zeros(room, np.uint64),
        np.zeros(tuples, np.uint64),
        np.empty(tuples, np.int64),
        np.empty(tuples, np.int64),
        np.empty(tuples, np.int64),
    )
    at, checks, records = state.at, CHECKS, int(counts.sum())
    while at[ROUND] < len(levels.rounds) and at[WAITING] and at[WORK] > 0 and checks > 0:
        run.check()
        at[WORK] -= at[WAITING]
        asked, groups = suspect(state, suspects)
        if asked:
            checks -= asked
            some = slice(0, asked)
            good = ledger.good_groups(suspects.tuples[some], suspects.numbers[some], groups)
            settle(state, suspects, asked, good)
        at[ROUND] += 1
        run.amount(int(at[COVERED]), records, f"records covered in {at[ROUND]:,} rounds")
    return rounds_of(state)


@compiled
def suspect(state: Covering, suspects: Suspects) -> tuple[int, int]:
    """Count the groups of a round; how many tuples to ask about, and in how many groups."""
    picked, slots, table = state.picked, state.slots, state.table
    many = pick(state)
    sign, last = suspects.sign, suspects.last
    for i in range(many):
        sign[slots[i]] = np.uint64(0)
    for i in range(many):
        sign[slots[i]] += _mixed(picked[i])
    tuples, groups = 0, 0
    for i in range(many):
        slot = slots[i]
        if is_good(state.needs, table.records[slot]) and last[picked[i]] != sign[slot] and table.number[slot] < 0:
            table.number[slot] = groups
            suspects.slots[groups] = slot
            groups += 1
    for i in range(many):
        if table.number[slots[i]] >= 0:
            suspects.tuples[tuples], suspects.numbers[tuples] = picked[i], table.number[slots[i]]
            tuples += 1
    return tuples, groups


@compiled
def _mixed(number: int) -> Any:
    z = (np.uint64(number) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    return z ^ (z >> np.uint64(27))


@compiled
def settle(state: Covering, suspects: Suspects, asked: int, good: Array) -> None:
    """Let the good groups of a round leave, and remember the others."""
    at = state.at
    number = np.full(len(good), -1, np.int64)
    for group in range(len(good)):
        if good[group]:
            number[group] = at[GROUPS]
            at[GROUPS] += 1
    for i in range(asked):
        one, group = suspects.tuples[i], suspects.numbers[i]
        if good[group]:
            state.found[one] = number[group]
            at[COVERED] += state.counts[one]
        else:
            suspects.last[one] = suspects.sign[suspects.slots[group]]
    move_up(state)
