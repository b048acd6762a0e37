"""Priorities in the searches of generalized domains: what has a high one loses less, and equal ones change nothing."""

from fractions import Fraction
from itertools import product

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.property.test_optimal import build, requirement, tables
from tests.reference.full_domain import FullDomain, loss
from tests.reference.optimal import allowed, cost_of
from tests.strategies import problems

import incrowd
from incrowd.errors import PolicyError
from incrowd.key import Key
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.run import Run
from incrowd.search.baselines.incognito import incognito
from incrowd.search.bottom_up.bottom_up import bottom_up
from incrowd.search.optimal import SCHEMES
from incrowd.search.optimal.optimal import optimal
from incrowd.search.registry import method_of

WEIGHTS = st.sampled_from([1, 2, 0.1, 7.5])
METHODS = ["bug", "argus", "optimal", "incognito", "samarati", "datafly", "genetic"]
OPTIONS = {"genetic": {"population": 8, "patience": 20, "evaluations": 60, "fitness": "ncp"}}
PEOPLE = pa.table({"age": [i % 16 for i in range(256)], "size": [i // 16 for i in range(256)]})  # everyone differs


def lost(release, name):
    """The share of values that one column has lost."""
    return 1 - len(set(release.data[name].to_pylist())) / 16


@pytest.mark.parametrize("name", METHODS)
def test_the_column_with_the_higher_priority_loses_no_more(name):
    words = {"quasi_identifiers": ["age", "size"], "k": 6, "method": name, "key": Key.for_experiments(1)}
    age = incrowd.anonymize(PEOPLE, priorities={"age": 50}, **words)
    size = incrowd.anonymize(PEOPLE, priorities={"size": 50}, **words)
    assert lost(age, "age") < lost(size, "age")
    assert lost(size, "size") < lost(age, "size")


@pytest.mark.parametrize("name", [name for name in METHODS if name != "optimal"])
@examples(30)
@given(problems(), WEIGHTS)
def test_equal_priorities_change_nothing(name, problem, weight):
    options = OPTIONS.get(name, {})
    search = method_of(name, options, len(problem.requirements))
    plain = search(problem.table(), problem.requirements, options, Run())
    weights = {column.name: weight for column in problem.columns}
    weighed = search(problem.table(), problem.requirements, {**options, "priorities": weights}, Run())
    assert weighed.recoding == plain.recoding


@examples(60)
@given(problems(), st.data(), st.sampled_from(["entropy", "weighted", "ncp"]))
def test_bottom_up_goes_by_weighed_losses_whatever_is_pruned(problem, data, information):
    information = information if problem.classes is not None else "ncp"
    weights = {column.name: data.draw(WEIGHTS) for column in problem.columns}
    pruned, plain = (
        bottom_up(problem.table(), problem.requirements, Run(), information=information, pruning=on, priorities=weights)
        for on in (True, False)
    )
    assert pruned.steps == plain.steps
    for step in pruned.steps:
        score = step.loss * weights[step.attribute] / (step.gain or 1)
        assert step.score == pytest.approx(score, abs=1e-9)


@examples(60)
@given(problems(target=False), st.data())
def test_incognito_prices_minimal_generalizations_by_weighed_losses(problem, data):
    weights = {column.name: data.draw(WEIGHTS) for column in problem.columns}
    reference = FullDomain(problem, 0)

    def price(node):
        cells = [
            (loss(column, value, node[column.name]), Fraction(str(weights[column.name])))
            for column in problem.columns
            for value in column.values
        ]
        return sum(lost * weight for lost, weight in cells) / sum(weight for _, weight in cells)

    facts = incognito(problem.table(), problem.requirements, Run(), priorities=weights).facts
    assert facts["lowest_cost"] == pytest.approx(float(min(map(price, reference.minimal()))), abs=1e-9)


@pytest.mark.parametrize("scheme", SCHEMES)
@examples(20)
@given(tables(2), st.data())
def test_the_weighed_optimum_equals_brute_force(scheme, problem, data):
    rows, labels, trees, k, suppress = problem
    table = build(rows, labels, trees)
    names = [attribute.name for attribute in table.attributes]
    weights = [data.draw(WEIGHTS) for _ in names]
    limit = int(suppress * len(rows) + 1e-9)
    best = None
    spaces = [sorted(allowed(tree, scheme)) for tree in trees]
    for partitions in product(*spaces):
        cost, suppressed = cost_of(rows, labels, partitions, k, "ncp", weights=weights)
        if suppressed <= limit and (best is None or cost < best):
            best = cost
    found = optimal(
        table,
        (requirement(table, KAnonymity(k)),),
        Run(),
        scheme=scheme,
        suppress=suppress,
        priorities=dict(zip(names, weights, strict=True)),
    )
    assert found.facts["cost"] * len(rows) == pytest.approx(best, abs=1e-9)
    assert found.facts["optimal"]


@pytest.mark.parametrize(
    ("name", "options"),
    [("optimal", {"cost": "dm"}), ("incognito", {"cost": "dm"}), ("samarati", {"cost": "dm"})],
)
def test_costs_that_count_no_cells_have_no_use_for_priorities(name, options):
    with pytest.raises(PolicyError, match="must be ncp where 'priorities' are given"):
        incrowd.anonymize(PEOPLE, quasi_identifiers=["age"], k=6, method=name, priorities={"age": 2}, **options)
