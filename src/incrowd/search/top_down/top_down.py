"""Top-down specialization (TDS) and top-down refinement (TDR): from the most general table down, best step first.

Both are one greedy search with two criteria. It starts with every attribute fully generalized, and performs, as long
as there is one, the valid and beneficial refinement with the highest score. A refinement is valid if every
quasi-identifier still holds afterwards, beneficial if more than one class is among the records it touches.

Invariant: after every step each quasi-identifier holds, so any prefix of the steps is a release. The search ends, since
each step makes the cut strictly finer, and the result is maximal: refining never merges classes, so a refinement that
was invalid once is invalid for good (it may be forgotten), and at the end none is left.

What makes it fast: gains depend on the histogram of one attribute only; the anonymity after refining x is the smaller
of the anonymity now and the smallest class that x would make, and that class only ever shrinks, so it is enough to look
at the groups that a step changed. A step reads the records under the refined value, nothing else. (What holds for sizes
holds for any privacy model: a class is never less protected than its less protected part.) That is also why leaf
partitions without a candidate need not be discarded, as TDS proposes (section 5.5). For the same reason an attribute
need not look at every step: what it found before bounds the scores of its candidates from above, so only those that
seem best have to be up to date. Promises that no score needs, such as those about sensitive columns in addition to k,
are checked for the best candidate only (see `deferred_checks`).

With a budget (`suppress`) a refinement is valid if leaving out the records of bad classes stays within it (see
`leaving_out`). Its loss counts the anonymity of the classes that stay, and every record that it puts into a bad class
as one more; gains count all records of the table. With `partial`, one child of a node of a given taxonomy can be shown
while the others stay together as a set `{a, b}` (see `partial_refinement`). Either can lose more than the plain search,
so that is made as well, and the release that loses least of what the search is for is taken (see `restarts`).

Scores are compared exactly. Ties are broken by the name of the attribute, then by the order of its values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from incrowd.errors import InfeasibleError, PolicyError
from incrowd.privacy.model import Requirements, with_suppression
from incrowd.recodings.replay import replayed
from incrowd.recodings.steps import Step
from incrowd.run import Run
from incrowd.search.costs import cost_of
from incrowd.search.leaving_out import budget_of, records_left_out, withhold
from incrowd.search.limits import BELOW_TOP, steps_to_top
from incrowd.search.method import SearchResult
from incrowd.search.top_down.bundles import Watcher, bundles
from incrowd.search.top_down.choice import Best, Criterion
from incrowd.search.top_down.deferred_checks import DeferredChecks
from incrowd.search.top_down.gains import Correction
from incrowd.search.top_down.groups import Grouping, Split
from incrowd.search.top_down.leaving_out import LeavingOut
from incrowd.search.top_down.out_of_core import OutOfCoreSearch
from incrowd.search.top_down.partial_refinement import can_be_partial
from incrowd.search.top_down.records import merged, records_of
from incrowd.search.top_down.refiners import RangeRefiner
from incrowd.search.top_down.restarts import drawn
from incrowd.search.top_down.search import Search, Task
from incrowd.table.compressed import CompressedTable
from incrowd.table.out_of_core import OutOfCoreTable


def top_down(
    table: CompressedTable,
    requirements: Requirements,
    run: Run,
    *,
    criterion: Criterion = "tdr",
    max_steps: int | None = None,
    suppress: float = 0.0,
    priorities: Mapping[str, float] | None = None,
    restarts: int = 0,
    partial: bool = False,
    correction: Correction = "none",
) -> SearchResult:
    """Search from the top; without a target the gain is the loss (NCP) that a refinement removes.

    Where several searches are made, their steps are reported once the best is known, with gains as they were weighted.
    """
    budget = budget_of(table, suppress)
    for requirement in requirements if budget else ():
        with_suppression(requirement.models)
    if correction != "none" and not table.has_target:
        raise PolicyError("The 'correction' parameter is about gains of information. Name a target, or leave it out.")
    partial = partial and any(map(can_be_partial, table.attributes))
    task = Task(table, requirements, criterion, priorities, partial=partial, correction=correction)
    if not restarts and not partial and not budget:
        return _searched(task, run, budget, max_steps, report=True)
    every: list[SearchResult] = []
    for most in dict.fromkeys((0, budget)):
        try:
            tried = searches(task, run, restarts, most, max_steps)
            every += (each for each in tried if each.facts.get("suppressed_records", 0) <= budget)
        except InfeasibleError:
            if most == budget and not every:
                raise
    if not every:
        raise InfeasibleError(BELOW_TOP)
    found = min(every, key=lambda each: cost_of(table, each.recoding, priorities))
    for step in found.steps:
        run.check()
        run.step(step)
    return replace(found, facts={"suppressed_records": 0, **found.facts}) if budget else found


def searches(
    task: Task, run: Run, restarts: int, budget: int = 0, max_steps: int | None = None
) -> Iterator[SearchResult]:
    """The plain search, the one that shows children one by one if that is asked for, then every restart.

    There are no more of them than the run has time for.
    """
    yield _searched(replace(task, partial=False), run, budget, max_steps, report=False)
    if task.partial and run.should_continue():
        yield _searched(task, run, budget, max_steps, report=False)
    for restart in range(1, restarts + 1):
        if not run.should_continue():
            break
        run.amount(restart, restarts, "restarts")
        weights, rooms = drawn(task.table, task.priorities, run.key, restart)
        another = replace(task, priorities=weights, rooms=rooms, again=True)
        yield _searched(another, run, budget, max_steps, report=False)


def _searched(task: Task, run: Run, budget: int, max_steps: int | None, *, report: bool) -> SearchResult:
    search: LeavingOut | OutOfCoreSearch | _Search
    if isinstance(task.table, OutOfCoreTable):
        search = OutOfCoreSearch(task, task.table)
    else:
        search = LeavingOut(task, budget) if budget else _Search(task)
    steps: list[Step] = []
    first = steps_to_top(task.table.attributes)
    while len(steps) < first or ((max_steps is None or len(steps) < max_steps + first) and run.should_continue()):
        run.check()
        if (best := search.best()) is None:
            break
        if len(steps) < first and not search.candidates.forced[best.place]:
            raise InfeasibleError(BELOW_TOP)
        steps.append(search.perform(best, len(steps) + 1))
        if report:
            run.step(steps[-1])
    if len(steps) < first:
        raise InfeasibleError(BELOW_TOP)
    recoding = replayed(task.table.attributes, steps, "general")
    if isinstance(search, LeavingOut):
        recoding, _ = withhold(task.table, task.requirements, recoding, search.out)
        facts = {"suppressed_records": records_left_out(task.table, recoding)}
        return SearchResult(recoding, tuple(steps), "general", facts)
    return SearchResult(recoding, tuple(steps), "general")


class _Search(Search):
    """The search in which every record is released: groups of records are split, and looked at once."""

    def __init__(self, task: Task) -> None:
        table = task.table
        codes, weights = records_of(table, counted=any(requirement.columns for requirement in task.requirements))
        self._codes = [dict(enumerate(codes)) for _ in task.requirements]  # of the records of each quasi-identifier
        super().__init__(task, self._codes, leave_out=False)
        self._deferred = DeferredChecks(table, self.promises)
        self._tried: dict[int, Split] = {}
        self._groupings = [Grouping(len(codes[0]), weights) for _ in task.requirements]
        self._watchers: list[dict[int, Watcher]] = [{} for _ in task.requirements]  # then by attribute
        self._live = [len(table.attributes)] * len(task.requirements)  # attributes that distinguish records
        for requirement in range(len(task.requirements)):
            self._merge(requirement)
            self._watch(requirement)

    def _watch(self, requirement: int) -> None:
        """Let the attributes of a quasi-identifier that have something left to refine watch its groups."""
        codes, grouping = self._codes[requirement], self._groupings[requirement]
        live = [index for index in self.attributes[requirement] if not self.refiners[index].idle()]
        sizes = [attribute.size for attribute in self.table.attributes]
        bundled = bundles(((i, self.refiners[i], codes[i], sizes[i]) for i in live), self.promises)
        watchers = [Watcher(bundle, requirement, grouping) for bundle in bundled]
        for watcher in watchers:
            watcher.notify(grouping.everyone())
        self._watchers[requirement] = {i: watcher for watcher in watchers for i in watcher.bundle.attributes}

    def best(self) -> Best | None:
        """The best candidate that keeps the deferred promises too; those that do not are forgotten."""
        for requirement in range(len(self._groupings)):
            if self._merge(requirement):
                self._watch(requirement)
        while (best := super().best()) is not None:
            index, _ = self.candidate(best.place)
            if not self._deferred.needed:
                return best
            self._tried = self._splits(index, best.place)
            if all(self._deferred.hold(requirement, split.changed) for requirement, split in self._tried.items()):
                return best
            self.refiners[index].close(best.place)
        return None

    def _splits(self, index: int, place: int) -> dict[int, Split]:
        """What would come of the groups of each quasi-identifier with an attribute."""
        return {
            requirement: grouping.tried(*self.refiners[index].parts(place, requirement))
            for requirement, grouping in enumerate(self._groupings)
            if index in self.attributes[requirement]
        }

    def perform(self, best: Best, number: int) -> Step:
        place = best.place
        index, change = self.candidate(place)
        self.anonymity = np.minimum(self.anonymity, self.candidates.minimum[self.promises.first, place])
        splits = self._tried if self._deferred.needed else self._splits(index, place)
        self.refiners[index].refine(place)
        for requirement, split in splits.items():
            self._groupings[requirement].perform(split)
            for watcher in dict.fromkeys(self._watchers[requirement].values()):
                mine = index in watcher.bundle.attributes  # new candidates have seen none of what they touch
                watcher.notify(split.touched if mine else split.changed)
        return self.step(number, index, change, best)

    def _merge(self, requirement: int) -> bool:
        """Count records of a quasi-identifier as one that nothing will distinguish any more; whether there are any.

        Whether it pays is looked at whenever fewer attributes have something left to refine than before.
        """
        live = [index for index in self.attributes[requirement] if not self.refiners[index].idle()]
        if len(live) == self._live[requirement] or not live or self.promises.need_values or self._deferred.needed:
            return False
        self._live[requirement] = len(live)
        codes, groups = self._codes[requirement], self._groupings[requirement].everyone()
        sizes = [self.table.attributes[index].size for index in live]
        found = merged([groups.numbers, *(codes[i] for i in live)], [groups.size, *sizes], groups.weights)
        if found is None:
            return False
        (kept, *columns), weights = found
        self._groupings[requirement].keep(kept, weights)
        self._codes[requirement] = dict(zip(live, columns, strict=True))
        for index in live:
            self.refiners[index].read(requirement, self._codes[requirement][index])
        return True

    def look(self, attributes: set[int]) -> bool:
        """Let some attributes look at the groups of all their quasi-identifiers; whether any of these had changed."""
        asked = dict.fromkeys(of[index] for of in self._watchers for index in sorted(attributes) if index in of)
        looked = [watcher.look() for watcher in asked]
        for index in sorted({index for watcher in asked for index in watcher.bundle.attributes}):
            self._cut_elsewhere(index)
        return any(looked)

    def _cut_elsewhere(self, index: int) -> None:
        """Replace cuts of a number that broke a promise, where that is asked for, until every open one keeps them."""
        refiner = self.refiners[index]
        while isinstance(refiner, RangeRefiner) and (interval := refiner.cut_elsewhere()) is not None:
            for requirement, grouping in enumerate(self._groupings):
                if index in self.attributes[requirement]:
                    refiner.observe(requirement, grouping.among(refiner.under(requirement, *interval)))
