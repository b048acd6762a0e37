"""Top-down search that shows children of a taxonomy's node one by one, on random small tables."""

from itertools import chain, count
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.property.promises import check_cells, check_json
from tests.property.test_parted_generalization import anonymized, wide
from tests.reference.leaving_out import LeavingOut
from tests.reference.masked import TIE
from tests.runs import seeded
from tests.strategies import CRITERIA, problems
from tests.unit.search.top_down.test_leaving_out import SHARES, check, closed_upward
from tests.unit.search.top_down.test_privacy_models import protected, table_of

from incrowd import apply, verify
from incrowd.measures.measures import measure
from incrowd.recodings.steps import SplitSet
from incrowd.run import Run
from incrowd.search.costs import cost_of
from incrowd.search.leaving_out import budget_of
from incrowd.search.top_down import records
from incrowd.search.top_down.partial_refinement import SIBLINGS, can_be_partial
from incrowd.search.top_down.search import Task
from incrowd.search.top_down.top_down import _searched, searches, top_down

TABLES = problems(kinds=("tree", "tree", "number", "flat")) | wide()
modest = examples(150)


def parted(problem, criterion, budget=0, table=None, requirements=None):
    """The search that shows children one by one, whether or not the release is better for it."""
    task = Task(table or problem.table(), requirements or problem.requirements, criterion, partial=True)
    return _searched(task, Run(), budget, None, report=False)


def reference(problem, criterion, budget, most=SIBLINGS, **words):
    """The slow search; a taxonomy of which no node has three children is refined as in the plain search."""
    qids = [(qid.attributes, qid.k) for qid in problem.quasi_identifiers]
    attributes = [
        column.parted(most) if can_be_partial(column.encode()[0]) else column.attribute() for column in problem.columns
    ]
    return LeavingOut(attributes, problem.rows, problem.classes, qids, criterion, budget, **words)


@modest
@given(TABLES, CRITERIA, SHARES)
def test_each_step_is_the_best_of_the_reference_and_none_is_left(problem, criterion, share):
    table = problem.table()
    budget = budget_of(table, share)
    check(parted(problem, criterion, budget), table, reference(problem, criterion, budget))


@modest
@given(TABLES, CRITERIA, st.integers(0, 2))
def test_of_many_children_the_most_frequent_are_shown_one_by_one(problem, criterion, most):
    with patch("incrowd.search.top_down.partial_refinement.SIBLINGS", most):
        found = parted(problem, criterion)
    check(found, problem.table(), reference(problem, criterion, 0, most))


@modest
@given(protected(), CRITERIA, SHARES)
def test_protected_columns_are_counted_in_what_is_shown_and_in_what_is_left(case, criterion, share):
    problem, illnesses, requirements = case
    requirements, good, worst = closed_upward(requirements, illnesses)
    table = table_of(problem, illnesses)
    slow = reference(problem, criterion, budget := budget_of(table, share), good=good)
    slow._level = worst
    check(parted(problem, criterion, budget, table, requirements), table, slow)


@modest
@given(TABLES, CRITERIA, st.data())
def test_the_promises_of_steps_hold(problem, criterion, data):
    found = parted(problem, criterion)
    rows = data.draw(st.permutations(range(len(problem.rows))))
    columns = data.draw(st.permutations(range(len(problem.columns))))
    assert parted(problem.permuted(rows, columns), criterion).steps == found.steps
    before = problem.release(problem.recoding([]))
    for number, step in enumerate(found.steps, 1):
        recoding = problem.recoding(found.steps[:number])
        check_cells(problem, recoding)
        check_json(problem, recoding)
        released = problem.release(recoding)
        for name, cells in released.items():
            for old, new in zip(before[name], cells, strict=True):
                assert old == new or (name == step.attribute and old == step.value and new in step.children)
        assert step.anonymity == problem.anonymity(released)
        before = released


@modest
@given(TABLES, CRITERIA)
def test_every_set_is_what_is_left_of_one_node(problem, criterion):
    """One child apart, or all of them; and of a node never more than one set is left."""
    for step in parted(problem, criterion).steps:
        if isinstance(step.change, SplitSet):
            sets = [set(codes) for codes in step.change.sets]
            assert len(sets) > 1
            assert sum(map(len, sets)) == len(set().union(*sets))
            assert sum(label is not None and label.startswith("{") for label in step.children) <= 1


@modest
@given(TABLES, CRITERIA)
def test_records_that_are_counted_as_one_change_no_step(problem, criterion):
    with patch.multiple(records, _MANY=0, _SAMPLED=1, _DISTINCT=1.0):
        merging = parted(problem, criterion)
    assert parted(problem, criterion) == merging


@modest
@given(problems(target=False, kinds=("tree", "flat")), CRITERIA)
def test_without_a_target_gains_add_up_to_the_loss_removed(problem, criterion):
    found = parted(problem, criterion)
    measures = measure(problem.table(), found.recoding, problem.requirements)
    general = measure(problem.table(), problem.recoding([]), problem.requirements)
    for before, after in zip(general.attributes, measures.attributes, strict=True):
        gained = sum(step.gain for step in found.steps if (step.attribute,) == after.attributes)
        assert before.ncp - gained == pytest.approx(after.ncp, abs=TIE)


@modest
@given(TABLES, CRITERIA, SHARES, st.integers(0, 2))
def test_the_release_is_the_first_of_the_best_and_never_worse_than_the_plain_one(problem, criterion, share, restarts):
    table, requirements = problem.table(), problem.requirements
    words = {"criterion": criterion, "suppress": share}
    task = Task(table, requirements, criterion, partial=True)
    budgets = dict.fromkeys((0, budget_of(table, share)))
    found = [list(searches(task, seeded(3), restarts, budget)) for budget in budgets]
    costs = [[cost_of(table, each.recoding) for each in made] for made in found]
    plain = top_down(table, requirements, Run(), **words)
    assert cost_of(table, plain.recoding) == min(made[0] for made in costs)
    taken = top_down(table, requirements, seeded(3), **words, restarts=restarts, partial=True)
    if any(map(can_be_partial, table.attributes)):
        assert all(len(made) == restarts + 2 for made in found)
        everything = list(chain(*costs))
        assert taken.recoding == list(chain(*found))[everything.index(min(everything))].recoding
    assert cost_of(table, taken.recoding) <= cost_of(table, plain.recoding)


@examples(60)
@given(TABLES, SHARES)
def test_the_release_holds_and_can_be_applied_and_looked_at_step_by_step(problem, share):
    later = count(0, -1)  # whether or not the release is better for it
    with patch("incrowd.search.top_down.top_down.cost_of", lambda *_: next(later)):
        rows, release = anonymized(problem, method="tdr", suppress=share, partial=True)
    assert verify(release.data, quasi_identifiers=problem.quasi_identifiers).holds
    assert apply(release.recoding, rows).equals(release.data)
    assert release.at(len(release.steps)).data.equals(release.data)
