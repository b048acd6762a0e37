"""Restarts: cuts with room, and attributes that are held back."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.reference.problem import Column, Problem
from tests.strategies import CRITERIA, problems
from tests.unit.search.clustering.test_guarded import table_of as protected_table

from incrowd.key import Key
from incrowd.policy.policy import QuasiIdentifier
from incrowd.run import Run
from incrowd.search.top_down.gains import InformationGain
from incrowd.search.top_down.restarts import drawn
from incrowd.search.top_down.search import Task
from incrowd.search.top_down.top_down import _searched, top_down


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
