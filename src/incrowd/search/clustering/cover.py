"""Cover: local recoding in many small rounds, from specific to general, then clustering, then an exchange of records.

Our own. Records in dense parts of the table need little generalization, and records that are generalized early with the
wrong neighbours (as clustering does) lose attributes that they could have kept. So:

1. Rounds. Every choice of one level per attribute is a round; rounds are sorted by the loss (NCP) that they would cost
   the whole table. In each round the records that are still uncovered are generalized to those levels; groups that are
   good leave as classes. A record leaves in the cheapest round in which it still has a crowd.
2. Remainder. What no round covered joins its nearest class, or a stub of it, as in KACA1 with the NCP distance.
3. Every class is drawn together to the closest common generalization of its members.
4. Exchange. Records that their class can spare move to the class that has all their values and improves the objective
   most, until nothing improves. The objective is the sum over records of their loss ("ncp"), the sum over classes of
   their squared size ("dm", the loss where that is equal), or both ("mix": one unit of the latter counts as much as a
   tenth of a k-th of a record that lost everything; k is the least size of a good class).

Invariant: after each of the four, every record is in one class. After the second every class is good, and stays so with
every single move of the exchange, which may therefore be stopped at any moment. It ends: rounds are finite, KACA1 ends,
and each move of the exchange improves an objective that cannot improve forever; classes that became equal count as one
from then on, so there is a limit of 20 sweeps.

Ties: rounds of equal loss go by their levels in the order of the attributes; of equally good moves the first found in
the index is made. Random numbers are drawn in step 2 only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from incrowd.measures.hierarchical_distance import Weights
from incrowd.privacy.model import Requirements, lets_anyone_join
from incrowd.recodings.by_tuple import ByTuple
from incrowd.recodings.hierarchies import Hierarchy, Nodes, hierarchy_of
from incrowd.recodings.mapping import common, distinct, mapping_of, nodes_of, trace
from incrowd.run import Run
from incrowd.search.clustering.distances import details
from incrowd.search.clustering.kaca import BUCKET, forest_of
from incrowd.search.method import SearchResult
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import count

if TYPE_CHECKING:
    from incrowd.privacy.compiled import Needs

WORK = 1_000_000_000  # tuples to look at over all rounds
SWEEPS = 20
Numbers = npt.NDArray[np.int64]
Parts = tuple[Numbers, Numbers, Numbers]


def cover(
    table: CompressedTable,
    requirements: Requirements,
    run: Run,
    *,
    objective: str = "ncp",
    rounds: int = 10_000,
) -> SearchResult:
    """Search by cover, clustering and exchange.

    Args:
        table: The compressed table.
        requirements: One, over all attributes of the table.
        run: Asked in between whether to go on.
        objective: What the exchange improves: "ncp", "dm" or "mix".
        rounds: How many rounds there may be. They also end when a thousand million tuples have been looked at.
    """
    from incrowd.search.clustering.agglomeration import agglomerated

    (requirement,) = requirements
    lets_anyone_join(requirement.models)
    needs = requirement.needs
    hierarchies = [hierarchy_of(attribute) for attribute in table.attributes]
    detail, unit = details(table.attributes, hierarchies, "ncp", Weights())
    forest, roots = forest_of(hierarchies, detail)
    tuples = nodes_of(table, hierarchies)
    groups, facts = _cover(table, hierarchies, detail, needs, rounds, run)
    nodes, number = distinct(_common(hierarchies, tuples, groups)[groups])
    counts = count(number, len(nodes), table.counts)
    clustered = agglomerated(forest, roots, nodes + roots, counts, needs, run, BUCKET)
    parts = trace(number, table.counts, *clustered)
    run.anytime = True  # every class is good from here on
    everything = unit * len(roots)  # what a record can lose
    crowding = {"ncp": 0, "mix": everything // (10 * requirement.least_size), "dm": everything}[objective]
    parts, sweeps = _exchange(hierarchies, forest, roots, tuples, parts, needs, crowding, run)
    mapping = mapping_of(table, hierarchies, *parts)
    return SearchResult(ByTuple.of(mapping, run.seed), facts={"objective": objective, **facts, "sweeps": sweeps})


def _cover(
    table: CompressedTable,
    hierarchies: Sequence[Hierarchy],
    detail: Sequence[Numbers],
    needs: Needs,
    rounds: int,
    run: Run,
) -> tuple[Numbers, dict[str, int]]:
    """The group of each tuple (a tuple that was left over is one of its own), number of rounds, records covered."""
    from incrowd.search.clustering.covering import COVERED, GROUPS, ROUND, Levels, covered

    levels = [_levels(table, a, hierarchy, detail[a]) for a, hierarchy in enumerate(hierarchies)]
    order = []
    for choice in islice(cheapest_first([[loss for _, loss in column] for column in levels]), rounds):
        order.append(choice)
        if len(order) % 1000 == 0:
            run.check()
    above = [nodes for column in levels for nodes, _ in column]
    starts = iter(np.cumsum([0, *map(len, above)]).tolist())
    first = np.zeros((len(levels), max(map(len, levels))), np.int64)
    for a, column in enumerate(levels):
        first[a, : len(column)] = list(islice(starts, len(column)))
    codes = np.stack(table.codes, axis=1).astype(np.uint32)  # without a sign there is no check of it in the inner loop
    given = Levels(np.concatenate(above).astype(np.uint64), first, np.array(order, np.int64))
    state = covered(given, codes, table.counts, needs, WORK, run)
    found, at = state.found, state.at.tolist()
    left = found < 0
    found[left] = at[GROUPS] + np.arange(int(left.sum()))
    return found, {"rounds": at[ROUND], "covered": at[COVERED]}


Level = tuple[Numbers, int]  # the node of each code, and what all records lose together, in whole units


def _levels(table: CompressedTable, index: int, hierarchy: Hierarchy, detail: Numbers) -> list[Level]:
    """The levels of an attribute that differ, from the most specific to the root."""
    counts = table.value_counts(index)
    levels: list[Level] = []
    for level in range(hierarchy.taxonomy.height + 1, 0, -1):
        nodes = hierarchy.to_level(hierarchy.leaves, level).astype(np.int64)
        if not levels or (nodes != levels[-1][0]).any():
            levels.append((nodes, int(counts @ (detail[hierarchy.leaves] - detail[nodes]))))
    return levels


def cheapest_first(losses: Sequence[Sequence[int]]) -> Iterator[tuple[int, ...]]:
    """All choices of one level per attribute, by the sum of their losses, each once.

    Args:
        losses: The losses of the levels of each attribute, ascending.
    """

    def cost(choice: Sequence[int]) -> int:
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
    hierarchies: Sequence[Hierarchy],
    forest: Any,
    roots: Nodes,
    tuples: Nodes,
    parts: Parts,
    needs: Needs,
    crowding: int,
    run: Run,
) -> tuple[Parts, int]:
    """Sweep until nothing moves, or the run should not go on; the parts, and the sweeps that moved something."""
    from incrowd.search.clustering.exchange import exchanged, new_sweep

    for number in range(SWEEPS):
        if not run.goes_on():
            return parts, number
        part_tuples, groups, records = parts
        _, groups = np.unique(groups, return_inverse=True)
        classes, groups = _merged(_common(hierarchies, tuples[part_tuples], groups), groups)
        before = np.stack([part_tuples, groups, records], axis=1)
        sweep = new_sweep(forest, roots, tuples + roots, classes + roots, before, needs, crowding, BUCKET)
        after = exchanged(sweep, number + 1, run)
        parts = (after[:, 0], after[:, 1], after[:, 2])
        if np.array_equal(before, after):
            return parts, number
    return parts, SWEEPS


def _merged(nodes: Nodes, groups: Numbers) -> tuple[Nodes, Numbers]:
    """The distinct classes, and the class of each part."""
    classes, number = distinct(nodes)
    return classes, number[groups]
