"""A climb through the lattice of full-domain generalizations, one level of one attribute at a time, kept as steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from incrowd.errors import InfeasibleError
from incrowd.privacy.model import Requirements
from incrowd.recodings.steps import RaiseLevel, Step
from incrowd.run import Run
from incrowd.search.baselines.domains import Domain, hierarchy
from incrowd.search.baselines.outcome import Outcome
from incrowd.search.costs import readable
from incrowd.search.limits import BELOW_TOP
from incrowd.search.method import SearchResult
from incrowd.table.compressed import CompressedTable


class Climb:
    def __init__(self, table: CompressedTable, requirements: Requirements, run: Run) -> None:
        self._table = table
        self._requirements = requirements
        self._run = run
        self._hierarchies = [hierarchy(attribute) for attribute in table.attributes]
        self._counts = [table.value_counts(index) for index in range(len(table.attributes))]
        self._levels = [0] * len(table.attributes)
        self._steps: list[Step] = []
        self.outcome = self._outcome()

    def _outcome(self) -> Outcome:
        domains = [chain[level] for chain, level in zip(self._hierarchies, self._levels, strict=True)]
        return Outcome(self._table, self._requirements, domains)

    @property
    def levels(self) -> dict[str, int]:
        return dict(sorted(zip((a.name for a in self._table.attributes), self._levels, strict=True)))

    @property
    def steps(self) -> tuple[Step, ...]:
        return tuple(self._steps)

    def is_silent(self, attribute: int) -> bool:
        """Whether an attribute has reached its last level, at which it shows nothing."""
        return 0 < self._levels[attribute] == len(self._hierarchies[attribute]) - 1

    @property
    def open(self) -> list[int]:
        """The attributes that can rise and are part of a quasi-identifier that does not hold."""
        needed = {
            name
            for requirement, holds in zip(self._requirements, self.outcome.holding, strict=True)
            if not holds
            for name in requirement.attributes
        }
        chains = zip(self._table.attributes, self._hierarchies, self._levels, strict=True)
        return [i for i, (a, chain, level) in enumerate(chains) if a.name in needed and level + 1 < len(chain)]

    def distinct(self, attribute: int) -> int:
        """How many released values of an attribute occur."""
        present = self._counts[attribute] > 0
        return len(np.unique(self.outcome.domains[attribute].cells[present]))

    def rise(self, scores: Mapping[int, float]) -> int:
        """Raise the attribute with the highest score by one level, of equals the first by name; which one it was."""
        index = min(scores, key=lambda index: (-scores[index], self._table.attributes[index].name))
        before = self.outcome
        self._levels[index] += 1
        self.outcome = self._outcome()
        level, number = self._levels[index], len(self._steps) + 1
        step = Step(
            number,
            self._table.attributes[index].name,
            f"level {level}",
            (f"level {level - 1}",),
            float(sum(self.outcome.anonymity) - sum(before.anonymity)),
            self._loss(index, self.outcome.domains[index]) - self._loss(index, before.domains[index]),
            scores[index],
            self.outcome.anonymity,
            RaiseLevel(level),
        )
        self._steps.append(step)
        self._run.check()
        self._run.step(step)
        return index

    def rise_until(self, budget: int, score: Callable[[int], float]) -> None:
        """Rise until at most that many records have to be left out, and not all of them."""
        while not self.outcome.within(min(budget, self._table.records - 1)):
            if not (open_ := self.open):
                raise InfeasibleError(BELOW_TOP)
            self.rise({index: score(index) for index in open_})

    def _loss(self, index: int, domain: Domain) -> float:
        lost = int(self._counts[index] @ domain.whole_losses)
        return readable(Fraction(lost, domain.scale.denominator * self._table.records))

    def found(self, facts: Mapping[str, Any]) -> SearchResult:
        return self.outcome.found({"levels": self.levels, **facts}, steps=tuple(self._steps), begins="specific")
