"""Descent: each attribute gets its cheapest partition, and what comes out is allowed and never costs more."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.property.test_optimal import Asked, build, requirement, tables

from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.run import Run
from incrowd.search.optimal import SCHEMES, descent
from incrowd.search.optimal.blocks import blocks_of, labels_of
from incrowd.search.optimal.costs import COSTS, Costs
from incrowd.search.optimal.descent import Descent
from incrowd.search.optimal.partitions import partitions
from incrowd.search.optimal.schemes import domain_of


def started(problem, schemes, cost, data):
    """Costs, the records that may be suppressed, and partitions that the schemes allow."""
    rows, labels, trees, k, suppress = problem
    table = build(rows, labels, trees)
    domains = [domain_of(table, index, schemes[index]) for index in range(len(trees))]
    spaces = [domain.space for domain in domains]
    drawn = [data.draw(st.sampled_from(list(partitions(space)))) for space in spaces]
    start = [labels_of(blocks, space.size) for blocks, space in zip(drawn, spaces, strict=True)]
    return Costs(table, domains, cost, requirement(table, KAnonymity(k))), int(suppress * len(rows) + 1e-9), start


def cost_of(costs: Costs, limit: int, chosen: Sequence[np.ndarray]) -> float:
    """What partitions cost; infinite if they are not allowed."""
    cost, suppressed = costs.of(chosen)
    return cost if suppressed <= limit else np.inf


def all_of(costs: Costs, start: list[np.ndarray], index: int) -> list[list[np.ndarray]]:
    """Some partitions with every one of an attribute."""
    space = costs.domains[index].space
    every = [labels_of(blocks, space.size) for blocks in partitions(space)]
    return [[*start[:index], labels, *start[index + 1 :]] for labels in every]


def assert_allowed(costs: Costs, limit: int, seed: descent.Seed) -> None:
    """Partitions of the schemes, with what they cost."""
    for labels, domain in zip(seed[1], costs.domains, strict=True):
        blocks = blocks_of(labels.tolist())
        assert set(domain.space.closure(blocks)) == set(blocks)
    assert seed[0] == cost_of(costs, limit, seed[1])


schemes = st.lists(st.sampled_from(SCHEMES), min_size=3, max_size=3)


@examples(60)
@given(tables(), schemes, st.sampled_from(COSTS), st.data())
def test_one_attribute_gets_its_cheapest_partition(problem, schemes, cost, data):
    costs, limit, start = started(problem, schemes, cost, data)
    descended = Descent(costs, limit, Run())
    for index in range(len(start)):
        found = descended.solved(descended.of(start), index)
        assert_allowed(costs, limit, found)
        if index in descended.left_out:
            continue
        lowest = min(cost_of(costs, limit, chosen) for chosen in all_of(costs, start, index))
        assert found[0] == pytest.approx(lowest, rel=1e-8)


@examples(50)
@given(tables(), schemes, st.sampled_from(COSTS), st.data())
def test_a_descent_ends_where_no_attribute_alone_can_be_changed_for_the_better(problem, schemes, cost, data):
    costs, limit, start = started(problem, schemes, cost, data)
    descended = Descent(costs, limit, Run())
    found = descended.lowered(descended.of(start))
    assert_allowed(costs, limit, found)
    assert found[0] <= cost_of(costs, limit, start)
    for index in set(range(len(start))).difference(descended.left_out):
        assert not any(
            costs.better(cost_of(costs, limit, chosen), found[0])
            for chosen in all_of(costs, start=found[1], index=index)
        )


@examples(50)
@given(tables(), schemes, st.sampled_from(COSTS), st.integers(0, 60), st.data())
def test_restarts_never_raise_the_cost_however_early_they_are_stopped(problem, schemes, cost, questions, data):
    costs, limit, start = started(problem, schemes, cost, data)
    whole = Descent(costs, limit, Run())
    lowered = whole.lowered(whole.of(start))
    restarted = whole.restarted(lowered)
    assert_allowed(costs, limit, restarted)
    assert restarted[0] <= lowered[0]
    again = Descent(costs, limit, Run())
    assert again.restarted(lowered)[0] == restarted[0]
    stopped = Descent(costs, limit, Asked(questions)).restarted(lowered)
    assert_allowed(costs, limit, stopped)
    assert stopped[0] <= lowered[0]


@examples(20)
@given(tables(), schemes, st.sampled_from(COSTS), st.data())
def test_how_many_solvers_are_held_changes_nothing(problem, schemes, cost, data):
    costs, limit, start = started(problem, schemes, cost, data)
    many = Descent(costs, limit, Run()).best([start])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(descent, "MOST_CELLS", 1)
        few = Descent(costs, limit, Run()).best([start])
    assert few[0] == many[0]
    assert all(map(np.array_equal, few[1], many[1]))
