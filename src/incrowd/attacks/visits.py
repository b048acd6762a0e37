"""Visits: where a person has several records, her secret is likely one that all of her crowds have."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from incrowd.attacks.crowds import Floats
from incrowd.attacks.problem import Problem, drawn
from incrowd.attacks.result import Attack, Group, NotApplicableError, Score
from incrowd.attacks.secrets import Secrets
from incrowd.run import Run


def over_visits(problem: Problem, rng: np.random.Generator, run: Run) -> Iterator[Score]:
    """The secret that is most likely if it is the same in all records of a person, against one record alone."""
    if problem.unit is None or not problem.sensitive:
        raise NotApplicableError("it needs a sensitive column, and a column that says whose record it is (--unit)")
    several = np.flatnonzero(np.bincount(problem.unit)[1:] > 1) + 1  # 0 says nothing
    if not len(several):
        raise NotApplicableError("nobody has several records")
    persons = several[drawn(len(several), problem.trials, rng)]
    rows = np.flatnonzero(np.isin(problem.unit, persons))
    rows = rows[np.argsort(problem.unit[rows], kind="stable")]
    firsts = np.flatnonzero(np.diff(problem.unit[rows], prepend=0))
    looks = len(problem.sensitive) * len(problem.quasi_identifiers)
    for column in problem.sensitive:
        for qid in problem.quasi_identifiers:
            secrets = Secrets.of(problem, column, qid.attributes, problem.original, rows, run)
            own = firsts[firsts < len(secrets.true)]  # of very wide columns not everybody fits in memory
            belief = secrets.totals / np.maximum(secrets.candidates, 1)[:, None]
            together = np.multiply.reduceat(belief, own, axis=0)
            right = _right(together, secrets.true[own])
            alone = _right(belief[own], secrets.true[own])
            name = column if len(problem.quasi_identifiers) == 1 else f"{column} from {', '.join(qid.attributes)}"
            baseline = float(np.mean(_right(np.broadcast_to(secrets.prior, together.shape), secrets.true[own])))
            certain = float(np.mean(((together > 0).sum(axis=1) == 1) & (right == 1)))
            yield Score.against_same(name, right, alone, baseline, looks=looks, certain=certain)


def _right(belief: Floats, true: Floats) -> Floats:
    """How likely the most likely value is the true one; ties are broken by chance."""
    best = (belief >= belief.max(axis=1, keepdims=True) * (1 - 1e-12)) & (belief > 0)
    own = best[np.arange(len(best)), true] & (true >= 0)
    return np.where(own, 1 / np.maximum(best.sum(axis=1), 1), 0.0)


def _words(score: Score) -> str:
    return (
        f"all records of a person together give {score.variant} rightly for {score.share:.1%} of people who have "
        f"several, with certainty for {score.facts['certain']:.1%}; one of them for {score.control_share:.1%}"
    )


VISITS = Attack(
    name="visits",
    title="Several records of one person",
    group=Group.SEVERAL,
    knows="the quasi-identifiers of all records of a person, and that they are hers",
    success="the secret that is most likely if it is the same in all of them is the right one",
    control="the same from one of the records",
    paper="M. E. Nergiz, C. Clifton and A. E. Nergiz, Multirelational k-anonymity, 2007",
    function=lambda problem, rng, run: list(over_visits(problem, rng, run)),
    words=_words,
)
