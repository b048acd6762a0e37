"""A preview shows every column, breaks no word, and puts the same rows side by side."""

import pyarrow as pa
import pytest

import incrowd
from incrowd.report.terminal import as_text, print_preview

pytestmark = pytest.mark.filterwarnings("ignore::incrowd.errors.ReleaseWarning")  # risks are not the point here

WIDE = pa.table({"age": [30] * 5 + [40] * 5} | {f"a long column {i}": ["some words here"] * 10 for i in range(9)})


def shown(release, width=80):
    return as_text(print_preview, release, width=width)


def test_every_column_is_there_and_no_word_is_broken():
    text = shown(incrowd.anonymize(WIDE, quasi_identifiers=["age"], k=5))
    for name in WIDE.column_names:
        assert name in text
    assert text.count("some words here") == 9 * 10
    assert max(map(len, text.splitlines())) <= 80


def test_columns_that_are_dropped_say_so():
    rows = pa.table({"name": ["Ann", "Bo"] * 3, "age": [1] * 6})
    text = shown(incrowd.anonymize(rows, quasi_identifiers=["age"], k=2, identifiers=["name"]))
    assert "Ann" not in text
    assert "dropped: name" in text


def test_records_that_are_left_out_do_not_shift_the_others():
    rows = pa.table({"job": ["rare"] + ["a"] * 50 + ["b"] * 49, "pay": range(100)})
    release = incrowd.anonymize(rows, quasi_identifiers=["job"], k=5, keep=["pay"], method="bug", suppress=0.02)
    before, after = release.preview(3)
    assert before["pay"] == after["pay"] == [1, 2, 3]
    assert after["job"] == ["a"] * 3


def test_long_cells_are_shortened_and_stay_on_one_line():
    rows = pa.table({"age": [1] * 4, "note": ["first\nsecond " + "x" * 100] * 4})
    text = shown(incrowd.anonymize(rows, quasi_identifiers=["age"], k=2))
    assert "first second xx" in text
    assert "…" in text


def test_an_empty_release_has_an_empty_preview():
    rows = pa.table({"job": list("abcdefgh")})
    release = incrowd.anonymize(rows, quasi_identifiers=["job"], k=8)
    assert release.preview(2)[1] == {"job": ["*", "*"]}
