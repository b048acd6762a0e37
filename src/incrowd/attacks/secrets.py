"""What attackers need to guess a sensitive column: everyone's true value, and what candidates and learners say of it.

General knowledge is what a learner finds in the release without the target's crowd: a naive Bayes classifier, of which
every crowd can be left out by subtracting its counts. What it knows is no leak.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from incrowd.attacks.covers import Texts
from incrowd.attacks.crowds import Crowds, Floats
from incrowd.attacks.problem import Codes, Problem, Table
from incrowd.attacks.result import NotApplicableError
from incrowd.run import Run

MOST_VALUES = 30  # of a sensitive column; numbers with more are compared in tenths of the people
TENTHS = 10
_CELLS = 1 << 24
_SMOOTH = 0.5
_QUARTILE = 0.6745  # of the normal distribution, the upper one
_TRUST = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


@dataclass(frozen=True)
class Secrets:
    """One sensitive column, and what is known about it by some columns.

    Args:
        column: The sensitive column.
        crowds: The released tuples of the columns that are known.
        tally: How many records of each crowd have each value: crowds x values.
        known: Per known column, the values of each target.
        texts: Per known column, what its values are called.
        true: The value that each target has; -1 if no released record has it.
        totals: How many candidates of each target have each value: targets x values.
    """

    column: str
    crowds: Crowds
    tally: Floats
    known: list[Codes]
    texts: list[Texts]
    true: Codes
    totals: Floats

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
        return cls(column, crowds, tally, known, [people.texts[name] for name in columns], true, totals)

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

    def of_others(self, rng: np.random.Generator, run: Run, *, naive: bool) -> Secrets:
        """A release of other people in the same crowds, with values as a learner expects that has not seen the crowd.

        Either naive Bayes, as sure of itself as it is, or the one that is drawn towards what is frequent; with this
        one, members of a crowd are as alike as usual.
        """
        belief = _shares(self._naive(without_own=True)[1]) if naive else self.learned
        if self.likeness > 0 and not naive:
            belief = rng.standard_gamma(belief * (1 / self.likeness - 1)) + 1e-12  # shares of a Dirichlet distribution
            belief /= belief.sum(axis=1, keepdims=True)
        tally = rng.multinomial(self.crowds.sizes.astype(np.int64), belief).astype(float)
        totals = self.crowds.totals(self.known, tally, run)
        place = rng.random(len(totals)) * totals.sum(axis=1)
        true = np.minimum((totals.cumsum(axis=1) <= place[:, None]).sum(axis=1), totals.shape[1] - 1)
        return replace(self, tally=tally, true=np.where(totals.any(axis=1), true, -1), totals=totals)

    def right(self, belief: Floats) -> Floats:
        """How likely the most likely value is the true one, by targets; ties are broken by chance."""
        belief = np.broadcast_to(belief, self.totals.shape)
        best = belief >= belief.max(axis=1, keepdims=True) * (1 - 1e-12)
        best &= belief > 0
        return np.where(self.own(best.astype(float)) > 0, 1 / np.maximum(best.sum(axis=1), 1), 0.0)

    @cached_property
    def learned(self) -> Floats:
        """What a learner that has never seen a crowd believes of it: crowds x values.

        Naive Bayes is too sure of itself where columns go together, so its belief is drawn towards what is frequent
        overall, as far as makes it the most likely for the crowds that it has not seen.
        """
        prior, belief = self._naive(without_own=True)
        drawn = [_shares(prior + trust * (belief - prior)) for trust in _TRUST]
        return max(drawn, key=lambda shares: float((self.tally * np.log(shares + 1e-12)).sum()))

    @cached_property
    def likeness(self) -> float:
        """How alike the members of a crowd are beyond what the learner knows: the correlation within crowds.

        Three quarters of all crowds differ from what the learner expects by no more. So a few crowds that give
        something away do not count as usual.
        """
        sizes = self.crowds.sizes[:, None]
        large = self.crowds.sizes > 1
        differ = ((self.tally - sizes * self.learned) ** 2 / (sizes * self.learned + 1e-9)).sum(axis=1)[large]
        degrees = max(int((self.prior > 0).sum()) - 1, 1)
        spread = 2 / (9 * degrees)
        by_chance = degrees * (1 - spread + _QUARTILE * spread**0.5) ** 3  # Wilson and Hilferty
        more = float(np.quantile(differ, 0.75)) / by_chance if len(differ) else 1.0
        members = float(np.median(self.crowds.sizes[large])) if len(differ) else 2.0
        return min(max(more - 1, 0.0) / max(members - 1, 1.0), 0.99)

    def _naive(self, *, without_own: bool) -> tuple[Floats, Floats]:
        """Logarithms of what naive Bayes believes of each crowd, before and after it looks at its labels."""
        own = self.tally if without_own else np.zeros_like(self.tally)
        rest = self.tally.sum(axis=0) - own
        prior = np.log(rest + _SMOOTH)
        belief = prior.copy()
        for cover, labels in zip(self.crowds.covers, self.crowds.labels, strict=True):
            number = len(cover.start)
            counts = np.stack([np.bincount(labels, column, minlength=number) for column in self.tally.T], axis=1)
            belief += np.log(counts[labels] - own + _SMOOTH) - np.log(rest + _SMOOTH * number)
        return prior, belief

    def trained(self, run: Run) -> Floats:
        """What naive Bayes believes of each target, trained on the whole release: targets x values."""
        return self._over_crowds(_shares(self._naive(without_own=False)[1]), run)

    def general_knowledge(self, run: Run) -> Floats:
        """What a learner that has not seen the target's crowd believes of each target: targets x values."""
        return self._over_crowds(self.learned, run)

    def _over_crowds(self, belief: Floats, run: Run) -> Floats:
        """A belief about crowds for each target, over the crowds that fit."""
        weighted = self.crowds.totals(self.known, belief * self.crowds.sizes[:, None], run)
        return np.asarray(weighted / np.maximum(weighted.sum(axis=1, keepdims=True), 1e-300))


def _shares(belief: Floats) -> Floats:
    shares = np.exp(belief - belief.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


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
