"""Top-down specialization (TDS) and top-down refinement (TDR): from the most general table down, best step first.

Both are one greedy search with two criteria. It starts with every attribute fully generalized, and performs, as long
as there is one, the valid and beneficial refinement with the highest score. A refinement is valid if every
quasi-identifier still holds afterwards, beneficial if more than one class is among the records it touches.

Invariant: after every step each quasi-identifier holds, so any prefix of the steps is a release. The search ends, since
each step makes the cut strictly finer, and the result is maximal: refining never merges classes, so a refinement that
was invalid once is invalid for good (it may be forgotten), and at the end none is left.

What makes it fast: gains depend on the histogram of one attribute only; the anonymity after refining x is the smaller
of the anonymity now and the smallest class that x would make, and that class only ever shrinks, so it is enough to
look at the groups that a step changed. A step reads the records under the refined value, nothing else.

Ties are broken by the name of the attribute, then by the order of its values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from incrowd.attribute_recoding import AttributeRecoding
from incrowd.policy import QuasiIdentifier
from incrowd.recoding import after, describe
from incrowd.search import Found
from incrowd.search.gains import gain_of
from incrowd.search.refiners import Candidate, DisclosureRefiner, Groups, RangeRefiner, Refiner, Rows
from incrowd.steps import Step
from incrowd.table import Codes, CompressedTable, Counts, FlatAttribute, count

TIE = 1e-9  # scores that differ by less, relatively, are equal but for rounding
Criterion = Literal["tds", "tdr", "gain"]
CRITERIA: dict[str, Callable[[float, float], float]] = {
    "tds": lambda gain, loss: gain / loss if loss else gain,
    "tdr": lambda gain, loss: gain / (loss + 1),
    "gain": lambda gain, loss: gain,
}


def top_down(
    table: CompressedTable,
    quasi_identifiers: Sequence[QuasiIdentifier],
    *,
    criterion: Criterion = "tdr",
    max_steps: int | None = None,
    on_step: Callable[[Step], object] | None = None,
) -> Found:
    """Search from the top.

    Args:
        table: The compressed table; without a target the gain is the loss (NCP) that a refinement removes.
        quasi_identifiers: What must hold; every attribute of the table belongs to at least one.
        criterion: "tds" for gain per anonymity lost, "tdr" for that with 1 added to the loss, "gain" for gain alone.
        max_steps: Stop after that many steps.
        on_step: Called after each step.

    Returns:
        The maximal recoding, and the steps that led there.
    """
    search = _Search(table, quasi_identifiers, CRITERIA[criterion])
    steps: list[Step] = []
    while max_steps is None or len(steps) < max_steps:
        if (best := search.best()) is None:
            break
        steps.append(search.perform(best, len(steps) + 1))
        if on_step is not None:
            on_step(steps[-1])

    def at(step: int) -> tuple[AttributeRecoding, ...]:
        return tuple(after(attribute, steps[:step]) for attribute in table.attributes)

    return Found(at(len(steps)), tuple(steps), at=at)


@dataclass
class _Grouping:
    """The current classes of one quasi-identifier: the group of each tuple."""

    attributes: tuple[int, ...]
    groups: Codes
    size: int
    anonymity: int
    _weights: Any

    def split(self, rows: Rows, children: Codes, width: int) -> Groups:
        """Split the groups of the rows by child; gives the new groups."""
        keys = self.groups[rows] * np.int64(width) + children
        weights = None if self._weights is None else self._weights[rows]
        counts = count(keys, self.size * width, weights).reshape(self.size, width)
        present = counts > 0
        # The first child of a group keeps its number, the others get new ones.
        first = present & (present.cumsum(axis=1) == 1)
        number = np.where(first, np.arange(self.size)[:, None], 0)
        others = np.flatnonzero(present & ~first)
        number.ravel()[others] = np.arange(self.size, self.size + len(others))
        self.groups[rows] = number.ravel()[keys]
        self.size += len(others)
        local = present.ravel().cumsum() - 1
        return Groups(rows, local[keys], int(local[-1]) + 1, weights)


class _Search:
    def __init__(
        self,
        table: CompressedTable,
        quasi_identifiers: Sequence[QuasiIdentifier],
        score: Callable[[float, float], float],
    ) -> None:
        self._table = table
        self._score = score
        self._thresholds = np.array([qid.k for qid in quasi_identifiers])
        self._groupings = [
            _Grouping(
                tuple(table.index(name) for name in qid.attributes),
                np.zeros(len(table.counts), np.int32),
                1,
                table.records,
                table.weights,
            )
            for qid in quasi_identifiers
        ]
        self._refiners = [self._refiner(i) for i in range(len(table.attributes))]
        everyone = Groups(slice(None), np.zeros(len(table.counts), np.int32), 1, table.weights)
        for number, grouping in enumerate(self._groupings):
            self._observe(number, grouping, everyone)

    def _refiner(self, index: int) -> Refiner:
        attribute = self._table.attributes[index]
        codes, gain, qids = self._table.codes[index], gain_of(self._table, index), len(self._groupings)
        if isinstance(attribute, FlatAttribute):
            return DisclosureRefiner(attribute, codes, gain, qids)
        return RangeRefiner(attribute, codes, gain, qids)

    def best(self) -> tuple[int, Candidate, float, float] | None:
        """The attribute, candidate, loss and score of the best valid refinement."""
        scored = []
        for index, refiner in enumerate(self._refiners):
            for candidate in refiner.candidates():
                loss = self._loss(index, candidate.minimum)
                scored.append((index, candidate, loss, self._score(candidate.gain, loss)))
        if not scored:
            return None
        highest = max(score for *_, score in scored)
        equals = [entry for entry in scored if math.isclose(entry[3], highest, rel_tol=TIE, abs_tol=TIE * TIE)]
        return min(equals, key=lambda entry: (self._table.attributes[entry[0]].name, entry[1].order))

    def _loss(self, index: int, minimum: Counts) -> float:
        """Anonymity lost by a refinement, averaged over the quasi-identifiers with its attribute."""
        losses = [
            max(0, grouping.anonymity - int(minimum[number]))
            for number, grouping in enumerate(self._groupings)
            if index in grouping.attributes
        ]
        return sum(losses) / len(losses)

    def perform(self, best: tuple[int, Candidate, float, float], number: int) -> Step:
        """Perform a refinement and bring every candidate up to date."""
        index, candidate, loss, score = best
        minimum = candidate.minimum.copy()
        rows, children, width = self._refiners[index].refine(candidate)
        for qid, grouping in enumerate(self._groupings):
            if index in grouping.attributes:
                grouping.anonymity = min(grouping.anonymity, int(minimum[qid]))
                self._observe(qid, grouping, grouping.split(rows, children, width))
        attribute = self._table.attributes[index]
        value, labels = describe(attribute, candidate.change)
        anonymity = tuple(grouping.anonymity for grouping in self._groupings)
        return Step(number, attribute.name, value, labels, candidate.gain, loss, score, anonymity, candidate.change)

    def _observe(self, number: int, grouping: _Grouping, changed: Groups) -> None:
        for index in grouping.attributes:
            refiner = self._refiners[index]
            if not refiner.idle():
                refiner.observe(number, changed)
                refiner.drop_invalid(self._thresholds)
