"""What people are told when they err: each message names what to do, and where."""

import socket

import pyarrow as pa
import pytest
from tests.command_line import GOOD, anonymize, only_line, run

import incrowd
from incrowd.errors import IncrowdError, OutputError, PolicyError
from incrowd.schemas.shapes import plain_digits

PEOPLE = pa.table({"age": [30, 31] * 10, "sex": ["F", "M"] * 10})
PADDED = "age, job\n" + "".join(f"{20 + i % 5}, {['?', 'x', 'y'][i % 3]}\n" for i in range(60))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([0, "sex"], r"The 'quasi_identifiers' parameter must name columns by text. Got 0 among them."),
        (["age", None], r"must name columns by text. Got None among them."),
        ([0], "must name columns by text"),
        ([["age", 0]], r"A quasi-identifier must name columns by text. Got \('age', 0\)."),
        ([[]], "must name at least one column. None was given."),
        ([], "at least one quasi-identifier"),
    ],
)
def test_quasi_identifiers_that_are_no_names(given, message):
    with pytest.raises(PolicyError, match=message):
        incrowd.anonymize(PEOPLE, quasi_identifiers=given, k=2)


def test_one_quasi_identifier_as_a_mapping():
    release = incrowd.anonymize(PEOPLE, quasi_identifiers={"attributes": ["sex"], "k": 3})
    assert str(release.policy.quasi_identifiers[0]) == "{sex} k=3"


def test_an_option_of_another_method():
    with pytest.raises(
        PolicyError, match="The method 'mondrian' has no option 'restarts'; it is an option of tdr, tds, bug"
    ):
        incrowd.anonymize(PEOPLE, quasi_identifiers=["sex"], k=2, method="mondrian", restarts=2)


def test_a_file_that_exists(tmp_path):
    (tmp_path / "out.csv").write_text("old")
    release = incrowd.anonymize(PEOPLE, quasi_identifiers=["sex"], k=2)
    with pytest.raises(OutputError, match=r"use --overwrite \(in Python overwrite=True\)"):
        release.write(tmp_path / "out.csv")


def test_methods_separated_by_commas():
    found = incrowd.compare(PEOPLE, quasi_identifiers=["sex"], methods="tdr, tds", ks=[2])
    assert [run.method for run in found.runs] == ["tdr", "tds"]


@pytest.mark.parametrize(("values", "advice"), [(range(600), "round the values"), (map(str, range(600)), "group the")])
def test_advice_fits_the_kind_of_values(values, advice):
    texts = [f"v{value}" if isinstance(value, str) else value for value in values]
    with pytest.raises(PolicyError, match=advice):
        incrowd.anonymize(pa.table({"x": texts}), quasi_identifiers=["x"], k=2, method="optimal")


class TestMissingValues:
    @pytest.fixture
    def file(self, workplace):
        (workplace / "padded.csv").write_text(PADDED)
        return "padded.csv"

    def notes(self, file, *columns, **words):
        return incrowd.anonymize(file, quasi_identifiers=columns, k=3, method="tdr", **words).notes

    def test_blanks_around_one_are_told(self, file):
        (note,) = self.notes(file, "age", " job", missing_values=["?"])
        assert "column ' job' has ' ?', which is not the missing value '?'" in note
        assert "strip=True" in note

    def test_one_that_is_nowhere_is_told(self, file):
        (note,) = self.notes(file, "age", missing_values=["NA"])
        assert note == "no quasi-identifier has the missing value 'NA'; check how it is written in the table"
        (note,) = self.notes(file, "age", missing_values=["NA", "-"])
        assert note == "no quasi-identifier has the missing values 'NA', '-'; check how they are written in the table"

    def test_one_of_a_sensitive_column_is_found(self):
        table = pa.table({"age": ["1", "2"] * 9, "ill": ["flu", "cold", "NA"] * 6})
        words = {"quasi_identifiers": ["age"], "k": 3, "sensitive": ["ill"], "l": 2, "method": "tdr"}
        assert incrowd.anonymize(table, **words, missing_values=["NA"]).notes == ()

    def test_one_that_is_found_is_not(self, file):
        assert self.notes(file, " job", missing_values=[" ?"]) == ()

    def test_blanks_are_stripped_on_request(self, file):
        release = incrowd.anonymize(
            file, quasi_identifiers=["age", "job"], k=3, missing_values=["?"], strip=True, method="tdr"
        )
        assert release.notes == ()
        assert release.table.attributes[1].texts == ("x", "y")
        assert set(release.data.column_names) == {"age", "job"}

    def test_on_the_command_line(self, file):
        words = ("--qi", "job", "--k", 3, "--missing-value", "?", "--method", "tdr")
        assert "no column 'job'" in only_line(run(*anonymize(*words, table=file)).stderr)
        result = run(*anonymize(*words, "--strip", table=file))
        assert result.exit_code == 0
        assert "note:" not in result.stderr
        with open("padded.toml", "w") as policy:
            policy.write('quasi_identifiers = ["job"]\nk = 3\n[csv]\nstrip = true\n')
        assert run(*anonymize("--policy", "padded.toml", "--overwrite", table=file)).exit_code == 0

    def test_strip_is_for_csv_files(self):
        with pytest.raises(PolicyError, match="for CSV files only"):
            incrowd.anonymize(PEOPLE, quasi_identifiers=["sex"], k=2, strip=True)


def test_good_tables_give_no_note(workplace):
    (workplace / "people.csv").write_text(GOOD)
    assert (
        incrowd.anonymize("people.csv", quasi_identifiers=["age", "sex"], k=5, method="tdr", keep=["name"]).notes == ()
    )


@pytest.mark.parametrize("function", [incrowd.anonymize, incrowd.verify])
def test_a_parameter_in_capitals(function):
    with pytest.raises(PolicyError, match=r"no parameter 'K' in \w+; did you mean 'k'\?"):
        function(PEOPLE, quasi_identifiers=["age"], K=10)


def test_a_number_as_text():
    with pytest.raises(PolicyError, match=r"must be an integer of at least 2. Got '10'; write 10\."):
        incrowd.anonymize(PEOPLE, quasi_identifiers=["age"], k="10")


@pytest.mark.parametrize(
    ("written", "plain"),
    [("5%", "0.05"), ("0,05", "0.05"), ("1,000", "1000"), ("12.5 %", "0.125"), ("1,234.5", "1234.5"), ("ten", None)],
)
def test_how_a_number_is_written(written, plain):
    assert plain_digits(written) == plain


def test_a_server_that_refuses():
    pytest.importorskip("adbc_driver_postgresql")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(IncrowdError) as refused:
        incrowd.inspect(f"postgresql://nurse:secret@127.0.0.1:{port}/clinic", query="SELECT 1")
    assert f"cannot connect to clinic at 127.0.0.1:{port}: " in str(refused.value)
    assert str(refused.value).endswith("refused; check host and port, and that the server runs")
    assert "secret" not in str(refused.value)
