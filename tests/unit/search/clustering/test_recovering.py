"""Destroy and repair: classes made anew are good at any moment, drawn together, and cost less and less."""

import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.runs import seeded
from tests.unit.search.clustering.test_slices import Cut, needed, table_of

from incrowd.errors import CancelledError
from incrowd.measures.hierarchical_distance import Weights
from incrowd.recodings.kinds import hierarchy_of
from incrowd.run import Run
from incrowd.search.clustering import destroy_and_repair
from incrowd.search.clustering.cover import cover
from incrowd.search.clustering.destroy_and_repair import (
    COOLING,
    IDLE,
    KEPT,
    LEAST_COOLING,
    LIVE,
    LOOKED,
    TRIES,
    new_recovery,
    parts_of_classes,
    recover_some,
)
from incrowd.search.clustering.distances import details
from incrowd.search.clustering.pool import meeting_of
from incrowd.search.clustering.space import Space


def started(table, requirement, crowding=0, seed=0):
    """Destroy and repair, begun with what one round of cover and clustering give."""
    hierarchies = [hierarchy_of(attribute) for attribute in table.attributes]
    space = Space.of(table, requirement, hierarchies, details(table.attributes, hierarchies, "ncp", Weights())[0])
    mapping = cover(table, (requirement,), seeded(seed), rounds=1, effort=0).recoding.mapping
    parts = np.stack([mapping.part_tuples, mapping.part_classes, mapping.part_records], axis=1)
    meeting = meeting_of(space.forest, space.roots)
    return space, new_recovery(space, mapping.classes + space.roots, parts, crowding, seed, meeting)


def cost_of(space, crowding, tuples, groups, records):
    size = int(groups.max()) + 1
    nodes = space.nodes(tuples, groups)
    sizes = np.bincount(groups, records, size).astype(np.int64)
    return nodes, sizes, crowding * int(sizes @ sizes) - int(sizes @ space.detail(nodes))


@pytest.mark.parametrize("crowding", [0, 1, 2**31])
@examples(10)
@given(st.integers(0, 1000), st.integers(2, 12))
def test_every_try_leaves_good_classes_that_are_known_exactly_and_in_the_end_cost_no_more(crowding, seed, k):
    table = table_of(seed, 200)
    (requirement,) = needed(k)
    space, state = started(table, requirement, crowding, seed)
    recover_some(state, 2**60, 0)
    state.at[TRIES] = LEAST_COOLING + COOLING * len(state.live)
    last = cost_of(space, crowding, *parts_of_classes(state))[2]
    for _ in range(40):
        recover_some(state, 2**60, 1)
        tuples, groups, records = parts_of_classes(state)
        nodes, sizes, cost = cost_of(space, crowding, tuples, groups, records)
        live = state.live[: state.at[LIVE]]
        assert (state.classes.rows[live, :-2] == nodes).all()
        assert (state.size[live] == sizes).all()
        assert (state.detail[live] == space.detail(nodes)).all()
        assert sizes.min() >= k
        assert not crowding or len(np.unique(nodes, axis=0)) == len(nodes)  # where sizes count, no two are alike
        assert np.bincount(tuples, records).tolist() == table.counts.tolist()
        assert cost <= last
        last = cost


def test_a_try_may_cost_a_little_more_at_first_but_never_more_than_a_record_had_lost():
    table, (requirement,) = table_of(5, 400), needed()
    space, state = started(table, requirement)
    costs = [cost_of(space, 0, *parts_of_classes(state))[2]]
    for _ in range(200):
        recover_some(state, 2**60, 1)
        costs.append(cost_of(space, 0, *parts_of_classes(state))[2])
    assert 0 < np.diff(costs).max() <= state.everything
    assert costs[-1] < costs[0]


def test_it_pays_and_ends_when_nothing_improves_any_more():
    table, (requirement,) = table_of(5, 400), needed()
    space, state = started(table, requirement)
    before = cost_of(space, 0, *parts_of_classes(state))[2]
    while not recover_some(state, 2**60, 10_000):
        pass
    assert state.at[KEPT] > 0
    assert state.at[IDLE] > state.at[LIVE]
    assert cost_of(space, 0, *parts_of_classes(state))[2] < before


def test_the_tree_is_built_anew_when_it_is_full():
    table, (requirement,) = table_of(2, 1000), needed()
    _, state = started(table, requirement)
    recover_some(state, 2**60, 1)
    state.tree.used[0] = len(state.tree.links) - 10
    recover_some(state, 2**60, 100_000)
    assert state.tree.used[0] < len(state.tree.links) // 2
    assert state.at[LOOKED] > 0


@pytest.mark.parametrize("objective", ["ncp", "dm", "mix"])
def test_more_effort_lowers_the_objective_and_is_the_same_however_it_is_cut(objective):
    table, wanted = table_of(4, 400), needed()
    whole = cover(table, wanted, Cut(2**60), objective=objective, effort=1)
    again = cover(table, wanted, Cut(5000), objective=objective, effort=1)
    assert again.recoding == whole.recoding
    assert again.facts == whole.facts
    assert whole.facts["renewed"] > 0
    none = cover(table, wanted, Run(), objective=objective, effort=0)
    assert "renewed" not in none.facts
    sizes = [np.bincount(m.part_classes, m.part_records) for m in (none.recoding.mapping, whole.recoding.mapping)]
    if objective == "dm":
        assert (sizes[1] ** 2).sum() < (sizes[0] ** 2).sum()


@pytest.mark.parametrize("k", [3, 10])
def test_with_sizes_as_the_objective_they_are_smaller_than_where_the_loss_counts_more(k):
    table, wanted = table_of(4, 400), needed(k)
    found = [cover(table, wanted, Run(), objective=objective, effort=1) for objective in ("dm", "mix", "ncp")]
    sizes = [np.bincount(each.recoding.mapping.part_classes, each.recoding.mapping.part_records) for each in found]
    dm, mix, ncp = (int((each**2).sum()) for each in sizes)
    assert dm <= mix <= ncp


@pytest.mark.parametrize("objective", ["ncp", "mix"])
def test_regions_give_the_same_release_on_any_number_of_cores_and_however_work_is_cut(monkeypatch, objective):
    monkeypatch.setattr(destroy_and_repair, "LEAST_CLASSES", 10)
    table, wanted = table_of(4, 400), needed(3)
    runs = [Cut(5000), Cut(2**60), Cut(2**60)]
    runs[0].threads, runs[1].threads, runs[2].threads = 1, 2, 5
    one, *others = (cover(table, wanted, run, objective=objective, effort=1) for run in runs)
    for other in others:
        assert other.recoding == one.recoding
        assert other.facts == one.facts
    mapping = one.recoding.mapping
    assert np.bincount(mapping.part_classes, mapping.part_records).min() >= 3
    assert np.bincount(mapping.part_tuples, mapping.part_records).tolist() == table.counts.tolist()
    assert one.facts["renewed"] > 0


def test_regions_end_when_the_run_is_cancelled():
    table = table_of(5, 3000)
    run = Run(threads=2)
    threading.Timer(0.5, run.cancel).start()
    began = time.monotonic()
    with pytest.raises(CancelledError):
        cover(table, needed(3), run, effort=1000)
    assert time.monotonic() - began < 20
