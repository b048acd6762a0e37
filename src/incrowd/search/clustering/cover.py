"""Cover: local recoding in many small rounds, from specific to general, then clustering, then an exchange of records.

Our own. Records in dense parts of the table need little generalization, and records that are generalized early with the
wrong neighbours (as clustering does) lose attributes that they could have kept. So:

1. Rounds. Every choice of one level per attribute is a round; rounds are sorted by the loss (NCP) that they would cost
   the whole table. In each round the records that are still uncovered are generalized to those levels; groups that are
   good leave as classes. A record leaves in the cheapest round in which it still has a crowd. Where there are too many
   choices, there are two stages (see `levels`).
2. Remainder. What no round covered joins its nearest class, or a stub of it, as in KACA1 with the NCP distance.
3. Every class is drawn together to the closest common generalization of its members.
4. Exchange. Records that their class can spare move to the class that has all their values and improves the objective
   most, until nothing improves. The objective is the sum over records of their loss ("ncp"), the sum over classes of
   their squared size ("dm", the loss where that is equal), or both ("mix": one unit of the latter counts as much as a
   tenth of a k-th of a record that lost everything; k is the least size of a good class). Of small tables, and for
   "dm", what clustering alone makes of all tuples is exchanged instead, if that costs less; so the release never costs
   more than that of KACA1, there with the NCP distance, here as printed.
5. Destroy and repair. Over and over, a few classes near to each other are made anew, or one more is opened among them,
   and that is kept if it costs less, or at first little more (see `recovering`), for an `effort` that is counted in
   work, not by a clock; then there is another exchange. What was there before is released instead if all that
   did not cost less. For "dm" the loss counts here too: a unit of squared sizes as much as a k-th of a record that lost
   everything. By sizes alone classes would lose what tells them apart, and those that are alike are one.

With the objective "target" all of this is done to the table as its target sees it (see `purpose`).
With a budget (`suppress`) records are then left out where that saves more than they had (see `leaving_out`). Where a
privacy model counts a protected column, the same is done with whole tuples (see `guarded`).

Invariant: after each of the five, every record is in one class. After the second every class is good, and stays so with
every single move of the exchange and every class made anew, so both may be stopped at any moment. It ends: rounds are
finite, KACA1 ends, and each move of the exchange improves an objective that cannot improve forever; classes that became
equal count as one from then on, so there is a limit of 20 sweeps. Making classes anew ends when its effort is spent, or
when ten tries per class have improved nothing after it may not cost more any longer.

Ties: rounds of equal loss go by their levels in the order of the attributes; of equally good moves the first found in
the index is made. Random numbers are drawn in steps 2 and 5.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.errors import DataError, PolicyError
from incrowd.measures.hierarchical_distance import Weights
from incrowd.privacy.model import Requirement, Requirements, with_suppression
from incrowd.privacy.size_rule import SizeRule
from incrowd.recodings.by_tuple import ByTuple
from incrowd.recodings.hierarchies import Hierarchy, Nodes
from incrowd.recodings.kinds import hierarchy_of
from incrowd.recodings.mapping import common, distinct, mapping_of, nodes_of, trace
from incrowd.run import Run
from incrowd.search.clustering.class_tally import Ledger
from incrowd.search.clustering.distances import details, weights_of
from incrowd.search.clustering.forest import forest_of
from incrowd.search.clustering.kaca import BUCKET
from incrowd.search.clustering.kernels import kernels_for
from incrowd.search.clustering.leaving_out import leave_out
from incrowd.search.clustering.levels import Rounds, Stages, stages_of
from incrowd.search.clustering.proof.facts import MOST, QUICK, Priced, gap, proven
from incrowd.search.clustering.target_view import View, target_view
from incrowd.search.clustering.with_sensitive_values import Space, guarded, is_guarded
from incrowd.search.leaving_out import budget_of
from incrowd.search.method import SearchResult
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import count

WORK = 300_000_000  # tuples to look at over all rounds
SWEEPS = 20
LOOKING = 1_000  # classes that a search for the nearest looks at
LOOKS = 600_000_000  # values to look at per unit of effort
SMALL = 5_000  # tuples of a table for which several starts are tried
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
    effort: int = 8,
    suppress: float = 0.0,
    priorities: Mapping[str, float] | None = None,
    proof: str = "quick",
) -> SearchResult:
    """Search by cover, clustering and exchange.

    Args:
        table: The compressed table.
        requirements: One, over all attributes of the table.
        run: Asked in between whether to go on.
        objective: What is improved: "ncp", "dm" or "mix", or what predicts the "target" before "ncp".
        rounds: How many rounds there may be. They also end when 300 million tuples have been looked at.
        effort: How much work goes into making classes anew, in units of a second or two.
        suppress: Share of the records that may be left out.
        priorities: Weights of attributes by name, with which losses are multiplied; 1 for those that are not named.
        proof: What is proven of the loss: a bound if that is "quick", a "bound" anyway, or that it is the "optimum".
    """
    (requirement,) = requirements
    budget = budget_of(table, suppress)
    if budget:
        with_suppression(requirement.models)
    if objective == "target" and not table.has_target:
        raise PolicyError("The 'objective' parameter must be ncp, dm or mix when there is no target. Got 'target'.")
    hierarchies = [hierarchy_of(attribute) for attribute in table.attributes]
    if proof == "optimum":
        return _optimum(table, requirement, hierarchies, objective, bool(budget or priorities), run)
    weights = weights_of("ncp", 1, priorities, hierarchies)
    detail, _ = details(table.attributes, hierarchies, "ncp", weights)
    view = View(table, hierarchies, detail)
    if objective == "target":
        view = target_view(table, hierarchies, detail, requirement, run)
    parts, facts = _parts(view, requirement, objective, rounds, effort, budget, run)
    mapping = view.mapping(table, hierarchies, parts)
    if not budget and not priorities and objective != "target":
        facts |= proven(table, requirement, hierarchies, mapping, run, MOST if proof == "bound" else QUICK)
    return SearchResult(ByTuple.of(mapping, run.key), facts={"objective": objective, **facts})


def _parts(
    view: View, requirement: Requirement, objective: str, rounds: int, effort: int, budget: int, run: Run
) -> tuple[Parts, dict[str, float]]:
    """Tuple, class (-1 for records that are left out) and records of each part, and what there is to say of them."""
    table, hierarchies = view.table, view.hierarchies
    forest, roots = forest_of(hierarchies, view.detail)
    stages = stages_of(table, hierarchies, view.detail, rounds, run, view.fixed)
    everything = sum(int(column.max()) for column in view.detail)  # what a record can lose
    crowding = {"mix": everything // (10 * requirement.least_size), "dm": everything}.get(objective, 0)
    words = (table, requirement, hierarchies, forest, roots, stages, crowding)
    parts, facts = _guarded(*words, run) if is_guarded(requirement) else _counted(*words, effort, run)
    if budget:
        space = Space(forest, roots, nodes_of(table, hierarchies) + roots, table.counts, Ledger(table, requirement))
        parts, facts["suppressed_records"] = leave_out(space, parts, budget, run)
    return parts, facts


def _counted(
    table: CompressedTable,
    requirement: Requirement,
    hierarchies: Sequence[Hierarchy],
    forest: Any,
    roots: Nodes,
    stages: Stages,
    crowding: int,
    effort: int,
    run: Run,
) -> tuple[Parts, dict[str, float]]:
    """Where the size of a class is all that counts; equal records may be in different classes."""
    needs, tuples, kernels = requirement.needs, nodes_of(table, hierarchies), kernels_for(len(table.counts))
    groups, facts = _groups(_covered(table, stages, needs, run))
    nodes, number = distinct(_common(hierarchies, tuples, groups)[groups])
    counts = count(number, len(nodes), table.counts)
    clustered = kernels.agglomerated(forest, roots, nodes + roots, counts, needs, run, BUCKET, LOOKING)
    parts = trace(number, table.counts, *clustered)
    other = None
    everything = int(forest.detail[tuples[:1] + roots].sum())
    by_size = crowding >= everything
    if by_size:  # KACA1 as printed keeps sizes small
        printed = forest_of(hierarchies, details(table.attributes, hierarchies, "height", Weights())[0])[0]
        other = _start_of_kaca(table, hierarchies, printed, roots, needs, run)
    elif len(tuples) <= SMALL:
        other = _start_of_kaca(table, hierarchies, forest, roots, needs, run)
    run.anytime = True  # every class is good from here on
    exchange = partial(_exchange, hierarchies, forest, roots, tuples, needs=needs, crowding=crowding, run=run)
    parts, sweeps = exchange(parts=parts)
    measure = partial(_cost, hierarchies, forest, roots, tuples, crowding, by_size)
    if other is not None and measure(other) < measure(parts):
        parts, sweeps = exchange(parts=other)
    if effort and run.should_continue():
        price = min(crowding, everything // requirement.least_size)  # by sizes alone, classes would soon be all alike
        anew, facts["renewed"] = _recover(hierarchies, forest, roots, tuples, parts, needs, price, effort * LOOKS, run)
        anew, _ = exchange(parts=anew)
        parts = anew if measure(anew) <= measure(parts) else parts
    return parts, {**facts, "sweeps": sweeps}


def _start_of_kaca(
    table: CompressedTable, hierarchies: Sequence[Hierarchy], forest: Any, roots: Nodes, needs: SizeRule, run: Run
) -> Parts:
    """The parts that clustering alone makes."""
    clustered = kernels_for(len(table.counts)).agglomerated
    parts = clustered(forest, roots, nodes_of(table, hierarchies) + roots, table.counts, needs, run, BUCKET)
    return parts[0], np.unique(parts[1], return_inverse=True)[1], parts[2]


def _cost(
    hierarchies: Sequence[Hierarchy], forest: Any, roots: Nodes, tuples: Nodes, crowding: int, by_size: bool,
    parts: Parts,
) -> tuple[int, int]:  # fmt: skip
    """What the exchange lowers, of classes that differ: sizes squared, less the detail that is held.

    Where sizes count most, they come first, and the detail only where they are equal.
    """
    _, groups = np.unique(parts[1], return_inverse=True)
    classes, groups = _merged(_common(hierarchies, tuples[parts[0]], groups), groups)
    sizes = count(groups, len(classes), parts[2])
    squares, held = int(sizes @ sizes), int(sizes @ forest.detail[classes + roots].sum(axis=1))
    return (squares, -held) if by_size else (crowding * squares - held, 0)


def _recover(
    hierarchies: Sequence[Hierarchy],
    forest: Any,
    roots: Nodes,
    tuples: Nodes,
    parts: Parts,
    needs: SizeRule,
    crowding: int,
    looks: int,
    run: Run,
) -> tuple[Parts, int]:
    """Make classes anew while that improves the objective; the parts, and how many classes were."""
    from incrowd.search.clustering.recovering import KEPT, new_recovery, recovered

    _, groups = np.unique(parts[1], return_inverse=True)
    classes, groups = _merged(_common(hierarchies, tuples[parts[0]], groups), groups)
    before = np.stack([parts[0], groups, parts[2]], axis=1)
    state = new_recovery(
        forest, roots, tuples + roots, classes + roots, before, needs, crowding, run.key.number("recovery")
    )
    return recovered(state, looks, run), int(state.at[KEPT])


def _guarded(
    table: CompressedTable,
    requirement: Requirement,
    hierarchies: Sequence[Hierarchy],
    forest: Any,
    roots: Nodes,
    stages: Stages,
    crowding: int,
    run: Run,
) -> tuple[Parts, dict[str, float]]:
    """Where the values of protected columns count; classes are sets of whole tuples."""
    ledger = Ledger(table, requirement)
    codes, covered = np.stack(table.codes).astype(np.uint32), kernels_for(len(table.counts)).covered_well
    groups, facts = _groups(covered(stages[0], codes, ledger, WORK, run))
    space = Space(forest, roots, nodes_of(table, hierarchies) + roots, table.counts, ledger)
    many = (table.records - facts["covered"]) * MOSTLY > table.records
    others = [np.arange(len(groups))] if many and len(groups) <= SMALL else []  # KACA's start, where it costs little
    groups, sweeps = guarded(space, groups, run, crowding, others)
    return (np.arange(len(groups)), groups, table.counts), {**facts, "sweeps": sweeps}


def _covered(table: CompressedTable, stages: Stages, needs: SizeRule, run: Run) -> Rounds:
    """The rounds of the first stage, and those of the second, if more records are left over than not."""
    covered = kernels_for(len(table.counts)).covered
    codes = np.stack(table.codes).astype(np.uint32)  # attributes x tuples; without a sign there is no check of it
    done: Rounds = covered(stages[0], codes, table.counts, needs, WORK, run)
    if stages[1] is None or 2 * done.covered > table.records:
        return done
    left = np.flatnonzero(done.found < 0)
    more = covered(stages[1], np.ascontiguousarray(codes[:, left]), table.counts[left], needs, WORK, run)
    done.found[left] = np.where(more.found < 0, -1, more.found + done.groups)
    return Rounds(done.found, done.groups + more.groups, done.rounds + more.rounds, done.covered + more.covered)


def _optimum(
    table: CompressedTable, requirement: Requirement, hierarchies: Sequence[Hierarchy], objective: str, more: bool,
    run: Run,
) -> SearchResult:  # fmt: skip
    """The release with the least loss.

    Raises:
        PolicyError: Something else is asked for at the same time.
        DataError: The table is too large, or the solver gave up.
    """
    from incrowd.search.clustering.proof.optimum import optimum

    if objective != "ncp" or more or is_guarded(requirement):
        raise PolicyError(
            "the proven optimum is that of NCP for models that count records; "
            "set proof to 'quick', or leave out objective, priorities, suppress and protected columns"
        )
    priced = Priced.of(table, hierarchies, MOST)
    parts = None if priced is None else optimum(priced, table.counts, requirement.needs, run)[0]
    if parts is None or priced is None:
        raise DataError("the table is too large to prove the optimum; set proof to 'bound'")
    mapping = mapping_of(table, hierarchies, *parts)
    total = float(priced.losses(mapping).sum())
    facts = {"objective": objective, **gap(total, total, priced.unit * table.records * len(hierarchies))}
    return SearchResult(ByTuple.of(mapping, run.key), facts=facts)


def share_covered(table: CompressedTable, requirement: Requirement, rounds: int, run: Run) -> float:
    """The share of the records that a few rounds cover: where it is next to nothing, cover is mere clustering."""
    hierarchies = [hierarchy_of(attribute) for attribute in table.attributes]
    detail, _ = details(table.attributes, hierarchies, "ncp", Weights())
    needs = SizeRule(requirement.least_size)
    return _covered(table, stages_of(table, hierarchies, detail, rounds, run), needs, run).covered / table.records


def _groups(done: Rounds) -> tuple[Numbers, dict[str, float]]:
    """The group of each tuple (a tuple that was left over is one of its own), number of rounds, records covered."""
    found, left = done.found, done.found < 0
    found[left] = done.groups + np.arange(int(left.sum()))
    return found, {"rounds": done.rounds, "covered": done.covered}


def _common(hierarchies: Sequence[Hierarchy], tuples: Nodes, groups: Numbers) -> Nodes:
    """The closest common generalization of each group."""
    return np.stack([common(h, tuples[:, a], groups) for a, h in enumerate(hierarchies)], axis=1)


def _exchange(
    hierarchies: Sequence[Hierarchy],
    forest: Any,
    roots: Nodes,
    tuples: Nodes,
    parts: Parts,
    needs: SizeRule,
    crowding: int,
    run: Run,
) -> tuple[Parts, int]:
    """Sweep until nothing moves, or the run should not go on; the parts, and the sweeps that moved something."""
    exchanged = kernels_for(len(tuples)).exchanged
    for number in range(SWEEPS):
        if not run.should_continue():
            return parts, number
        part_tuples, groups, records = parts
        _, groups = np.unique(groups, return_inverse=True)
        classes, groups = _merged(_common(hierarchies, tuples[part_tuples], groups), groups)
        before = np.stack([part_tuples, groups, records], axis=1)
        after = exchanged(forest, roots, tuples + roots, classes + roots, before, needs, crowding, number + 1, run)
        parts = (after[:, 0], after[:, 1], after[:, 2])
        if np.array_equal(before, after):
            return parts, number
    return parts, SWEEPS


def _merged(nodes: Nodes, groups: Numbers) -> tuple[Nodes, Numbers]:
    """The distinct classes, and the class of each part."""
    classes, number = distinct(nodes)
    return classes, number[groups]
