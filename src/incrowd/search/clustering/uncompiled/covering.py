"""The rounds of the method "cover" without compiled code: what forms good groups at the levels of a round leaves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.privacy.size_rule import SizeRule, is_good
from incrowd.run import Run
from incrowd.search.clustering.class_tally import Ledger
from incrowd.search.clustering.levels import Levels, Rounds, mixed

Array = npt.NDArray[Any]
Good = Callable[[Array, Array, int], Array]  # of tuples, their groups and how many these are: which leave

BUCKETS = 4096  # that groups are counted in first; most rounds have no bucket that could hold a good group
_EVERY = 100  # rounds between two reports


def covered(levels: Levels, codes: Array, counts: Array, needs: SizeRule, work: int, run: Run) -> Rounds:
    """Go through the rounds in their order; groups that are good then leave as these groups.

    Args:
        levels: The levels of the attributes, and the rounds.
        codes: The tuples: attributes x tuples.
        counts: Records of each tuple.
        needs: What a group needs.
        work: How many tuples may be looked at; no round begins after that.
        run: Asked in between whether to go on.
    """

    def good(tuples: Array, groups: Array, size: int) -> Array:
        return np.ones(size, bool)

    return _rounds(levels, codes, counts, needs, work, run, good)


def covered_well(levels: Levels, codes: Array, ledger: Ledger, work: int, run: Run) -> Rounds:
    """The same where a protected column counts: groups leave that the requirement calls good."""
    known = np.zeros(codes.shape[1], np.uint64)  # the last group of each tuple that was found bad
    sign = mixed(np.arange(codes.shape[1]))

    def good(tuples: Array, groups: Array, size: int) -> Array:
        signs = np.zeros(size, np.uint64)
        np.add.at(signs, groups, sign[tuples])
        found = np.zeros(size, bool)
        found[groups[known[tuples] != signs[groups]]] = True  # the same group again need not be asked about
        asked = found[groups]
        if asked.any():
            numbers, places = np.unique(groups[asked], return_inverse=True)
            found[numbers] = ledger.good_groups(tuples[asked], places, len(numbers))
        bad = ~found[groups]
        known[tuples[bad]] = signs[groups[bad]]
        return found

    needs = SizeRule(ledger.requirement.least_size)
    return _rounds(levels, codes, ledger.tuples.counts.records, needs, work, run, good)


def _rounds(levels: Levels, codes: Array, counts: Array, needs: SizeRule, work: int, run: Run, good: Good) -> Rounds:
    """Groups of a round that are large enough, and good, leave."""
    hashes, first = _hashes(levels, codes), np.cumsum(levels.heights) - levels.heights
    found, left = np.full(codes.shape[1], -1, np.int64), np.arange(codes.shape[1])
    weights, own = counts.astype(np.float64), hashes
    groups, done, rounds, total = 0, 0, 0, int(counts.sum())
    for choice in levels.rounds:
        if not len(left) or work <= 0:
            break
        work -= len(left)
        rounds += 1
        keys = own[first + choice].sum(axis=0, dtype=np.uint64)
        bucket = (keys >> np.uint64(52)).astype(np.int64)
        sizes = np.bincount(bucket, weights, BUCKETS)
        full = is_good(needs, sizes)
        if full.any():
            some = np.flatnonzero(full[bucket])
            leaving, number, many = _leaving(left[some], keys[some], counts, needs, good)
            found[leaving] = groups + number
            if many:
                groups, done = groups + many, done + int(counts[leaving].sum())
                left = left[found[left] < 0]
                weights, own = counts[left].astype(np.float64), hashes[:, left]
        if rounds % _EVERY == 0:
            run.check()
            run.amount(done, total, f"records covered in {rounds:,} rounds")
    run.check()
    run.amount(done, total, f"records covered in {rounds:,} rounds")
    return Rounds(found, groups, rounds, done)


def _leaving(tuples: Array, keys: Array, counts: Array, needs: SizeRule, good: Good) -> tuple[Array, Array, int]:
    """Of some tuples those whose group leaves, their groups, numbered by their first tuple, and how many these are."""
    _, groups = np.unique(keys, return_inverse=True)
    large = is_good(needs, np.bincount(groups, counts[tuples]))
    stay = large[groups]
    tuples, groups = tuples[stay], _by_first(groups[stay])
    if not len(tuples):
        return tuples, groups, 0
    found = good(tuples, groups, int(groups.max()) + 1)
    stay = found[groups]
    return tuples[stay], (np.cumsum(found) - 1)[groups[stay]], int(found.sum())


def _by_first(groups: Array) -> Array:
    """Groups numbered in the order in which they first occur."""
    _, first, number = np.unique(groups, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[number]


def _hashes(levels: Levels, codes: Array) -> Array:
    """A number of each tuple at each level of each attribute, levels x tuples; the sum tells groups apart."""
    rows = []
    for a, height in enumerate(levels.heights.tolist()):
        for level in range(height):
            rows.append(levels.hashes[levels.first[a, level] + codes[a].astype(np.int64)])
    return np.array(rows)
