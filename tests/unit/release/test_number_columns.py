"""Intervals of a release as numbers and dates: nothing but labels is looked at, and equal rows stay equal."""

import datetime

import narwhals as nw
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.command_line import GOOD, anonymize, only_line, run

import incrowd
from incrowd.errors import DataError, PolicyError, UnknownNameError

LABELS = ["[20-25)", "[20-25]", "30", "<18", "<=18", ">=65", "*", None]
ROWS = pa.table({"age": LABELS, "job": ["a", "b", "*", "c", "d", "e", "f", "g"], "n": range(8)})


def test_midpoints():
    found = incrowd.as_numbers(ROWS)
    assert found["age"].to_pylist() == [22, 22.5, 30, 17, 18, 65, None, None]
    assert found["job"].equals(ROWS["job"])
    assert found.column_names == ["age", "job", "n"]


def test_bounds():
    found = incrowd.as_numbers(ROWS, form="bounds")
    assert found.column_names == ["age_low", "age_high", "job", "n"]
    assert found["age_low"].to_pylist() == [20, 20, 30, None, None, 65, None, None]
    assert found["age_high"].to_pylist() == [25, 25, 30, 18, 18, None, None, None]
    assert found["age_low"].type == pa.int64()


def test_decimals_are_no_integers():
    found = incrowd.as_numbers(pa.table({"x": ["[0.5-1)", "2"]}), form="bounds")
    assert found.to_pydict() == {"x_low": [0.5, 2.0], "x_high": [1.0, 2.0]}


def test_dates_are_dates():
    days = pa.table({"day": ["[2020-01-01 to 2020-01-03)", "2020-03-01", "*"]})
    assert incrowd.as_numbers(days)["day"].to_pylist() == [
        *(datetime.date(2020, 1, 1), datetime.date(2020, 3, 1)),
        None,
    ]
    times = pa.table({"at": ["[2020-01-01 10:00:00 to 2020-01-01 12:00:00]", "2020-03-01 10:00:00"]})
    assert incrowd.as_numbers(times)["at"].to_pylist()[0] == datetime.datetime(2020, 1, 1, 11)


@pytest.mark.parametrize("labels", [["<=50K", ">50K"], ["01234", "123**"], ["a", "*"], ["1", "2"], ["[a-b)", "c"]])
def test_other_columns_stay_as_they_are(labels):
    rows = pa.table({"x": labels})
    assert incrowd.as_numbers(rows).equals(rows)
    with pytest.raises(DataError, match="column 'x' does not hold intervals"):
        incrowd.as_numbers(rows, columns=["x"])


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lambda: ROWS.to_pandas(), pd.DataFrame),
        (lambda: ROWS.to_pandas().set_axis(range(5, 13)), pd.DataFrame),
        (lambda: pl.from_arrow(ROWS), pl.DataFrame),
        (lambda: nw.from_native(pl.from_arrow(ROWS)), nw.DataFrame),
    ],
)
def test_every_kind_of_frame_comes_back(make, kind):
    found = incrowd.as_numbers(make(), form="bounds")
    assert isinstance(found, kind)
    assert list(found.columns) == ["age_low", "age_high", "job", "n"]
    assert list(found["age_low"])[:3] == [20, 20, 30]


def test_a_release_keeps_its_promise():
    release = incrowd.anonymize(
        incrowd.datasets.german(),
        quasi_identifiers=["age", "duration"],
        k=5,
        keep=["credit-amount"],
        method="mondrian",
    )
    assert incrowd.verify(incrowd.as_numbers(release.data), quasi_identifiers=["age", "duration"], k=5).holds
    both = ["age_low", "age_high", "duration_low", "duration_high"]
    assert incrowd.verify(incrowd.as_numbers(release.data, form="bounds"), quasi_identifiers=both, k=5).holds


def test_what_cannot_be_asked():
    with pytest.raises(PolicyError, match=r"must be one of midpoint, bounds. Got 'mean'."):
        incrowd.as_numbers(ROWS, form="mean")
    with pytest.raises(UnknownNameError, match="no column 'agee'"):
        incrowd.as_numbers(ROWS, columns="agee")
    with pytest.raises(DataError, match="there is a column 'age_low' already"):
        incrowd.as_numbers(ROWS.append_column("age_low", ROWS["n"]), form="bounds")


class TestCommand:
    @pytest.fixture
    def released(self, workplace):
        (workplace / "people.csv").write_text(GOOD)
        words = ("--qi", "age,sex", "--k", 9, "--method", "mondrian", "--identifiers", "name")
        assert run(*anonymize(*words)).exit_code == 0
        return workplace

    @pytest.mark.parametrize("suffix", ["csv", "csv.gz", "parquet"])
    def test_writes_a_file_of_its_own(self, released, suffix):
        result = run("numbers", "out.csv", "-o", f"n.{suffix}", "--form", "bounds")
        assert result.exit_code == 0, result.stderr
        assert "converted age" in result.stderr
        found = incrowd.inspect(f"n.{suffix}")
        assert [column.name for column in found.columns] == ["age_low", "age_high", "sex", "job", "income"]
        assert result.stdout == ""

    def test_replaces_nothing_unasked(self, released):
        (released / "n.csv").write_text("old")
        assert "n.csv already exists" in only_line(run("numbers", "out.csv", "-o", "n.csv").stderr)
        assert run("numbers", "out.csv", "-o", "n.csv", "--overwrite").exit_code == 0

    def test_in_one_line(self, released):
        result = run("numbers", "out.csv", "-o", "n.csv", "--columns", "sex")
        assert "column 'sex' does not hold intervals" in only_line(result.stderr)
        assert result.exit_code == 1
        assert not (released / "n.csv").exists()
