"""Inconsistency and generalization portion are exact, and follow the paper's definitions on any tree."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.reference.kaca import Tree
from tests.reference.kaca import inconsistency as slow_inconsistency

from incrowd.measures.hierarchical_distance import generalization_portion, inconsistency
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
