"""Editing intervals of numbers: whatever is done, every level is a part of the one below."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples

from incrowd.errors import PolicyError
from incrowd.studio import cuts
from incrowd.studio.histogram import picture
from incrowd.taxonomies.rules import rule_of

LEVELS = [[10, 20, 30, 40], [20, 40]]


def test_split_join_and_levels():
    assert cuts.split(LEVELS, 1, 30) == [[10, 20, 30, 40], [20, 30, 40]]
    assert cuts.split(LEVELS, 0, 25) == [[10, 20, 25, 30, 40], [20, 40]]
    assert cuts.split([], 0, 5) == [[5]]
    # and join through all coarser ones
    assert cuts.join(LEVELS, 0, 20) == [[10, 30, 40], [40]]
    assert cuts.join(LEVELS, 1, 20) == [[10, 20, 30, 40], [40]]
    assert cuts.join([[5]], 0, 5) == []
    assert cuts.coarser(LEVELS) == [*LEVELS, [40]]
    assert cuts.without(LEVELS, 0) == [[20, 40]]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda: cuts.split(LEVELS, 0, 20), "already"),
        (lambda: cuts.split([list(range(150))], 0, 1000), "150 bounds"),
        (lambda: cuts.join(LEVELS, 1, 10), "no bound at 10"),
        (lambda: cuts.coarser([]), "nothing left"),
        (lambda: cuts.coarser([[5]]), "nothing left"),
        (lambda: cuts.coarser([list(range(place, 140)) for place in range(12)]), "12 levels"),
    ],
)
def test_what_makes_no_sense_is_said(change, told):
    with pytest.raises(PolicyError, match=told):
        change()


def test_equal_widths_become_bounds_within_the_numbers():
    assert cuts.levels_of({"widths": [5, 10]}, 17, 33) == [[20, 25, 30], [20, 30]]
    assert cuts.levels_of({"widths": [0.1], "origin": 0.05}, 0.0, 0.3) == [[0.05, 0.15, 0.25]]
    assert cuts.levels_of({"widths": [1]}, 0, 1_000_000) is None
    assert cuts.levels_of({"bounds": [1, 2]}, 0, 3) == [[1, 2]]
    assert cuts.levels_of(None, 0, 3) == []


CHANGES = st.lists(
    st.tuples(st.sampled_from(["split", "join", "coarser", "without"]), st.integers(0, 3), st.integers(1, 30))
)


@examples(200)
@given(CHANGES)
def test_whatever_is_done_it_is_a_rule_of_the_policy(changes):
    levels = []
    for act, level, bound in changes:
        if level >= max(1, len(levels)) or (not levels and act in ("join", "without")):
            continue
        try:
            levels = {
                "split": lambda: cuts.split(levels, level, bound),  # noqa: B023 called at once
                "join": lambda: cuts.join(levels, level, bound),  # noqa: B023
                "coarser": lambda: cuts.coarser(levels),  # noqa: B023
                "without": lambda: cuts.without(levels, level),  # noqa: B023
            }[act]()
        except PolicyError:
            continue
        assert all(set(wide) < set(narrow) for narrow, wide in pairwise(levels))
        if words := cuts.rule_of(levels):
            rule_of("age", words)
            assert cuts.levels_of(words, 0, 31) == levels


@examples(100)
@given(
    st.dictionaries(st.integers(-1000, 100_000), st.integers(1, 50), min_size=1, max_size=40),
    st.lists(st.integers(-900, 90_000), unique=True, max_size=12),
)
def test_every_record_is_in_one_bar_and_in_one_interval_of_each_level(counted, bounds):
    numbers = np.array(sorted(counted), float)
    counts = np.array([counted[number] for number in sorted(counted)])
    levels = cuts.tidy([sorted(bounds), sorted(bounds)[::2]])
    shown = picture(numbers, counts, levels)
    assert sum(bar["records"] for bar in shown["bars"]) == shown["records"] == counts.sum()
    for level, intervals in zip(levels, shown["levels"], strict=True):
        assert len(intervals) == len(level) + 1
        assert sum(each["records"] for each in intervals) == counts.sum()
        assert all(float(each["width"][:-1]) >= 0 for each in intervals)


def test_every_year_has_a_bar_of_its_own():
    shown = picture(np.arange(150.0, 200.0), np.arange(1, 51), [])
    assert [bar["records"] for bar in shown["bars"]] == list(range(1, 51))
