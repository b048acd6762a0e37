"""Models that count a protected column, in every search of generalized domains: what is released is good.

Classes are recounted from the released rows, by plain definitions.
"""

from collections import defaultdict

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.examples import examples
from tests.reference.full_domain import FullDomain
from tests.reference.protected import COLUMN, is_good, models_of
from tests.strategies import problems

import incrowd
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.model import Requirement
from incrowd.run import Run
from incrowd.search.baselines.incognito import incognito
from incrowd.search.baselines.samarati import samarati
from incrowd.search.bottom_up.bottom_up import bottom_up
from incrowd.search.costs import weighed_cost
from incrowd.search.registry import method_of
from incrowd.table.compressed import CompressedTable

modest = examples(40)
METHODS = ["bug", "argus", "incognito", "samarati", "datafly", "genetic"]
OPTIONS = {"genetic": {"population": 8, "patience": 20, "evaluations": 60}}


@st.composite
def protected(draw, problem=problems()):  # noqa: B008
    """A problem, the values of a protected column, and what must hold."""
    problem = draw(problem)
    rows = len(problem.rows)
    ill = draw(st.lists(st.integers(0, 3), min_size=rows, max_size=rows))
    kinds = models_of(ill)
    assume(kinds)
    models = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=2, unique=True))
    sized = draw(st.sampled_from([(), (KAnonymity(2),)]))
    requirements = tuple(Requirement(tuple(qid.attributes), (*sized, *models)) for qid in problem.quasi_identifiers)
    return problem, ill, requirements


def table_of(problem, ill):
    """The compressed table, with the protected column."""
    attributes, codes = zip(*(column.encode() for column in problem.columns), strict=True)
    counts, target = np.ones(len(ill), np.int64), None
    if problem.classes is not None:
        labels = sorted(set(problem.classes))
        target = labels, np.array([labels.index(label) for label in problem.classes])
    width = max(ill) + 1
    return CompressedTable.build(attributes, codes, counts, target, {COLUMN: ("wxyz"[:width], np.array(ill))})


def check(problem, recoding, ill, requirements, least=0):
    """Every released class is good, by definition; at least so many records are released."""
    columns = problem.release(recoding)
    kept = released(problem, recoding)
    assert sum(kept) >= least
    everyone = [value for value, stays in zip(ill, kept, strict=True) if stays]
    for requirement in requirements:
        classes = defaultdict(list)
        for row, value in enumerate(ill):
            if kept[row]:
                classes[tuple(columns[name][row] for name in requirement.attributes)].append(value)
        for values in classes.values():
            assert all(is_good(model, values, everyone) for model in requirement.models)


def released(problem, recoding):
    """Which records are released."""
    numbers = range(len(problem.rows))
    numbered = pa.table(problem.batch()).append_column("number", pa.array(numbers))
    kept = set(incrowd.apply(recoding, numbered, keep=["number"])["number"].to_pylist())
    return [number in kept for number in numbers]


@pytest.mark.parametrize("name", METHODS)
@modest
@given(protected())
def test_every_released_class_is_good(name, drawn):
    problem, ill, requirements = drawn
    table = table_of(problem, ill)
    options = OPTIONS.get(name, {})
    found = method_of(name, options, len(requirements))(table, requirements, options, Run())
    closed = all(requirement.upward_closed for requirement in requirements)
    check(problem, found.recoding, ill, requirements, least=1 if closed else len(ill))


@modest
@given(protected())
def test_minimal_generalizations_are_those_of_the_whole_lattice(drawn):
    """Incognito prunes, and Samarati halves, as if the models were k."""
    problem, ill, requirements = drawn
    table = table_of(problem, ill)
    lattice = FullDomain(problem, 0)

    def holds(node):
        rows = lattice.rows(node)
        for requirement in requirements:
            classes = defaultdict(list)
            for row, value in zip(rows, ill, strict=True):
                classes[tuple(row[name] for name in requirement.attributes)].append(value)
            if not all(is_good(model, values, ill) for model in requirement.models for values in classes.values()):
                return False
        return True

    held = [node for node in lattice.nodes() if holds(node)]
    least = [a for a in held if not any(a != b and all(b[name] <= a[name] for name in a) for b in held)]
    facts = incognito(table, requirements, Run()).facts
    assert sorted(sorted(each["levels"].items()) for each in facts["minimal_generalizations"]) == sorted(
        sorted(node.items()) for node in least
    )
    assert samarati(table, requirements, Run()).facts["height"] == min(sum(node.values()) for node in held)


@modest
@given(protected(), st.booleans())
def test_bottom_up_tries_critical_generalizations_only_and_takes_the_same_steps(drawn, tighten):
    problem, ill, requirements = drawn
    table = table_of(problem, ill)
    pruned, plain = (bottom_up(table, requirements, Run(), pruning=on, tighten=tighten) for on in (True, False))
    assert pruned.steps == plain.steps
    worst = [step.anonymity for step in pruned.steps if step.gain or not tighten]
    assert all((np.diff(levels) >= 0).all() for levels in zip(*worst, strict=True))
    check(problem, pruned.recoding, ill, requirements, least=len(ill))


@pytest.mark.parametrize("name", ["bug", "incognito", "samarati", "datafly", "tdr"])
@modest
@given(protected(), st.sampled_from([0.1, 0.3, 0.5]))
def test_who_stays_is_in_a_good_class_and_few_are_left_out(name, drawn, share):
    problem, ill, requirements = drawn
    options = {"suppress": share}
    found = method_of(name, options, len(requirements))(table_of(problem, ill), requirements, options, Run())
    check(problem, found.recoding, ill, requirements, least=len(ill) - int(share * len(ill)))


@examples(120)
@given(protected(problems(kinds=("tree", "flat"))), st.sampled_from([0.1, 0.2, 0.3, 0.5]))
def test_the_cheapest_and_the_lowest_generalization_are_those_of_trying_all(drawn, share):
    """With any model: every node, with classes left out by the rule as it is written down."""
    problem, ill, requirements = drawn
    table, budget = table_of(problem, ill), int(share * len(ill))
    if all(requirement.upward_closed for requirement in requirements):
        return  # Incognito then takes the cheapest of the minimal ones
    lattice = FullDomain(problem, budget)
    held = {}
    for node in lattice.nodes():
        left = stays(lattice.rows(node), ill, requirements)
        if len(ill) - len(left) <= lattice.budget:
            held[tuple(node.values())] = lattice.loss_of(node, left)
    best = incognito(table, requirements, Run(), cost="ncp", suppress=share)
    assert best.facts["lowest_cost"] == pytest.approx(float(min(held.values())), abs=1e-12)
    levels = best.facts["levels"]
    assert held[tuple(levels[name] for name in sorted(levels))] == min(held.values())
    assert best.facts["suppressed_records"] == len(ill) - sum(released(problem, best.recoding))
    assert weighed_cost(table, best.recoding, None) == pytest.approx(float(min(held.values())), abs=1e-12)
    lowest = samarati(table, requirements, Run(), cost="ncp", suppress=share).facts
    assert lowest["height"] == min(map(sum, held))
    assert lowest["lowest_cost"] == pytest.approx(
        float(min(loss for levels, loss in held.items() if sum(levels) == lowest["height"])), abs=1e-12
    )


def stays(rows, ill, requirements):
    """Who is left once all classes are left out that are bad beside the others, over and over."""
    left = set(range(len(ill)))
    while True:
        everyone, bad = [ill[number] for number in left], set()
        for requirement in requirements:
            classes = defaultdict(set)
            for number in left:
                classes[tuple(rows[number][name] for name in requirement.attributes)].add(number)
            for members in classes.values():
                values = [ill[number] for number in members]
                if not all(is_good(model, values, everyone) for model in requirement.models):
                    bad |= members
        if not bad:
            return left
        left -= bad
