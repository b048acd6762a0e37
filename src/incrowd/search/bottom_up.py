"""Bottom-up generalization (BUG): from the values themselves up, the cheapest generalization first.

The search starts with every value as itself. As long as a quasi-identifier does not hold, it performs the valid
generalization {c} -> p that loses least information per anonymity gained, IP(G) = I(G) / P(G); where none gains
anonymity, the one that loses least, I(G). A generalization is valid if everything below each c has been generalized
to c. P(G) is by how much it raises the size of the smallest class, counted up to k, so that more anonymity than asked
for is worth nothing. With several quasi-identifiers P(G) is the sum over them; attributes of which every
quasi-identifier holds are left alone.

I(G) depends on the histogram of one attribute only and is known for all generalizations beforehand. P(G) depends on the
classes, and is worked out for critical generalizations only: by Theorem 1 of the paper at most one per attribute (and
quasi-identifier) can raise the smallest class, since it must touch every class of that size. Without `pruning` P(G) is
worked out for every valid generalization; the steps are the same. A step reads the classes that it touches.

Invariant: after every step each attribute is a cut of its ladder, and no class is smaller than before. The search ends,
since each step shrinks a cut, and ends with the policy satisfied, since at the top all records are one class. States
on the way do not satisfy it; they can be looked at, not written.

With `tighten`, generalizations that later ones made needless are taken back at the end, so that none of what is left
could be; the paper leaves them as they are.

A budget (`suppress`) ends the search as soon as leaving out the records of too small classes stays within that share.

Ties are broken by the name of the attribute, then by the order of its values.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from incrowd.errors import PolicyError
from incrowd.policy import QuasiIdentifier
from incrowd.recodings.attribute import AttributeRecoding
from incrowd.recodings.replay import describe, generalized
from incrowd.search import Found
from incrowd.search.crowds import Crowds, Merge, suppressed
from incrowd.search.ladders import Ladder, Losses, ladder_of, losses
from incrowd.search.tighten import Grouping, Tightening
from incrowd.search.withhold import withhold
from incrowd.steps import Change, Step, TakeBack
from incrowd.table import Codes, CompressedTable, Floats, sort_tuples

Information = Literal["entropy", "weighted", "loss"]
SPREAD = 0.7  # of the random factors of a restart, as the standard deviation of their logarithm


def bottom_up(
    table: CompressedTable,
    quasi_identifiers: Sequence[QuasiIdentifier],
    *,
    information: Information | None = None,
    pruning: bool = True,
    suppress: float = 0.0,
    tighten: bool = False,
    restarts: int = 0,
    seed: int = 0,
    on_step: Callable[[Step], object] | None = None,
) -> Found:
    """Search from the bottom.

    Args:
        table: The compressed table.
        quasi_identifiers: What must hold; every attribute of the table belongs to at least one.
        information: I(G): "entropy" of the class, as in the paper; "weighted" for that weighted by the records that G
            touches; "loss" for the NCP that it adds, which needs no target. By default "entropy" with a target.
        pruning: Whether to work out P(G) for critical generalizations only.
        suppress: Share of the records that may be left out.
        tighten: Whether to take back, at the end, generalizations that turned out not to be needed.
        restarts: How many more searches to make, with every I(G) multiplied by a random factor; the result that loses
            least in all is taken, the plain search if none is better. A greedy search can be led astray by one step.
        seed: Seed of the random factors.
        on_step: Called after each step; with restarts when the best search is known.

    Returns:
        The recoding, the steps that led there, and the classes that are released where records are left out.

    Raises:
        PolicyError: The information about a class is asked for, and there is no target.
    """
    if information is None:
        information = "entropy" if table.has_target else "loss"
    if information != "loss" and not table.has_target:
        raise PolicyError(f"The 'information' parameter must be loss where there is no target. Got {information!r}.")
    budget = min(int(suppress * table.records + 1e-9), table.records - 1)  # 0.07 x 100 is a little less than 7
    problem = _Problem.of(table, quasi_identifiers, information, budget)
    best = _Search(problem).run(pruning, tighten, None if restarts else on_step)
    tried = best.tried
    for restart in range(1, restarts + 1):
        another = _Search(problem, np.random.default_rng([seed, restart])).run(pruning, tighten)
        tried += another.tried
        best = another if another.cost < best.cost else best
    if restarts and on_step is not None:
        for step in best.steps:
            on_step(step)
    facts = {"information": information, "information_lost": best.lost, "generalizations_tried": tried}
    return _found(table, tuple(best.steps), best.suppressed, facts)


def _found(
    table: CompressedTable, steps: tuple[Step, ...], left_out: npt.NDArray[np.bool_], facts: dict[str, Any]
) -> Found:
    def at(step: int) -> tuple[AttributeRecoding, ...]:
        return tuple(generalized(attribute, steps[:step]) for attribute in table.attributes)

    recoding, classes, records = withhold(table, at(len(steps)), left_out)
    return Found(recoding, steps, classes, {**facts, "suppressed_records": records}, at)


@dataclass(frozen=True)
class _Problem:
    """What all searches on a table share."""

    table: CompressedTable
    quasi_identifiers: tuple[QuasiIdentifier, ...]
    budget: int  # records that may be left out
    ladders: tuple[Ladder, ...]
    losses: tuple[Losses, ...]

    @classmethod
    def of(
        cls, table: CompressedTable, quasi_identifiers: Sequence[QuasiIdentifier], information: str, budget: int
    ) -> _Problem:
        indices = range(len(table.attributes))
        ladders = tuple(ladder_of(table, index, information) for index in indices)
        lost = tuple(losses(table, index, ladders[index], information) for index in indices)
        return cls(table, tuple(quasi_identifiers), budget, ladders, lost)

    def crowds(self) -> list[Crowds]:
        """The classes of each quasi-identifier at the bottom."""
        table = self.table
        return [
            Crowds([table.index(name) for name in qid.attributes], qid.k, self.ladders, table.codes, table.counts)
            for qid in self.quasi_identifiers
        ]

    def information(self, random: np.random.Generator | None) -> list[Floats]:
        """I(G) of each node, by attribute; multiplied by random factors where they are wanted."""
        lost = [loss.information for loss in self.losses]
        if random is not None:
            for index in sorted(range(len(lost)), key=lambda index: self.table.attributes[index].name):
                lost[index] = lost[index] * np.exp(SPREAD * random.standard_normal(len(lost[index])))
        return lost


@dataclass(frozen=True)
class _Best:
    """The generalization to perform next, tried out where that was needed."""

    attribute: int
    node: int
    gain: int
    score: float
    merges: dict[int, Merge]


class _Search:
    """One greedy search."""

    def __init__(self, problem: _Problem, random: np.random.Generator | None = None) -> None:
        self._problem = problem
        self._information = problem.information(random)
        self._crowds = problem.crowds()
        self._names = [attribute.name for attribute in problem.table.attributes]
        self._done = [np.zeros(len(ladder.parent), bool) for ladder in problem.ladders]
        self._waiting_for = [np.array([len(below) for below in ladder.children]) for ladder in problem.ladders]
        self._valid: list[set[int]] = [set() for _ in problem.ladders]
        self._queue: list[tuple[float, str, int, int, int]] = []
        for index, ladder in enumerate(problem.ladders):
            for leaf in ladder.leaves.tolist():
                self._reached(index, leaf)
        self.steps: list[Step] = []
        self.tried = 0
        self.lost = 0.0
        self.suppressed = np.zeros(len(problem.table.counts), bool)

    @property
    def cost(self) -> float:
        """What the result lost; a record that is left out has lost everything that there was to lose."""
        everything = sum(float(loss.share.sum()) for loss in self._problem.losses)
        share = float(self._problem.table.counts[self.suppressed].sum()) / self._problem.table.records
        return round(self.lost + share * everything, 12)

    def run(self, pruning: bool, tighten: bool, on_step: Callable[[Step], object] | None = None) -> _Search:
        """Generalize until the policy is satisfied, and tighten what was found."""
        for step in chain(self._generalize(pruning), self._tighten() if tighten else ()):
            self.steps.append(step)
            if on_step is not None:
                on_step(step)
        return self

    def _generalize(self, pruning: bool) -> Iterator[Step]:
        while not self._satisfied() and (best := self._best(pruning)) is not None:
            yield self._perform(best)

    def _tighten(self) -> Iterator[Step]:
        kept = np.flatnonzero(~self.suppressed)
        table, ladders, lost = self._problem.table, self._problem.ladders, self._problem.losses
        groupings = [
            Grouping(crowd.attributes, crowd.k, self._groups(crowd)[kept], table.counts[kept]) for crowd in self._crowds
        ]
        for attribute, node in Tightening(table, ladders, lost, self._done, kept, groupings).run():
            self.lost = round(self.lost - float(lost[attribute].share[node]), 12)
            cost = -float(lost[attribute].information[node])
            change = TakeBack(ladders[attribute].changes[node])
            yield self._step(attribute, change, 0, cost, cost, tuple(grouping.anonymity for grouping in groupings))

    def _satisfied(self) -> bool:
        """Whether every quasi-identifier holds, or does so without records that may be left out."""
        if all(crowd.holds for crowd in self._crowds):
            return True
        if max(crowd.small for crowd in self._crowds) > self._problem.budget:
            return False
        table = self._problem.table
        out = suppressed([self._groups(crowd) for crowd in self._crowds], [crowd.k for crowd in self._crowds], table)
        if int(table.counts[out].sum()) > self._problem.budget:
            return False
        self.suppressed = out
        return True

    def _groups(self, crowd: Crowds) -> Codes:
        """The class of each tuple."""
        columns = []
        for index in crowd.attributes:
            nodes = self._problem.ladders[index].cut(self._done[index])
            columns.append(nodes[self._problem.table.codes[index]])
        order, starts = sort_tuples(columns, [len(self._done[index]) for index in crowd.attributes])
        groups = np.empty(len(order), np.int64)
        groups[order] = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(order))))
        return groups

    def _best(self, pruning: bool) -> _Best | None:
        """The valid generalization with the least IP(G), or the least I(G) where that is infinite for all."""
        best: _Best | None = None
        best_key: tuple[float, str, int] | None = None
        for attribute, node, crowds in self._critical() if pruning else self._all_valid():
            self.tried += 1
            merges = {crowd: self._crowds[crowd].attempt(attribute, node) for crowd in crowds}
            if gain := sum(merge.gain for merge in merges.values()):
                score = round(float(self._information[attribute][node]) / gain, 12)
                key = (score, self._names[attribute], int(self._problem.ladders[attribute].first[node]))
                if best_key is None or key < best_key:
                    best_key, best = key, _Best(attribute, node, gain, score, merges)
        return best or self._cheapest()

    def _critical(self) -> Iterator[tuple[int, int, list[int]]]:
        """Generalizations that may gain anonymity, and in which quasi-identifiers."""
        found: dict[tuple[int, int], list[int]] = {}
        for number, crowd in enumerate(self._crowds):
            for attribute in () if crowd.holds else crowd.attributes:
                if (node := crowd.critical(attribute, self._valid[attribute])) is not None:
                    found.setdefault((attribute, node), []).append(number)
        return ((attribute, node, crowds) for (attribute, node), crowds in found.items())

    def _all_valid(self) -> Iterator[tuple[int, int, list[int]]]:
        """Every valid generalization, with the quasi-identifiers that do not hold."""
        for attribute, valid in enumerate(self._valid):
            crowds = [
                number for number, crowd in enumerate(self._crowds) if attribute in crowd.attributes and not crowd.holds
            ]
            for node in valid if crowds else ():
                yield attribute, node, crowds

    def _cheapest(self) -> _Best | None:
        """The valid generalization that loses least, of attributes that still matter."""
        needed = {index for crowd in self._crowds if not crowd.holds for index in crowd.attributes}
        while self._queue:
            information, _, _, attribute, node = self._queue[0]
            if attribute in needed and node in self._valid[attribute]:
                return _Best(attribute, node, 0, information, {})
            heapq.heappop(self._queue)  # performed, or never needed again: a quasi-identifier that holds does for good
        return None

    def _perform(self, best: _Best) -> Step:
        attribute, node = best.attribute, best.node
        for number, crowd in enumerate(self._crowds):
            if attribute in crowd.attributes:
                crowd.perform(best.merges.get(number) or crowd.attempt(attribute, node))
        self._done[attribute][node] = True
        self._valid[attribute].remove(node)
        self._reached(attribute, node)
        lost = self._problem.losses[attribute]
        self.lost = round(self.lost + float(lost.share[node]), 12)
        change = self._problem.ladders[attribute].changes[node]
        anonymity = tuple(crowd.anonymity for crowd in self._crowds)
        return self._step(attribute, change, best.gain, float(lost.information[node]), best.score, anonymity)

    def _step(
        self, attribute: int, change: Change, gain: int, loss: float, score: float, anonymity: tuple[int, ...]
    ) -> Step:
        value, children = describe(self._problem.table.attributes[attribute], change)
        number, name = len(self.steps) + 1, self._names[attribute]
        return Step(number, name, value, children, gain, loss, score, anonymity, change)

    def _reached(self, attribute: int, node: int) -> None:
        """A node is on the cut: its parent becomes valid if all its siblings are, too."""
        ladder, waiting_for = self._problem.ladders[attribute], self._waiting_for[attribute]
        if (parent := int(ladder.parent[node])) >= 0:
            waiting_for[parent] -= 1
            if not waiting_for[parent]:
                self._valid[attribute].add(parent)
                information = round(float(self._information[attribute][parent]), 12)
                entry = (information, self._names[attribute], int(ladder.first[parent]), attribute, parent)
                heapq.heappush(self._queue, entry)
