"""A pool of records that are gathered anew: what values have in common, and clusters that become more specific."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.unit.search.clustering.test_slices import needed, table_of

from incrowd.privacy.needs import Needs
from incrowd.recodings.hierarchies import hierarchy_of
from incrowd.search.clustering.forest import Forest
from incrowd.search.clustering.improving import specialize
from incrowd.search.clustering.kaca import ncp_space
from incrowd.search.clustering.pool import CLUSTERS, PARTS, WIDEST, above, give, meeting_of, new_pool, pool_cost, weigh
from incrowd.search.compiled import compiled

# a root, with two children that have two children each
FOREST = Forest(
    np.array([-1, 0, 1, 1, 0, 4, 4], np.int32),
    np.array([7, 4, 3, 4, 7, 6, 7], np.int32),
    np.array([0, 2, 4, 4, 2, 4, 4]),
)
ROOTS = np.array([0], np.int32)


def from_python(kernel):
    """A kernel that compiled code calls, for tests."""
    return compiled(lambda *arguments: kernel(*arguments))


GIVE, POOL_COST, SPECIALIZE, WEIGH = map(from_python, (give, pool_cost, specialize, weigh))


@examples(10)
@given(st.integers(0, 1000))
def test_the_table_has_the_detail_of_the_closest_common_generalization(seed):
    table, (requirement,) = table_of(seed, 100), needed()
    space = ncp_space(table, requirement, [hierarchy_of(attribute) for attribute in table.attributes])
    parent, end, detail = space.forest
    meeting = meeting_of(space.forest, space.roots)
    for root in space.roots:
        for node in range(root, end[root]):
            for other in range(root, end[root]):
                found = meeting.detail[meeting.row[node] + other]
                assert found == detail[above(parent, end, node, other)]


def test_a_hierarchy_that_is_too_wide_has_no_table():
    leaves = WIDEST + 1
    parent = np.array([-1] + [0] * leaves, np.int32)
    end = np.array([leaves + 1, *range(2, leaves + 2)], np.int32)
    meeting = meeting_of(Forest(parent, end, np.ones(leaves + 1, np.int64)), ROOTS)
    assert (meeting.row == -1).all()
    assert len(meeting.detail) == 0


def pool_of(clusters):
    """A pool with these clusters, each a number of records per leaf."""
    leaves = [2, 3, 5, 6]
    pool = new_pool(len(leaves), 1, 50, meeting_of(FOREST, ROOTS))
    for cluster, amounts in enumerate(clusters):
        pool.nodes[cluster, 0] = -1
        pool.size[cluster], pool.head[cluster] = 0, -1
        for leaf, amount in zip(leaves, amounts, strict=True):
            if amount:
                part = pool.at[PARTS]
                pool.at[PARTS] += 1
                pool.rows[part, 0], pool.left[part] = leaf, amount
                now = pool.nodes[cluster, 0]
                pool.nodes[cluster, 0] = leaf if now < 0 else above(FOREST.parent, FOREST.end, now, leaf)
                GIVE(pool, cluster, part, amount)
        pool.at[CLUSTERS] += 1
        WEIGH(pool, FOREST, cluster)
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
    before = POOL_COST(pool, 0)
    changed = SPECIALIZE(pool, FOREST, Needs(k), 0)
    assert pool.nodes[: len(clusters), 0].tolist() == nodes
    assert pool.size[: len(clusters)].tolist() == sizes
    assert (POOL_COST(pool, 0) < before) == (changed > 0) == (nodes[0] == 1)
