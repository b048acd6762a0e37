"""The last record: whoever knows all records but one makes the release with every guess of that one, and compares.

Some people of the original are released again with the same settings, so that this says something about the method and
its settings rather than about the very release. The attacker has her own key: what a method draws at random she cannot
repeat. A budget of CPU time bounds how many people are guessed.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
import pyarrow as pa

from incrowd.attacks.crowds import Crowds
from incrowd.attacks.posterior import BUDGET, NO_METHOD, PEOPLE, Rerun
from incrowd.attacks.problem import Codes, Problem, drawn, problem_of
from incrowd.attacks.result import Attack, Group, NotApplicableError, Score
from incrowd.formats.registry import open_source
from incrowd.run import Run

TARGETS = 20
GUESSES = 8  # per target, the true one among them


def guess_the_last(problem: Problem, rng: np.random.Generator, run: Run) -> Iterator[Score]:
    """The guesses that give the same release, against all values that the labels of the person's record stand for."""
    if problem.rerun is None or problem.policy is None:
        raise NotApplicableError(NO_METHOD)
    sample, until, some = problem.rerun.table, time.process_time() + BUDGET, False
    released = problem.rerun.again(sample)
    if released is None:
        raise NotApplicableError(f"{sample.num_rows} people cannot be released with these settings")
    again = problem_of(open_source(released), open_source(sample), problem.policy, run=run)
    for qid in problem.quasi_identifiers:
        rerun = Rerun(sample, partial(_only, problem.rerun, qid.attributes))
        found = list(_tried(rerun, again, qid.attributes, rng, run, until))
        if found:
            some = True
            right, expected = np.array(found).T
            variant, looks = ", ".join(qid.attributes), len(problem.quasi_identifiers)
            yield Score.against_same(variant, right, expected, float(expected.mean()), looks=looks)
    if not some:
        raise NotApplicableError(f"nobody could be guessed within {BUDGET:g} s of CPU time")


def _only(rerun: Rerun, columns: Sequence[str], table: pa.Table) -> pa.Table | None:
    rows = rerun.again(table)
    return None if rows is None else rows.select(list(columns))


def _tried(
    rerun: Rerun, again: Problem, columns: Sequence[str], rng: np.random.Generator, run: Run, until: float
) -> Iterator[tuple[float, float]]:
    """For each target, how likely the attacker is right by making the release again, and by its labels alone."""
    crowds, people = Crowds.of(again.released, columns), again.original.rows(columns)
    shown = rerun.rows(rerun.table)
    for target in drawn(rerun.table.num_rows, TARGETS, rng).tolist():
        if time.process_time() > until:
            return
        true = tuple(int(codes[target]) for codes in people)
        fits = _fitting(crowds, true)
        if not len(fits):
            continue  # left out
        box = int(rng.choice(fits, p=crowds.sizes[fits] / crowds.sizes[fits].sum()))
        guesses = _guesses(true, crowds, box, people, rng)
        same = []
        for guess in guesses:
            run.check()
            same.append(rerun.rows(_with(rerun.table, target, columns, guess, people)) == shown)
        by_labels = 1 / len(guesses)
        yield (same[0] / sum(same) if any(same) else by_labels), by_labels


def _guesses(
    true: tuple[int, ...], crowds: Crowds, box: int, people: list[Codes], rng: np.random.Generator
) -> list[tuple[int, ...]]:
    """Values that the labels of a crowd stand for: the true ones first, others drawn at random."""
    guesses = {true: None}
    inside = []
    for cover, labels, codes in zip(crowds.covers, crowds.labels, people, strict=True):
        values = np.unique(codes)
        inside.append(values[cover.holds(labels[box], cover.atom_of[values])])
    for _ in range(4 * GUESSES):
        if len(guesses) < GUESSES:
            guesses[tuple(int(rng.choice(values)) for values in inside)] = None
    return list(guesses)


def _with(
    table: pa.Table, target: int, columns: Sequence[str], guess: tuple[int, ...], people: list[Codes]
) -> pa.Table:
    """The table, had the target the values of a guess."""
    for column, value, codes in zip(columns, guess, people, strict=True):
        rows = np.arange(table.num_rows)
        rows[target] = np.flatnonzero(codes == value)[0]
        table = table.set_column(table.schema.get_field_index(column), column, table[column].take(pa.array(rows)))
    return table


def _fitting(crowds: Crowds, values: tuple[int, ...]) -> Codes:
    fits = np.ones(crowds.number, bool)
    for cover, labels, value in zip(crowds.covers, crowds.labels, values, strict=True):
        fits &= cover.holds(labels, cover.atom_of[value])
    return np.flatnonzero(fits)


def _words(score: Score) -> str:
    return (
        f"whoever knows all of {PEOPLE} records but one, and makes the release with up to {GUESSES} guesses of "
        f"{score.variant}, finds the true one for {score.share:.1%} of {score.trials} people; by the labels alone "
        f"{score.control_share:.1%}; no promise about crowds excludes that"
    )


LAST_RECORD = Attack(
    name="last-record",
    title="The last record",
    group=Group.METHOD,
    knows="all records but one, the method, its settings and its code, but not the key",
    success=f"of up to {GUESSES} guesses that the labels of the last record allow, the true one gives the same release "
    f"of {PEOPLE} people; several that do share the success",
    control="a guess among those that the labels allow",
    paper="G. Cormode et al., Minimizing minimality and maximizing utility, 2010",
    function=lambda problem, rng, run: list(guess_the_last(problem, rng, run)),
    words=_words,
)
