"""Left-out people: whoever has a register sees whom no released record fits, and knows why records are left out."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from incrowd.attacks.crowds import Crowds
from incrowd.attacks.problem import Codes, Problem
from incrowd.attacks.result import Attack, Group, NotApplicableError, Score
from incrowd.attacks.secrets import Secrets
from incrowd.run import Run


def guess_of_left_out(problem: Problem, rng: np.random.Generator, run: Run) -> Iterator[Score]:
    """The value of each sensitive column that being left out tells most about."""
    if not problem.sensitive:
        raise NotApplicableError("no released column is named as sensitive")
    out = _left_out(problem, problem.people(rng), run)
    if not len(out):
        raise NotApplicableError("a released record fits everybody, so nobody is known to be left out")
    columns = dict.fromkeys(name for qid in problem.quasi_identifiers for name in qid.attributes)
    for column in problem.sensitive:
        known = [Secrets.of(problem, column, (name,), problem.original, out, run) for name in columns]
        true, prior = known[0].true, known[0].prior
        shares = np.bincount(true[true >= 0], minlength=len(prior)) / len(true)
        told = int(np.argmax(shares - prior))
        anyway = np.full(len(true), prior[told])  # what is likely by any one quasi-identifier is general knowledge
        for each in known:
            anyway = np.maximum(anyway, each.totals[:, told] / np.maximum(each.candidates, 1))
        looks = len(problem.sensitive) * int((prior > 0).sum())
        yield Score.above(column, true == told, float(prior[told]), simulated=float(anyway.mean()), looks=looks)


def _left_out(problem: Problem, people: Codes, run: Run) -> Codes:
    gone = np.zeros(len(people), bool)
    for qid in problem.quasi_identifiers:
        known = problem.original.rows(qid.attributes, people)
        gone |= Crowds.of(problem.released, qid.attributes).candidates(known, run) == 0
    return people[gone]


def _words(score: Score) -> str:
    return (
        f"of {score.trials:,} people whom no released record fits, {score.share:.1%} have the same value of "
        f"{score.variant}; by what is known of such people {score.control_share:.1%} would, overall "
        f"{score.baseline:.1%} do"
    )


LEFT_OUT = Attack(
    name="left-out",
    title="People who are left out",
    group=Group.METHOD,
    knows="the quasi-identifiers of everybody, and that crowds are left out which share a secret",
    success="a person whom no released record fits has the value that being left out tells most about",
    control="how frequent that value is among released records that share any one quasi-identifier with the person, or "
    "overall, whichever is more",
    paper="R. C.-W. Wong et al., Minimality attack in privacy preserving data publishing, 2007",
    function=lambda problem, rng, run: list(guess_of_left_out(problem, rng, run)),
    words=_words,
)
