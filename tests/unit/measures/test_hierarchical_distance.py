"""Inconsistency and generalization portion are exact, and follow the paper's definitions on any tree."""

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reference.kaca import Tree
from tests.reference.kaca import inconsistency as slow_inconsistency

import incrowd
from incrowd.errors import PolicyError
from incrowd.measures.hierarchical_distance import Weights, generalization_portion, inconsistency, tuple_distortion
from incrowd.search.clustering.kaca import is_below
from incrowd.taxonomies.taxonomy import Taxonomy

GENDER = Taxonomy.flat(["male", "female"])


@st.composite
def released(draw):
    """A tree with paths of unequal lengths, some of its nodes, and how many records have each."""
    depths = draw(st.lists(st.integers(1, 3), min_size=1, max_size=4))
    paths = [[*(f"{leaf} at {depth}" for depth in range(depth, 0, -1)), "*"] for leaf, depth in enumerate(depths)]
    tree = Taxonomy.from_paths(paths)
    nodes = draw(st.lists(st.integers(0, len(tree.labels) - 1), min_size=1, max_size=8))
    records = draw(st.lists(st.integers(1, 50), min_size=len(nodes), max_size=len(nodes)))
    return tree, np.array(nodes), np.array(records)


@given(released())
def test_inconsistency_is_that_of_the_definition(case):
    tree, nodes, records = case
    labels = [tree.labels[node] for node, n in zip(nodes, records, strict=True) for _ in range(n)]
    found = inconsistency(tree, nodes, records)
    assert isinstance(found, Fraction)
    assert found == slow_inconsistency(Tree(tree), labels)


@given(released())
def test_the_generalization_portion_is_that_of_the_definition(case):
    tree, nodes, records = case
    base = max(tree.depth[nodes])
    specific = sum(
        int(n) for node, n in zip(nodes, records, strict=True) if tree.depth[node] == base or int(node) in tree.leaves
    )
    assert generalization_portion(tree, nodes, records) == 1 - Fraction(specific, int(records.sum()))


@given(st.sampled_from([10, 20, 40, 50, 80, 100, 1000]), st.data())
def test_a_share_is_not_below_a_limit_that_is_written_as_the_same_number(values, data):
    others = data.draw(st.integers(1, values // 2))
    found = inconsistency(GENDER, np.array([0, 1]), np.array([others, values - others]))
    limit = Fraction(str(others / values))
    assert found == limit
    assert not is_below(found, limit)
    assert is_below(found - Fraction(1, 10**9), limit)


def test_nothing_is_below_any_limit():
    assert is_below(Fraction(0), Fraction(0))


RAGGED = Taxonomy.from_paths([["a1", "a", "*"], ["a2", "a", "*"], ["b", "*"]])


@given(released())
def test_a_suppressed_cell_costs_one_whatever_the_leaf(case):
    tree, _, _ = case
    costs = {tuple_distortion({"x": tree}, [leaf], [0]) for leaf in tree.leaves}
    assert costs == {1}


def test_the_distortion_of_a_table_of_stars_is_the_number_of_its_cells():
    rows = pa.table({"x": ["a1", "a2", "b", None], "y": ["1", "2", "3", "4"]})
    release = incrowd.anonymize(rows, quasi_identifiers=["x", "y"], k=4, method="kaca", taxonomies={"x": RAGGED})
    assert set(release.data["x"].to_pylist()) == {"*"}
    assert release.distortion().distortion == 8


def test_steps_between_levels_weigh_what_the_user_says():
    """Definition 5 with weights 3 and 1: to the middle level a value loses a quarter, to the root all."""
    weights = Weights(levels={"x": (3, 1)})
    one, middle, other = (RAGGED.labels.index(label) for label in ("a1", "a", "b"))
    assert tuple_distortion({"x": RAGGED}, [one], [middle], weights) == Fraction(1, 4)
    assert tuple_distortion({"x": RAGGED}, [one], [0], weights) == tuple_distortion(
        {"x": RAGGED}, [other], [0], weights
    )
    with pytest.raises(PolicyError, match=r"must be 2, one for each step between two of its 3 levels. Got 1."):
        tuple_distortion({"x": RAGGED}, [one], [0], Weights(levels={"x": (3,)}))


@pytest.mark.parametrize(("weights", "shown"), [([100, 1], {"a"}), ([1, 100], {"a1", "a2"})])
def test_level_weights_steer_the_clustering(weights, shown):
    """A record can join one that differs in x, a step near the leaves, or one that differs in y, which weighs half."""
    rows = pa.table({"x": ["a1", "a2", "a1", "a2"], "y": ["1", "1", "2", "2"]})
    words = {"quasi_identifiers": ["x", "y"], "k": 2, "method": "kaca", "taxonomies": {"x": RAGGED}}
    release = incrowd.anonymize(rows, **words, priorities={"y": 0.5}, level_weights={"x": weights})
    assert set(release.data["x"].to_pylist()) == shown
