"""Top-down specialization (TDS) and top-down refinement (TDR): from the most general table down, best step first.

Both are one greedy search with two criteria. It starts with every attribute fully generalized, and performs, as long
as there is one, the valid and beneficial refinement with the highest score. A refinement is valid if every
quasi-identifier still holds afterwards, beneficial if more than one class is among the records it touches.

Invariant: after every step each quasi-identifier holds, so any prefix of the steps is a release. The search ends, since
each step makes the cut strictly finer, and the result is maximal: refining never merges classes, so a refinement that
was invalid once is invalid for good (it may be forgotten), and at the end none is left.

What makes it fast: gains depend on the histogram of one attribute only; the anonymity after refining x is the smaller
of the anonymity now and the smallest class that x would make, and that class only ever shrinks, so it is enough to
look at the groups that a step changed. A step reads the records under the refined value, nothing else. (What holds for
sizes holds for any privacy model: a class is never less protected than its less protected part.)

Scores are compared exactly. Ties are broken by the name of the attribute, then by the order of its values.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from incrowd.privacy.model import Requirements
from incrowd.recodings.replay import describe, replayed
from incrowd.recodings.steps import Change, Step
from incrowd.run import Run
from incrowd.search.method import SearchResult
from incrowd.search.top_down.bundles import bundles
from incrowd.search.top_down.candidates import Candidates
from incrowd.search.top_down.choice import Best, Choice, Criterion
from incrowd.search.top_down.gains import gain_of
from incrowd.search.top_down.groups import Grouping, Groups, Weights
from incrowd.search.top_down.promises import Promises
from incrowd.search.top_down.refiners import DisclosureRefiner, RangeRefiner, Refiner, Shared
from incrowd.table.attributes import FlatAttribute
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import Codes


def top_down(
    table: CompressedTable,
    requirements: Requirements,
    run: Run,
    *,
    criterion: Criterion = "tdr",
    max_steps: int | None = None,
) -> SearchResult:
    """Search from the top.

    Args:
        table: The compressed table; without a target the gain is the loss (NCP) that a refinement removes.
        requirements: What must hold; every attribute of the table belongs to at least one.
        run: Gets every step; when it is over, the steps so far are a release.
        criterion: "tds" for gain per anonymity lost, "tdr" for that with 1 added to the loss, "gain" for gain alone.
        max_steps: Stop after that many steps.

    Returns:
        The maximal recoding, and the steps that led there.
    """
    search = _Search(table, requirements, criterion)
    steps: list[Step] = []
    while (max_steps is None or len(steps) < max_steps) and run.goes_on():
        if (best := search.best()) is None:
            break
        steps.append(search.perform(best, len(steps) + 1))
        run.step(steps[-1])
    return SearchResult(replayed(table.attributes, steps, "general"), tuple(steps), "general")


class _Search:
    """The state of a search: groups of records, open candidates, and the anonymity so far."""

    def __init__(self, table: CompressedTable, requirements: Requirements, criterion: Criterion) -> None:
        self._table = table
        self._promises = Promises(table, requirements)
        self._anonymity = self._promises.anonymity()
        self._whole = [requirement.models[0].whole for requirement in requirements]
        self._codes, weights = _records(table, counted=self._promises.need_values)
        self._attributes = [tuple(map(table.index, requirement.attributes)) for requirement in requirements]
        self._groupings = [Grouping(len(self._codes[0]), weights) for _ in requirements]
        self._candidates = Candidates(len(self._promises.thresholds))
        self._refiners = [self._refiner(i) for i in range(len(table.attributes))]
        shared = [sum(i in members for members in self._attributes) for i in range(len(table.attributes))]
        self._choice = Choice(
            table.attributes, shared, self._candidates, self._refiners, criterion, logarithms=table.has_target
        )
        sizes = [attribute.size for attribute in table.attributes]
        self._bundles = [
            bundles(((self._refiners[i], self._codes[i], sizes[i]) for i in members), self._promises)
            for members in self._attributes
        ]
        for requirement, grouping in enumerate(self._groupings):
            self._observe(requirement, grouping.everyone())

    def _refiner(self, index: int) -> Refiner:
        attribute = self._table.attributes[index]
        codes, gain = self._codes[index], gain_of(self._table, index)
        shared = Shared(self._candidates, self._promises)
        if isinstance(attribute, FlatAttribute):
            return DisclosureRefiner(index, attribute, codes, gain, shared)
        return RangeRefiner(index, attribute, codes, gain, shared)

    def best(self) -> Best | None:
        """The best valid refinement."""
        return self._choice.best(self._anonymity, self._promises.first)

    def perform(self, best: Best, number: int) -> Step:
        """Perform a refinement and bring every candidate up to date."""
        place = best.place
        index, change = int(self._candidates.attribute[place]), self._candidates.changes[place]
        assert change is not None
        self._anonymity = np.minimum(self._anonymity, self._candidates.minimum[self._promises.first, place])
        refiner = self._refiners[index]
        rows, children, width = refiner.refine(place)
        for requirement, grouping in enumerate(self._groupings):
            if index in self._attributes[requirement]:
                touched, changed = grouping.split(rows, children, width)
                self._observe(requirement, changed)
                if touched is not changed:  # new candidates have seen none of them
                    refiner.observe(requirement, touched)
        return self._step(number, index, change, best)

    def _observe(self, requirement: int, changed: Groups) -> None:
        """Show new groups of a quasi-identifier to its attributes."""
        for bundle in self._bundles[requirement] if changed.size else ():
            bundle.observe(requirement, changed)

    def _step(self, number: int, index: int, change: Change, best: Best) -> Step:
        attribute = self._table.attributes[index]
        value, labels = describe(attribute, change)
        anonymity = tuple(
            int(level) if whole else level for level, whole in zip(self._anonymity.tolist(), self._whole, strict=True)
        )
        gain, loss, score = float(best.gain), float(best.loss), float(best.score)
        return Step(number, attribute.name, value, labels, gain, loss, score, anonymity, change)


def _records(table: CompressedTable, *, counted: bool) -> tuple[Sequence[Codes], Weights]:
    """The codes that the search reads, and their weights.

    Where nearly every tuple occurs once, records are read instead of tuples: counting without weights is faster, and
    there are hardly more of them. Where values are counted in histograms of tuples, tuples are read.
    """
    if counted or table.weights is None or table.records > 1.2 * len(table.counts):
        return table.codes, table.weights
    return [column.repeat(table.counts) for column in table.codes], None
