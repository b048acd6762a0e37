"""A pool of records: what values have in common, clusters that are improved, and those that are opened among others."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.unit.search.clustering.test_slices import needed, table_of

from incrowd.measures.hierarchical_distance import Weights
from incrowd.recodings.kinds import hierarchy_of
from incrowd.search.clustering.distances import details
from incrowd.search.clustering.pool import (
    CLUSTERS,
    FRESH,
    PARTS,
    WIDEST,
    give,
    meeting_of,
    new_pool,
    open_cluster,
    pool_cost,
    relocate,
    specialize,
    weigh,
)
from incrowd.search.clustering.space import Forest, Space

# a root, with two children that have two children each
FOREST = Forest(
    np.array([-1, 0, 1, 1, 0, 4, 4], np.int32),
    np.array([7, 4, 3, 4, 7, 6, 7], np.int32),
    np.array([0, 2, 4, 4, 2, 4, 4]),
)
ROOTS = np.array([0], np.int32)


LEAVES = [2, 3, 5, 6]


def above(node, other, parent=FOREST.parent, end=FOREST.end):
    """The closest common ancestor of two nodes."""
    while not node <= other < end[node]:
        node = parent[node]
    return node


@examples(10)
@given(st.integers(0, 1000))
def test_the_table_has_the_detail_of_the_closest_common_generalization(seed):
    table, (requirement,) = table_of(seed, 100), needed()
    hierarchies = [hierarchy_of(attribute) for attribute in table.attributes]
    space = Space.of(table, requirement, hierarchies, details(table.attributes, hierarchies, "ncp", Weights())[0])
    parent, end, detail = space.forest
    meeting = meeting_of(space.forest, space.roots)
    for root in space.roots:
        for node in range(root, end[root]):
            for other in range(root, end[root]):
                found = meeting.detail[meeting.row[node] + other]
                assert found == detail[above(node, other, parent, end)]


def test_a_hierarchy_that_is_too_wide_has_no_table():
    leaves = WIDEST + 1
    parent = np.array([-1] + [0] * leaves, np.int32)
    end = np.array([leaves + 1, *range(2, leaves + 2)], np.int32)
    meeting = meeting_of(Forest(parent, end, np.ones(leaves + 1, np.int64)), ROOTS)
    assert (meeting.row == -1).all()
    assert len(meeting.detail) == 0


def pool_of(clusters):
    """A pool with these clusters, each a number of records per leaf."""
    pool = new_pool(len(LEAVES), 1, 50, meeting_of(FOREST, ROOTS))
    for cluster, amounts in enumerate(clusters):
        pool.nodes[cluster, 0] = -1
        pool.size[cluster], pool.head[cluster] = 0, -1
        for number, (leaf, amount) in enumerate(zip(LEAVES, amounts, strict=True)):
            if amount:
                part = pool.at[PARTS]
                pool.at[PARTS] += 1
                pool.rows[part, 0], pool.left[part] = leaf, amount
                pool.tuples[part], pool.records[part] = number, amount
                now = pool.nodes[cluster, 0]
                pool.nodes[cluster, 0] = leaf if now < 0 else above(now, leaf)
                give(pool, cluster, part, amount)
        pool.at[CLUSTERS] += 1
        pool.at[FRESH] += 1
        weigh(pool, FOREST, cluster)
    return pool


@pytest.mark.parametrize(
    ("clusters", "k", "nodes", "sizes"),
    [
        ([(30, 20, 1, 2), (0, 0, 40, 20)], 50, [1, 4], [50, 63]),  # three records join those who are like them
        ([(30, 20, 1, 2), (0, 0, 40, 20)], 51, [0, 4], [53, 60]),  # it cannot spare them
        ([(30, 20, 1, 2)], 50, [0], [53]),  # there is nowhere to go
        ([(50, 0, 0, 3), (100, 100, 0, 0)], 50, [0, 1], [53, 200]),  # the others would lose more
    ],
)
def test_a_cluster_becomes_more_specific_where_those_who_leave_cost_less(clusters, k, nodes, sizes):
    pool = pool_of(clusters)
    before = pool_cost(pool, 0)
    changed = specialize(pool, FOREST, k, 0)
    assert pool.nodes[: len(clusters), 0].tolist() == nodes
    assert pool.size[: len(clusters)].tolist() == sizes
    assert (pool_cost(pool, 0) < before) == (changed > 0) == (nodes[0] == 1)


@pytest.mark.parametrize(
    ("clusters", "fresh", "sizes"),
    [
        ([(4, 0, 0, 2), (5, 0, 0, 0)], 2, [5, 6]),  # one of four may leave
        ([(4, 0, 0, 2), (5, 0, 0, 0)], 0, [6, 5]),  # where nothing has changed there is nowhere new to go
        ([(5, 0, 0, 0), (4, 0, 0, 2)], 1, [6, 5]),  # to the one that has changed
        ([(0, 4, 0, 2), (5, 0, 0, 0)], 2, [6, 5]),  # the others would lose more
    ],
)
def test_a_cluster_sends_away_what_it_can_spare_of_a_share(clusters, fresh, sizes):
    pool = pool_of(clusters)
    pool.at[FRESH] = fresh
    before = [sum(amounts) for amounts in clusters]
    assert (relocate(pool, FOREST, 5, 0) > 0) == (sizes != before)
    assert pool.size[: len(clusters)].tolist() == sizes
    assert pool_cost(pool, 0) == -sum(4 * size for size, node in zip(sizes, pool.nodes[:2, 0], strict=True) if node)


THRIFT = 0
TUPLES = np.array(LEAVES, np.int32)[:, None]


def is_opened(pool, k, most):
    pool.at[FRESH] = 0
    return open_cluster(pool, FOREST, TUPLES, k, 0, THRIFT, most)


def test_a_cluster_is_opened_for_records_of_several_others_which_are_drawn_together():
    pool = pool_of([(2, 0, 3, 0), (2, 0, 0, 4), (0, 6, 0, 0)])
    assert pool_cost(pool, 0) == -6 * 4
    assert is_opened(pool, 3, 0)
    assert pool_cost(pool, 0) == -17 * 4  # nobody has lost anything
    some = range(pool.at[CLUSTERS])
    found = {pool.nodes[c, 0]: int(pool.size[c]) for c in some if pool.size[c]}
    assert found == {2: 4, 5: 3, 6: 4, 3: 6}
    assert [c for c in some if pool.rank[c] >= pool.at[FRESH]] == [2]  # it stays as it was


def test_a_cluster_that_is_opened_dissolves_those_that_are_not_good_any_more():
    pool = pool_of([(2, 0, 1, 0), (1, 0, 0, 2), (0, 0, 3, 3)])
    assert is_opened(pool, 3, 0)
    assert sum(size for size in pool.size[: pool.at[CLUSTERS]] if size) == 12
    assert all(size == 0 or size >= 3 for size in pool.size[: pool.at[CLUSTERS]])
    assert pool_cost(pool, 0) == -3 * 4 - 9 * 2


@pytest.mark.parametrize(
    ("clusters", "most"),
    [
        ([(3, 0, 0, 0), (0, 0, 3, 0)], 0),  # the new one would be the one that it began in
        ([(2, 0, 3, 0), (2, 0, 0, 4)], -(2**40)),  # it costs too much
    ],
)
def test_a_cluster_that_is_of_no_use_is_not_opened(clusters, most):
    assert not is_opened(pool_of(clusters), 3, most)
