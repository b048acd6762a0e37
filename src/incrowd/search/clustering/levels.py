"""The levels of a table's attributes, and the rounds of the method "cover" over them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from itertools import islice
from math import prod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from incrowd.recodings.hierarchies import Hierarchy
from incrowd.run import Run
from incrowd.table.compressed import CompressedTable

Array = npt.NDArray[Any]
Numbers = npt.NDArray[np.int64]

COARSE = 2.5  # levels per attribute that a second stage has at least, on average
FIRST = 4  # of all rounds, the share that goes to the first stage where there are two


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
    detail: Sequence[Numbers],
    rounds: int,
    run: Run,
    fixed: Sequence[int] = (),
) -> Stages:
    """The levels of the attributes with the rounds over them: at first, and if these leave most records over.

    If there are too many choices of levels for so many rounds, the first stage is the cheapest of them, and the second
    one goes on with fewer levels per attribute to the most general ones. There is none if these would be too few.
    Attributes that are `fixed` have their most specific level alone.
    """
    levels = [_levels(table, a, hierarchy, detail[a]) for a, hierarchy in enumerate(hierarchies)]
    levels = [column[:1] if a in fixed else column for a, column in enumerate(levels)]
    losses = [[loss for _, loss in column] for column in levels]
    kept = [range(len(column)) for column in losses]
    few = thinned(losses, rounds - rounds // FIRST)
    two = prod(map(len, losses)) > rounds and sum(map(len, few)) >= COARSE * len(few)
    first = _choices(losses, kept, rounds // FIRST if two else rounds, run)
    above = [mixed(nodes + (a << 40)) for a, column in enumerate(levels) for nodes, _ in column]
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


def _choices(losses: Sequence[Sequence[int]], kept: Sequence[Sequence[int]], rounds: int, run: Run) -> Numbers:
    """The cheapest choices of one level per attribute among those kept: rounds x attributes."""
    order = []
    for choice in islice(
        cheapest_first([[column[i] for i in some] for column, some in zip(losses, kept, strict=True)]), rounds
    ):
        order.append([some[i] for some, i in zip(kept, choice, strict=True)])
        if len(order) % 1000 == 0:
            run.check()
    return np.array(order, np.int64)


Level = tuple[Numbers, int]  # the node of each code, and what all records lose together, in whole units


def _levels(table: CompressedTable, index: int, hierarchy: Hierarchy, detail: Numbers) -> list[Level]:
    """The levels of an attribute that differ, from the most specific to the root."""
    counts = table.value_counts(index)
    return [(nodes, int(counts @ (detail[hierarchy.leaves] - detail[nodes]))) for nodes in level_nodes(hierarchy)]


def level_nodes(hierarchy: Hierarchy) -> list[Numbers]:
    """The node of each code at the levels of a hierarchy that differ, from the most specific to the root."""
    levels: list[Numbers] = []
    for level in range(hierarchy.taxonomy.height + 1, 0, -1):
        nodes = hierarchy.to_level(hierarchy.leaves, level).astype(np.int64)
        if not levels or (nodes != levels[-1]).any():
            levels.append(nodes)
    return levels


def thinned(losses: Sequence[Sequence[int]], rounds: int) -> list[list[int]]:
    """Fewer levels of each attribute, so that there are at most so many choices of them, where that is possible.

    The lowest and the highest stay. Of the others the one goes first that is closest to the next higher one, which its
    records would have to take instead.

    Args:
        losses: The losses of the levels of each attribute, ascending.
        rounds: The largest number of choices.
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
    """All choices of one level per attribute, by the sum of their losses, each once.

    Args:
        losses: The losses of the levels of each attribute, ascending.
    """
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
