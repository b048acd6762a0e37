"""Stata, SPSS and SAS files: values, missing values and labels, kept or applied, and nothing of what is left out."""

import datetime

import pyarrow as pa
import pytest
from tests.files import read, written
from tests.unit.formats.sas_files import write_sas7bdat

import incrowd
from incrowd.errors import DataError, OutputError, PolicyError
from incrowd.formats.registry import open_source

pyreadstat = pytest.importorskip("pyreadstat")
pl = pytest.importorskip("polars")

WRITTEN = pytest.mark.parametrize("suffix", [".dta", ".sav", ".zsav"])
PEOPLE = {"age": [30, 31, 30, 31, None], "sex": [1, 2, 1, 2, 9], "note": ["a", "b", "a", "b", "a"]}
SEX = {1: "male", 2: "female", 9: "only-of-the-one-left-out"}


def labelled(path, note="made by somebody"):
    """A file with labels of values, columns, and the file itself."""
    frame = pl.DataFrame(PEOPLE, schema_overrides={"sex": pl.Int32})
    write = pyreadstat.write_dta if path.suffix == ".dta" else pyreadstat.write_sav
    words = {} if path.suffix == ".dta" else {"note": note, "missing_ranges": {"age": [99]}}
    about = {"age": "age in years", "note": "of the one column that is dropped"}
    write(frame, str(path), file_label=note, column_labels=about, variable_value_labels={"sex": SEX}, **words)
    return path


@WRITTEN
def test_types_come_back(tmp_path, suffix):
    moment = datetime.datetime(9999, 12, 31, 23, 59, 59, 999000)
    table = pa.table(
        {
            "whole": pa.array([1, None, 2**53], pa.int64()),
            "part": [0.1 + 0.2, None, -1e300],
            "short": pa.array([0.1, None, 2.5], pa.float32()),
            "day": [datetime.date(2020, 2, 29), None, datetime.date(1, 1, 1)],
            "moment": pa.array([moment, None, datetime.datetime(1600, 1, 1)], pa.timestamp("ms")),
            "time": pa.array([datetime.time(1, 2, 3), None, datetime.time(0)], pa.time32("ms")),
            "text": ["=1+1 ä 漢 😀", "x" * 3000, "a\r\nb\t"],
            "kind": pa.array(["a", "c", "b"]).dictionary_encode(),
        }
    )
    found = read(written(tmp_path / f"x{suffix}", table))
    expected = {**table.to_pydict(), "short": [0.1, None, 2.5]}
    assert found.to_pydict() == expected


@WRITTEN
def test_truth_is_one_or_zero_and_a_missing_text_is_empty(tmp_path, suffix):
    table = pa.table({"a": [True, None, False], "b": [None, "x", ""], "c": pa.nulls(3, pa.float64())})
    assert read(written(tmp_path / f"x{suffix}", table)).to_pydict() == {
        "a": [1, None, 0], "b": ["", "x", ""], "c": [None] * 3
    }  # fmt: skip
    assert open_source(tmp_path / f"x{suffix}").missing_values == ("",)


class TestLabels:
    @WRITTEN
    def test_are_kept_or_applied(self, tmp_path, suffix):
        path = labelled(tmp_path / f"x{suffix}")
        assert read(path)["sex"].to_pylist() == [1, 2, 1, 2, 9]
        assert read(path, value_labels="keep")["sex"].type == read(path)["sex"].type
        assert read(path, value_labels="apply")["sex"].to_pylist() == [SEX[code] for code in PEOPLE["sex"]]
        assert open_source(path).value_labels["sex"] == SEX
        with pytest.raises(PolicyError, match=r"'value_labels' parameter must be 'keep' or 'apply'. Got 'drop'"):
            open_source(path, value_labels="drop")

    @WRITTEN
    @pytest.mark.parametrize("out", [".dta", ".sav", ".zsav"])
    def test_of_released_values_and_columns_go_along_and_no_others(self, tmp_path, suffix, out):
        path = labelled(tmp_path / f"x{suffix}")
        words = {"quasi_identifiers": ["age"], "k": 2, "identifiers": ["note"], "missing": "drop"}
        made = incrowd.anonymize(path, **words)
        made.write(tmp_path / f"release{out}")
        data = (tmp_path / f"release{out}").read_bytes()
        for secret in (b"only-of-the-one", b"somebody", b"that is dropped"):
            assert secret not in data or out == ".zsav"
        source = open_source(tmp_path / f"release{out}")
        assert source.value_labels == {"sex": {1: "male", 2: "female"}}
        assert source.column_labels == {"age": "age in years"}
        _, about = getattr(pyreadstat, "read_dta" if out == ".dta" else "read_sav")(str(tmp_path / f"release{out}"))
        assert not about.file_label
        assert not about.notes
        assert about.creation_time.year in (1980, 2080)

    def test_a_code_without_a_label_stays_a_code(self, tmp_path):
        frame = pl.DataFrame({"a": [1, 2, None], "b": ["x", "y", ""]})
        labels = {"a": {1: "one"}, "b": {"x": "an x"}}
        pyreadstat.write_sav(frame, str(tmp_path / "x.sav"), variable_value_labels=labels)
        found = read(tmp_path / "x.sav", value_labels="apply").to_pydict()
        assert found == {"a": ["one", "2", None], "b": ["an x", "y", ""]}

    def test_other_formats_have_none(self):
        with pytest.raises(PolicyError, match="value_labels is for Stata and SPSS files only"):
            open_source(pa.table({"a": [1]}), value_labels="keep")


def test_missing_values_that_a_user_defined_are_missing(tmp_path):
    frame = pl.DataFrame({"a": [1.0, 99.0, None]})
    pyreadstat.write_sav(frame, str(tmp_path / "x.sav"), missing_ranges={"a": [99]})
    assert read(tmp_path / "x.sav")["a"].to_pylist() == [1, None, None]


class TestSas:
    def test_a_data_set(self, tmp_path):
        path = write_sas7bdat(tmp_path / "x.sas7bdat", {"age": [30, 40.5, None], "job": ["nurse", "ä", None]})
        assert read(path).to_pydict() == {"age": [30, 40.5, None], "job": ["nurse", "ä", ""]}

    def test_a_transport_file(self, tmp_path):
        frame = pl.DataFrame({"age": [30, 40], "born": [datetime.date(1990, 1, 2), None], "job": ["ä", "b"]})
        pyreadstat.write_xport(frame, str(tmp_path / "x.xpt"))
        assert read(tmp_path / "x.xpt").to_pydict() == {name: frame[name].to_list() for name in frame.columns}

    def test_is_released_in_another_format(self, tmp_path):
        path = write_sas7bdat(tmp_path / "x.sas7bdat", {"age": [30, 30, 31, 31], "job": ["a", "b", "a", "b"]})
        made = incrowd.anonymize(path, quasi_identifiers=["age"], k=2)
        made.write(tmp_path / "out.csv")
        with pytest.raises(OutputError, match=r"SAS files are read, but not written; use .csv"):
            made.write(tmp_path / "out.sas7bdat")


@pytest.mark.parametrize("suffix", [".dta", ".sav", ".zsav", ".sas7bdat", ".xpt"])
@pytest.mark.parametrize("data", [b"", b"no such thing" * 50])
def test_a_damaged_file_is_one_line(tmp_path, suffix, data):
    (tmp_path / f"x{suffix}").write_bytes(data)
    with pytest.raises(DataError, match="is not what its suffix says, is damaged, or needs its encoding") as caught:
        open_source(tmp_path / f"x{suffix}")
    assert caught.value.__context__ is None


@WRITTEN
@pytest.mark.parametrize(
    "names", [["marital-status"], ["a b"], ["1a"], ["x" * 65], ["a." * 2], ["reserved"], ["a", "A"]]
)
def test_names_that_such_a_file_cannot_have(tmp_path, suffix, names):
    if names == ["reserved"]:
        names = ["if"] if suffix == ".dta" else ["all"]
    elif names == ["a", "A"] and suffix == ".dta":  # where these are two
        assert open_source(written(tmp_path / "x.dta", pa.table({"a": [1], "A": [2]}))).columns == ("a", "A")
        return
    with pytest.raises(OutputError, match="files cannot have columns of the name"):
        written(tmp_path / f"x{suffix}", pa.table({name: [1] for name in names}))


@WRITTEN
def test_what_such_a_file_cannot_have_at_all(tmp_path, suffix):
    with pytest.raises(OutputError, match="column 'a' has a zero character"):
        written(tmp_path / f"x{suffix}", pa.table({"a": ["x\0y"]}))
    with pytest.raises(OutputError, match="column 'a' of type list"):
        written(tmp_path / f"x{suffix}", pa.table({"a": [[1]]}))
    assert [found.name for found in tmp_path.iterdir()] == [f"x{suffix}"]  # which is unfinished, and not in place
