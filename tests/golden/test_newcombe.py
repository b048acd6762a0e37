"""Wilson's and Newcombe's intervals, with the examples of his three papers of 1998 (Statistics in Medicine 17)."""

import pytest

from incrowd.attacks.intervals import above, independent, independent_trials, paired, wilson


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_a_share_has_wilsons_interval(successes, trials, low, high):
    assert wilson(successes, trials) == (pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))


@pytest.mark.parametrize(
    ("one", "other", "low", "high"),
    [((56, 70), (48, 80), 0.0524, 0.3339), ((9, 10), (3, 10), 0.1705, 0.8090), ((10, 10), (0, 20), 0.6791, 1.0)],
)
def test_a_difference_of_independent_shares_has_newcombes(one, other, low, high):
    found = independent(*one, *other)
    assert (found.low, found.high) == (pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))


@pytest.mark.parametrize(
    ("table", "low", "high"), [((36, 12, 2, 0), 0.0569, 0.3404), ((20, 12, 2, 16), 0.0562, 0.3292)]
)
def test_a_difference_of_paired_shares_has_his_tenth(table, low, high):
    found = paired(*table)
    assert (found.value, found.low, found.high) == tuple(pytest.approx(each, abs=5e-5) for each in (0.2, low, high))


def test_few_trials_are_not_sure():
    assert above(1, 1, 0.0).low == pytest.approx(0.2065, abs=5e-5)
    assert independent(1, 1, 0, 1).low < 0.2
    assert wilson(0, 0) == (0.0, 1.0)


def test_people_of_one_crowd_count_once():
    assert independent_trials([0, 0, 1, 1, 2, 2]) == 3
    assert independent_trials([0, 1, 2, 3]) == 4
    assert independent_trials([0, 0, 0, 0]) == 1
