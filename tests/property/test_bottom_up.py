"""Bottom-up generalization against the reference and against its own promises, on random small tables."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from unittest.mock import patch

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.labels import labels_of
from tests.property.promises import check_cells, check_json
from tests.reference.bottom_up import BottomUp
from tests.reference.masked import TIE
from tests.runs import seeded
from tests.strategies import problems

from incrowd import anonymize, apply, verify
from incrowd.measures.measures import measure
from incrowd.recodings.attributes.disclosure import Disclosure
from incrowd.recodings.attributes.intervals import Intervals
from incrowd.recodings.replay import replayed
from incrowd.recodings.steps import NOT_TOLD, GeneralizeNode, MergeIntervals, Suppress, TakeBack
from incrowd.run import Run
from incrowd.search.bottom_up.bottom_up import _best_way, _Ways, bottom_up
from incrowd.search.bottom_up.problem import Problem as Asked
from incrowd.search.costs import cost_of, weighed_cost
from incrowd.search.leaving_out import budget_of, withhold
from incrowd.search.method import SearchResult

modest = examples(100)
MEASURES = st.sampled_from(["entropy", "weighted", "ncp"])
SHARES = st.sampled_from([0.0, 0.1, 0.25, 0.5])


def measure_of(problem, information):
    return information if problem.classes is not None else "ncp"


def search(problem, information, seed=0, **options):
    words = {"information": measure_of(problem, information), **options}
    return bottom_up(problem.table(), problem.requirements, seeded(seed), **words)


def within(problem, information, share):
    """The search within the budget alone, which `bottom_up` compares with the one that leaves out nobody."""
    table = problem.table()
    budget = min(budget_of(table, share), table.records - 1)
    weights = dict.fromkeys((attribute.name for attribute in table.attributes), Fraction(1))
    asked = Asked(table, problem.requirements, measure_of(problem, information), budget, weights)
    best, _ = _best_way(asked, Run(), _Ways(0, False, {}, True, False), report=False)
    recoding, left_out = withhold(table, replayed(table.attributes, best.steps, "specific"), best.suppressed)
    return SearchResult(recoding, tuple(best.steps), "specific", {"suppressed_records": left_out})


def after(problem, found, number):
    """The recoding after some steps."""
    return replayed(problem.table().attributes, found.steps[:number], "specific")


def reference_of(problem, information):
    qids = [(qid.attributes, qid.k) for qid in problem.quasi_identifiers]
    attributes = [column.attribute() for column in problem.columns]
    return BottomUp(attributes, problem.rows, problem.classes, qids, measure_of(problem, information))


def replay(problem, information):
    """Each step with the state before it, the best generalization of the reference, and the state after it."""
    reference = reference_of(problem, information)
    state = reference.bottom()
    for step in search(problem, information).steps:
        best = reference.best(state)
        following = reference.generalize(state, best.attribute, best.value, best.children)
        yield step, state, best, following
        state = following


@modest
@given(problems(), MEASURES)
def test_each_step_is_the_best_of_all_valid_generalizations(problem, information):
    for step, _, best, _ in replay(problem, information):
        assert (step.attribute, len(step.children)) == (best.attribute, len(best.children))
        score = best.score if best.gain else best.information
        assert (step.gain, step.anonymity) == (best.gain, best.anonymity)
        assert (step.loss, step.score) == pytest.approx((float(best.information), float(score)), abs=TIE)


@modest
@given(problems(), MEASURES)
def test_the_released_cells_are_those_of_the_reference_after_every_step(problem, information):
    found = search(problem, information)
    reference = reference_of(problem, information)
    states = [reference.bottom(), *(following for *_, following in replay(problem, information))]
    for number, state in enumerate(states):
        released = problem.release(after(problem, found, number))
        for name, values in state.items():
            cells = [next(v for v in values if row[name] in v.members) for row in problem.rows]
            assert len(set(zip(released[name], cells, strict=True))) == len(set(cells)) == len(set(released[name]))


@modest
@given(problems(), MEASURES)
def test_it_stops_at_the_first_state_that_satisfies_the_policy(problem, information):
    reference = reference_of(problem, information)
    last = reference.bottom()
    for _, state, _, following in replay(problem, information):
        assert not reference.satisfied(state)
        last = following
    assert reference.satisfied(last)


@modest
@given(problems(), MEASURES)
def test_pruning_changes_no_step(problem, information):
    pruned, plain = search(problem, information), search(problem, information, pruning=False)
    assert pruned.steps == plain.steps
    assert pruned.facts["generalizations_tried"] <= plain.facts["generalizations_tried"]


@modest
@given(problems(), MEASURES)
def test_pruning_tries_at_most_one_generalization_per_attribute_and_quasi_identifier(problem, information):
    found = search(problem, information)
    most = sum(len(qid.attributes) for qid in problem.quasi_identifiers)
    assert found.facts["generalizations_tried"] <= most * len(found.steps)


@modest
@given(problems(), MEASURES)
def test_the_anonymity_of_every_step_is_that_of_its_release(problem, information):
    found = search(problem, information)
    check_anonymity(problem, found)


@modest
@given(problems(), MEASURES, st.integers(1, 3), st.booleans())
def test_many_values_generalize_in_atoms(problem, information, atoms, tighten):
    with patch("incrowd.search.bottom_up.generalization_trees.ATOMS", atoms):
        found = search(problem, information, tighten=tighten)
        assert search(problem, information, tighten=tighten, pruning=False).steps == found.steps
    check_anonymity(problem, found)
    assert problem.holds(problem.anonymity(problem.release(found.recoding)))


def check_anonymity(problem, found):
    """Every step tells the anonymity of its release."""
    for number, step in enumerate(found.steps, 1):
        assert step.anonymity == problem.anonymity(problem.release(after(problem, found, number)))


@modest
@given(problems(), MEASURES)
def test_the_recoding_after_every_step_is_a_valid_cut(problem, information):
    found = search(problem, information)
    for number in range(len(found.steps) + 1):
        check_cells(problem, after(problem, found, number))


@modest
@given(problems(), MEASURES)
def test_at_the_bottom_every_value_is_itself_and_nothing_is_lost(problem, information):
    recoding = after(problem, search(problem, information), 0)
    for column in problem.columns:
        released = problem.release(recoding)[column.name]
        if column.kind == "number":
            released = [None if text is None else float(text) for text in released]
        assert released == list(column.values)
    assert measure(problem.table(), recoding, problem.requirements).total.ncp == 0


@modest
@given(problems(), MEASURES)
def test_the_step_names_the_cells_that_it_replaces(problem, information):
    found = search(problem, information)
    before = problem.release(after(problem, found, 0))
    for number, step in enumerate(found.steps, 1):
        released = problem.release(after(problem, found, number))
        for name, cells in released.items():
            for old, new in zip(before[name], cells, strict=True):
                assert old == new or (name == step.attribute and new == step.value and old in step.children)
        before = released


@modest
@given(problems(), MEASURES, st.data())
def test_the_order_of_rows_and_columns_changes_no_step(problem, information, data):
    rows = data.draw(st.permutations(range(len(problem.rows))))
    columns = data.draw(st.permutations(range(len(problem.columns))))
    moved = problem.permuted(rows, columns)
    options = {
        "suppress": data.draw(SHARES),
        "restarts": data.draw(st.integers(0, 2)),
        "tighten": data.draw(st.booleans()),
    }
    assert search(moved, information, **options).steps == search(problem, information, **options).steps


@modest
@given(problems(), MEASURES, SHARES)
def test_a_recoding_survives_json(problem, information, share):
    found = search(problem, information, suppress=share)
    check_json(problem, found.recoding)


@modest
@given(problems(), SHARES)
def test_losses_add_up_to_the_ncp_of_the_release(problem, share):
    found = search(replace(problem, classes=None), "ncp", suppress=share)
    lost = Counter()
    for step in found.steps:
        lost[step.attribute] += step.loss
    measures = measure(problem.table(), after(problem, found, len(found.steps)), problem.requirements)
    for attribute in measures.attributes:
        assert attribute.ncp == pytest.approx(lost[attribute.attributes[0]], abs=TIE)
    assert found.facts["information_lost"] == pytest.approx(sum(lost.values()), abs=TIE)


@modest
@given(problems(), MEASURES, SHARES)
def test_the_budget_ends_the_search_as_soon_as_few_enough_records_are_left_out(problem, information, share):
    found = within(problem, information, share)
    reference = reference_of(problem, information)
    state, states = reference.bottom(), []
    for _ in found.steps:
        states.append(state)
        best = reference.best(state)
        state = reference.generalize(state, best.attribute, best.value, best.children)
    budget = int(share * len(problem.rows) + TIE)
    assert all(len(reference.left_out(earlier)) > budget for earlier in states)
    assert found.facts["suppressed_records"] <= len(reference.left_out(state)) <= budget
    assert (found.recoding.classes is None) == (len(reference.left_out(state)) == 0)


@modest
@given(problems(), MEASURES, SHARES)
def test_a_budget_never_makes_a_release_worse(problem, information, share):
    table, is_ncp = problem.table(), measure_of(problem, information) == "ncp"
    plain, found = (search(problem, information, suppress=budget) for budget in (0.0, share))
    price = weighed_cost if is_ncp else cost_of
    costs = [price(table, each.recoding, None) for each in (found, plain)]
    assert costs[0] <= costs[1]
    assert costs[0] < costs[1] or found.facts["suppressed_records"] == 0


@modest
@given(problems(), MEASURES, SHARES, st.integers(0, 2), st.booleans())
def test_the_release_holds_and_applying_its_recoding_to_its_own_rows_gives_it_again(
    problem, information, share, restarts, tighten
):
    rows = pa.table({column.name: column.array(column.values) for column in problem.columns})
    if problem.classes is not None:
        rows = rows.append_column("class", pa.array(problem.classes))
    release = anonymize(
        rows,
        quasi_identifiers=problem.quasi_identifiers,
        target=None if problem.classes is None else "class",
        taxonomies={column.name: column.taxonomy for column in problem.columns if column.taxonomy},
        types={column.name: "text" for column in problem.columns if column.kind == "flat"},
        method="bug",
        information=measure_of(problem, information),
        suppress=share,
        restarts=restarts,
        tighten=tighten,
    )
    assert verify(release.data, quasi_identifiers=problem.quasi_identifiers).holds
    assert apply(release.recoding, rows).equals(release.data)
    assert release.at(len(release.steps)).data.equals(release.data)
    check_nothing_untold(release, problem)
    left_out = len(rows) - len(release.data)
    assert left_out == release.measures.total.suppressed == release.found.facts["suppressed_records"]


@modest
@given(problems(), MEASURES, st.integers(0, 3))
def test_restarts_never_lose_more(problem, information, seed):
    plain, restarted = search(problem, information), search(problem, information, restarts=3, seed=seed)
    assert restarted.facts["information_lost"] <= plain.facts["information_lost"]
    assert search(problem, information, restarts=3, seed=seed).steps == restarted.steps


@modest
@given(problems(), MEASURES)
def test_tightening_goes_on_from_the_plain_search_and_every_step_holds(problem, information):
    plain, tight = search(problem, information), search(problem, information, tighten=True)
    assert tight.steps[: len(plain.steps)] == plain.steps
    assert tight.facts["information_lost"] <= plain.facts["information_lost"]
    for number in range(len(plain.steps), len(tight.steps) + 1):
        anonymity = problem.anonymity(problem.release(after(problem, tight, number)))
        assert problem.holds(anonymity)
        assert number == 0 or anonymity == tight.steps[number - 1].anonymity


@modest
@given(problems(), MEASURES)
def test_after_tightening_no_generalization_can_be_taken_back(problem, information):
    found = search(problem, information, tighten=True)
    changes = []
    for step in found.steps:
        if isinstance(step.change, TakeBack):
            changes = [
                other
                for other in changes
                if other.change != step.change.generalization or other.attribute != step.attribute
            ]
        else:
            changes.append(step)
    for step in changes:
        if not any(covers(other, step, problem) for other in changes):
            fewer = [other for other in changes if other is not step]
            release = problem.release(replayed(problem.table().attributes, fewer, "specific"))
            assert not problem.holds(problem.anonymity(release))


def covers(other, step, problem):
    """Whether a generalization was built on another one."""
    if other is step or other.attribute != step.attribute:
        return False
    if isinstance(step.change, GeneralizeNode):
        column = next(column for column in problem.columns if column.name == step.attribute)
        taxonomy = column.taxonomy.with_missing() if None in column.values else column.taxonomy
        return other.change.node in taxonomy.ancestors(step.change.node)
    if isinstance(step.change, MergeIntervals):
        return other.change.edges[0] <= step.change.edges[0] and step.change.edges[-1] <= other.change.edges[-1]
    return other.number > step.number  # the suppressed values grow step by step


def check_nothing_untold(release, problem):
    """What is written beside a release names values that the release has, or that a taxonomy has."""
    for column in problem.columns:
        released = set(labels_of(release.data, column.name))
        recoding = release.recoding[column.name]
        if isinstance(recoding, Disclosure):
            assert set(recoding.shown) <= released
        elif isinstance(recoding, Intervals):
            assert {recoding.scale.text(number) for number in recoding.exact} <= released
        for step in release.steps:
            if step.attribute == column.name and (column.taxonomy is None or isinstance(step.change, Suppress)):
                told = step.to_json(recoding.labels)
                assert {told["value"], *told["children"]} <= {*recoding.labels, NOT_TOLD}
