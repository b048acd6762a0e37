"""Top-down search against the reference and against its own promises, on random small tables."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.property.promises import check_cells, check_json
from tests.reference.masked import TIE, comparable
from tests.reference.problem import Column, Problem
from tests.strategies import CRITERIA, problems

from incrowd.policy.policy import QuasiIdentifier
from incrowd.recodings.steps import Disclose, RefineNode, SplitSet

modest = examples(100)


def performed(step, table, reference, state):
    """The refinement of the reference that a step performed."""
    attribute, change = table.attributes[table.index(step.attribute)], step.change
    values = attribute.numbers.tolist() if hasattr(attribute, "numbers") else attribute.values().to_pylist()
    values = values + [None] * (attribute.size - len(values))
    if isinstance(change, RefineNode):
        taxonomy = attribute.taxonomy
        parts = [values[taxonomy.start[n] : taxonomy.stop[n]] for n in taxonomy.children[change.node]]
    elif isinstance(change, SplitSet):
        parts = [[values[code] for code in codes] for codes in change.sets]
    elif isinstance(change, Disclose):
        parts = [[values[change.code]]]
    else:
        parts = [values[change.start : change.at], values[change.at : change.stop]]
    for refinement in reference.candidates(state):
        members = [child.members for child in refinement.children][: len(parts)]
        if refinement.attribute == step.attribute and members == [frozenset(part) for part in parts]:
            return refinement
    raise AssertionError(f"{step} is no refinement of {state[step.attribute]}")


def replay(problem, criterion):
    """Each step with the state before it, the refinement it performed, and the state after it."""
    reference, table = problem.reference(criterion), problem.table()
    state = reference.top()
    for step in problem.steps(criterion):
        refinement = performed(step, table, reference, state)
        yield step, state, refinement, (state := reference.refine(state, refinement))


def allowed(reference, state):
    return [refinement for refinement in reference.candidates(state) if refinement.valid and refinement.beneficial]


@modest
@given(problems(), CRITERIA)
def test_each_step_is_the_best_valid_and_beneficial_one(problem, criterion):
    reference = problem.reference(criterion)
    for step, state, refinement, _ in replay(problem, criterion):
        candidates = allowed(reference, state)
        assert refinement in candidates
        assert comparable(refinement.score) == max(comparable(candidate.score) for candidate in candidates)
        exact = (comparable(figure) for figure in (refinement.gain, refinement.loss, refinement.score))
        assert (step.gain, step.loss, step.score) == tuple(map(float, exact))
        assert step.anonymity == refinement.anonymity


@modest
@given(problems(), CRITERIA)
def test_of_equally_good_steps_the_first_by_name_and_value_is_taken(problem, criterion):
    reference = problem.reference(criterion)
    for _, state, refinement, _ in replay(problem, criterion):
        assert refinement == reference.best(state)


def test_scores_that_are_equal_as_fractions_tie():
    """Disclosing a = y scores 3/6 over 3, disclosing b = y scores 4/6 over 4: the same."""
    columns = Column("a", tuple("yxxyyz"), "flat"), Column("b", tuple("yyyyxz"), "flat")
    problem = Problem(columns, None, (QuasiIdentifier(["a", "b"], 2),))
    (first,) = problem.steps("tds", 1)
    assert (first.attribute, first.children) == ("a", ("y", "*"))


@modest
@given(problems(), CRITERIA)
def test_nothing_valid_and_beneficial_is_left(problem, criterion):
    reference = problem.reference(criterion)
    state = reference.top()
    for _, _, _, after in replay(problem, criterion):
        state = after
    assert not allowed(reference, state)


@modest
@given(problems(), CRITERIA)
def test_every_quasi_identifier_holds_after_every_step(problem, criterion):
    steps = problem.steps(criterion)
    for number in range(len(steps) + 1):
        anonymity = problem.anonymity(problem.release(problem.recoding(steps[:number])))
        assert problem.holds(anonymity)
        assert number == 0 or anonymity == steps[number - 1].anonymity


@modest
@given(problems(), CRITERIA)
def test_the_recoding_after_every_step_is_a_valid_cut(problem, criterion):
    steps = problem.steps(criterion)
    for number in range(len(steps) + 1):
        check_cells(problem, problem.recoding(steps[:number]))


@modest
@given(problems(), CRITERIA, st.data())
def test_the_order_of_rows_and_columns_changes_no_step(problem, criterion, data):
    rows = data.draw(st.permutations(range(len(problem.rows))))
    columns = data.draw(st.permutations(range(len(problem.columns))))
    moved = problem.permuted(rows, columns)
    steps = problem.steps(criterion)
    assert moved.steps(criterion) == steps


@modest
@given(problems(), CRITERIA)
def test_a_recoding_survives_json(problem, criterion):
    check_json(problem, problem.recoding(problem.steps(criterion)))


@modest
@given(problems(), CRITERIA)
def test_a_recoding_releases_the_cells_that_the_steps_made(problem, criterion):
    steps = []
    cells = problem.release(problem.recoding(steps))
    for step, _, refinement, _ in replay(problem, criterion):
        column = next(column for column in problem.columns if column.name == step.attribute)
        released = cells[column.name]
        for record, value in enumerate(column.values):
            if value in refinement.value.members:
                assert released[record] == step.value
                child = next(i for i, child in enumerate(refinement.children) if value in child.members)
                released[record] = step.children[child]
        steps.append(step)
        assert problem.release(problem.recoding(steps)) == cells


@modest
@given(problems(), CRITERIA)
def test_fewer_steps_are_the_first_steps(problem, criterion):
    steps = problem.steps(criterion)
    for number in range(len(steps)):
        assert problem.steps(criterion, number) == steps[:number]


@modest
@given(problems(target=False), CRITERIA)
def test_without_a_target_gains_add_up_to_the_loss_removed(problem, criterion):
    reference = problem.reference(criterion)
    first = last = reference.top()
    gains = Counter()
    for step, _, _, after in replay(problem, criterion):
        gains[step.attribute] += step.gain
        last = after
    recoding = problem.recoding(problem.steps(criterion))
    for column, attribute in zip(problem.columns, problem.table().attributes, strict=True):
        before, left = (mean_loss(reference, state, problem.rows, column.name) for state in (first, last))
        # An attribute whose top stands for a single value has nothing to lose: it starts at 0.
        single = column.kind != "flat" and reference.attributes[column.name].loss(first[column.name][0]) == 0
        assert before == (0 if single else 1)
        assert before - gains[column.name] == pytest.approx(left, abs=TIE)
        cells = recoding.cells(column.name, column.array(column.values))
        assert recoding[column.name].losses(attribute)[cells].mean() == pytest.approx(left, abs=TIE)


def mean_loss(reference, state, rows, name):
    loss = reference.attributes[name].loss
    return sum(loss(reference.masked(state, row)[name]) for row in rows) / len(rows)
