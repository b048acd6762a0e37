"""Exact values of losses and information, and choosing by them."""

from decimal import Context
from fractions import Fraction
from math import log2

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.search.exact import (
    DECIMALS,
    _log,
    cell_loss,
    cell_loss_error,
    choose,
    comparable,
    contenders,
    information,
    information_lost,
)
from incrowd.table.attributes import encode
from incrowd.taxonomies.taxonomy import Taxonomy

COUNTS = st.lists(st.integers(0, 1000), min_size=2, max_size=2)


def test_example_4_of_the_tds_paper():
    assert float(information([21, 13]) / 34) == pytest.approx(0.9597, abs=0.00005)
    assert float(information_lost([[5, 11], [16, 2]]) / 34) == pytest.approx(0.2716, abs=0.00005)


def test_powers_of_two_have_whole_logarithms():
    assert information([8, 8]) == 16
    assert information_lost([[8, 0], [0, 8]]) == 16


@given(st.integers(1, 1 << 60) | st.integers(1, 3000))
def test_logarithms_have_sixty_decimals(n):
    fine = Context(prec=90)
    expected = fine.divide(fine.ln(n), fine.ln(2))
    assert abs(Fraction(_log(n), 10**60) - Fraction(expected)) <= Fraction(501, 1000 * 10**60)


@given(st.lists(COUNTS, min_size=1, max_size=4))
def test_information_is_that_of_floats(parts):
    def mass(counts):
        return sum(counts) * log2(sum(counts) or 1) - sum(n * log2(n or 1) for n in counts)

    expected = mass(list(map(sum, zip(*parts, strict=True)))) - sum(map(mass, parts))
    assert float(information_lost(parts)) == pytest.approx(expected, abs=1e-8)


@given(st.lists(COUNTS, min_size=1, max_size=4), st.integers(2, 9))
def test_the_gain_of_as_many_times_the_records_is_the_same(parts, times):
    more = [[times * n for n in part] for part in parts]
    assert comparable(information_lost(parts), DECIMALS) == comparable(information_lost(more) / times, DECIMALS)


@given(COUNTS, st.integers(1, 5), st.integers(1, 5))
def test_parts_with_the_labels_of_the_whole_tell_nothing(counts, first, second):
    parts = [[first * n for n in counts], [second * n for n in counts]]
    assert comparable(information_lost(parts), DECIMALS) == 0


def test_equal_fractions_are_equally_good_and_a_difference_in_the_30th_decimal_counts():
    assert choose([Fraction(1, 3), Fraction(2, 6), Fraction(1, 4)]) == [0, 1]
    near = Fraction(1, 3) - Fraction(1, 10**30)
    assert choose([near, Fraction(1, 3)], decimals=DECIMALS) == [1]
    assert choose([near, Fraction(1, 3)], lowest=True) == [0]


def test_contenders_are_all_that_floats_cannot_tell_from_the_largest():
    assert contenders(np.array([1.0, 3.0, 3.0 - 1e-10, 2.9])).tolist() == [1, 2]
    assert contenders(np.array([0.0, 1e-14])).tolist() == [0, 1]
    assert contenders(np.array([1.0, 2.0]), np.array([0.0, 5.0])).tolist() == [0, 1]


ATTRIBUTES = {
    "integer": ([1, 2, 5, 9], None, None),
    "number": ([0.1, 0.2, 0.4, 7.3], None, None),
    "public range": ([1, 2, 5, 9], (-7, 90), None),
    "one value": ([3], None, None),
    "taxonomy": (["a", "b", "c"], None, Taxonomy.from_tree({"*": {"ab": ["a", "b"], "c": {}}})),
    "nanoseconds": (pa.array([10**18, 10**18 + 1, 10**18 + 3], pa.timestamp("ns")), None, None),
}


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("kind", ATTRIBUTES)
def test_cell_losses_are_those_of_the_attribute(kind, missing):
    values, domain, taxonomy = ATTRIBUTES[kind]
    attribute, _ = encode("x", pa.array(values), has_missing=missing, taxonomy=taxonomy, domain=domain)
    for start in range(attribute.size):
        for stop in range(start + 1, attribute.size + 1):
            (loss,) = attribute.loss(np.array([start]), np.array([stop]))
            exact = cell_loss(attribute, start, stop)
            assert 0 <= exact <= 1
            assert float(exact) == pytest.approx(loss, abs=1e-12 + cell_loss_error(attribute))


def test_numbers_are_taken_as_they_are_written():
    attribute, _ = encode("x", pa.array([0.0, 0.1, 0.2, 0.3]), has_missing=False)
    assert (
        cell_loss(attribute, 1, 2) == cell_loss(attribute, 2, 3) == Fraction(1, 3)
    )  # floats: 0.1 and 0.3 - 0.2 differ
