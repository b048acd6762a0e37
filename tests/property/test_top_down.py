"""Top-down search against the reference and against its own promises, on random small tables.

With and without a budget, priorities, models that protect a column, children shown one by one, and restarts.
"""

from itertools import chain, count
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.property.promises import check_cells, check_json
from tests.property.test_bottom_up import anonymized, wide
from tests.reference.leaving_out import LeavingOut
from tests.reference.masked import TIE, comparable
from tests.runs import seeded
from tests.strategies import CRITERIA, problems
from tests.unit.search.top_down.test_privacy_models import COMPARING, level, protected, table_of

from incrowd import apply, verify
from incrowd.key import Key
from incrowd.measures.measures import measure
from incrowd.recodings.steps import Disclose, RefineNode, SplitSet
from incrowd.run import Run, StepTaken
from incrowd.search.costs import cost_of
from incrowd.search.leaving_out import budget_of
from incrowd.search.top_down import groups, records
from incrowd.search.top_down.partial_refinement import SIBLINGS, can_be_partial
from incrowd.search.top_down.search import Task
from incrowd.search.top_down.top_down import _searched, searches, top_down

TABLES = problems(kinds=("tree", "tree", "number", "flat")) | wide()
SHARES = st.sampled_from([0.0, 0.0, 0.05, 0.1, 0.2, 0.4, 0.8])
PRIORITIES = st.none() | st.dictionaries(st.sampled_from(["age", "job", "sex", "zip"]), st.sampled_from([0.1, 2, 30]))
modest = examples(150)


def searched(table, requirements, criterion, budget=0, weights=None, **words):
    """One search, whether or not its release is the best of those that `top_down` compares."""
    return _searched(Task(table, requirements, criterion, weights, **words), Run(), budget, None, report=False)


def reference(problem, criterion, budget=0, *, partial=False, most=SIBLINGS, **words):
    """The slow search; a taxonomy of which no node has three children is refined as in the plain search."""
    qids = [(qid.attributes, qid.k) for qid in problem.quasi_identifiers]
    attributes = [
        column.parted(most) if partial and can_be_partial(column.encode()[0]) else column.attribute()
        for column in problem.columns
    ]
    return LeavingOut(attributes, problem.rows, problem.classes, qids, criterion, budget, **words)


def performed(step, table, slow, state):
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
    for refinement in slow.candidates(state):
        members = [child.members for child in refinement.children][: len(parts)]
        if refinement.attribute == step.attribute and members == [frozenset(part) for part in parts]:
            return refinement
    raise AssertionError(f"{step} is no refinement of {state[step.attribute]}")


def check(found, table, slow, *, whole=True):
    """Every step is the best valid and beneficial one of the definition, the first of equals, and none is left.

    Losses of anonymity are exact where its levels are whole numbers.
    """
    state = slow.top()
    for step in found.steps:
        refinement = performed(step, table, slow, state)
        assert refinement == slow.best(state)
        assert step.anonymity == refinement.anonymity
        figures = (refinement.gain, refinement.loss, refinement.score)
        exact = tuple(float(comparable(figure)) for figure in figures)
        assert (step.gain, step.loss, step.score) == (exact if whole else pytest.approx(exact, rel=TIE))
        state = slow.refine(state, refinement)
    assert slow.best(state) is None
    return state


@examples(100)
@given(problems(), CRITERIA)
def test_each_step_is_the_best_valid_and_beneficial_one_of_the_papers(problem, criterion):
    table = problem.table()
    check(searched(table, problem.requirements, criterion), table, problem.reference(criterion))
    steps = problem.steps(criterion)
    for number in range(len(steps)):
        assert problem.steps(criterion, number) == steps[:number]


@modest
@given(TABLES, CRITERIA, SHARES)
def test_with_children_shown_one_by_one_each_step_is_the_best_of_the_reference(problem, criterion, share):
    table = problem.table()
    budget = budget_of(table, share)
    found = searched(table, problem.requirements, criterion, budget, partial=True)
    check(found, table, reference(problem, criterion, budget, partial=True))


@modest
@given(problems(), CRITERIA, SHARES, PRIORITIES)
def test_each_step_is_the_best_within_the_budget(problem, criterion, share, priorities):
    table = problem.table()
    weights = {column.name: (priorities or {}).get(column.name, 1) for column in problem.columns}
    budget = budget_of(table, share)
    found = searched(table, problem.requirements, criterion, budget, weights)
    slow = reference(problem, criterion, budget, weights=weights)
    state = check(found, table, slow)
    assert found.facts.get("suppressed_records", 0) <= len(problem.rows) - len(slow.released(state))


@modest
@given(TABLES, CRITERIA, st.integers(0, 2))
def test_of_many_children_the_most_frequent_are_shown_one_by_one(problem, criterion, most):
    table = problem.table()
    with patch("incrowd.search.top_down.partial_refinement.SIBLINGS", most):
        found = searched(table, problem.requirements, criterion, partial=True)
    check(found, table, reference(problem, criterion, partial=True, most=most))


@examples(250)
@given(protected(), CRITERIA, SHARES, st.booleans())
def test_protected_columns_are_counted_among_those_who_stay(case, criterion, share, partial):
    """With models that are not upward closed, or compare with the released rows, as well."""
    counted_among_those_who_stay(case, criterion, share, partial)


@examples(150)
@given(protected(COMPARING), CRITERIA, st.sampled_from([0.2, 0.4, 0.6]))
def test_candidates_are_counted_anew_when_what_they_are_compared_with_changes(case, criterion, share):
    counted_among_those_who_stay(case, criterion, share, False)


def counted_among_those_who_stay(case, criterion, share, partial):
    """Every step is that of the reference."""
    problem, illnesses, requirements = case
    table = table_of(problem, illnesses)
    budget = budget_of(table, share)
    partial = partial and not (budget and any(not requirement.upward_closed for requirement in requirements))

    def levels(number, some, left):
        ill, everyone = [illnesses[record] for record in some], [illnesses[record] for record in left]
        return [(level(model, ill, everyone), model.threshold) for model in requirements[number].models]

    slow = reference(
        problem, criterion, budget, partial=partial, good=lambda *some: all(a >= b for a, b in levels(*some))
    )
    slow._level = lambda *some: levels(*some)[0][0]
    whole = all(model.whole for requirement in requirements for model in requirement.models)
    check(searched(table, requirements, criterion, budget, partial=partial), table, slow, whole=whole)


@examples(100)
@given(protected(), CRITERIA, st.booleans())
def test_how_records_are_counted_changes_no_step(case, criterion, partial):
    """By tables or by sorting, one by one or merged."""
    problem, illnesses, requirements = case
    for table, asked in ((table_of(problem, illnesses), requirements), (problem.table(), problem.requirements)):
        steps = searched(table, asked, criterion, partial=partial).steps
        with patch.object(groups, "SPARE", -(10**9)):  # no table is small
            assert searched(table, asked, criterion, partial=partial).steps == steps
        with patch.multiple(records, _MANY=0, _SAMPLED=1, _DISTINCT=1.0):
            assert searched(table, asked, criterion, partial=partial).steps == steps


@modest
@given(TABLES, CRITERIA, st.booleans())
def test_the_promises_of_steps_hold(problem, criterion, partial):
    found = searched(problem.table(), problem.requirements, criterion, partial=partial)
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
        assert problem.holds(step.anonymity)
        if isinstance(step.change, SplitSet):  # one child apart, or all of them
            assert sum(map(len, step.change.sets)) == len(set(chain(*step.change.sets)))
            assert sum(label is not None and label.startswith("{") for label in step.children) <= 1
        before = released


@modest
@given(problems(target=False), CRITERIA, st.booleans())
def test_without_a_target_gains_add_up_to_the_loss_removed(problem, criterion, partial):
    found = searched(problem.table(), problem.requirements, criterion, partial=partial)
    after = measure(problem.table(), found.recoding, problem.requirements).attributes
    general = measure(problem.table(), problem.recoding([]), problem.requirements).attributes
    for first, last in zip(general, after, strict=True):
        gained = sum(step.gain for step in found.steps if (step.attribute,) == last.attributes)
        assert first.ncp - gained == pytest.approx(last.ncp, abs=TIE)


@examples(100)
@given(TABLES, CRITERIA, SHARES, st.integers(0, 2), st.booleans())
def test_the_release_is_the_first_of_the_best_and_never_worse_than_the_plain_one(
    problem, criterion, share, restarts, partial
):
    table, requirements, reported = problem.table(), problem.requirements, []
    words = {"criterion": criterion, "suppress": share}
    can = partial and any(map(can_be_partial, table.attributes))
    task = Task(table, requirements, criterion, partial=can)
    found = [list(searches(task, seeded(3), restarts, most)) for most in dict.fromkeys((0, budget_of(table, share)))]
    costs = [[cost_of(table, each.recoding) for each in made] for made in found]
    assert all(len(made) == 1 + can + restarts for made in found)
    plain = top_down(table, requirements, Run(), criterion=criterion)
    assert cost_of(table, plain.recoding) == costs[0][0]
    run = Run(reported.append, key=Key.for_experiments(3))
    taken = top_down(table, requirements, run, **words, restarts=restarts, partial=partial)
    everything = list(chain(*costs))
    assert taken.recoding == list(chain(*found))[everything.index(min(everything))].recoding
    assert tuple(event.step for event in reported if isinstance(event, StepTaken)) == taken.steps
    assert min(everything) < costs[0][0] or not taken.facts.get("suppressed_records")


@examples(100)
@given(TABLES, CRITERIA, st.sampled_from([0, 3]), st.booleans(), st.data())
def test_the_order_of_rows_and_columns_changes_no_step(problem, criterion, restarts, partial, data):
    rows = data.draw(st.permutations(range(len(problem.rows))))
    columns = data.draw(st.permutations(range(len(problem.columns))))
    words = {"criterion": criterion, "restarts": restarts, "partial": partial}
    first, second = (
        top_down(one.table(), one.requirements, seeded(1), **words)
        for one in (problem, problem.permuted(rows, columns))
    )
    assert first.steps == second.steps


@examples(60)
@given(TABLES, SHARES)
def test_the_release_holds_and_can_be_applied_and_looked_at_step_by_step(problem, share):
    later = count(0, -1)  # whether or not the release is better for it
    with patch("incrowd.search.top_down.top_down.cost_of", lambda *_: next(later)):
        rows, release = anonymized(problem, method="tdr", suppress=share, partial=True)
    assert verify(release.data, quasi_identifiers=problem.quasi_identifiers).holds
    assert apply(release.recoding, rows).equals(release.data)
    assert release.at(len(release.steps)).data.equals(release.data)
