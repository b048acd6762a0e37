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
   tenth of a k-th of a record that lost everything; k is the least size of a good class). Of small tables, what
   clustering alone makes of all tuples is exchanged instead, if that costs less.
5. Destroy and repair. A few classes near to each other are made anew, over and over, and kept if that costs less (see
   `recovering`), for an `effort` that is counted in work, not by a clock; then there is another exchange.

With a budget (`suppress`) records are then left out where that saves more than they had (see `leaving_out`). Where a
privacy model counts a protected column, the same is done with whole tuples (see `guarded`).

Invariant: after each of the five, every record is in one class. After the second every class is good, and stays so with
every single move of the exchange and every class made anew, so both may be stopped at any moment. It ends: rounds are
finite, KACA1 ends, and each move of the exchange improves an objective that cannot improve forever; classes that became
equal count as one from then on, so there is a limit of 20 sweeps. Making classes anew ends when its effort is spent, or
when ten tries per class have improved nothing.

Ties: rounds of equal loss go by their levels in the order of the attributes; of equally good moves the first found in
the index is made. Random numbers are drawn in steps 2 and 5.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from heapq import heappop, heappush
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from incrowd.privacy.model import Requirement, Requirements, with_suppression
from incrowd.recodings.by_tuple import ByTuple
from incrowd.recodings.hierarchies import Hierarchy, Nodes, hierarchy_of
from incrowd.recodings.mapping import common, distinct, mapping_of, nodes_of, trace
from incrowd.run import Run
from incrowd.search.clustering.distances import details, weights_of
from incrowd.search.clustering.guarded import Space, guarded, is_guarded
from incrowd.search.clustering.kaca import BUCKET, forest_of
from incrowd.search.clustering.leaving_out import leave_out
from incrowd.search.clustering.ledger import Ledger
from incrowd.search.method import SearchResult
from incrowd.search.record_suppression import budget_of
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import count

if TYPE_CHECKING:
    from incrowd.privacy.compiled import Needs

WORK = 1_000_000_000  # tuples to look at over all rounds
SWEEPS = 20
LOOKS = 40_000_000  # values to look at per unit of effort
SMALL = 20_000  # tuples of a table for which several starts are tried
MOSTLY = 100  # they are not tried where the rounds left less than one in so many records
Numbers = npt.NDArray[np.int64]
Parts = tuple[Numbers, Numbers, Numbers]


def cover(
    table: CompressedTable,
    requirements: Requirements,
    run: Run,
    *,
    objective: str = "ncp",
    rounds: int = 10_000,
    effort: int = 5,
    suppress: float = 0.0,
    priorities: Mapping[str, float] | None = None,
) -> SearchResult:
    """Search by cover, clustering and exchange.

    Args:
        table: The compressed table.
        requirements: One, over all attributes of the table.
        run: Asked in between whether to go on.
        objective: What the exchange improves: "ncp", "dm" or "mix".
        rounds: How many rounds there may be. They also end when a thousand million tuples have been looked at.
        effort: How much work goes into making classes anew, in units of about a second.
        suppress: Share of the records that may be left out.
        priorities: Weights of attributes by name, with which losses are multiplied; 1 for those that are not named.
    """
    (requirement,) = requirements
    budget = budget_of(table, suppress)
    if budget:
        with_suppression(requirement.models)
    hierarchies = [hierarchy_of(attribute) for attribute in table.attributes]
    detail, _ = details(table.attributes, hierarchies, "ncp", weights_of("ncp", 1, priorities, hierarchies))
    forest, roots = forest_of(hierarchies, detail)
    levels = _rounds(table, hierarchies, detail, rounds, run)
    everything = sum(int(column.max()) for column in detail)  # what a record can lose
    crowding = {"ncp": 0, "mix": everything // (10 * requirement.least_size), "dm": everything}[objective]
    words = (table, requirement, hierarchies, forest, roots, levels, crowding)
    parts, facts = _guarded(*words, run) if is_guarded(requirement) else _counted(*words, effort, run)
    if budget:
        space = Space(forest, roots, nodes_of(table, hierarchies) + roots, table.counts, Ledger(table, requirement))
        parts, facts["suppressed_records"] = leave_out(space, parts, budget, run)
    mapping = mapping_of(table, hierarchies, *parts)
    return SearchResult(ByTuple.of(mapping, run.seed), facts={"objective": objective, **facts})


def _counted(
    table: CompressedTable,
    requirement: Requirement,
    hierarchies: Sequence[Hierarchy],
    forest: Any,
    roots: Nodes,
    levels: Any,
    crowding: int,
    effort: int,
    run: Run,
) -> tuple[Parts, dict[str, int]]:
    """Where the size of a class is all that counts; equal records may be in different classes."""
    from incrowd.search.clustering.agglomeration import agglomerated
    from incrowd.search.clustering.covering import covered

    needs, tuples = requirement.needs, nodes_of(table, hierarchies)
    groups, facts = _groups(covered(levels, _codes(table), table.counts, needs, WORK, run))
    nodes, number = distinct(_common(hierarchies, tuples, groups)[groups])
    counts = count(number, len(nodes), table.counts)
    clustered = agglomerated(forest, roots, nodes + roots, counts, needs, run, BUCKET)
    parts = trace(number, table.counts, *clustered)
    other = _start_of_kaca(table, hierarchies, forest, roots, needs, run) if len(tuples) <= SMALL else None
    run.anytime = True  # every class is good from here on
    exchange = partial(_exchange, hierarchies, forest, roots, tuples, needs=needs, crowding=crowding, run=run)
    parts, sweeps = exchange(parts=parts)
    measure = partial(_cost, hierarchies, forest, roots, tuples, crowding)
    if other is not None and measure(other) < measure(parts):
        parts, sweeps = exchange(parts=other)
    if effort and run.goes_on():
        parts, facts["renewed"] = _recover(
            hierarchies, forest, roots, tuples, parts, needs, crowding, effort * LOOKS, run
        )
        parts, _ = exchange(parts=parts)
    return parts, {**facts, "sweeps": sweeps}


def _start_of_kaca(
    table: CompressedTable, hierarchies: Sequence[Hierarchy], forest: Any, roots: Nodes, needs: Needs, run: Run
) -> Parts:
    """The parts that clustering alone makes."""
    from incrowd.search.clustering.agglomeration import agglomerated

    parts = agglomerated(forest, roots, nodes_of(table, hierarchies) + roots, table.counts, needs, run, BUCKET)
    return parts[0], np.unique(parts[1], return_inverse=True)[1], parts[2]


def _cost(
    hierarchies: Sequence[Hierarchy], forest: Any, roots: Nodes, tuples: Nodes, crowding: int, parts: Parts
) -> int:
    """What the exchange lowers: sizes squared, less the detail that is held, of classes that differ."""
    _, groups = np.unique(parts[1], return_inverse=True)
    classes, groups = _merged(_common(hierarchies, tuples[parts[0]], groups), groups)
    sizes = count(groups, len(classes), parts[2])
    return crowding * int(sizes @ sizes) - int(sizes @ forest.detail[classes + roots].sum(axis=1))


def _recover(
    hierarchies: Sequence[Hierarchy],
    forest: Any,
    roots: Nodes,
    tuples: Nodes,
    parts: Parts,
    needs: Needs,
    crowding: int,
    looks: int,
    run: Run,
) -> tuple[Parts, int]:
    """Make classes anew while that improves the objective; the parts, and how many classes were."""
    from incrowd.search.clustering.recovering import KEPT, new_recovery, recovered

    _, groups = np.unique(parts[1], return_inverse=True)
    classes, groups = _merged(_common(hierarchies, tuples[parts[0]], groups), groups)
    before = np.stack([parts[0], groups, parts[2]], axis=1)
    state = new_recovery(forest, roots, tuples + roots, classes + roots, before, needs, crowding, run.seed)
    return recovered(state, looks, run), int(state.at[KEPT])


def _guarded(
    table: CompressedTable,
    requirement: Requirement,
    hierarchies: Sequence[Hierarchy],
    forest: Any,
    roots: Nodes,
    levels: Any,
    crowding: int,
    run: Run,
) -> tuple[Parts, dict[str, int]]:
    """Where the values of protected columns count; classes are sets of whole tuples."""
    from incrowd.search.clustering.guarded_rounds import covered_well

    ledger = Ledger(table, requirement)
    groups, facts = _groups(covered_well(levels, _codes(table), ledger, WORK, run))
    space = Space(forest, roots, nodes_of(table, hierarchies) + roots, table.counts, ledger)
    many = (table.records - facts["covered"]) * MOSTLY > table.records
    others = [np.arange(len(groups))] if many and len(groups) <= SMALL else []  # KACA's start, where it costs little
    groups, sweeps = guarded(space, groups, run, crowding, others)
    return (np.arange(len(groups)), groups, table.counts), {**facts, "sweeps": sweeps}


def _codes(table: CompressedTable) -> Any:
    """The tuples: tuples x attributes; without a sign there is no check of it in the inner loop."""
    return np.stack(table.codes, axis=1).astype(np.uint32)


def _rounds(
    table: CompressedTable, hierarchies: Sequence[Hierarchy], detail: Sequence[Numbers], rounds: int, run: Run
) -> Any:
    """The levels of the attributes, and the rounds, for compiled code."""
    from incrowd.search.clustering.covering import Levels

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
    return Levels(np.concatenate(above).astype(np.uint64), first, np.array(order, np.int64))


def _groups(state: Any) -> tuple[Numbers, dict[str, int]]:
    """The group of each tuple (a tuple that was left over is one of its own), number of rounds, records covered."""
    from incrowd.search.clustering.covering import COVERED, GROUPS, ROUND

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
