"""The rounds of cover: all choices of levels if they are few, else the cheapest, then fewer levels up to the top."""

from math import prod

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.unit.search.clustering.test_slices import needed, table_of

from incrowd.recodings.kinds import hierarchy_of
from incrowd.run import Run
from incrowd.search.clustering import rounds
from incrowd.search.clustering.cover import cover
from incrowd.search.clustering.distances import details, weights_of
from incrowd.search.clustering.rounds import stages_of, thinned

LOSSES = st.lists(st.lists(st.integers(1, 100), min_size=1, max_size=6), min_size=1, max_size=6)


@examples(50)
@given(LOSSES, st.integers(1, 2000))
def test_fewer_levels_keep_the_lowest_and_the_highest(gaps, rounds):
    losses = [np.cumsum([0, *column]).tolist() for column in gaps]
    kept = thinned(losses, rounds)
    assert all(some[0] == 0 and some[-1] == len(column) - 1 for some, column in zip(kept, losses, strict=True))
    assert all(some == sorted(set(some)) for some in kept)
    assert prod(map(len, kept)) <= max(rounds, 2 ** len(kept))


def staged(table, number):
    hierarchies = [hierarchy_of(attribute) for attribute in table.attributes]
    detail, _ = details(table.attributes, hierarchies, "ncp", weights_of("ncp", 1, None, hierarchies))
    return stages_of(table, hierarchies, detail, number, Run())


def test_few_choices_are_one_stage_of_all_of_them():
    first, second = staged(table_of(0), 10_000)
    assert second is None
    assert len(first.rounds) == prod(first.heights.tolist())


def test_many_choices_are_two_stages_that_end_at_the_top():
    first, second = staged(table_of(0), 40)
    assert len(first.rounds) == 40 // rounds.FIRST_STAGE
    assert second.rounds[-1].tolist() == (first.heights - 1).tolist()
    assert not {*map(tuple, first.rounds.tolist())} & {*map(tuple, second.rounds.tolist())}


def test_the_second_stage_covers_what_the_first_left_over():
    table = table_of(0, 100)
    facts = cover(table, needed(20), Run(), rounds=40, effort=0).facts
    assert facts["rounds"] > 40 // rounds.FIRST_STAGE
    assert facts["covered"] > table.records / 2
