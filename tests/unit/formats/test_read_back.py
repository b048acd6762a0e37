"""What was counted is what is in the file: whatever a writer does wrong, nothing appears.

Every writer is given rows that are not those that were to be written: one cell is another, a row is lost or stands
twice, the values of two columns are swapped. Most of this breaks no promise, so that a count alone would not notice.
"""

import os
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.databases import no_server, postgres_server

import incrowd
from incrowd.engines.arrow import recode
from incrowd.errors import NotAnonymousError, OutputError
from incrowd.formats import read_back
from incrowd.formats.duckdb_files import DuckDbTransaction
from incrowd.formats.postgres import PostgresTransaction
from incrowd.formats.read_back import RowDigest
from incrowd.formats.registry import FORMATS, load
from incrowd.formats.sqlite_files import SqliteTransaction
from incrowd.formats.writers import Apart, _OutputFile

pytestmark = pytest.mark.filterwarnings("ignore::incrowd.errors.ReleaseWarning")  # risks are not the point here
ROWS = 60
PEOPLE = pa.table(
    {
        "name": [f"n{row}" for row in range(ROWS)],
        "age": [20 + row % 6 for row in range(ROWS)],
        "job": [["smith", "nurse", "guard"][row % 3] for row in range(ROWS)],
        "ill": [["flu", "cold", "flu", "hiv", None][row % 5] for row in range(ROWS)],
        "note": [f"text {row % 7}" for row in range(ROWS)],
        "wage": [row * 1.5 for row in range(ROWS)],
        "born": pa.array(range(9000, 9000 + ROWS), pa.int32()).cast(pa.date32()),
        "married": [row % 4 == 0 for row in range(ROWS)],
    }
)
WORDS = {
    "quasi_identifiers": ["age", "job"],
    "k": 4,
    "identifiers": ["name"],
    "sensitive": ["ill"],
    "insensitive": ["note", "wage", "born", "married"],
    "keep": ["wage", "born"],
    "method": "tdr",
}


def with_cell(batch, name, value):
    """The same rows with another value in the middle of a column."""
    column = batch.column(name)
    plain = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
    cells = plain.to_pylist()
    cells[len(cells) // 2] = value
    changed = pa.array(cells, plain.type)
    if pa.types.is_dictionary(column.type):
        changed = changed.dictionary_encode().cast(column.type)
    return batch.set_column(batch.schema.get_field_index(name), batch.schema.field(name), changed)


def swapped(batch):
    """The values of two columns, each under the name of the other."""
    ill, note = (batch.column(name) for name in ("ill", "note"))
    places = [batch.schema.get_field_index(name) for name in ("ill", "note")]
    batch = batch.set_column(places[0], batch.schema.field("ill"), note)
    return batch.set_column(places[1], batch.schema.field("note"), ill)


FAULTS = {
    "a label": lambda batch: with_cell(batch, "job", "nobody"),
    "a cell": lambda batch: with_cell(batch, "note", "text 9"),
    "a missing cell": lambda batch: with_cell(batch, "note", None),
    "a number": lambda batch: with_cell(batch, "wage", 2.25),
    "a date": lambda batch: with_cell(batch, "born", None),
    "a truth": lambda batch: with_cell(batch, "married", batch.column("married")[len(batch) // 2].as_py() is False),
    "a row less": lambda batch: batch.slice(0, len(batch) - 1),
    "a row twice": lambda batch: pa.concat_batches([batch, batch.slice(0, 1)]),
    "another order": lambda batch: batch.take(pa.array(range(len(batch) - 1, -1, -1))),
    "columns swapped": swapped,
}
WRITERS = {
    "csv": "release.csv",
    "tsv, compressed": "release.tsv.gz",
    "parquet": "release.parquet",
    "arrow": "release.arrow",
    "json lines": "release.jsonl",
    "excel": "release.xlsx",
    "stata": "release.dta",
    "spss": "release.sav",
    "sqlite": "release.sqlite",
    "duckdb": "release.duckdb",
    "postgresql": None,
}
SESSIONS = {"sqlite": SqliteTransaction, "duckdb": DuckDbTransaction, "postgresql": PostgresTransaction}
NAMES = [
    pytest.param(name, marks=pytest.mark.skipif(name == "postgresql" and bool(no_server()), reason=no_server()))
    for name in WRITERS
]


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    path = tmp_path_factory.mktemp("people") / "people.parquet"
    pq.write_table(PEOPLE, path)
    return incrowd.anonymize(path, **WORDS)


@pytest.fixture(scope="module")
def server():
    with postgres_server() as url:
        yield url


@pytest.fixture
def target(request, tmp_path):
    """Where a writer writes, and what of it takes rows."""

    def place(name):
        if name == "postgresql":
            return f"{request.getfixturevalue('server')}#release"
        return tmp_path / WRITERS[name]

    return place


def writing(name):
    """The class that takes the rows of a writer, and its method."""
    if name in SESSIONS:
        return SESSIONS[name], "insert"
    known = next(known for known in FORMATS.values() if known.matches(WRITERS[name]))
    return load(known.writer), "write"


def break_writer(monkeypatch, name, fault):
    owner, method = writing(name)
    plain = getattr(owner, method)
    monkeypatch.setattr(owner, method, lambda self, batch: plain(self, fault(batch)))


@pytest.mark.parametrize("name", NAMES)
def test_what_is_written_right_appears(name, release, target, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    certificate = release.write(target(name), sidecars=False)
    assert certificate.verification["records"] == ROWS


def test_a_table_of_duckdb_with_more_rows_than_a_row_group_is_read_back(tmp_path):
    size = 140_000
    rows = pa.table({"q": pa.array(np.arange(size) % 9), "x": pa.array(np.arange(size))})
    made = incrowd.anonymize(rows, quasi_identifiers=["q"], k=5, insensitive=["x"], keep=["x"], method="tdr")
    certificate = made.write(tmp_path / "release.duckdb")
    assert certificate.verification["records"] == size
    assert incrowd.check_certificate(certificate, tmp_path / "release.duckdb").holds


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", NAMES)
def test_what_a_writer_does_wrong_never_appears(name, fault, release, target, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # sidecars of a database elsewhere would be here
    break_writer(monkeypatch, name, FAULTS[fault])
    with pytest.raises(OutputError, match="does not hold what was to be written"):
        release.write(target(name), overwrite=True)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", ["csv", "json lines"])
def test_nor_does_what_happens_to_bytes_on_their_way(name, release, target, tmp_path, monkeypatch):
    plain = _OutputFile.write
    monkeypatch.setattr(
        _OutputFile, "write", lambda self, data: plain(self, bytes(data).replace(b"text 3", b"text 8", 1))
    )
    with pytest.raises(OutputError, match="does not hold what was to be written"):
        release.write(target(name))
    assert os.listdir(tmp_path) == []


def test_other_names_of_columns_never_appear(release, tmp_path, monkeypatch):
    plain = _OutputFile.write
    monkeypatch.setattr(_OutputFile, "write", lambda self, data: plain(self, bytes(data).replace(b"ill", b"ail", 1)))
    with pytest.raises(OutputError, match="its columns are others"):
        release.write(tmp_path / "release.csv")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(("fault", "rows"), [("a row less", 59), ("a row twice", 61)])
def test_it_is_said_how_many_rows_there_are(fault, rows, release, tmp_path, monkeypatch):
    break_writer(monkeypatch, "json lines", FAULTS[fault])
    with pytest.raises(OutputError, match=f"it has {rows} rows instead of 60; nothing was written"):
        release.write(tmp_path / "release.jsonl")


def test_the_witness_counts_what_was_read(release, tmp_path, monkeypatch):
    """Even where the two digests are not compared, a class that is too small in the file is noticed."""
    monkeypatch.setattr(RowDigest, "require", lambda self, meant: None)
    break_writer(monkeypatch, "csv", FAULTS["a label"])
    with pytest.raises(NotAnonymousError, match="1 of 60 records"):
        release.write(tmp_path / "release.csv")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("held", [1 << 25, 1])
@pytest.mark.parametrize("suffix", ["csv", "parquet", "sqlite"])
def test_people_are_counted_although_the_file_does_not_say_whose_record_it_is(suffix, held, tmp_path, monkeypatch):
    """Six records of two people are in one class: it has six records, and not three people."""
    monkeypatch.setattr(read_back, "HELD_BYTES", held)
    monkeypatch.setattr("incrowd.formats.csv_reader.BLOCK_BYTES", 64)
    rows = pa.table({"who": ["a", "a", "a", "b", "b", "b", "c", "d", "e"], "sex": ["f"] * 6 + ["m"] * 3, "x": range(9)})
    words = {"quasi_identifiers": ["sex"], "identifiers": ["who"], "insensitive": ["x"], "keep": ["x"], "method": "tdr"}
    made = incrowd.anonymize(rows, k=3, **words)
    good = incrowd.anonymize(rows, k=2, **{**words, "identifiers": [], "unit": "who"})
    people = {**words, "identifiers": [], "unit": "who", "k": 3}
    pq.write_table(rows, tmp_path / "rows.parquet")
    from_file = incrowd.anonymize(tmp_path / "rows.parquet", **people)
    object.__setattr__(from_file.found, "recoding", made.recoding.__class__(**{
        **{name: getattr(made.recoding, name) for name in made.recoding.__dataclass_fields__},
        "dropped": from_file.recoding.dropped,
    }))  # fmt: skip
    with pytest.raises(NotAnonymousError, match=r"k=3 people \(who\) does not hold for sex: 6 of 9 records"):
        from_file.write(tmp_path / f"out.{suffix}")
    assert sorted(os.listdir(tmp_path)) == ["rows.parquet"]
    assert good.write(tmp_path / f"good.{suffix}").verification["quasi_identifiers"][0]["models"][0]["worst"] == 2


FRAMES = {
    "pandas": lambda: PEOPLE.to_pandas(),
    "polars": lambda: pl.from_arrow(PEOPLE),
    "arrow": lambda: PEOPLE,
}
FRAME_FAULTS = {
    "a cell": ("note", lambda cells: [*cells[:5], "text 9", *cells[6:]]),
    "a number": ("wage", lambda cells: [*cells[:5], 2.25, *cells[6:]]),
    "another order": ("note", lambda cells: cells[::-1]),
    "a row less": (None, lambda table: table.slice(0, len(table) - 1)),
    "columns swapped": (None, lambda table: table.select([*table.column_names[:-2], "married", "born"])),
}


def changed_frame(frame, name, change):
    if name is None:
        table = change(frame if isinstance(frame, pa.Table) else pl.DataFrame(frame).to_arrow())
        return table.to_pandas() if isinstance(frame, pd.DataFrame) else table
    if isinstance(frame, pd.DataFrame):
        return frame.assign(**{name: change(list(frame[name]))})
    if isinstance(frame, pl.DataFrame):
        return frame.with_columns(pl.Series(name, change(frame[name].to_list())))
    place = frame.column_names.index(name)
    return frame.set_column(place, name, pa.array(change(frame[name].to_pylist()), frame[name].type))


@pytest.mark.parametrize("kind", FRAMES)
def test_a_frame_that_was_built_right_is_handed_out(kind):
    assert len(incrowd.anonymize(FRAMES[kind](), **WORDS).data) == ROWS


@pytest.mark.parametrize("fault", FRAME_FAULTS)
@pytest.mark.parametrize("kind", FRAMES)
def test_a_frame_that_was_built_wrong_is_not_handed_out(kind, fault, monkeypatch):
    made = incrowd.anonymize(FRAMES[kind](), **WORDS)
    plain = recode.rebuild
    monkeypatch.setattr(recode, "rebuild", lambda *words: changed_frame(plain(*words), *FRAME_FAULTS[fault]))
    with pytest.raises(OutputError, match="does not hold what was to be written"):
        _ = made.data


def test_a_table_from_a_file_that_was_built_wrong_is_not_handed_out(release, monkeypatch):
    made = incrowd.anonymize(release.source.path, **WORDS)
    monkeypatch.setattr(recode, "without_unused", lambda column: pc_reversed(column))
    with pytest.raises(OutputError, match="does not hold what was to be written"):
        _ = made.data


def pc_reversed(column):
    return column.take(pa.array(np.arange(len(column) - 1, -1, -1)))


class TestDigest:
    """Two digests agree only for the same rows in the same order."""

    @staticmethod
    def digest(table, sizes=(), schema=None, apart=None):
        found = RowDigest(schema or table.schema, apart or Apart())
        start = 0
        for size in (*sizes, table.num_rows):
            for batch in table.slice(start, size).combine_chunks().to_batches():
                found.add(batch, written=schema is not None)
            start += size
        return found

    @staticmethod
    def agree(one, other):
        try:
            one.require(other)
        except Exception:
            return False
        return True

    TABLE = pa.table(
        {
            "text": ["a", "", None, "ab", "c", "c"],
            "label": pa.array(["x", "y", None, "x", "x", ""]).dictionary_encode(),
            "number": [1.5, float("nan"), None, -0.0, 0.0, 2.0],
            "whole": pa.array([1, 2, None, 4, 5, 6], pa.int8()),
            "truth": [True, None, False, True, True, False],
            "list": [[1], None, [], [1, 2], [3], [3]],
        }
    )

    def test_in_whatever_batches_rows_come(self):
        for sizes in [(), (1, 2), (3,), (1, 1, 1, 1, 1)]:
            assert self.agree(self.digest(self.TABLE, sizes), self.digest(self.TABLE))

    @pytest.mark.parametrize("name", TABLE.column_names)
    def test_every_cell_and_its_row_counts(self, name):
        place = self.TABLE.column_names.index(name)
        column = self.TABLE.column(place).combine_chunks()
        for rows in ([1, 0, 2, 3, 4, 5], [0, 1, 2, 3, 4, 0], [0, 2, 1, 3, 4, 5]):
            changed = self.TABLE.set_column(place, name, column.take(pa.array(rows)))
            assert not self.agree(self.digest(changed), self.digest(self.TABLE)), rows

    def test_decimals_that_were_read_as_doubles_are_the_same_to_the_last_digit(self):
        meant = pa.table({"n": pa.array([Decimal(cent) / 100 for cent in range(1000)], pa.decimal128(12, 2))})
        read = pa.table({"n": [None if cent == 7 else cent / 100 for cent in range(1000)]})
        assert not self.agree(self.digest(read, schema=meant.schema), self.digest(meant))
        read = pa.table({"n": [cent / 100 for cent in range(1000)]})
        assert self.agree(self.digest(read, schema=meant.schema), self.digest(meant))

    def test_hidden_columns_follow_their_rows_in_any_batches(self, tmp_path):
        with read_back._HiddenColumns(tmp_path) as hidden:
            for start in (0, 3, 6):
                hidden.add(pa.record_batch({"who": [f"p{row}" for row in range(start, start + 3)]}))
            found = []
            for size in (2, 2, 4, 1):
                found += hidden.following(pa.record_batch({"x": [0] * size})).column("who").to_pylist()
        assert found == [f"p{row}" for row in range(9)]

    def test_columns_of_labels_cannot_be_swapped(self):
        one, other = (pa.array(texts).dictionary_encode() for texts in (["a", "b", "b"], ["b", "a", "b"]))
        meant, swapped = pa.table({"x": one, "y": other}), pa.table({"x": other, "y": one})
        assert not self.agree(self.digest(swapped), self.digest(meant))

    def test_what_cannot_be_told_apart_is_the_same(self):
        other = self.TABLE.set_column(0, "text", [["a", None, "", "ab", "c", "c"]])
        other = other.set_column(2, "number", [[1.5, None, float("nan"), 0.0, -0.0, 2.0]])
        assert not self.agree(self.digest(other), self.digest(self.TABLE))
        neither = Apart(blanks=False, nans=False)
        assert self.agree(self.digest(other, apart=neither), self.digest(self.TABLE, apart=neither))

    def test_types_that_a_format_does_not_have_are_made_again(self):
        meant = pa.table(
            {"n": pa.array([1, None, 3], pa.int16()), "d": pa.array([1, 2, None], pa.int32()).cast("date32")}
        )
        texts = pa.table({"n": ["1", "", "3"], "d": ["1970-01-02", "1970-01-03", ""]})
        assert self.agree(self.digest(texts, schema=meant.schema), self.digest(meant))
        for name, cells in (("n", ["1", "2", "3"]), ("d", ["1970-01-02", "1970-01-04", ""])):
            wrong = texts.set_column(texts.column_names.index(name), name, [cells])
            assert not self.agree(self.digest(wrong, schema=meant.schema), self.digest(meant))
