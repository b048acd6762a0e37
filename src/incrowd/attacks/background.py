"""Background knowledge by dial: an attacker who knows only some quasi-identifiers, or many of the others' records."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from incrowd.attacks.crowds import Crowds, Floats
from incrowd.attacks.linking import guesses
from incrowd.attacks.problem import Codes, Problem, drawn
from incrowd.attacks.result import Attack, Group, Score
from incrowd.run import Run

MOST_SETS = 40  # of columns, per size
SHARES = (0.5, 0.9)  # of the other records that are known


def turn_dials(problem: Problem, rng: np.random.Generator, run: Run) -> Iterator[Score]:
    """Every number of quasi-identifiers, with the worst set of that size; then shares of the others."""
    rows = problem.people(rng, problem.trials)
    looks = sum(len(qid.attributes) + len(SHARES) for qid in problem.quasi_identifiers)
    for qid in problem.quasi_identifiers:
        least = max(qid.k, 2)
        sizes = _candidates(problem, qid.attributes, rows, run)
        for size in range(len(qid.attributes), 0, -1):
            sets = list(combinations(qid.attributes, size))
            chosen = [sets[place] for place in drawn(len(sets), MOST_SETS, rng).tolist()]
            tried = {names: _candidates(problem, names, rows, run) for names in chosen}
            worst = max(tried, key=lambda names: (_below(tried[names], least).sum(), guesses(tried[names]).sum()))
            name = f"{size} of {len(qid.attributes)} columns: {', '.join(worst)}"
            facts = {"k": least, "right_first_guesses": float(np.mean(guesses(tried[worst])))}
            facts |= {"sets": len(chosen), "of_sets": len(sets)}
            yield Score.above(name, _below(tried[worst], least), 0.0, looks=looks, **facts)
        for share in SHARES:
            name, allowed = f"all columns, and {share:.0%} of the other records", remaining(np.array([least]), share)
            yield Score.above(name, remaining(sizes, share), float(allowed[0]), looks=looks, others=share, k=least)


def _candidates(problem: Problem, names: tuple[str, ...], rows: Codes, run: Run) -> Floats:
    return Crowds.of(problem.released, names).candidates(problem.original.rows(names, rows), run)


def _below(sizes: Floats, least: int) -> Floats:
    return ((sizes > 0) & (sizes < least)).astype(float)


def remaining(sizes: Floats, share: float) -> Floats:
    """How likely a first guess is right where each other candidate is known, and ruled out, with some probability.

    Of n candidates 1 + B(n - 1, 1 - q) remain; the mean of its inverse is (1 - q^n) / (n (1 - q)).
    """
    return np.where(sizes > 0, (1 - share**sizes) / np.maximum(sizes * (1 - share), 1e-300), 0.0)


def _words(score: Score) -> str:
    facts = score.facts
    if "others" in facts:
        allowed = f"(k allows {score.baseline:.2%})"
        return f"whoever knows {score.variant} guesses right for {score.share:.2%} of people {allowed}"
    below = f"{score.share:.2%} of people have fewer than {facts['k']:.0f} candidates"
    first = f"a first guess is right for {facts['right_first_guesses']:.2%} of people"
    return f"for whoever knows {score.variant}, {below}; {first}"


BACKGROUND = Attack(
    name="background",
    title="Partial knowledge",
    group=Group.K,
    knows="any number of the quasi-identifiers, or all of them and a share of the other people's records",
    success="a person has fewer candidates than k; with the others' records, a first guess is right",
    control="what k allows",
    paper="D. J. Martin et al., Worst-case background knowledge for privacy-preserving data publishing, 2007",
    function=lambda problem, rng, run: list(turn_dials(problem, rng, run)),
    words=_words,
)
