"""Recodings rebuilt from released records alone: nothing is left in them that only a left-out record had."""

import json

import numpy as np
import pyarrow as pa
import pytest

import incrowd
from incrowd.recodings.attributes.cut import RuleCut
from incrowd.recodings.attributes.disclosure import Disclosure
from incrowd.recodings.attributes.intervals import Intervals
from incrowd.recodings.attributes.partition import Partition
from incrowd.table.attributes import encode


def attribute_of(values, *, missing=False, taxonomy=None):
    return encode("x", pa.array(values), has_missing=missing, taxonomy=taxonomy)[0]


def released(attribute, *codes):
    """Which codes released records have."""
    mask = np.zeros(attribute.size, bool)
    mask[list(codes)] = True
    return mask


def told(recoding):
    return json.dumps(recoding.to_json()) + str(recoding.labels)


def test_shown_values_are_those_of_released_records():
    attribute = attribute_of(["a", "b", "c"], missing=True)
    found = Disclosure("x", ("a", "b"), missing_shown=True).rebuilt(attribute, released(attribute, 0, 2))
    assert found == Disclosure("x", ("a",), missing_shown=False)
    found = Disclosure("x", ("a", "b"), missing_shown=True).rebuilt(attribute, released(attribute, 0, 3))
    assert found == Disclosure("x", ("a",), missing_shown=True)


def intervals(attribute, bounds, exact=(), missing="none"):
    return Intervals("x", attribute.scale, bounds, None, missing, exact)


def test_intervals_begin_where_a_released_record_is():
    attribute = attribute_of([10, 20, 30, 40, 50, 60])
    found = intervals(attribute, (30, 50)).rebuilt(attribute, released(attribute, 0, 1, 3, 5))
    assert found.bounds == (40, 60)
    assert "30" not in told(found)
    assert "50" not in told(found)


def test_an_interval_that_nobody_is_in_is_gone():
    attribute = attribute_of([10, 20, 30, 40, 50, 60])
    found = intervals(attribute, (30, 50)).rebuilt(attribute, released(attribute, 0, 1, 4, 5))
    assert found.bounds == (50,)


def test_exact_numbers_are_those_of_released_records():
    attribute = attribute_of([10, 20, 30, 40])
    found = intervals(attribute, (20, 30, 40), (20, 30)).rebuilt(attribute, released(attribute, 0, 1, 3))
    assert found.exact == (20,)
    assert "30" not in told(found)


@pytest.mark.parametrize(("kept", "word"), [((0, 2, 4), "apart"), ((0, 2), "none")])
def test_missing_values_are_told_of_if_a_released_record_has_one(kept, word):
    attribute = attribute_of([10, 20, 30, 40], missing=True)
    found = intervals(attribute, (30,), missing="apart").rebuilt(attribute, released(attribute, *kept))
    assert found.missing == word


def test_labels_of_a_rule_are_those_of_released_records():
    attribute = attribute_of(["1201", "1202", "1301", "1401"], taxonomy=incrowd.Prefix((2,)))
    cut = RuleCut("x", attribute.rule, ("12**", "13**", "14**"), 3)
    found = cut.rebuilt(attribute, released(attribute, 0, 1, 3))
    assert "13" not in told(found)
    assert found.labels == ("12**", "14**", "*")


def test_sets_are_of_values_of_released_records():
    attribute = attribute_of(["a", "b", "c", "d"])
    partition = Partition("x", (("a", "b"), ("c", "d")), ("{a, b}", "{c, d}"), False, None)
    found = partition.rebuilt(attribute, released(attribute, 0, 2, 3))
    assert found.blocks == (("a",), ("c", "d"))
    assert found.names == ("a", "{c, d}")
    found = partition.rebuilt(attribute, released(attribute, 2, 3))
    assert found.names == ("{c, d}",)
