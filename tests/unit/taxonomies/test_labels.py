"""The grammar of released values: what is formatted parses back, in every kind of value that a search releases."""

import math

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import incrowd
from incrowd.table.scales import Scale
from incrowd.taxonomies.labels import ANY, Interval, interval_label, number_label, parse_interval, set_label

INTEGERS = Scale("integer"), st.integers(-(2**62), 2**62)
NUMBERS = Scale("number"), st.floats(allow_nan=False, allow_infinity=False)
DATES = Scale("date"), st.integers(-100_000, 100_000)
MOMENTS = Scale("timestamp", "us"), st.integers(-(10**15), 10**15)
ZONED = Scale("timestamp", "ms", "UTC"), st.integers(-(10**12), 10**12)
BOUNDS = st.sampled_from([INTEGERS, NUMBERS, DATES, MOMENTS, ZONED]).flatmap(
    lambda pair: st.tuples(st.just(pair[0]), pair[1] | st.none(), pair[1] | st.none())
)


@given(BOUNDS, st.booleans())
def test_an_interval_parses_back_to_its_bounds(bounds, closed):
    scale, low, high = bounds
    texts = [None if bound is None else scale.text(bound) for bound in (low, high)]
    closed = closed and high is not None
    found = parse_interval(interval_label(*texts, closed=closed))
    assert found == Interval(*texts, closed)


@given(BOUNDS)
def test_a_single_value_is_no_interval(bounds):
    scale, low, _ = bounds
    if low is not None:
        assert parse_interval(scale.text(low)) is None
        assert scale.middle(scale.text(low)) == float(scale.number(scale.text(low), "x"))


@pytest.mark.parametrize(
    ("label", "number"),
    [
        ("[20-25)", 22),
        ("[20-25]", 22.5),
        ("[-5 to 3)", -1.5),
        ("<18", 17),
        ("<=18", 18),
        (">=65", 65),
        ("7", 7),
    ],
)
def test_the_middle_of_a_label_of_whole_numbers(label, number):
    assert Scale("integer").middle(label) == number


@pytest.mark.parametrize("label", ["[20", "[20-25", "[1-2-3)", "[1 to 2 to 3]"])
def test_what_only_looks_like_an_interval_is_refused(label):
    with pytest.raises(ValueError, match="is not an interval"):
        parse_interval(label)


def test_sets():
    assert (set_label(["a"]), set_label([None]), set_label(["a", None])) == ("a", None, "{a, missing}")


@pytest.mark.parametrize(
    "method", ["mondrian", "tdr", "bug", "cover", "kaca", "datafly", "argus", "optimal", "genetic"]
)
def test_every_number_that_a_method_releases_has_a_middle(method):
    """Else a classifier would take the column for categories, and nobody would notice."""
    ages = [17, 18, 18, 22, 22, 25, 28, 28, 33, 37, 41, 41, 48, 55, 62, 71]
    table = pa.table({"age": ages * 2, "wage": [age / 4 - 9 for age in ages] * 2})
    release = incrowd.anonymize(table, quasi_identifiers=["age", "wage"], k=3, method=method)
    for name, scale in ("age", Scale("integer")), ("wage", Scale("number")):
        labels = set(release.data.column(name).to_pylist())
        assert labels
        assert [label for label in labels if math.isnan(scale.middle(label))] in ([], [ANY])


def test_number_label():
    assert [number_label(number) for number in (18.0, 0.5, -3, -0.0, 1e-5, 1e16)] == (
        ["18", "0.5", "-3", "0", "0.00001", "10000000000000000"]
    )
