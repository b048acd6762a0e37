"""Bottom-up generalization with groups of children and values suppressed by themselves, on random small tables."""

from dataclasses import replace
from fractions import Fraction
from unittest.mock import patch

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.property.promises import check_cells, check_json
from tests.property.test_bottom_up import (
    MEASURES,
    SHARES,
    after,
    check_anonymity,
    check_nothing_untold,
    measure_of,
    modest,
    reference_of,
    search,
)
from tests.reference.bottom_up import BottomUp
from tests.reference.masked import TIE, comparable
from tests.reference.problem import Column, Problem
from tests.strategies import problems

from incrowd import anonymize, apply, verify
from incrowd.measures.measures import measure
from incrowd.policy.policy import QuasiIdentifier
from incrowd.recodings.steps import TakeBack
from incrowd.search.bottom_up.generalization_trees import tree_of
from incrowd.search.bottom_up.problem import rare_values
from incrowd.taxonomies.taxonomy import Taxonomy

WAYS = st.fixed_dictionaries({"partial": st.booleans(), "suppress_values": st.sampled_from([0.0, 0.4, 0.7])})


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


@modest
@given(problems(), MEASURES, WAYS)
def test_with_groups_and_rare_values_each_step_is_that_of_the_reference(problem, information, ways):
    found = parted(problem, information, ways)
    reference = last_reference(problem, information, ways)
    state = reference.bottom()
    for number, step in enumerate(found.steps, 1):
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


@modest
@given(problems(), MEASURES, WAYS, st.booleans(), st.data())
def test_with_groups_and_rare_values_the_promises_of_steps_hold(problem, information, ways, tighten, data):
    found = parted(problem, information, ways, tighten=tighten)
    assert parted(problem, information, ways, tighten=tighten, pruning=False).steps == found.steps
    rows = data.draw(st.permutations(range(len(problem.rows))))
    columns = data.draw(st.permutations(range(len(problem.columns))))
    assert parted(problem.permuted(rows, columns), information, ways, tighten=tighten).steps == found.steps
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
@given(problems(), WAYS)
def test_losses_of_groups_and_suppressed_values_add_up_to_the_ncp_of_the_release(problem, ways):
    found = parted(replace(problem, classes=None), "ncp", ways)
    measures = measure(problem.table(), found.recoding, problem.requirements)
    total = sum(attribute.ncp for attribute in measures.attributes)
    assert found.facts["information_lost"] == pytest.approx(total, abs=TIE)


@modest
@given(problems(), MEASURES, WAYS, st.integers(2, 3))
def test_many_children_are_run_together_before_pairs_are_looked_at(problem, information, ways, most):
    with patch("incrowd.search.bottom_up.generalization_trees.SIBLINGS", most):
        found = parted(problem, information, ways)
    check_anonymity(problem, found)
    assert problem.holds(problem.anonymity(problem.release(found.recoding)))


def anonymized(problem, **options):
    """The rows of a problem, and their release."""
    rows = pa.table({column.name: column.array(column.values) for column in problem.columns})
    release = anonymize(
        rows,
        quasi_identifiers=problem.quasi_identifiers,
        taxonomies={column.name: column.taxonomy for column in problem.columns if column.taxonomy},
        types={column.name: "text" for column in problem.columns if column.kind == "flat"},
        **options,
    )
    return rows, release


@modest
@given(problems(), MEASURES, WAYS, SHARES, st.booleans())
def test_the_release_of_groups_and_suppressed_values_holds_and_can_be_applied(
    problem, information, ways, share, tighten
):
    rows, release = anonymized(problem, method="bug", suppress=share, tighten=tighten, **ways)
    assert verify(release.data, quasi_identifiers=problem.quasi_identifiers).holds
    assert apply(release.recoding, rows).equals(release.data)
    assert release.at(len(release.steps)).data.equals(release.data)
    check_nothing_untold(release, problem)
