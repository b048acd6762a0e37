"""Cover: local recoding in many small rounds, from specific to general, then clustering, then an exchange of records.

Our own. Records in dense parts of the table need little generalization, and records that are generalized early with the
wrong neighbours (as clustering does) lose attributes that they could have kept. So:

1. Rounds. Every choice of one level per attribute is a round; rounds are sorted by the loss (NCP) that they would cost
   the whole table. In each round the records that are still uncovered are generalized to those levels; groups of at
   least k leave as classes. A record leaves in the cheapest round in which it still has a crowd.
2. Remainder. What no round covered joins its nearest class, or a stub of it, as in KACA1 with the NCP distance.
3. Every class is drawn together to the closest common generalization of its members.
4. Exchange. Records of classes with more than k move to the class that has all their values and improves the objective
   most, until nothing improves. The objective is the sum over records of their loss ("ncp"), the sum over classes of
   their squared size ("dm", the loss where that is equal), or both ("mix": one unit of the latter counts as much as a
   tenth of a k-th of a record that lost everything).

Invariant: after each of the four, every record is in one class, and every class has at least k records. It ends: rounds
are finite, KACA1 ends, and each move of the exchange improves an objective that cannot improve forever; classes that
became equal count as one from then on, so there is a limit of 20 sweeps.

Ties: rounds of equal loss go by their levels in the order of the attributes; of equally good moves the first found in
the index is made. Random numbers are drawn in step 2 only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from heapq import heappop, heappush
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.hierarchical_distance import Weights
from incrowd.policy import QuasiIdentifier
from incrowd.recodings.local.hierarchies import Hierarchy, Nodes, hierarchy_of
from incrowd.recodings.local.mapping import common, distinct, mapping_of, nodes_of
from incrowd.search import Found
from incrowd.search.distances import details
from incrowd.search.kaca import BUCKET, forest_of, to_level, trace
from incrowd.steps import Step
from incrowd.table import Attribute, CompressedTable

WORK = 1_000_000_000  # tuples to look at over all rounds
SWEEPS = 20
Numbers = npt.NDArray[np.int64]
Parts = tuple[Numbers, Numbers, Numbers]


def cover(
    table: CompressedTable,
    quasi_identifiers: Sequence[QuasiIdentifier],
    *,
    objective: str = "ncp",
    rounds: int = 10_000,
    seed: int = 0,
    on_step: Callable[[Step], object] | None = None,
) -> Found:
    """Search by cover, clustering and exchange.

    Args:
        table: The compressed table.
        quasi_identifiers: One, over all attributes of the table.
        objective: What the exchange improves: "ncp", "dm" or "mix".
        rounds: How many rounds there may be. They also end when a thousand million tuples have been looked at.
        seed: Seed of the random choices.
        on_step: Not called: there are no steps to take back.
    """
    from incrowd.search.agglomeration import agglomerate

    k = quasi_identifiers[0].k
    hierarchies = [hierarchy_of(attribute) for attribute in table.attributes]
    detail, unit = details(table.attributes, hierarchies, "ncp", Weights())
    forest, roots = forest_of(hierarchies, detail)
    tuples = nodes_of(table, hierarchies)
    groups, covered, done = _cover(table, hierarchies, k, rounds)
    nodes, number = distinct(_common(hierarchies, tuples, groups)[groups])
    counts = np.bincount(number, table.counts).astype(np.int64)
    clustered = agglomerate(forest, roots, nodes + roots, counts, k, seed % 2**63, BUCKET)
    parts = trace(number, table.counts, *clustered)
    crowding = {"ncp": 0, "mix": unit * len(roots) // (10 * k), "dm": unit * len(roots)}[objective]
    parts, sweeps = _exchange(hierarchies, forest, roots, tuples, parts, k, crowding)
    facts = {"objective": objective, "rounds": done, "covered": covered, "sweeps": sweeps}
    return Found((), facts=facts, local=mapping_of(table, hierarchies, *parts))


def _cover(table: CompressedTable, hierarchies: Sequence[Hierarchy], k: int, rounds: int) -> tuple[Numbers, int, int]:
    """The group of each tuple (a tuple that was left over is one of its own), records covered, number of rounds."""
    from incrowd.search.covering import cover_rounds

    levels = [_levels(table, a, hierarchy) for a, hierarchy in enumerate(hierarchies)]
    order = list(islice(cheapest_first([[loss for _, loss in column] for column in levels]), rounds))
    above = [nodes for column in levels for nodes, _ in column]
    starts = iter(np.cumsum([0, *map(len, above)]).tolist())
    first = np.zeros((len(levels), max(map(len, levels))), np.int64)
    for a, column in enumerate(levels):
        first[a, : len(column)] = list(islice(starts, len(column)))
    codes = np.stack(table.codes, axis=1).astype(np.int64)
    order_of = np.array(order, np.int64)
    found, size, done = cover_rounds(np.concatenate(above), first, codes, table.counts, order_of, k, WORK)
    left = found < 0
    found[left] = size + np.arange(int(left.sum()))
    return found, int(table.counts[~left].sum()), int(done)


Level = tuple[npt.NDArray[np.int64], float]  # the node of each code, and the loss per record


def _levels(table: CompressedTable, index: int, hierarchy: Hierarchy) -> list[Level]:
    """The levels of an attribute that differ, from the most specific to the root."""
    attribute: Attribute = table.attributes[index]
    losses, counts = hierarchy.losses(attribute), table.value_counts(index)
    levels: list[Level] = []
    for level in range(hierarchy.taxonomy.height + 1, 0, -1):
        nodes = to_level(hierarchy, hierarchy.leaves, level).astype(np.int64)
        if not levels or (nodes != levels[-1][0]).any():
            levels.append((nodes, float(counts @ losses[nodes]) / table.records))
    return levels


def cheapest_first(losses: Sequence[Sequence[float]]) -> Iterator[tuple[int, ...]]:
    """All choices of one level per attribute, by the sum of their losses, each once.

    Args:
        losses: The losses of the levels of each attribute, ascending.
    """

    def cost(choice: Sequence[int]) -> float:
        return sum(column[level] for column, level in zip(losses, choice, strict=True))

    start = (0,) * len(losses)
    heap = [(cost(start), start, 0)]
    while heap:
        _, choice, last = heappop(heap)
        yield choice
        for a in range(last, len(losses)):  # from the attribute that was raised last on: one way to every choice
            if choice[a] + 1 < len(losses[a]):
                raised = (*choice[:a], choice[a] + 1, *choice[a + 1 :])
                heappush(heap, (cost(raised), raised, a))


def _common(hierarchies: Sequence[Hierarchy], tuples: Nodes, groups: Numbers) -> Nodes:
    """The closest common generalization of each group."""
    return np.stack([common(h, tuples[:, a], groups) for a, h in enumerate(hierarchies)], axis=1)


def _exchange(
    hierarchies: Sequence[Hierarchy], forest: Any, roots: Nodes, tuples: Nodes, parts: Parts, k: int, crowding: int
) -> tuple[Parts, int]:
    """Sweep until nothing moves; the parts, and the number of sweeps that moved something."""
    from incrowd.search.covering import exchange

    for sweep in range(SWEEPS):
        part_tuples, groups, records = parts
        _, groups = np.unique(groups, return_inverse=True)
        classes, groups = _merged(_common(hierarchies, tuples[part_tuples], groups), groups)
        before = np.stack([part_tuples, groups, records], axis=1)
        after = exchange(forest, roots, tuples + roots, classes + roots, before, k, crowding, BUCKET)
        parts = (after[:, 0], after[:, 1], after[:, 2])
        if np.array_equal(before, after):
            return parts, sweep
    return parts, SWEEPS


def _merged(nodes: Nodes, groups: Numbers) -> tuple[Nodes, Numbers]:
    """The distinct classes, and the class of each part."""
    classes, number = distinct(nodes)
    return classes, number[groups]
