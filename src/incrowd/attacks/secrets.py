"""What attackers need to guess a sensitive column: everyone's true value, and what candidates and learners say of it.

What learners know without the target's crowd is general knowledge, and no leak.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from incrowd.attacks.covers import Texts
from incrowd.attacks.crowds import Crowds, Floats
from incrowd.attacks.learners import Beliefs, beliefs_of
from incrowd.attacks.problem import Codes, Problem, Table
from incrowd.attacks.result import NotApplicableError
from incrowd.run import Run

MOST_VALUES = 30  # of a sensitive column; numbers with more are compared in tenths of the people
TENTHS = 10
_CELLS = 1 << 24


@dataclass(frozen=True)
class Secrets:
    """One sensitive column, and what is known about it by some columns.

    Args:
        column: The sensitive column.
        columns: The columns that are known.
        crowds: Their released tuples.
        tally: How many records of each crowd have each value: crowds x values.
        known: Per known column, the values of each target.
        texts: Per known column, what its values are called.
        true: The value that each target has; -1 if no released record has it.
        totals: How many candidates of each target have each value: targets x values.
        learned: What learners believe, by sensitive column and known columns; all attacks on a problem share it.
    """

    column: str
    columns: tuple[str, ...]
    crowds: Crowds
    tally: Floats
    known: list[Codes]
    texts: list[Texts]
    true: Codes
    totals: Floats
    learned: dict[tuple[str, tuple[str, ...]], tuple[Beliefs, ...]]

    @classmethod
    def of(
        cls, problem: Problem, column: str, columns: tuple[str, ...], people: Table, rows: Codes, run: Run
    ) -> Secrets:
        of_label, of_value, width = _values(problem, column)
        crowds = Crowds.of(problem.released, columns)
        tally = crowds.tally(of_label[problem.released.table.codes[column]], width + 1)[:, :width]
        rows = rows[: max(_CELLS // width, 1)]
        known = people.rows(columns, rows)
        true, totals = of_value[people.codes[column][rows]], crowds.totals(known, tally, run)
        texts: list[Texts] = [people.texts[name] for name in columns]
        return cls(column, columns, crowds, tally, known, texts, true, totals, problem.learned)

    @property
    def candidates(self) -> Floats:
        return np.asarray(self.totals.sum(axis=1))

    @property
    def is_in(self) -> Codes:
        """1 for targets whose record may be among the candidates."""
        return ((self.true >= 0) & (self.own(self.totals) > 0)).astype(np.intp)

    def own(self, table: Floats) -> Floats:
        """What a table (targets x values) has at the true value of each target; 0 where it is unknown."""
        return np.where(self.true >= 0, table[np.arange(len(table)), self.true], 0.0)

    @property
    def without_own(self) -> Floats:
        """The totals, had the record of each target been left out."""
        totals = self.totals.copy()
        rows = np.flatnonzero(self.is_in)
        totals[rows, self.true[rows]] -= 1
        return totals

    @cached_property
    def prior(self) -> Floats:
        """The share of each value in the release."""
        counts: Floats = self.tally.sum(axis=0)
        return counts / max(float(counts.sum()), 1.0)

    def of_others(self, belief: Floats, alike: float, rng: np.random.Generator, run: Run) -> Secrets:
        """A release of other people in the same crowds, with values as a learner expects that has not seen the crowd.

        Members of a crowd are as alike as is said, beyond what the learner expects.
        """
        if alike > 0:
            belief = rng.standard_gamma(belief * (1 / alike - 1)) + 1e-12  # shares of a Dirichlet distribution
        belief = belief / belief.sum(axis=1, keepdims=True)
        tally = rng.multinomial(self.crowds.sizes.astype(np.int64), belief).astype(float)
        totals = self.crowds.totals(self.known, tally, run)
        place = rng.random(len(totals)) * totals.sum(axis=1)
        true = np.minimum((totals.cumsum(axis=1) <= place[:, None]).sum(axis=1), totals.shape[1] - 1)
        true = np.where(totals.any(axis=1), true, -1)
        return replace(self, tally=tally, true=true, totals=totals, learned={})

    def right(self, belief: Floats) -> Floats:
        """How likely the most likely value is the true one, by targets; ties are broken by chance."""
        belief = np.broadcast_to(belief, self.totals.shape)
        best = belief >= belief.max(axis=1, keepdims=True) * (1 - 1e-12)
        best &= belief > 0
        return np.where(self.own(best.astype(float)) > 0, 1 / np.maximum(best.sum(axis=1), 1), 0.0)

    def beliefs(self, run: Run) -> tuple[Beliefs, ...]:
        """What each learner makes of the release; learned once for all attacks."""
        key = (self.column, self.columns)
        if key not in self.learned:
            self.learned[key] = tuple(beliefs_of(self.crowds, self.tally, run))
        return self.learned[key]

    def over_crowds(self, belief: Floats, run: Run) -> Floats:
        """A belief about crowds for each target, over the crowds that fit."""
        weighted = self.crowds.totals(self.known, belief * self.crowds.sizes[:, None], run)
        return np.asarray(weighted / np.maximum(weighted.sum(axis=1, keepdims=True), 1e-300))


def _values(problem: Problem, column: str) -> tuple[Codes, Codes, int]:
    """The value that each label and each original value of a sensitive column counts as, and how many there are.

    Labels that stand for several values are values of their own. An original value that no released record has is -1;
    a label that nobody has is the last one.
    """
    cover = problem.released.covers[column]
    single = cover.label_of
    if single is None:
        raise NotApplicableError(f"the values of '{column}' have overlapping labels")
    of_value = single[cover.atom_of]
    number = len(cover.start)
    if number - 1 > MOST_VALUES and (tenths := _tenths(problem.released.table, column)) is not None:
        of_label, number = tenths, TENTHS
    else:
        of_label = np.arange(number)
    return of_label, np.where(of_value >= 0, of_label[of_value], -1), number


def _tenths(table: Table, column: str) -> Codes | None:
    """Labels of many numbers as tenths of the records; None where they are not numbers."""
    numbers = numbers_of(table.texts[column])
    return None if numbers is None else quantiles(numbers, table.counts(column), TENTHS)


def numbers_of(texts: Texts) -> Floats | None:
    """The numbers that texts are, 0 for a missing one; None if one is not a number."""
    try:
        return np.array([0.0 if text is None else float(text) for text in texts])
    except ValueError:
        return None


def quantiles(numbers: Floats, counts: Floats, parts: int) -> Codes:
    """In which of some equal parts of the records each number is."""
    order = np.argsort(numbers, kind="stable")
    below = np.empty(len(order))
    below[order] = counts[order].cumsum() - counts[order] / 2
    return np.minimum(below * parts / max(float(counts.sum()), 1.0), parts - 1).astype(np.intp)
