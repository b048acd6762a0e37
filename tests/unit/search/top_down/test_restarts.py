"""Restarts: never worse than the plain search on what it is for, the same for the same key and any order."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.reference.problem import Column, Problem
from tests.runs import seeded
from tests.strategies import CRITERIA, problems
from tests.unit.search.clustering.test_guarded import table_of as protected_table

from incrowd.key import Key
from incrowd.policy.policy import QuasiIdentifier
from incrowd.run import Run, StepTaken
from incrowd.search.costs import cost_of
from incrowd.search.top_down.gains import InformationGain
from incrowd.search.top_down.restarts import drawn
from incrowd.search.top_down.search import Task
from incrowd.search.top_down.top_down import _searched, searches, top_down

SHARES = st.sampled_from([0.0, 0.2])


@examples(60)
@given(problems(), CRITERIA, SHARES, st.integers(0, 3))
def test_restarts_are_never_worse_and_every_step_is_valid(problem, criterion, share, restarts):
    table, told = problem.table(), []
    run = Run(
        lambda event: told.append(event.step) if isinstance(event, StepTaken) else None, key=Key.for_experiments(3)
    )
    words = {"criterion": criterion, "suppress": share}
    plain = top_down(table, problem.requirements, Run(), **words)
    found = top_down(table, problem.requirements, run, restarts=restarts, **words)
    assert cost_of(table, found.recoding) <= cost_of(table, plain.recoding)
    assert tuple(told) == found.steps
    assert restarts or found == plain
    if not share:
        assert problem.holds(problem.anonymity(problem.release(found.recoding)))


@examples(60)
@given(problems(), CRITERIA, st.integers(1, 4))
def test_all_searches_can_be_looked_at_and_the_first_of_the_best_is_taken(problem, criterion, restarts):
    table = problem.table()
    found = list(searches(Task(table, problem.requirements, criterion), seeded(3), restarts))
    costs = [cost_of(table, each.recoding) for each in found]
    assert len(found) == restarts + 1
    assert found[0] == top_down(table, problem.requirements, seeded(3), criterion=criterion)
    taken = top_down(table, problem.requirements, seeded(3), criterion=criterion, restarts=restarts)
    assert taken == found[costs.index(min(costs))]


@examples(60)
@given(problems(), CRITERIA, st.data())
def test_the_order_of_rows_and_columns_changes_nothing(problem, criterion, data):
    rows = data.draw(st.permutations(range(len(problem.rows))))
    columns = data.draw(st.permutations(range(len(problem.columns))))
    moved = problem.permuted(rows, columns)
    first, second = (
        top_down(one.table(), one.requirements, seeded(1), criterion=criterion, restarts=3) for one in (problem, moved)
    )
    assert first.steps == second.steps


@examples(60)
@given(st.lists(st.integers(0, 9), min_size=2, max_size=12), st.integers(0, 30))
def test_cuts_leave_room_where_they_can(counts, room):
    below = np.cumsum(counts)[:-1]
    gain = InformationGain(np.array(counts)[:, None])
    found = gain._with_room(0, len(counts), room).tolist()
    roomy = [cut for cut, left in enumerate(below.tolist()) if left >= room and sum(counts) - left >= room]
    assert found == (roomy or list(range(len(below))))


def test_room_keeps_a_few_records_from_being_set_apart():
    lopsided = np.array([[40, 10], [40, 10], [0, 6]])
    assert [InformationGain(lopsided, room=room).best_cut(0, 3) for room in (0, 6, 7)] == [2, 2, 1]


def test_a_number_whose_best_cut_breaks_k_is_cut_elsewhere_by_restarts(monkeypatch):
    """The three oldest are all Y, but too few for a class; a restart cuts where there is room."""
    monkeypatch.setattr("incrowd.search.top_down.top_down.drawn", lambda *words: ({}, {}))
    ages, labels = [1] * 10 + [2] * 10 + [3] * 3, "N" * 10 + "N" * 8 + "Y" * 5
    column = Column("age", tuple(ages), "number", None, None)
    problem = Problem((column,), tuple(labels), (QuasiIdentifier(["age"], 4),))
    plain, again = (top_down(problem.table(), problem.requirements, Run(), restarts=restarts) for restarts in (0, 1))
    assert [step.children for step in plain.steps] == []
    assert [step.children for step in again.steps] == [("<2", ">=2")]


@examples(60)
@given(problems(), CRITERIA)
def test_cuts_that_are_made_elsewhere_keep_every_promise(problem, criterion):
    table = problem.table()
    task = Task(table, problem.requirements, criterion, again=True)
    found = _searched(task, Run(), 0, None, report=False)
    assert problem.holds(problem.anonymity(problem.release(found.recoding)))
    for step in found.steps:
        assert all(level >= qid.k for level, qid in zip(step.anonymity, problem.quasi_identifiers, strict=True))


def test_a_restart_holds_some_attributes_back():
    """Refined after the others, whatever their gains, but never left out."""
    table = protected_table(1)
    weights = [drawn(table, {"age": 2.0}, Key.for_experiments(0), restart)[0] for restart in range(1, 41)]
    names = {attribute.name for attribute in table.attributes}
    assert all(weight.keys() == names for weight in weights)
    held = [name for weight in weights for name in names if weight[name] < 0.15]
    assert {*held} == names
    assert 0 < len(held) < len(weights) * len(names) / 2
