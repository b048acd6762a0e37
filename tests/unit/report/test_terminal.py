"""The terminal shows a part of the summary that all reports are written from."""

import pyarrow as pa
import pytest

import incrowd
from incrowd.report.brief import brief
from incrowd.report.markdown import markdown_of
from incrowd.report.page import html_of
from incrowd.report.summary import summary_of
from incrowd.report.tables import short_figure
from incrowd.report.terminal import as_text, print_summary

pytestmark = pytest.mark.filterwarnings("ignore::incrowd.errors.ReleaseWarning")  # risks are not the point here

TABLE = pa.table(
    {
        "age": [20, 21, 30, 31, 40, 41] * 8,
        "sex": ["f", "m", "f"] * 16,
        "job": ["clerk", "nurse", None, "cook"] * 12,
        "ill": ["flu", "cold"] * 24,
    }
)


def contained(part, whole):
    """Whether some data are there in other data, in the same places."""
    if isinstance(part, dict):
        return all(key in whole and contained(value, whole[key]) for key, value in part.items())
    if isinstance(part, list):
        return len(part) == len(whole) and all(map(contained, part, whole))
    return part == whole


ONE, TWO = ["age", "sex", "job"], [["age", "sex"], ["sex", "job"]]


@pytest.mark.parametrize(("method", "qid"), [("tdr", ONE), ("tdr", TWO), ("mondrian", ONE), ("datafly", TWO)])
def test_what_the_terminal_shows_is_part_of_the_summary(method, qid):
    words = {"quasi_identifiers": qid, "k": 4, "method": method, "target": "ill"}
    release = incrowd.anonymize(TABLE, **words)
    whole = summary_of(release, for_public=False)
    assert contained(brief(release), whole)
    assert as_text(print_summary, whole) == release.summary()
    assert ("By quasi-identifier" in html_of(whole)) == ("By quasi-identifier" in markdown_of(whole)) == (qid is TWO)


@pytest.mark.parametrize("engine", ["arrow", "duckdb"])
def test_records_that_are_dropped_since_they_lack_a_value_are_told(engine):
    words = {"quasi_identifiers": ONE, "k": 4, "engine": engine}
    release = incrowd.anonymize(TABLE, **words, missing="drop")
    records = summary_of(release, for_public=False)["cost"]["records"]
    assert records == {"original": 48, "released": 36, "released_before": 0, "left_out": 12}
    assert any(note.startswith("12 records were dropped") for note in release.notes)
    assert "36 records released of 48; 12 left out" in markdown_of(summary_of(release, for_public=False))
    assert not any("dropped" in note for note in incrowd.anonymize(TABLE, **words).notes)


def test_a_release_that_continues_another_counts_all_rows_of_the_file(tmp_path):
    words = {"quasi_identifiers": ["age", "sex"], "identifiers": ["job"], "k": 4, "method": "mondrian"}
    for rows, first in ((24, "24 records released, each"), (48, "48 records released, 24 of them new, each")):
        numbered = TABLE.slice(0, rows).append_column("id", pa.array(range(rows)))
        release = incrowd.anonymize(numbered, **words, unit="id", ledger=tmp_path / "ledger")
        release.write(tmp_path / f"{rows}.csv")
        assert as_text(print_summary, brief(release)).startswith(first)
        summary = summary_of(release, for_public=False)
        assert as_text(print_summary, summary).startswith(first)
        assert summary["cost"]["records"]["released"] == summary["safe"]["records"] == rows


def test_many_columns_stay_readable():
    rows = pa.table({f"column {number}": [(number + row) % 2 for row in range(30)] for number in range(50)})
    release = incrowd.anonymize(rows, quasi_identifiers=rows.column_names, k=2, method="mondrian")
    assert "and 10 more attributes" in release.summary()


def test_a_gap_that_is_nothing_but_rounding_is_none():
    """The bound of boxes is lower than it need be by a billionth."""
    release = incrowd.anonymize(pa.table({"age": [1, 2]}), quasi_identifiers=["age"], k=2, method="mondrian")
    assert 0 < release.found.facts["gap"] < 1e-8
    assert brief(release)["done"]["facts"]["gap"] == "0"


@pytest.mark.parametrize(("value", "told"), [(1862, "1,862"), (1862.4, "1,862"), (99.96, "100.0"), (0.1234, "0.123")])
def test_numbers_above_a_thousand_are_written_alike(value, told):
    assert short_figure(value) == told
