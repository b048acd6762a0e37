"""Which columns a recoding leaves as they are, for every kind of recoding of an attribute."""

import pytest

from incrowd.recodings.attributes.cut import Cut, RuleCut
from incrowd.recodings.attributes.disclosure import Disclosure
from incrowd.recodings.attributes.intervals import Intervals
from incrowd.recodings.attributes.partition import Partition
from incrowd.recodings.by_value import ByValue
from incrowd.table.scales import Scale
from incrowd.taxonomies.rules import Bounds, Flat, Frequent, Prefix
from incrowd.taxonomies.taxonomy import Taxonomy

WHOLE = Scale("integer")
TREE = Taxonomy.from_paths([("1", "low", "*"), ("2", "low", "*"), ("7", "high", "*")], "tree")
NODE = {label: node for node, label in enumerate(TREE.labels)}


def unchanged(attribute, **words):
    return ByValue((attribute,), **words).unchanged(attribute.name)


def cut(*labels):
    return Cut("x", TREE, tuple(NODE[label] for label in labels))


@pytest.mark.parametrize(
    ("attribute", "expected"),
    [
        (cut("1", "2", "7"), ("1", "2", "7")),
        (cut("low", "7"), None),
        (cut("1", "2", "high"), None),  # one leaf below it, but another label
        (Intervals("x", WHOLE, (3,), exact=(2, 5)), ("2", "5")),
        (Intervals("x", WHOLE, (3,), domain=(2, 3)), ("2", "3")),
        (Intervals("x", WHOLE, (3,), exact=(5,)), None),
        (Intervals("x", WHOLE, (3,), missing="apart", exact=(2, 5)), ("2", "5", None)),
        (Intervals("x", WHOLE, missing="merged"), None),
        (Intervals("x", WHOLE), None),
        (Intervals("x", WHOLE, (3,), exact=(2, 5), rest=True), ("2", "5", None)),
        (Disclosure("x", ("1", "2")), None),  # others may be suppressed
        (Partition("x", (("1",), ("2",)), ("1", "2")), ("1", "2")),
        (Partition("x", (("1",), ("2",)), ("1", "two")), None),
        (Partition("x", (("1", "2"),), ("{1, 2}",)), None),
        (Partition("x", (("1",), (None,)), ("1", None), rest=True), ("1", None, None)),
        (RuleCut("x", Prefix((1,)), ("12", "34")), ("12", "34")),
        (RuleCut("x", Prefix((1,)), ("1*", "34")), None),
        (RuleCut("x", Bounds((18,)), ("12", "34")), ("12", "34")),
        (RuleCut("x", Bounds((18,)), ("<18", "34")), None),
        (RuleCut("x", Frequent(("1",), "0"), ("1", "0")), None),  # a group that is named like a number
        (RuleCut("x", Flat("0"), ("0",)), None),
    ],
    ids=str,
)
def test_a_column_is_unchanged_if_every_released_value_stands_for_itself(attribute, expected):
    assert unchanged(attribute) == expected


def test_only_what_is_released_counts_where_records_are_left_out():
    shown = Disclosure("x", ("1", "2"))
    assert unchanged(shown, classes=((0,), (1,))) == ("1", "2", None)
    assert unchanged(shown, classes=((0,), (2,))) is None
    assert unchanged(cut("1", "2", "high"), classes=((0,),)) == ("1", None, None)


def test_a_missing_value_that_has_a_name_is_text():
    apart = Intervals("x", WHOLE, (3,), missing="apart", exact=(2, 5))
    assert unchanged(apart, missing_label="?") is None
    assert unchanged(apart, missing_label="?", classes=((0,), (1,))) == ("2", "5", None)
