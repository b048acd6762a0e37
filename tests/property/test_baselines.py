"""The full-domain baselines and the genetic algorithm against brute force and their own promises, on small tables."""

import json
from collections import Counter
from fractions import Fraction
from itertools import pairwise

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.labels import label_rows
from tests.recoded import released_by
from tests.reference.full_domain import FullDomain, height, loss
from tests.runs import seeded
from tests.strategies import problems

from incrowd.key import Key
from incrowd.measures.measures import measure
from incrowd.recodings.by_value import ByValue
from incrowd.recodings.replay import replayed
from incrowd.run import Run, StepTaken
from incrowd.search.baselines.domains import hierarchy
from incrowd.search.registry import method_of

modest = examples(60)
SHARES = st.sampled_from([0.0, 0.1, 0.3])
FULL_DOMAIN = ["datafly", "samarati", "incognito", "argus"]
OPTIONS = {"genetic": {"population": 8, "patience": 20, "evaluations": 60}}
METHODS = st.sampled_from([*FULL_DOMAIN, "genetic"])


def search(problem, name, run=None, **options):
    options = {**OPTIONS.get(name, {}), **options}
    return method_of(name, options)(problem.table(), problem.requirements, options, run or Run())


def released(problem, recoding):
    """The released records."""
    return label_rows(released_by(recoding, pa.table(problem.batch())))


def budget(problem, share):
    return int(share * len(problem.rows) + 1e-9)


@modest
@given(problems())
def test_levels_are_those_of_the_definition(problem):
    """The same values share a cell at every level, and the cells are those of the recoding."""
    reference = FullDomain(problem, 0)
    for column, attribute in zip(problem.columns, problem.table().attributes, strict=True):
        domains = hierarchy(attribute)
        assert len(domains) == height(column) + 1
        for level, domain in enumerate(domains):
            recoding = ByValue((domain.recoding,))
            assert domain.cells.tolist() == recoding.cells(column.name, attribute.values()).tolist()
            shown = problem.release(recoding)[column.name]
            expected = [
                row[column.name] for row in reference.rows(dict.fromkeys(reference.heights, 0) | {column.name: level})
            ]
            assert len(set(zip(shown, expected, strict=True))) == len(set(shown)) == len(set(expected))
            if level == 0:
                assert [None if v is None else str(v).removesuffix(".0") for v in column.values] == shown


@modest
@given(problems(), SHARES)
def test_incognito_finds_exactly_the_minimal_generalizations(problem, share):
    found = search(problem, "incognito", suppress=share)
    expected = FullDomain(problem, budget(problem, share)).minimal()
    listed = [entry["levels"] for entry in found.facts["minimal_generalizations"]]
    assert sorted(map(str, listed)) == sorted(map(str, expected))
    assert found.facts["levels"] in listed
    assert found.facts["lowest_cost"] == min(entry["cost"] for entry in found.facts["minimal_generalizations"])


@modest
@given(problems())
def test_of_the_minimal_generalizations_the_cheapest_is_released_then_the_lowest_then_the_first(problem):
    """Costs are compared as fractions; attributes with most levels come first, by name where equal."""
    reference = FullDomain(problem, 0)
    names = sorted(reference.heights, key=lambda name: (-reference.heights[name], name))
    expected = min(
        reference.minimal(),
        key=lambda node: (reference.loss(node), sum(node.values()), [node[name] for name in names]),
    )
    found = search(problem, "incognito", cost="ncp")
    assert found.facts["levels"] == expected
    assert found.facts["lowest_cost"] == pytest.approx(float(reference.loss(expected)))


@modest
@given(problems())
def test_exact_losses_are_those_of_the_definition(problem):
    for column, attribute in zip(problem.columns, problem.table().attributes, strict=True):
        for level, domain in enumerate(hierarchy(attribute)):
            known = zip(attribute.values().to_pylist(), domain.whole_losses.tolist(), strict=True)
            lost = {value: Fraction(numerator, domain.scale.denominator) for value, numerator in known}
            assert domain.losses.tolist() == pytest.approx([float(fraction) for fraction in lost.values()])
            for value in set(column.values):
                text = None if value is None else str(value).removesuffix(".0")
                assert lost[text] == loss(column, value, level)


@modest
@given(problems(), SHARES)
def test_samarati_finds_the_minimal_height(problem, share):
    found = search(problem, "samarati", suppress=share)
    reference = FullDomain(problem, budget(problem, share))
    heights = [sum(node.values()) for node in reference.nodes() if reference.holds(node)]
    assert found.facts["height"] == min(heights) == sum(found.facts["levels"].values())
    assert found.facts["generalizations_of_this_height"] == heights.count(min(heights))
    assert reference.holds(found.facts["levels"])


@modest
@given(problems(), st.sampled_from([None, 0.0, 0.2]))
def test_datafly_generalizes_what_has_most_values_until_few_records_are_left(problem, share):
    found = search(problem, "datafly", **({} if share is None else {"suppress": share}))
    allowed = min(qid.k for qid in problem.quasi_identifiers) if share is None else budget(problem, share)
    reference = FullDomain(problem, allowed)
    node = dict.fromkeys(sorted(reference.heights), 0)
    for step in found.steps:
        assert not reference.holds(node)
        rows = reference.rows(node)
        open_names = {
            name
            for qid in problem.quasi_identifiers
            if reference.small(rows, qid.attributes, qid.k)
            for name in qid.attributes
            if node[name] < reference.heights[name]
        }
        values = {name: len({row[name] for row in rows}) for name in open_names}
        assert step.attribute == min(name for name in values if values[name] == max(values.values()))
        assert step.score == max(values.values())
        node[step.attribute] += 1
    assert reference.holds(node)
    assert node == found.facts["levels"]


@modest
@given(problems(), st.integers(1, 3), SHARES)
def test_argus_generalizes_what_has_most_rare_combinations(problem, length, share):
    found = search(problem, "argus", length=length, suppress=share)
    reference = FullDomain(problem, budget(problem, share))
    node = dict.fromkeys(sorted(reference.heights), 0)
    assert found.facts["unsafe_combinations"] == reference.unsafe(node, length)[0].total()
    for step in found.steps:
        unsafe, records = reference.unsafe(node, length)
        assert records > budget(problem, share)
        values = Counter()
        for attributes, number in unsafe.items():
            values.update(dict.fromkeys(attributes, number))
        rising = {name for name in values if node[name] < reference.heights[name]}
        assert step.attribute in rising
        assert values[step.attribute] == step.score
        node[step.attribute] += 1
    unsafe, records = reference.unsafe(node, length)
    assert records <= budget(problem, share)
    assert found.facts["levels"] == node
    assert found.facts["unsafe_combinations_left"] == unsafe.total()


@modest
@given(problems(), METHODS)
def test_every_quasi_identifier_holds_and_few_records_are_left_out(problem, name):
    found = search(problem, name)
    recoding = found.recoding
    assert type(recoding).from_json(json.loads(json.dumps(recoding.to_json()))) == recoding
    json.dumps(found.facts)
    rows = released(problem, recoding)
    assert rows
    for qid in problem.quasi_identifiers:
        assert min(Counter(tuple(row[name] for name in qid.attributes) for row in rows).values()) >= qid.k
    out, k = len(problem.rows) - len(rows), min(qid.k for qid in problem.quasi_identifiers)
    assert found.facts.get("suppressed_records", 0) == out
    assert out <= {"datafly": k, "genetic": len(problem.rows) - k}.get(name, 0)


@modest
@given(problems(), METHODS, st.data())
def test_the_order_of_rows_and_columns_changes_nothing(problem, name, data):
    rows = data.draw(st.permutations(range(len(problem.rows))))
    columns = data.draw(st.permutations(range(len(problem.columns))))
    moved = problem.permuted(rows, columns)
    first, second = search(problem, name), search(moved, name)
    sorted_rows = [
        Counter(tuple(sorted(row.items())) for row in released(one, found.recoding))
        for one, found in ((problem, first), (moved, second))
    ]
    assert sorted_rows[0] == sorted_rows[1]
    for column in problem.columns:
        assert first.recoding[column.name] == second.recoding[column.name]
    assert first.facts == second.facts
    assert first.steps == second.steps


@modest
@given(problems(), st.sampled_from(["incognito", "samarati"]), st.sampled_from(["dm", "ncp", "cm"]), SHARES)
def test_costs_are_the_measures_of_the_release(problem, name, cost, share):
    if cost == "cm" and problem.classes is None:
        cost = "dm"
    found = search(problem, name, cost=cost, suppress=share)
    assert found.facts["lowest_cost"] == pytest.approx(measured(problem, found, cost))


def measured(problem, found, cost):
    total = measure(problem.table(), found.recoding, problem.requirements).total
    return getattr(total, cost)


@modest
@given(problems(), st.sampled_from(["ncp", "cm"]), st.integers(0, 3))
def test_genetic_reports_its_fitness_and_is_the_same_for_a_seed(problem, fitness, seed):
    fitness = fitness if problem.classes is not None else "ncp"
    reported = []

    def watch(event):
        if isinstance(event, StepTaken):
            reported.append(event.step)

    found = search(problem, "genetic", Run(watch, key=Key.for_experiments(seed)), fitness=fitness)
    again = search(problem, "genetic", seeded(seed), fitness=fitness)
    assert (found.recoding, found.facts) == (again.recoding, again.facts)
    assert found.facts["best"] == pytest.approx(measured(problem, found, fitness))
    assert found.facts["best"] <= found.facts["improvements"][-1][1] + 1e-9  # what is withheld can only improve it
    scores = [step.score for step in reported]
    assert scores == sorted(scores, reverse=True)
    assert found.facts["improvements"] == [(step.number, step.score) for step in reported]


@modest
@given(problems(), st.sampled_from(["datafly", "argus"]))
def test_climbs_can_be_looked_at_step_by_step(problem, name):
    found = search(problem, name)
    if found.begins is not None and found.recoding.classes is None:  # else what only left-out records had is withheld
        assert replayed(problem.table().attributes, found.steps, found.begins) == found.recoding
    anonymity = [step.anonymity for step in found.steps]
    for before, after in pairwise(anonymity):
        assert all(left <= right for left, right in zip(before, after, strict=True))
    assert [step.number for step in found.steps] == list(range(1, len(found.steps) + 1))
