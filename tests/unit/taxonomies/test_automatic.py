from fractions import Fraction

import numpy as np
import pytest

from incrowd.taxonomies.automatic import bounds_of, calendar_of, frequent_of, prefix_of, roundest
from incrowd.taxonomies.rules import Bounds


def counted(values):
    return np.unique(np.asarray(values), return_counts=True)


@pytest.mark.parametrize(
    ("low", "high", "found"),
    [
        (17, 23, 20),
        (187_411, 233_902, 200_000),
        (-3, 4, 0),
        (-47, -31, -40),
        (0.113, 0.171, Fraction(3, 20)),
        (41, 42, 42),
        (0, 1, 1),
        (3.25, 3.5, Fraction(7, 2)),
        (99, 101, 100),
    ],
)
def test_the_roundest_number_between_two(low, high, found):
    assert roundest(low, high) == found


def test_skewed_incomes_do_not_end_in_one_interval():
    incomes = np.random.default_rng(1).lognormal(10, 1.3, 10_000).round()
    incomes[:50] = np.arange(50) * 100_000 + 1_000_000
    rule = bounds_of(*counted(incomes))
    finest = np.histogram(incomes, [-np.inf, *rule.bounds, np.inf])[0]
    assert finest.max() <= 10_000 * 2 / 16
    assert finest.min() > 0
    sizes = [len(level) for level in (rule.bounds, *rule.coarser)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] == 1
    assert all(len(str(int(bound)).rstrip("0")) <= 2 for bound in rule.bounds)


def test_a_value_that_most_have_stands_alone():
    gains = [0] * 9000 + list(range(114, 1114))
    rule = bounds_of(*counted(gains))
    zeros = rule.ancestors("0")[0]
    assert [rule.ancestors(str(gain))[0] == zeros for gain in (0, 114, 999)] == [True, False, False]


def test_few_numbers_need_no_bounds():
    assert bounds_of(*counted([0, 1, 2, 3])) is None


def test_bounds_of_a_small_table_do_not_single_out_anyone():
    rule = bounds_of(*counted(np.arange(20) * 37 + 1013))
    assert len(rule.bounds) <= 3
    assert isinstance(rule, Bounds)


def test_fractions_have_exact_bounds():
    rule = bounds_of(*counted(np.arange(1000) / 1000))
    assert all(len(str(bound)) <= 4 for bound in rule.bounds)


def test_rare_values_are_joined():
    rule = frequent_of(["a", "b", "c", "other"], [50, 40, 1, 2], 5)
    assert rule.values == ("a", "b")
    assert rule.other == "other values"
    assert rule.ancestors("c") == ("other values", "*")


@pytest.mark.parametrize(
    ("values", "counts"), [(["a", "b"], [50, 50]), (["a", "b", "c"], [50, 50, 1]), (["a", "b", "c"], [1, 1, 1])]
)
def test_nothing_is_joined_where_that_groups_nothing(values, counts):
    assert frequent_of(values, counts, 5) is None


def test_no_value_of_fewer_than_the_least_records_is_named():
    values = [f"v{i}" for i in range(300)]
    counts = [1 + i // 20 for i in range(300)]
    rule = frequent_of(values, counts, 5)
    named = [count for value, count in zip(values, counts, strict=True) if value in rule.values]
    assert min(named) >= 5
    assert len(named) <= 100


def test_prefixes():
    assert prefix_of(["12345", "01234"]).lengths == (4, 3, 2, 1)
    assert prefix_of(["SW1A 1AA", "M1 1AE"]).lengths == (4, 3, 2, 1)
    assert prefix_of(["1"]) is None


def test_calendars():
    assert calendar_of((2019, 2020)).levels == ("month", "quarter", "year")
    assert calendar_of((1930, 2010), "dmy").levels == ("month", "quarter", "year", "decade")
    assert calendar_of((2019, 2020), times=True).levels[0] == "day"
