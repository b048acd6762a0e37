"""What every format of files promises. A format that is registered is run through all of it."""

import datetime
import importlib.util
import os
from dataclasses import replace
from decimal import Decimal

import pyarrow as pa
import pytest
from tests.command_line import run
from tests.conformance.tables import cases
from tests.files import read, written

import incrowd
from incrowd.errors import DataError, OutputError
from incrowd.formats import registry
from incrowd.formats.atomic_files import AtomicFiles
from incrowd.formats.registry import FORMATS, SUFFIXES, open_source, open_writer
from incrowd.settled import Settled

CASES = cases()
NAMES = [
    pytest.param(f"people{suffix}{more}", id=f"{suffix}{more}")
    for known in FORMATS.values()
    if known.writer
    for suffix in known.suffixes
    for more in ("", *known.compressed)
]
EVERY = pytest.mark.parametrize("name", NAMES)
ONE_EACH = pytest.mark.parametrize(
    "name", [pytest.param(f"people{known.suffixes[0]}", id=key) for key, known in FORMATS.items() if known.writer]
)
UNEASY = [
    "=1+1", "+1", "-1", "@SUM(A1)", "007", "1e5", "NULL", "nan", "a,b;c\td|e", "line\nline", "\r\n",
    "'quoted' \"twice\"", "Zoë 漢字 😀 \u200b", "\\n \\", "{}", "<a>&amp;", "_x0041_", " before",
]  # fmt: skip


def texts(table):
    """Cells as text, as a CSV file has them: an empty cell is missing, a whole number has no fraction."""
    return [{name: text(value) for name, value in row.items()} for row in table.to_pylist()]


def text(value):
    if value is None:
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


@EVERY
def test_what_is_written_is_read_back(name, tmp_path):
    table = CASES["mixed"].table
    written(tmp_path / name, table)
    source = open_source(tmp_path / name)
    assert source.columns == tuple(table.column_names)
    assert texts(pa.Table.from_batches(list(source.batches()))) == texts(table)


@pytest.fixture(scope="module")
def from_table():
    case = CASES["with a target"]
    return incrowd.anonymize(case.table, **case.words, method="tdr", keep_order=True)


@EVERY
def test_the_release_of_a_file_is_that_of_the_table(name, from_table, tmp_path):
    case = CASES["with a target"]
    written(tmp_path / name, case.table)
    from_file = incrowd.anonymize(tmp_path / name, **case.words, method="tdr", keep_order=True)
    assert texts(from_file.data.select(case.columns)) == texts(from_table.data.select(case.columns))
    from_file = replace(from_file, settled=Settled(replace(from_file.policy, keep_order=False)))
    from_file.write(tmp_path / f"release-{name}")
    again = open_source(tmp_path / f"release-{name}")
    assert texts(pa.Table.from_batches(list(again.batches()))) == texts(from_file.data)
    assert incrowd.verify(tmp_path / f"release-{name}", quasi_identifiers=case.columns, k=case.words["k"]).holds


@EVERY
def test_the_same_rows_give_the_same_bytes(name, tmp_path):
    table = CASES["mixed"].table
    first, second = (open_source(written(tmp_path / f"{again}{name}", table)).fingerprint() for again in ("", "again-"))
    assert first == second


@EVERY
def test_a_damaged_file_is_one_clear_error(name, tmp_path):
    (tmp_path / name).write_bytes(b"\x00\xff\x13 no such thing \x00" * 20)
    with pytest.raises(DataError) as caught:
        list(open_source(tmp_path / name).batches())
    assert "\n" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_suffix_that_no_format_has_names_all_that_there_are(tmp_path):
    (tmp_path / "people.docx").write_text("")
    with pytest.raises(DataError) as caught:
        open_source(tmp_path / "people.docx")
    assert SUFFIXES in str(caught.value)
    with pytest.raises(OutputError, match=r"cannot tell the format of people\.docx"):
        written(tmp_path / "people.docx", CASES["mixed"].table)
    for known in FORMATS.values():
        assert all(suffix in SUFFIXES for suffix in (*known.suffixes, *known.compressed))


@EVERY
def test_values_are_what_they_were(name, tmp_path):
    """Texts that look like something else, numbers to the last digit, dates, and what is missing."""
    size = len(UNEASY)
    table = pa.table(
        {
            "text": UNEASY,
            "gaps": [None if place % 3 == 0 else text for place, text in enumerate(UNEASY)],
            "whole": [None if place == 1 else (-1) ** place * 7**place for place in range(size)],
            "part": [None if place == 2 else 0.1 * place for place in range(size)],
            "day": [None if place == 3 else datetime.date(1950 + place, 2, 28) for place in range(size)],
            "moment": pa.array(
                [datetime.datetime(2000, 1, 1, 12, 0, place) for place in range(size)], pa.timestamp("s")
            ),
            "nothing": pa.nulls(size, pa.string()),
        }
    )
    written(tmp_path / name, table)
    found = read(tmp_path / name)
    assert texts(found) == texts(table)


@pytest.mark.parametrize("name", ["people.xlsx", "people.dta", "people.sav", "people.zsav"])
def test_what_a_file_cannot_hold_exactly_is_text(name, tmp_path):
    moment, excel = datetime.datetime(2020, 1, 1, 0, 0, 0, 1), name.endswith("xlsx")
    for value, kind, held in (
        (2**53 + 1, pa.int64(), "9007199254740993"),
        (Decimal("0.1234567890123456789"), pa.decimal128(30, 19), "0.1234567890123456789"),
        (moment, pa.timestamp("us"), "2020-01-01 00:00:00.000001"),
        (datetime.datetime(2020, 1, 1), pa.timestamp("s", "UTC"), f"2020-01-01 00:00:00{'+00:00' if excel else 'Z'}"),
        (float("inf"), pa.float64(), "inf"),
        (datetime.date(1899, 12, 31), pa.date32(), "1899-12-31") if excel else (1e308, pa.float64(), "1e+308"),
    ):
        written(tmp_path / name, pa.table({"a": pa.array([value], kind), "b": ["x"]}))
        assert read(tmp_path / name)["a"].to_pylist() == [held]


@ONE_EACH
def test_names_of_columns_are_what_they_were(name, tmp_path):
    names = ["Age", "größe", "x_1", "very_long_name_of_a_column", "Z"]
    if FORMATS["stata"].matches(name) or FORMATS["spss"].matches(name):
        with pytest.raises(OutputError, match="cannot have columns of the name 'marital-status'; rename"):
            written(tmp_path / name, pa.table({"marital-status": [1]}))
    else:
        names += ["marital-status", "=1+1", "a b", "1", "漢", "a.b", "'", '"']
    written(tmp_path / name, pa.table({column: ["x", "y"] for column in names}))
    assert open_source(tmp_path / name).columns == tuple(names)


@ONE_EACH
def test_a_file_appears_whole_or_not_at_all(name, tmp_path):
    table = CASES["mixed"].table

    def fail_after_a_batch():
        with AtomicFiles() as files:
            path = files.open(tmp_path / name)
            with open_writer(path, table.schema, open_source(table)) as writer:
                writer.write(table.to_batches()[0])
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail_after_a_batch()
    assert os.listdir(tmp_path) == []
    with AtomicFiles() as files, open_writer(files.open(tmp_path / name), table.schema, open_source(table)) as writer:
        writer.write(table.to_batches()[0])
        writer.finish()
        digest = writer.fingerprint
        assert not (tmp_path / name).exists()
    assert os.listdir(tmp_path) == [name]
    assert open_source(tmp_path / name).fingerprint() == digest


@ONE_EACH
def test_every_command_reads_it(name, tmp_path):
    case = CASES["with a target"]
    written(tmp_path / name, case.table)
    policy, kept = ("--qi", ",".join(case.columns), "--k", 4), ("--keep", "born,wage")
    out = tmp_path / f"out-{name}"
    for words in (
        ("inspect", tmp_path / name),
        ("risk", tmp_path / name, "--qi", "age,job"),
        ("anonymize", tmp_path / name, *policy, "--method", "tdr", "--identifiers", "name", *kept, "-o", out),
        ("verify", out, *policy),
        ("verify", out, "--certificate", tmp_path / "out-people.certificate.json"),
        ("apply", tmp_path / "out-people.recoding.json", tmp_path / name, *kept, "-o", tmp_path / f"new-{name}"),
        ("numbers", out, "-o", tmp_path / f"numbers-{name}"),
    ):
        done = run(*words)
        assert done.exit_code == 0, (words, done.output)


@pytest.mark.parametrize(
    ("name", "words"), [("people.xlsx", {"sheet": "release"}), ("people.dta", {"value_labels": "apply"})]
)
def test_what_is_said_of_a_file_reaches_who_reads_it(name, words, tmp_path):
    case = CASES["with a target"]
    written(tmp_path / name, case.table.select([*case.columns, "income"]))
    options = [part for word, value in words.items() for part in (f"--{word.replace('_', '-')}", value)]
    policy = ("--qi", "age,job", "--k", 4, "--target", "income")
    compared = (*policy[:2], *policy[4:], "--methods", "tdr", "--ks", 4, "-o", tmp_path / "c")
    for command in (
        ("evaluate", tmp_path / name, *policy),
        ("compare", tmp_path / name, *compared),
        ("why", tmp_path / name, *policy),
        ("inspect", tmp_path / name, "--write", tmp_path / "policy.toml"),
        ("anonymize", tmp_path / name, "--policy", tmp_path / "policy.toml", "--k", 4, "-o", tmp_path / "out.csv"),
    ):
        done = run(*command, *(options if command[0] != "anonymize" else ()))
        assert done.exit_code == 0, (command, done.output)
    assert "[file]" in (tmp_path / "policy.toml").read_text()
    table = {"data": tmp_path / name, **words}
    assert incrowd.anonymize(**table, quasi_identifiers=["age"], k=4).data.num_rows == 90
    assert incrowd.verify(**table, quasi_identifiers=["age"]).records == 90
    assert incrowd.assess(**table, quasi_identifiers=["age"]).records == 90
    assert incrowd.inspect(**table).dialect == words


@pytest.mark.parametrize("key", [key for key, known in FORMATS.items() if known.libraries[0]])
def test_a_library_that_is_missing_is_one_line_with_its_command(key, tmp_path, monkeypatch):
    known = FORMATS[key]
    path = tmp_path / f"people{known.suffixes[0]}"
    path.write_bytes(b"x")
    monkeypatch.setattr(
        registry, "find_spec", lambda name: None if name in known.libraries[0] else importlib.util.find_spec(name)
    )
    with pytest.raises(incrowd.IncrowdError) as caught:
        open_source(path)
    assert str(caught.value) == (
        f"reading {known.about} files needs {' and '.join(known.libraries[0])}; run: pip install 'incrowd[formats]'"
    )
    monkeypatch.setattr(registry, "find_spec", lambda name: None)
    if known.writer:
        with pytest.raises(incrowd.IncrowdError, match=r"^writing .* needs .*; run: pip install"):
            incrowd.anonymize(CASES["mixed"].table.select(["age"]), quasi_identifiers=["age"], k=2).write(
                tmp_path / f"out{path.suffix}"
            )
