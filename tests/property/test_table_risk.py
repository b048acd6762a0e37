"""Promises about all classes together: model, witness, definition and brute force agree."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.examples import examples
from tests.reference import table_risk as reference
from tests.reference.full_domain import FullDomain
from tests.strategies import problems

from incrowd.population.uniqueness import Sample, estimate
from incrowd.privacy.model import Requirement
from incrowd.privacy.table_risk import AverageRisk, PopulationUniqueness, SampleUniqueness
from incrowd.run import Run
from incrowd.search.leaving_out import bad_classes
from incrowd.search.registry import method_of
from incrowd.table.class_counts import ClassCounts
from incrowd.verification.counts import Promise, reached

SIZES = st.lists(st.sampled_from([1, 1, 1, 2, 2, 3, 5, 9]), min_size=1, max_size=12)
SHARES = st.sampled_from([0.02, 0.1, 0.2, 0.25, 1 / 3, 0.5, 0.75])
SIMPLE = st.one_of(SHARES.map(AverageRisk), SHARES.map(SampleUniqueness))
ESTIMATED = st.builds(
    PopulationUniqueness, SHARES, st.sampled_from([0.05, 0.1, 0.3, 0.8]), st.sampled_from(["zayatz", "pitman", "snb"])
)


@examples(200)
@given(SIZES, SHARES)
def test_risks_are_those_of_the_definition(sizes, share):
    rows = reference.rows_of(sizes)
    for model, defined in ((AverageRisk, reference.average_risk), (SampleUniqueness, reference.sample_uniqueness)):
        assert model(share).reached(np.array(sizes)) == float(defined(rows))
        assert model(share).holds(np.array(sizes)) == (float(defined(rows)) <= share)


@examples(200)
@given(SIZES, st.integers(1, 80))
def test_zayatz_is_that_of_the_definition(sizes, more):
    assume(1 in sizes)
    people = sum(sizes) + more
    expected = min(people, reference.zayatz(sizes, people))
    assert estimate("Zayatz", Sample.of(np.array(sizes), people)).uniques == pytest.approx(float(expected))


@examples(150)
@given(SIZES, st.one_of(SIMPLE, ESTIMATED))
def test_the_witness_counts_the_same(sizes, model):
    level = model.reached(np.array(sizes))
    found, bad = reached(Promise(**model.promise()), np.array(sizes), {})
    assert min(found, 1.0) == pytest.approx(level, rel=1e-6, abs=1e-12)
    if abs(level - model.share) > 1e-5:
        assert bool(bad.any()) != model.holds(np.array(sizes))
    assert bad.all() or not bad.any()


@examples(150)
@given(SIZES, st.data(), SIMPLE)
def test_a_monotone_promise_still_holds_once_classes_are_merged(sizes, data, model):
    assume(len(sizes) > 1 and model.holds(np.array(sizes)))
    one, other = data.draw(st.lists(st.integers(0, len(sizes) - 1), min_size=2, max_size=2, unique=True))
    merged = [size for place, size in enumerate(sizes) if place not in (one, other)] + [sizes[one] + sizes[other]]
    assert model.monotone
    assert model.holds(np.array(merged))


@examples(100)
@given(st.lists(st.sampled_from([1, 1, 2, 3, 5]), min_size=1, max_size=8), st.lists(SIMPLE, min_size=1, max_size=2))
def test_no_fewer_records_could_be_left_out(sizes, models):
    requirement = Requirement(("a",), tuple(models))
    out = bad_classes(requirement, ClassCounts(np.array(sizes)))
    fewest = reference.fewest_left_out(sizes, lambda left: all(model.holds(np.array(left)) for model in models))
    assert int(np.array(sizes)[out].sum()) == fewest
    assert requirement.holds(ClassCounts(np.array(sizes)[~out]))


@examples(60)
@given(SIZES, ESTIMATED)
def test_what_is_left_keeps_an_estimated_promise_too(sizes, model):
    requirement = Requirement(("a",), (model,))
    out = bad_classes(requirement, ClassCounts(np.array(sizes)))
    assert requirement.holds(ClassCounts(np.array(sizes)[~out]))


def cheapest(problem, models, budget):
    """The lowest discernibility of any full-domain generalization, counted on every node of the lattice."""
    lattice, (qid,) = FullDomain(problem, 0), problem.quasi_identifiers
    requirement, costs = Requirement(qid.attributes, models), []
    for node in lattice.nodes():
        classes = Counter(tuple(row[name] for name in qid.attributes) for row in lattice.rows(node))
        sizes = np.array(sorted(classes.values()))
        out = bad_classes(requirement, ClassCounts(sizes))
        left_out = int(sizes[out].sum())
        if left_out <= budget:
            costs.append(int((sizes[~out] ** 2).sum()) + left_out * len(problem.rows))
    return min(costs, default=None)


@examples(60)
@given(problems(target=False), st.one_of(SIMPLE, ESTIMATED), st.sampled_from([0.0, 0.1, 0.3]), st.booleans())
def test_incognito_finds_the_cheapest_of_all_nodes(problem, model, share, with_k):
    (qid, *_) = problem.quasi_identifiers
    problem = replace(problem, quasi_identifiers=(replace_attributes(problem, qid),))
    (asked,) = problem.requirements
    models = (*(asked.models if with_k else ()), model)
    budget = min(int(share * len(problem.rows) + 1e-9), len(problem.rows) - 1)
    expected = cheapest(problem, models, budget)
    requirements = (replace(asked, models=models),)
    options = {"cost": "dm", "suppress": share}
    if expected is None:
        return
    found = method_of("incognito", options)(problem.table(), requirements, options, Run())
    assert found.facts["lowest_cost"] == expected


def replace_attributes(problem, qid):
    """A quasi-identifier of all columns, so that what is priced is what is counted."""
    return type(qid)([column.name for column in problem.columns], qid.k)
