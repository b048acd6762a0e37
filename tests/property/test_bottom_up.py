"""Bottom-up generalization against the reference and against its own promises, on random small tables.

With and without groups of children, values suppressed by themselves, a budget, restarts and tightening.
"""

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
from tests.reference.masked import TIE, comparable
from tests.reference.problem import Column, Problem
from tests.runs import seeded
from tests.strategies import problems

from incrowd import anonymize, apply, verify
from incrowd.measures.measures import measure
from incrowd.policy.policy import QuasiIdentifier
from incrowd.recodings.attributes.disclosure import Disclosure
from incrowd.recodings.attributes.intervals import Intervals
from incrowd.recodings.replay import replayed
from incrowd.recodings.steps import NOT_SHOWN, GeneralizeNode, MergeIntervals, Suppress, TakeBack
from incrowd.run import Run
from incrowd.search.bottom_up.bottom_up import _best_way, _Ways, bottom_up
from incrowd.search.bottom_up.generalization_trees import tree_of
from incrowd.search.bottom_up.problem import Problem as Asked
from incrowd.search.bottom_up.problem import rare_values
from incrowd.search.costs import cost_of, weighed_cost
from incrowd.search.leaving_out import budget_of, records_left_out, withhold
from incrowd.search.method import SearchResult
from incrowd.taxonomies.taxonomy import Taxonomy

modest = examples(100)
MEASURES = st.sampled_from(["entropy", "weighted", "ncp"])
SHARES = st.sampled_from([0.0, 0.1, 0.25, 0.5])
PLAIN = {"partial": False, "suppress_values": 0.0}
WAYS = st.just(PLAIN) | st.fixed_dictionaries(
    {"partial": st.booleans(), "suppress_values": st.sampled_from([0.0, 0.4, 0.7])}
)


@st.composite
def wide(draw):
    """A column whose taxonomy has nodes with many children, with and without a target."""
    leaves = [f"v{number}" for number in range(draw(st.integers(4, 9)))]
    cut = draw(st.integers(0, 3))
    below = [{"inner": leaves[:cut]}] if cut else []
    taxonomy = Taxonomy.from_tree({"root": [*below, *leaves[cut:]]})
    pairs = [("v0", "Y"), ("v1", "N")]  # the policy can hold
    for value in draw(st.sampled_from([leaves, [*leaves, None]])):
        pairs += [(value, "Y")] * draw(st.integers(0, 6)) + [(value, "N")] * draw(st.integers(0, 3))
    values, classes = zip(*pairs, strict=True)
    column = Column("job", values, "tree", taxonomy)
    return Problem((column,), classes if draw(st.booleans()) else None, (QuasiIdentifier(("job",), 2),))


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
    every = replayed(table.attributes, best.steps, "specific")
    recoding, _ = withhold(table, problem.requirements, every, best.suppressed)
    facts = {"suppressed_records": records_left_out(table, recoding)}
    return SearchResult(recoding, tuple(best.steps), "specific", facts)


def after(problem, found, number):
    """The recoding after some steps."""
    return replayed(problem.table().attributes, found.steps[:number], "specific")


def reference_of(problem, information):
    qids = [(qid.attributes, qid.k) for qid in problem.quasi_identifiers]
    attributes = [column.attribute() for column in problem.columns]
    return BottomUp(attributes, problem.rows, problem.classes, qids, measure_of(problem, information))


def parted(problem, information, ways, **options):
    """The search with groups and rare values, whether or not it loses less with them."""
    with patch("incrowd.search.bottom_up.bottom_up._Search.loses_less_than", lambda *_: True):
        return search(problem, information, **ways, **options)


def parted_references(problem, information, ways):
    """The references that the search compares, one after the other: each is given which of those before is kept."""
    plain = reference_of(problem, information)
    qids, trees = [(qid.attributes, qid.k) for qid in problem.quasi_identifiers], {}
    for column in sorted(problem.columns, key=lambda column: column.name):
        least = max(qid.k for qid in problem.quasi_identifiers if column.name in qid.attributes)
        share = Fraction(str(ways["suppress_values"]))
        if column.taxonomy and (rare := plain.rare(column.attribute(), share, least)):
            trees[column.name] = rare
    words = (problem.rows, problem.classes, qids, measure_of(problem, information))
    attributes = [column.attribute() for column in problem.columns]
    groups, kept = False, {}
    if ways["partial"]:
        groups = yield BottomUp(attributes, *words, groups=True)
    for name, rare in trees.items():
        if (yield BottomUp(attributes, *words, groups=groups, rare={**kept, name: rare})):
            kept = {**kept, name: rare}


def last_reference(problem, information, ways, less=lambda *_: True):
    """The reference that is kept in the end."""
    best, references, keeps = reference_of(problem, information), parted_references(problem, information, ways), None
    while True:
        try:
            another = references.send(keeps)
        except StopIteration:
            return best
        keeps = less(another, best)
        best = another if keeps else best


@examples(60)
@given(wide(), MEASURES, WAYS)
def test_the_tree_of_a_taxonomy_is_that_of_the_reference(problem, information, ways):
    table, reference = problem.table(), last_reference(problem, information, ways)
    rare = rare_values(table, problem.requirements, Fraction(str(ways["suppress_values"])))
    parting = {"groups": ways["partial"], "rare": rare.get("job", ())}
    tree = tree_of(table, 0, measure_of(problem, information), **parting)
    texts = table.attributes[0].values().to_pylist()
    members = [set() for _ in tree.parent]
    for text, node in zip(texts, tree.leaves.tolist(), strict=True):
        while node >= 0:
            members[node].add(text)
            node = int(tree.parent[node])
    made = {frozenset(frozenset(members[child]) for child in below) for below in tree.children if len(below) > 1}
    expected = [frozenset(child.members for child in below) for _, below in reference.hierarchies["job"]]
    assert made == {below for below in expected if len(below) > 1}


@examples(150)
@given(problems(), MEASURES, WAYS)
def test_each_step_is_that_of_the_reference_until_the_policy_is_satisfied(problem, information, ways):
    found = parted(problem, information, ways)
    reference = last_reference(problem, information, ways)
    state = reference.bottom()
    for number, step in enumerate(found.steps, 1):
        assert not reference.satisfied(state)
        best = reference.best(state)
        score = best.score if best.gain else best.information
        assert (step.attribute, len(step.children)) == (best.attribute, len(best.children))
        assert (step.gain, step.anonymity) == (best.gain, best.anonymity)
        assert (step.loss, step.score) == pytest.approx((float(best.information), float(score)), abs=TIE)
        state = reference.generalize(state, best.attribute, best.value, best.children)
        recoding = after(problem, found, number)
        check_cells(problem, recoding)
        check_json(problem, recoding)
        released = problem.release(recoding)
        assert step.anonymity == problem.anonymity(released)
        for name, values in state.items():
            cells = [next(v for v in values if row[name] in v.members) for row in problem.rows]
            assert len(set(zip(released[name], cells, strict=True))) == len(set(cells)) == len(set(released[name]))
    assert reference.satisfied(state)


@modest
@given(problems(), MEASURES, WAYS)
def test_groups_and_rare_values_are_kept_where_the_search_loses_less(problem, information, ways):
    reference = last_reference(
        problem, information, ways, lambda one, other: comparable(one.search()[1]) < comparable(other.search()[1])
    )
    steps, lost = reference.search()
    found = search(problem, information, **ways)
    assert found.facts["information_lost"] == pytest.approx(float(lost), abs=TIE)
    assert [(step.attribute, step.anonymity) for step in found.steps] == [(s.attribute, s.anonymity) for s in steps]
    assert found.facts["information_lost"] <= search(problem, information).facts["information_lost"]


@examples(150)
@given(problems(), MEASURES, WAYS, st.booleans(), st.data())
def test_the_promises_of_steps_hold(problem, information, ways, tighten, data):
    found = parted(problem, information, ways, tighten=tighten)
    plain = parted(problem, information, ways, tighten=tighten, pruning=False)
    assert plain.steps == found.steps
    tried = found.facts["generalizations_tried"]
    assert tried <= plain.facts["generalizations_tried"]
    if ways == PLAIN:  # one search: at most one per attribute and quasi-identifier
        assert tried <= sum(len(qid.attributes) for qid in problem.quasi_identifiers) * len(found.steps)
    rows = data.draw(st.permutations(range(len(problem.rows))))
    columns = data.draw(st.permutations(range(len(problem.columns))))
    options = {"tighten": tighten, "suppress": data.draw(SHARES), "restarts": data.draw(st.integers(0, 2))}
    moved = parted(problem.permuted(rows, columns), information, ways, **options)
    assert moved.steps == parted(problem, information, ways, **options).steps
    before = problem.release(after(problem, found, 0))
    for number, step in enumerate(found.steps, 1):
        released = problem.release(after(problem, found, number))
        general, special = (before, released) if isinstance(step.change, TakeBack) else (released, before)
        for name, cells in general.items():
            for old, new in zip(special[name], cells, strict=True):
                assert old == new or (name == step.attribute and new == step.value and old in step.children)
        before = released
    assert problem.holds(problem.anonymity(before))


@modest
@given(problems(), MEASURES, WAYS, st.integers(1, 3), st.booleans())
def test_many_values_are_run_together(problem, information, ways, most, tighten):
    """Those of a column in atoms, and the rarest children of a node before pairs are looked at."""
    trees = "incrowd.search.bottom_up.generalization_trees"
    with patch(f"{trees}.ATOMS", most), patch(f"{trees}.SIBLINGS", max(2, most)):
        found = parted(problem, information, ways, tighten=tighten)
        assert parted(problem, information, ways, tighten=tighten, pruning=False).steps == found.steps
    for number, step in enumerate(found.steps, 1):
        assert step.anonymity == problem.anonymity(problem.release(after(problem, found, number)))
    assert problem.holds(problem.anonymity(problem.release(found.recoding)))


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
@given(problems(), SHARES, WAYS)
def test_losses_add_up_to_the_ncp_of_the_release(problem, share, ways):
    found = parted(replace(problem, classes=None), "ncp", ways, suppress=share)
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


def anonymized(problem, **options):
    """The rows of a problem, and their release."""
    rows = pa.table({column.name: column.array(column.values) for column in problem.columns})
    if problem.classes is not None:
        rows = rows.append_column("class", pa.array(problem.classes))
    release = anonymize(
        rows,
        quasi_identifiers=problem.quasi_identifiers,
        target=None if problem.classes is None else "class",
        taxonomies={column.name: column.taxonomy for column in problem.columns if column.taxonomy},
        types={column.name: "text" for column in problem.columns if column.kind == "flat"},
        **options,
    )
    return rows, release


@modest
@given(problems(), MEASURES, WAYS, SHARES, st.integers(0, 2), st.booleans())
def test_the_release_holds_and_applying_its_recoding_to_its_own_rows_gives_it_again(
    problem, information, ways, share, restarts, tighten
):
    options = {"suppress": share, "restarts": restarts, "tighten": tighten, **ways}
    rows, release = anonymized(problem, method="bug", information=measure_of(problem, information), **options)
    assert verify(release.data, quasi_identifiers=problem.quasi_identifiers).holds
    assert apply(release.recoding, rows).equals(release.data)
    assert release.at(len(release.steps)).data.equals(release.data)
    left_out = len(rows) - len(release.data)
    assert left_out == release.measures.total.suppressed == release.found.facts["suppressed_records"]
    for column in problem.columns:  # what is written next to it names values that the release or a taxonomy has
        released = set(labels_of(release.data, column.name))
        recoding = release.recoding[column.name]
        if isinstance(recoding, Disclosure):
            assert set(recoding.shown) <= released
        elif isinstance(recoding, Intervals):
            assert {recoding.scale.text(number) for number in recoding.exact} <= released
        for step in release.steps:
            if step.attribute == column.name and (column.taxonomy is None or isinstance(step.change, Suppress)):
                told = step.to_json(recoding.labels)
                assert {told["value"], *told["children"]} <= {*recoding.labels, NOT_SHOWN}


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
