"""Joins that cost too much are forbidden below a node: that saves nodes, and never costs the optimum."""

import random

import pyarrow as pa
import pytest

import incrowd

OTHERS = ["bound", "useful", "seeding", "requeue", "node-order", "applicator-order"]


def found(seed, prunings, suppress=0):
    draw = random.Random(seed)
    columns = {name: [draw.choice(values) for _ in range(25)] for name, values in (("a", "abcde"), ("b", "wxyz"))}
    words = {"quasi_identifiers": ["a", "b"], "k": 3, "method": "optimal", "scheme": "sps", "cost": "dm"}
    return incrowd.anonymize(pa.table(columns), **words, suppress=suppress, prunings=prunings).found.facts


@pytest.mark.parametrize("suppress", [0, 0.1])
def test_fewer_nodes_and_the_same_cost(suppress):
    with_it = [found(seed, [*OTHERS, "applicators"], suppress) for seed in range(8)]
    without = [found(seed, OTHERS, suppress) for seed in range(8)]
    everything = [found(seed, ["bound"], suppress) for seed in range(8)]
    assert [facts["cost"] for facts in with_it] == [facts["cost"] for facts in everything]
    assert [facts["cost"] for facts in without] == [facts["cost"] for facts in everything]
    assert all(facts["optimal"] for facts in with_it)
    assert 2 * sum(facts["nodes"] for facts in with_it) < sum(facts["nodes"] for facts in without)
