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


HALF_OPEN = [(20, 25), (20, 26), (30, 31), (None, 18), (None, 19), (65, None), None, None]  # of LABELS
ORDERED = ["<18", "<=18", "[20-25)", "[20-25]", "30", ">=65"]


def test_intervals_in_arrow_and_polars_are_half_open_structs():
    expected = [pair and {"low": pair[0], "high": pair[1]} for pair in HALF_OPEN]
    assert incrowd.as_numbers(ROWS, form="interval")["age"].to_pylist() == expected
    assert incrowd.as_numbers(pl.from_arrow(ROWS), form="interval")["age"].to_list() == expected


def test_intervals_in_pandas_hold_what_their_label_holds():
    found = incrowd.as_numbers(ROWS.to_pandas().set_axis(range(5, 13)), form="interval")["age"]
    assert list(found.index) == list(range(5, 13))
    assert found.dtype == pd.IntervalDtype("float64", "left")
    held = [[age for age in (17, 18, 19, 24, 25, 26, 30, 31, 65, 1e9) if age in each] for each in found.dropna()]
    assert held == [[24], [24, 25], [30], [17], [17, 18], [65, 1e9]]
    assert found.isna().tolist() == [False] * 6 + [True] * 2
    whole = incrowd.as_numbers(pd.DataFrame({"x": ["[20-25)", "30"]}), form="interval")["x"]
    assert whole.tolist() == [pd.Interval(20, 25, "left"), pd.Interval(30, 31, "left")]
    halves = incrowd.as_numbers(pd.DataFrame({"x": ["[0.5-1)", "2.5"]}), form="interval")["x"]
    assert [2.5 in each for each in halves] == [False, True]
    assert [0.5 in each for each in halves] == [True, False]


def test_intervals_of_dates():
    days = pd.DataFrame({"day": ["[2020-01-01 to 2020-01-03)", "2020-03-01", "*", "<2019-01-01"]})
    first, single, any_day, open_below = incrowd.as_numbers(days, form="interval")["day"]
    assert (first.left, first.right) == (pd.Timestamp("2020-01-01"), pd.Timestamp("2020-01-03"))
    assert (single.left, single.right) == (pd.Timestamp("2020-03-01"), pd.Timestamp("2020-03-02"))
    assert pd.isna(any_day)
    assert pd.Timestamp("1700-05-06") in open_below


def test_categories_are_in_order():
    expected = [label for label in LABELS if label != "*"]
    expected.insert(6, None)
    arrow = incrowd.as_numbers(ROWS, form="category")["age"]
    assert arrow.type.ordered
    assert arrow.to_pylist() == expected
    polars = incrowd.as_numbers(pl.from_arrow(ROWS), form="category")["age"]
    assert polars.dtype == pl.Enum(ORDERED)
    assert polars.drop_nulls().sort().to_list() == ORDERED
    pandas = incrowd.as_numbers(ROWS.to_pandas(), form="category")["age"]
    assert (list(pandas.cat.categories), pandas.cat.ordered) == (ORDERED, True)
    assert pandas.max() == ">=65"


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
    with pytest.raises(PolicyError, match=r"must be one of midpoint, bounds, interval, category. Got 'mean'."):
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
