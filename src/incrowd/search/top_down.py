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

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from incrowd.policy import QuasiIdentifier
from incrowd.recodings.attribute import AttributeRecoding
from incrowd.recodings.replay import after, describe
from incrowd.search import Found
from incrowd.search.bundles import bundles
from incrowd.search.gains import Floats, gain_of
from incrowd.search.refiners import Candidate, DisclosureRefiner, Groups, RangeRefiner, Refiner, Rows, take
from incrowd.steps import Step
from incrowd.table import Codes, CompressedTable, Counts, FlatAttribute, count

TIE = 1e-9  # scores that differ by less, relatively, are equal but for rounding
WORTHWHILE = 0.7  # share of the records in changed groups above which it does not pay to leave the others out
Criterion = Literal["tds", "tdr", "gain"]
CRITERIA: dict[str, Callable[[Floats, Floats], Floats]] = {
    "tds": lambda gain, loss: gain / np.where(loss > 0, loss, 1),
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

    def split(self, rows: Rows, children: Codes, width: int) -> tuple[Groups, Groups]:
        """Split the groups of the rows by child.

        Returns:
            The groups that the rows are in now, and those of them that were really split off: the other attributes
            have seen the rest before.
        """
        keys = take(self.groups, rows) * np.int64(width) + children
        weights = None if self._weights is None else take(self._weights, rows)
        present = count(keys, self.size * width, weights).reshape(self.size, width) > 0
        # The first child of a group keeps its number, the others get new ones.
        first = present & (present.cumsum(axis=1) == 1)
        number = np.where(first, np.arange(self.size)[:, None], 0).ravel()
        others = np.flatnonzero(present & ~first)
        number[others] = np.arange(self.size, self.size + len(others))
        self.groups[rows] = number.take(keys)
        self.size += len(others)
        touched = _numbered(present, rows, keys, weights)
        split = present.sum(axis=1, keepdims=True) > 1
        inside = (split & present).ravel().take(keys)
        if inside.mean() > WORTHWHILE:
            return touched, touched
        some = np.flatnonzero(inside) if isinstance(rows, slice) else rows[inside]
        return touched, _numbered(present & split, some, keys[inside], None if weights is None else weights[inside])


def _numbered(present: npt.NDArray[np.bool_], rows: Rows, keys: Codes, weights: Any) -> Groups:
    """The present groups numbered from 0."""
    numbers = present.ravel().cumsum() - 1
    return Groups(rows, numbers.take(keys), int(numbers[-1]) + 1, weights)


@dataclass(frozen=True)
class _Best:
    """The refinement to perform."""

    index: int  # of the attribute
    candidate: Candidate
    loss: float
    score: float


class _Search:
    def __init__(
        self,
        table: CompressedTable,
        quasi_identifiers: Sequence[QuasiIdentifier],
        score: Callable[[Floats, Floats], Floats],
    ) -> None:
        self._table = table
        self._codes, weights = _records(table)
        self._score = score
        self._thresholds = np.array([qid.k for qid in quasi_identifiers])
        self._groupings = [
            _Grouping(
                tuple(table.index(name) for name in qid.attributes),
                np.zeros(len(self._codes[0]), np.int32),
                1,
                table.records,
                weights,
            )
            for qid in quasi_identifiers
        ]
        self._refiners = [self._refiner(i) for i in range(len(table.attributes))]
        sizes = [attribute.size for attribute in table.attributes]
        self._bundles = [
            bundles((self._refiners[i], self._codes[i], sizes[i]) for i in grouping.attributes)
            for grouping in self._groupings
        ]
        everyone = Groups(slice(None), np.zeros(len(self._codes[0]), np.int32), 1, weights)
        for number in range(len(self._groupings)):
            self._observe(number, everyone)

    def _refiner(self, index: int) -> Refiner:
        attribute = self._table.attributes[index]
        codes, gain, qids = self._codes[index], gain_of(self._table, index), len(self._groupings)
        if isinstance(attribute, FlatAttribute):
            return DisclosureRefiner(attribute, codes, gain, qids)
        return RangeRefiner(attribute, codes, gain, qids)

    def best(self) -> _Best | None:
        """The best valid refinement."""
        scored = []
        for index, refiner in enumerate(self._refiners):
            if not refiner.idle():
                standing = refiner.standing()
                loss = self._loss(index, standing.minimum)
                scored.append((index, standing.orders, loss, self._score(standing.gains, loss)))
        if not scored:
            return None
        bar = max(score.max() for *_, score in scored) * (1 - TIE)
        leading = [entry for entry in scored if entry[3].max() >= bar]
        index, orders, loss, score = min(leading, key=lambda entry: self._table.attributes[entry[0]].name)
        equals = np.flatnonzero(score >= bar)
        place = int(equals[np.argmin(orders[equals])])
        return _Best(index, self._refiners[index].candidate(place), float(loss[place]), float(score[place]))

    def _loss(self, index: int, minimum: Counts) -> Floats:
        """Anonymity that each candidate would lose, averaged over the quasi-identifiers with the attribute."""
        losses = [
            np.maximum(0, grouping.anonymity - minimum[number])
            for number, grouping in enumerate(self._groupings)
            if index in grouping.attributes
        ]
        return np.asarray(np.mean(losses, axis=0))

    def perform(self, best: _Best, number: int) -> Step:
        """Perform a refinement and bring every candidate up to date."""
        index, candidate = best.index, best.candidate
        rows, children, width = self._refiners[index].refine(candidate)
        for qid, grouping in enumerate(self._groupings):
            if index in grouping.attributes:
                grouping.anonymity = min(grouping.anonymity, int(candidate.minimum[qid]))
                touched, changed = grouping.split(rows, children, width)
                self._observe(qid, changed)
                if touched is not changed:  # new candidates have seen none of them
                    self._refiners[index].observe(qid, touched)
                    self._refiners[index].drop_invalid(self._thresholds)
        attribute = self._table.attributes[index]
        value, labels = describe(attribute, candidate.change)
        anonymity = tuple(grouping.anonymity for grouping in self._groupings)
        gain, loss, score = candidate.gain, best.loss, best.score
        return Step(number, attribute.name, value, labels, gain, loss, score, anonymity, candidate.change)

    def _observe(self, qid: int, changed: Groups) -> None:
        """Show new groups of a quasi-identifier to its attributes."""
        for bundle in self._bundles[qid] if changed.size else ():
            bundle.observe(qid, changed)
            for refiner in bundle.refiners:
                refiner.drop_invalid(self._thresholds)


def _records(table: CompressedTable) -> tuple[Sequence[Codes], npt.NDArray[np.float64] | None]:
    """The codes that the search reads, and their weights.

    Where nearly every tuple occurs once, records are read instead of tuples: counting without weights is faster, and
    there are hardly more of them.
    """
    if table.weights is None or table.records > 1.2 * len(table.counts):
        return table.codes, table.weights
    return [column.repeat(table.counts) for column in table.codes], None
