"""Order: the row at a person's place in a sorted register is taken for hers.

A release may be sorted by what it shows: that says nothing new. So the control is the same release, its rows shuffled
among those that such an order cannot tell apart.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from incrowd.attacks.crowds import Crowds
from incrowd.attacks.problem import Codes, Problem, drawn
from incrowd.attacks.result import Attack, Group, NotApplicableError, Score
from incrowd.attacks.secrets import numbers_of
from incrowd.run import Run
from incrowd.table.grouping import group

SHUFFLES = 20  # of the rows, for the control
MOST_PLACES = 10_000


def by_place(problem: Problem, rng: np.random.Generator, run: Run) -> Iterator[Score]:
    """Everyone in the order of the file, and by each quasi-identifier, up and down."""
    rows = problem.released.table.records
    people = _those_who_may_be_there(problem, run)
    if not len(people):
        raise NotApplicableError("no released record fits anybody")
    orders = dict(_orders(problem, people))
    told_apart = _what_an_order_tells(problem)
    for name, order in orders.items():
        run.check()
        places = drawn(rows, MOST_PLACES, rng)
        placed = people[order][places * len(people) // rows]
        shuffled = [_fits(problem, placed, _shuffled(told_apart, rng)[places]).mean() for _ in range(SHUFFLES)]
        by_chance = float(np.mean(shuffled) + 2 * np.std(shuffled) / SHUFFLES**0.5)  # the upper end of what it may be
        fits = _fits(problem, placed, places)
        yield Score.above(name, fits, by_chance, simulated=by_chance, looks=len(orders))


def _those_who_may_be_there(problem: Problem, run: Run) -> Codes:
    """People whom a released record fits; the others were left out."""
    there = np.ones(problem.original.records, bool)
    for qid in problem.quasi_identifiers:
        crowds = Crowds.of(problem.released, qid.attributes)
        there &= crowds.candidates(problem.original.rows(qid.attributes), run) > 0
    return np.flatnonzero(there)


def _orders(problem: Problem, people: Codes) -> Iterator[tuple[str, Codes]]:
    yield "the order of the file", np.arange(len(people))
    yield "the order of the file, backwards", np.arange(len(people))[::-1]
    for column in dict.fromkeys(name for qid in problem.quasi_identifiers for name in qid.attributes):
        texts = problem.original.texts[column]
        numbers = numbers_of(texts)
        rank = np.unique([text or "" for text in texts], return_inverse=True)[1] if numbers is None else numbers
        values = rank[problem.original.codes[column][people]]
        yield f"sorted by {column}", np.argsort(values, kind="stable")
        yield f"sorted by {column}, descending", np.argsort(-values, kind="stable")


def _what_an_order_tells(problem: Problem) -> Codes:
    """The group of each row: rows of a group look alike in every column by which the release is plainly sorted."""
    table = problem.released.table
    groups = np.zeros(table.records, np.int64)
    columns, grown = list(problem.columns), True
    while grown:
        grown = False
        for column in columns:
            finer, firsts = group([groups, table.codes[column]], [int(groups.max()) + 1, len(table.texts[column])])
            if 1 + int((np.diff(finer) != 0).sum()) == len(firsts):  # every group stands together
                groups, grown = finer, True
                columns.remove(column)
                break
    return groups


def _shuffled(groups: Codes, rng: np.random.Generator) -> Codes:
    """The rows in an order in which each group stands where it stood."""
    shuffled = np.empty(len(groups), np.intp)
    shuffled[np.argsort(groups, kind="stable")] = np.lexsort([rng.random(len(groups)), groups])
    return shuffled


def _fits(problem: Problem, people: Codes, rows: Codes) -> npt.NDArray[np.bool_]:
    """Whether each row has what the person at its place has, in every column."""
    fits = np.ones(len(rows), bool)
    for column, cover in problem.released.covers.items():
        atoms = cover.atom_of[problem.original.codes[column][people]]
        fits &= cover.holds(problem.released.table.codes[column][rows], atoms)
    return fits


def _words(score: Score) -> str:
    return (
        f"the record at a person's place ({score.variant}) fits in every column for {score.share:.1%}; in a release "
        f"whose rows were shuffled, for {score.control_share:.1%}"
    )


ORDER = Attack(
    name="order",
    title="Order of rows",
    group=Group.METHOD,
    knows="the quasi-identifiers of everybody, in the order of the original file, and that it may have been kept",
    success="the record at a person's place has her values in every released column",
    control="the same release with its rows shuffled, among those that look alike in the columns by which it is sorted",
    paper="L. Sweeney, k-anonymity: a model for protecting privacy, 2002 (unsorted matching attack)",
    function=lambda problem, rng, run: list(by_place(problem, rng, run)),
    words=_words,
)
