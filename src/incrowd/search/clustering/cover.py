"""Cover: local recoding in many small rounds, from specific to general, then clustering, then an exchange of records.

Our own. Records in dense parts of the table need little generalization, and records that are generalized early with the
wrong neighbours (as clustering does) lose attributes that they could have kept. So:

1. Rounds. Every choice of one level per attribute is a round; rounds are sorted by the loss (NCP) that they would cost
   the whole table. In each round the records that are still uncovered are generalized to those levels; groups that are
   good leave as classes. A record leaves in the cheapest round in which it still has a crowd. Where there are too many
   choices, there are two stages (see `rounds`).
2. Remainder. What no round covered joins its nearest class, or a stub of it, as in KACA1 with the NCP distance.
3. Every class is drawn together to the closest common generalization of its members.
4. Exchange. Records that their class can spare move to the class that has all their values and improves the objective
   most, until nothing improves. The objective is the sum over records of their loss ("ncp"), the sum over classes of
   their squared size ("dm", the loss where that is equal), or both ("mix": one unit of the latter counts as much as a
   tenth of a k-th of a record that lost everything; k is the least size of a good class). Of small tables, and for
   "dm", what clustering alone makes of all tuples is exchanged instead, if that costs less; so the release never costs
   more than that of KACA1, there with the NCP distance, here as printed.
5. Destroy and repair. Over and over, a few classes near to each other are made anew, or one more is opened among them,
   and that is kept if it costs less, or at first little more (see `destroy_and_repair`), for an `effort` that is
   counted in work, not by a clock; then there is another exchange. What was there before is released if all that did
   not cost less. For "dm" the loss counts here too: a unit of squared sizes as much as a k-th of a record that lost
   everything. By sizes alone classes would lose what tells them apart, and those that are alike are one.

With the objective "target" all of this is done to the table as its target sees it (see `target_view`).
With a budget (`suppress`) records are then left out where that saves more than they had (see `leaving_out`). Where a
privacy model counts a protected column, the same is done with whole tuples (see `with_sensitive_values`).

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

import numpy as np

from incrowd.errors import DataError, PolicyError
from incrowd.measures.hierarchical_distance import Weights
from incrowd.privacy.model import Requirement, Requirements, with_suppression
from incrowd.recodings.by_tuple import ByTuple
from incrowd.recodings.hierarchies import Hierarchy, Nodes
from incrowd.recodings.kinds import hierarchy_of
from incrowd.recodings.mapping import distinct, mapping_of, trace
from incrowd.run import Run
from incrowd.search.clustering.agglomeration import agglomerated
from incrowd.search.clustering.destroy_and_repair import made_anew
from incrowd.search.clustering.distances import details, weights_of
from incrowd.search.clustering.exchange import exchanged
from incrowd.search.clustering.leaving_out import leave_out
from incrowd.search.clustering.proof import MOST, QUICK, Priced, gap, optimum, proven
from incrowd.search.clustering.rounds import Rounds, Stages, covered, covered_well, stages_of
from incrowd.search.clustering.space import Array, Parts, Space
from incrowd.search.clustering.target_view import View, target_view
from incrowd.search.clustering.with_sensitive_values import counts_values, made_good
from incrowd.search.leaving_out import budget_of
from incrowd.search.method import SearchResult
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import count

WORK = 300_000_000  # tuples to look at over all rounds
SWEEPS = 20
LOOKING = 1_000  # classes that a search for the nearest looks at
LOOKS = 600_000_000  # values to look at per unit of effort
SMALL = 5_000  # tuples of a table for which several starts are tried
MOSTLY = 100  # they are not tried where the rounds left less than one in this many records


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
    """Search by cover, clustering and exchange; the options are those of the method's declaration."""
    (requirement,) = requirements
    budget = budget_of(table, suppress)
    if budget:
        with_suppression(requirement.models)
    if objective == "target" and not table.has_target:
        raise PolicyError("The 'objective' parameter must be ncp, dm or mix when there is no target. Got 'target'.")
    hierarchies = [hierarchy_of(attribute) for attribute in table.attributes]
    if proof == "optimum":
        return _optimum(table, requirement, hierarchies, objective == "ncp" and not (budget or priorities), run)
    weights = weights_of("ncp", 1, priorities, hierarchies)
    detail, _ = details(table.attributes, hierarchies, "ncp", weights)
    view = View(table, hierarchies, detail)
    if objective == "target":
        view = target_view(table, hierarchies, detail, requirement, run)
    space = Space.of(view.table, requirement, view.hierarchies, view.detail)
    stages = stages_of(view.table, view.hierarchies, view.detail, rounds, run, view.fixed)
    if counts_values(requirement):
        parts, facts = _of_whole_tuples(view.table, space, stages, objective, run)
    else:
        parts, facts = _of_records(view, space, stages, objective, effort, run)
    if budget:
        parts, facts["suppressed_records"] = leave_out(space, parts, budget, run)
    mapping = view.mapping(table, hierarchies, parts)
    if not budget and not priorities and objective != "target":
        facts |= proven(table, requirement, hierarchies, mapping, run, MOST if proof == "bound" else QUICK)
    return SearchResult(ByTuple.of(mapping, run.key), facts={"objective": objective, **facts})


def _crowding(space: Space, objective: str) -> int:
    """What a unit of the sum of squared class sizes costs, in units of detail."""
    return {"mix": space.everything // (10 * space.least_size), "dm": space.everything}.get(objective, 0)


def _of_records(
    view: View, space: Space, stages: Stages, objective: str, effort: int, run: Run
) -> tuple[Parts, dict[str, float]]:
    """Where the size of a class is all that counts; equal records may be in different classes."""
    table, crowding, by_size = view.table, _crowding(space, objective), objective == "dm"
    groups, facts = _groups(_covered(table, stages, space.least_size, run))
    nodes, number = distinct(space.nodes(np.arange(len(groups)), groups)[groups])
    counts = count(number, len(nodes), table.counts)
    parts = trace(number, table.counts, *agglomerated(space, nodes, counts, run, looks=LOOKING))
    other = None
    if by_size:  # KACA1 as printed keeps sizes small
        height = details(table.attributes, view.hierarchies, "height", Weights())[0]
        printed = Space.of(table, space.tally.requirement, view.hierarchies, height)
        other = agglomerated(printed, printed.tuples, table.counts, run)
    elif len(table.counts) <= SMALL:
        other = agglomerated(space, space.tuples, table.counts, run)
    run.anytime = True  # every class is good from here on
    parts, sweeps = _exchange(space, parts, crowding, run)
    if other is not None and _cost(space, other, crowding, by_size) < _cost(space, parts, crowding, by_size):
        parts, sweeps = _exchange(space, other, crowding, run)
    if effort and run.should_continue():
        price = min(crowding, space.everything // space.least_size)  # by sizes alone, classes would soon be all alike
        classes, before = _classes(space, parts)
        anew, facts["renewed"] = made_anew(space, classes, before, price, effort * LOOKS, run)
        anew, _ = _exchange(space, anew, crowding, run)
        if _cost(space, anew, crowding, by_size) <= _cost(space, parts, crowding, by_size):
            parts = anew
    return parts, {**facts, "sweeps": sweeps}


def _of_whole_tuples(
    table: CompressedTable, space: Space, stages: Stages, objective: str, run: Run
) -> tuple[Parts, dict[str, float]]:
    """Where the values of protected columns count."""
    codes = np.stack(table.codes).astype(np.uint32)
    groups, facts = _groups(covered_well(stages[0], codes, space.tally, WORK, run))
    many = (table.records - facts["covered"]) * MOSTLY > table.records
    others = [np.arange(len(groups))] if many and len(groups) <= SMALL else []  # KACA's start, where it costs little
    groups, sweeps = made_good(space, groups, run, _crowding(space, objective), others)
    return (np.arange(len(groups)), groups, table.counts), {**facts, "sweeps": sweeps}


def _covered(table: CompressedTable, stages: Stages, least_size: int, run: Run) -> Rounds:
    """The rounds of the first stage, and those of the second, if more records are left over than not."""
    codes = np.stack(table.codes).astype(np.uint32)  # attributes x tuples; without a sign there is no check of it
    done = covered(stages[0], codes, table.counts, least_size, WORK, run)
    if stages[1] is None or 2 * done.covered > table.records:
        return done
    left = np.flatnonzero(done.found < 0)
    more = covered(stages[1], np.ascontiguousarray(codes[:, left]), table.counts[left], least_size, WORK, run)
    done.found[left] = np.where(more.found < 0, -1, more.found + done.groups)
    return Rounds(done.found, done.groups + more.groups, done.rounds + more.rounds, done.covered + more.covered)


def share_covered(table: CompressedTable, requirement: Requirement, rounds: int, run: Run) -> float:
    """The share of the records that a few rounds cover: where it is next to nothing, cover is mere clustering."""
    hierarchies = [hierarchy_of(attribute) for attribute in table.attributes]
    detail, _ = details(table.attributes, hierarchies, "ncp", Weights())
    stages = stages_of(table, hierarchies, detail, rounds, run)
    return _covered(table, stages, requirement.least_size, run).covered / table.records


def _groups(done: Rounds) -> tuple[Array, dict[str, float]]:
    """The group of each tuple (a tuple that was left over is a group by itself), number of rounds, records covered."""
    found, left = done.found, done.found < 0
    found[left] = done.groups + np.arange(int(left.sum()))
    return found, {"rounds": done.rounds, "covered": done.covered}


def _classes(space: Space, parts: Parts) -> tuple[Nodes, Array]:
    """The distinct classes, and tuple, class and records of each part: parts x 3."""
    _, groups = np.unique(parts[1], return_inverse=True)
    classes, number = distinct(space.nodes(parts[0], groups))
    return classes, np.stack([parts[0], number[groups], parts[2]], axis=1)


def _cost(space: Space, parts: Parts, crowding: int, by_size: bool) -> tuple[int, int]:
    """What the exchange lowers: sizes squared, less the detail that is held.

    By size these come first, and the detail only where they are equal.
    """
    classes, merged = _classes(space, parts)
    sizes = count(merged[:, 1], len(classes), parts[2])
    squares, held = int(sizes @ sizes), int(sizes @ space.detail(classes))
    return (squares, -held) if by_size else (crowding * squares - held, 0)


def _exchange(space: Space, parts: Parts, crowding: int, run: Run) -> tuple[Parts, int]:
    """Sweep until nothing moves, or the run should not go on; the parts, and the number of sweeps that moved some."""
    for number in range(SWEEPS):
        if not run.should_continue():
            return parts, number
        classes, before = _classes(space, parts)
        after = exchanged(space, classes, before, crowding, number + 1, run)
        parts = (after[:, 0], after[:, 1], after[:, 2])
        if np.array_equal(before, after):
            return parts, number
    return parts, SWEEPS


def _optimum(
    table: CompressedTable, requirement: Requirement, hierarchies: Sequence[Hierarchy], alone: bool, run: Run
) -> SearchResult:
    """The release with the least loss."""
    if not alone or counts_values(requirement):
        raise PolicyError(
            "the proven optimum is that of NCP for models that count records; "
            "set proof to 'quick', or leave out objective, priorities, suppress and protected columns"
        )
    priced = Priced.of(table, hierarchies, MOST)
    parts = None if priced is None else optimum(priced, table.counts, requirement.least_size, run)[0]
    if parts is None or priced is None:
        raise DataError("the table is too large to prove the optimum; set proof to 'bound'")
    mapping = mapping_of(table, hierarchies, *parts)
    total = float(priced.losses(mapping).sum())
    facts = {"objective": "ncp", **gap(total, total, priced.unit * table.records * len(hierarchies))}
    return SearchResult(ByTuple.of(mapping, run.key), facts=facts)
