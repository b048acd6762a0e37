"""Membership: was this person in the table? Whoever fits a released record may have been."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from incrowd.attacks.crowds import Crowds
from incrowd.attacks.problem import Problem
from incrowd.attacks.result import Attack, Group, Score
from incrowd.run import Run


def membership(problem: Problem, rng: np.random.Generator, run: Run) -> Iterator[Score]:
    """Says "was in it" if a released record fits: by quasi-identifiers, and by all that is released."""
    variants = {f"knows {', '.join(qid.attributes)}": qid.attributes for qid in problem.quasi_identifiers}
    known = {name for qid in problem.quasi_identifiers for name in qid.attributes}
    if set(problem.columns) > known:
        variants["knows every released column"] = problem.columns
    for name, columns in variants.items():
        rows = problem.people(rng, problem.trials)
        crowds = Crowds.of(problem.released, columns)
        sizes = crowds.candidates(problem.original.rows(columns, rows), run)
        if problem.control is not None:
            others = crowds.candidates(problem.control.rows(columns, problem.strangers(rng)), run)
            yield Score.against_others(name, sizes > 0, others > 0, 0.5, looks=len(variants))
        else:
            yield Score.against_same(name, sizes > 0, sizes > 1, 0.5, looks=len(variants))


def _words(score: Score) -> str:
    return (
        f"whoever {score.variant} of a person says rightly that {score.share:.1%} of people were in the table, and "
        f"wrongly {score.control_share:.1%} of those who were not"
    )


MEMBERSHIP = Attack(
    name="membership",
    title="Membership",
    group=Group.UNTOUCHED,
    knows="the quasi-identifiers of a person, or all that is released, and not whether the person was in the table",
    success="a released record fits the person",
    control="people who are not in the table; without a control table, the same people had their record been left out",
    paper="M. E. Nergiz, M. Atzori and C. Clifton, Hiding the presence of individuals from shared databases, 2007",
    function=lambda problem, rng, run: list(membership(problem, rng, run)),
    words=_words,
)
