"""Top-down search that may leave out records, against the definition, with models of every kind that allow it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.property.test_top_down import performed
from tests.reference.leaving_out import LeavingOut
from tests.reference.masked import comparable
from tests.reference.problem import Column, Problem
from tests.strategies import CRITERIA, problems
from tests.unit.search.top_down.test_privacy_models import (
    NoValueTooOften,
    level,
    protected,
    table_of,
)

from incrowd import QuasiIdentifier
from incrowd.errors import PolicyError, UnknownNameError
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.model import Requirement
from incrowd.run import Run
from incrowd.search.costs import cost_of
from incrowd.search.leaving_out import budget_of
from incrowd.search.top_down.search import Task
from incrowd.search.top_down.top_down import _searched, top_down

SHARES = st.sampled_from([0.0, 0.05, 0.1, 0.2, 0.4, 0.8])
PRIORITIES = st.none() | st.dictionaries(st.sampled_from(["age", "job", "sex", "zip"]), st.sampled_from([0.1, 2, 30]))


def reference(problem, criterion, budget, weights=None):
    qids = [(qid.attributes, qid.k) for qid in problem.quasi_identifiers]
    attributes = [column.attribute() for column in problem.columns]
    return LeavingOut(attributes, problem.rows, problem.classes, qids, criterion, budget, weights=weights)


def within(table, requirements, criterion, share, weights=None):
    """The search within the budget alone, which `top_down` compares with the one that leaves out nobody."""
    task = Task(table, requirements, criterion, weights)
    return _searched(task, Run(), budget_of(table, share), None, report=False)


def check(found, table, slow):
    """Every step is the best one of the definition, and none is left."""
    state = slow.top()
    for step in found.steps:
        refinement = performed(step, table, slow, state)
        assert refinement == slow.best(state)
        assert step.anonymity == refinement.anonymity
        figures = (refinement.gain, refinement.loss, refinement.score)
        assert (step.gain, step.loss, step.score) == tuple(float(comparable(figure)) for figure in figures)
        state = slow.refine(state, refinement)
    assert slow.best(state) is None
    return state


@examples(150)
@given(problems(), CRITERIA, SHARES, PRIORITIES)
def test_each_step_is_the_best_that_stays_within_the_budget(problem, criterion, share, priorities):
    table = problem.table()
    names = [column.name for column in problem.columns]
    weights = {name: weight for name, weight in (priorities or {}).items() if name in names}
    found = within(table, problem.requirements, criterion, share, weights)
    slow = reference(problem, criterion, budget_of(table, share), weights)
    state = check(found, table, slow)
    assert found.facts.get("suppressed_records", 0) <= len(problem.rows) - len(slow.released(state))


def closed_upward(requirements, illnesses):
    """The models that allow records to be left out; what they say of records of a requirement, and of the first one."""
    kept = [
        Requirement(r.attributes, tuple(m for m in r.models if m.upward_closed) or (KAnonymity(2),))
        for r in requirements
    ]

    def good(number, records):
        ill = [illnesses[record] for record in records]
        return all(level(model, ill) >= model.threshold for model in kept[number].models)

    return kept, good, lambda number, records: level(kept[number].models[0], [illnesses[r] for r in records])


@examples(150)
@given(protected(), CRITERIA, SHARES)
def test_protected_columns_are_counted_among_those_who_stay(case, criterion, share):
    problem, illnesses, requirements = case
    requirements, good, worst = closed_upward(requirements, illnesses)
    table = table_of(problem, illnesses)
    qids = [(requirement.attributes, None) for requirement in requirements]
    attributes = [column.attribute() for column in problem.columns]
    budget = budget_of(table, share)
    slow = LeavingOut(attributes, problem.rows, problem.classes, qids, criterion, budget, good)
    slow._level = worst
    check(within(table, requirements, criterion, share), table, slow)


@examples(100)
@given(problems(), CRITERIA, SHARES, PRIORITIES)
def test_a_budget_never_makes_a_release_worse(problem, criterion, share, priorities):
    table = problem.table()
    names = [column.name for column in problem.columns]
    words = {"criterion": criterion, "priorities": {n: w for n, w in (priorities or {}).items() if n in names}}
    plain = top_down(table, problem.requirements, Run(), **words)
    found = top_down(table, problem.requirements, Run(), suppress=share, **words)
    costs = [cost_of(table, each.recoding, words["priorities"]) for each in (found, plain)]
    assert costs[0] <= costs[1]
    assert costs[0] < costs[1] or found.facts.get("suppressed_records", 0) == 0


def test_models_that_are_not_exact_then_are_refused():
    table = Problem((Column("a", tuple(range(30)), "number"),), None, ()).table()
    requirement = Requirement(("a",), (KAnonymity(2), NoValueTooOften(0.5)))
    with pytest.raises(PolicyError, match="records cannot be left out"):
        top_down(table, (requirement,), Run(), suppress=0.1)


def test_priorities_name_quasi_identifiers():
    problem = Problem((Column("age", (1, 2, 3, 4), "number"),), None, (QuasiIdentifier(["age"], 2),))
    with pytest.raises(UnknownNameError, match="'priorities' parameter"):
        top_down(problem.table(), problem.requirements, Run(), priorities={"agee": 2})
