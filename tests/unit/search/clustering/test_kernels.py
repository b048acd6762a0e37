"""The kernels beside what they are to do, said in numpy: the same, on random tables and with every privacy model."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.runs import seeded
from tests.unit.search.clustering import test_guarded, test_slices

from incrowd.measures.hierarchical_distance import Weights
from incrowd.recodings.kinds import hierarchy_of
from incrowd.search.clustering import agglomeration, exchange, rounds, with_sensitive_values
from incrowd.search.clustering.cover import cover
from incrowd.search.clustering.distances import details
from incrowd.search.clustering.kaca import kaca
from incrowd.search.clustering.space import EVERY, Space, compact

SEARCHES = {
    **test_slices.SEARCHES,
    "cover that leaves out": lambda *words: cover(*words, effort=0, suppress=0.05),
    "kaca that leaves out": lambda *words: kaca(*words, suppress=0.05),
}
FARTHEST = 2**62


def space_of(table, requirement):
    hierarchies = [hierarchy_of(attribute) for attribute in table.attributes]
    return Space.of(table, requirement, hierarchies, details(table.attributes, hierarchies, "ncp", Weights())[0])


def shared(forest, nodes):
    """The detail that the values of a tuple have in common with each node of their hierarchies."""
    found = np.empty(len(forest.parent), np.int64)
    for node in nodes.tolist():
        path = [node]
        while (above := int(forest.parent[path[-1]])) >= 0:
            path.append(above)
        for above in reversed(path):
            found[above : forest.end[above]] = forest.detail[above]
    return found


def nearest(forest, rows, sizes, key, number, stub, most):
    """The nearest classes of one among all, and their distances."""
    common, held = shared(forest, rows[number])[rows].sum(axis=1), forest.detail[rows].sum(axis=1)
    own = sizes[number]
    others = np.where(own + sizes >= 2 * stub, stub - own, sizes)
    distance = own * (held[number] - common) + others * (held - common)
    distance[number] = FARTHEST
    near = np.lexsort((key, distance))[:most]
    return [int(i) for i in near if distance[i] < FARTHEST], [int(distance[i]) for i in near if distance[i] < FARTHEST]


def with_flat_nodes(space, draws):
    """The same, with some nodes that have no more detail than their parents."""
    detail = space.forest.detail.copy()
    for node, parent in enumerate(space.forest.parent.tolist()):  # a parent comes before its children
        if parent >= 0 and draws.random() < 0.4:
            detail[node] = detail[parent]
        detail[node] = max(detail[node], detail[parent]) if parent >= 0 else detail[node]
    return replace(space, forest=space.forest._replace(detail=detail))


@pytest.mark.parametrize("flat", [False, True])
@examples(20)
@given(st.integers(0, 1000), st.integers(1, 12))
def test_the_index_finds_the_nearest_classes_of_all(flat, seed, most):
    table, (requirement,) = test_slices.table_of(seed, 200), test_slices.needed()
    space = space_of(table, requirement)
    space = with_flat_nodes(space, np.random.default_rng(seed)) if flat else space
    groups = np.arange(len(table.counts)) // 2
    nodes, sizes = space.nodes(np.arange(len(groups)), groups), np.bincount(groups, table.counts).astype(np.int64)
    asking = np.arange(0, len(nodes), 3)
    found, far = with_sensitive_values.neighbours(space, nodes, sizes, asking, most, seeded(0))
    for place, number in enumerate(asking):
        wanted, distances = nearest(space.forest, nodes, sizes, np.arange(len(nodes)), number, 2**40, most)
        assert found[place][found[place] >= 0].tolist() == wanted
        assert far[place][found[place] >= 0].tolist() == distances


@pytest.mark.parametrize("distance", ["height", "ncp"])
@examples(8)
@given(st.integers(0, 1000), st.integers(2, 20), st.sampled_from([1, 3, EVERY]))
def test_clustering_does_not_depend_on_how_many_classes_a_bucket_of_the_index_holds(distance, seed, k, bucket):
    table = test_slices.table_of(seed, 300)
    usual = kaca(table, test_slices.needed(k), seeded(seed), distance=distance)
    assert kaca(table, test_slices.needed(k), seeded(seed), distance=distance, bucket=bucket).recoding == usual.recoding


@pytest.mark.parametrize("leaves", [False, True])
@examples(20)
@given(st.integers(0, 1000), st.sampled_from([0, 1, 2**20]))
def test_a_part_moves_to_the_first_of_the_classes_with_its_values_that_gain_most(leaves, seed, crowding):
    table, (requirement,) = test_slices.table_of(seed, 200), test_slices.needed(4)
    space = space_of(table, requirement)
    mapping = cover(table, (requirement,), seeded(seed), effort=0).recoding.mapping
    nodes, parts = (
        mapping.classes + space.roots,
        np.stack([mapping.part_tuples, mapping.part_classes, mapping.part_records], 1),
    )
    sizes = np.bincount(parts[:, 1], parts[:, 2], len(nodes)).astype(np.int64)
    targets = exchange.proposed(space, nodes, sizes, parts, crowding, seeded(0), leaves=leaves)
    detail = space.detail(nodes)
    for (tuple_, home, records), target in zip(parts.tolist(), targets.tolist(), strict=True):
        values = space.tuples[tuple_]
        has = ((nodes <= values) & (values < space.forest.end[nodes])).all(axis=1)
        gain = records * (detail + 1 if leaves else detail - detail[home])
        gain = np.where(has, gain - 2 * crowding * records * (sizes + records - sizes[home]), 0)
        gain[home] = 0
        assert target == (int(np.argmax(gain)) if gain.max() > 0 else -1)


@examples(20)
@given(st.integers(0, 1000), st.integers(1, 40))
def test_a_round_picks_every_tuple_whose_group_is_large_enough_and_counts_it(seed, least_size):
    draws = np.random.default_rng(seed)
    table = test_slices.table_of(seed, 300)
    hierarchies = [hierarchy_of(attribute) for attribute in table.attributes]
    detail = details(table.attributes, hierarchies, "ncp", Weights())[0]
    levels = rounds.stages_of(table, hierarchies, detail, 10_000, seeded(0))[0]
    codes = np.stack(table.codes).astype(np.uint32)
    state = rounds._new_covering(levels, codes, table.counts, least_size)
    left = np.flatnonzero(draws.random(len(table.counts)) < 0.7)
    state.left[: len(left)] = left
    column_nodes = [rounds.level_nodes(hierarchy) for hierarchy in hierarchies]
    for number in draws.choice(len(levels.rounds), 5, replace=False).tolist():
        choice = levels.rounds[number]
        nodes = np.stack([column_nodes[a][level][codes[a][left]] for a, level in enumerate(choice)], axis=1)
        _, groups = np.unique(nodes, axis=0, return_inverse=True)
        sizes = np.bincount(groups.ravel(), table.counts[left])[groups.ravel()]
        picked = rounds.pick_groups(state, number, len(left))
        counted = dict(zip(state.picked[:picked], state.sizes[state.groups[:picked]], strict=True))
        assert {one: size for one, size in counted.items() if size >= least_size} == {
            one: size for one, size in zip(left, sizes, strict=True) if size >= least_size
        }
        if picked:
            assert (compact(state.groups[:picked])[0] == state.groups[:picked]).all()


@examples(20)
@given(st.integers(0, 1000))
def test_the_tuple_that_a_class_would_take_is_the_one_that_costs_least(seed):
    draws, (requirement,) = np.random.default_rng(seed), test_slices.needed()
    space = space_of(test_slices.table_of(seed, 100), requirement)
    groups = draws.integers(0, 12, len(space.counts))
    groups, size = compact(groups)
    nodes = space.nodes(np.arange(len(groups)), groups)
    sizes = np.bincount(groups, space.counts).astype(np.int64)
    order = np.argsort(groups, kind="stable")
    first = np.searchsorted(groups[order], np.arange(size + 1))
    asking, lends = np.arange(size), draws.random(size) < 0.7
    donors = draws.integers(-1, size, (size, 3))
    tuples, costs = np.full(donors.shape, -1), np.zeros(donors.shape, np.int64)
    with_sensitive_values.closest_members(
        space.forest, space.tuples, space.counts, nodes, sizes, order, first, asking, donors, lends, tuples, costs
    )
    held = space.detail(nodes)
    for i, own in enumerate(asking):
        common = shared(space.forest, nodes[own])
        for j, donor in enumerate(donors[i]):
            members = np.flatnonzero(groups == donor)
            if donor < 0 or not lends[donor] or len(members) < 2:
                assert tuples[i, j] == -1
                continue
            after = common[space.tuples[members]].sum(axis=1)
            lost = sizes[own] * (held[own] - after) + space.counts[members] * (held[donor] - after)
            assert (tuples[i, j], costs[i, j]) == (members[np.argmin(lost)], lost.min())


def test_parts_are_listed_class_by_class():
    heads, tuples = np.array([2, -1, 0]), np.array([5, 6, 7, 8])
    records, after = np.array([1, 2, 3, 4]), np.array([3, -1, 1, -1])
    found = agglomeration.parts_of(heads, tuples, records, after)
    assert [part.tolist() for part in found] == [[7, 6, 5, 8], [0, 0, 2, 2], [3, 2, 1, 4]]


def test_every_privacy_model_is_asked_the_same_however_work_is_cut():
    table = test_guarded.table_of(1)
    models = test_guarded.MODELS["k"]
    whole = cover(table, test_guarded.needed(table, models), test_slices.Cut(2**60))
    again = cover(table, test_guarded.needed(table, models), test_slices.Cut(100))
    assert again.recoding == whole.recoding
