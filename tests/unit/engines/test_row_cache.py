"""Rows that are held in memory: the same release as rows that are read again, and no more memory than is stated."""

import random

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import incrowd
from incrowd.engines.arrow import row_cache as row_cache
from incrowd.formats.sources import WatchedFile

DRAW = random.Random(1)
ROWS = 500
TABLE = pa.table(
    {
        "age": pa.array([DRAW.randint(20, 60) for _ in range(ROWS)]),
        "weight": pa.array([DRAW.randint(500, 580) / 10 for _ in range(ROWS)]),
        "job": pa.array([DRAW.choice(["nurse", "clerk", "?", "cook"]) for _ in range(ROWS)]),
        "group": pa.array([DRAW.choice(["a", "b", None]) for _ in range(ROWS)]).dictionary_encode(),
        "note": pa.array([f"note {number % 9}" for number in range(ROWS)]),
        "income": pa.array([DRAW.choice(["low", "high"]) for _ in range(ROWS)]),
    }
)
POLICY = {"k": 5, "method": "tdr", "target": "income"}


@pytest.fixture(params=["csv", "parquet"])
def path(request, tmp_path, monkeypatch):
    monkeypatch.setattr("incrowd.formats.parquet_files.BATCH_ROWS", 70)
    monkeypatch.setattr("incrowd.engines.arrow.row_cache.BATCH_ROWS", 90)
    path = tmp_path / f"people.{request.param}"
    if request.param == "csv":
        plain = TABLE.set_column(3, "group", TABLE["group"].cast(pa.string()))
        pyarrow.csv.write_csv(plain, path)
        monkeypatch.setattr("incrowd.formats.csv_reader.HELD_BYTES", 0)
        monkeypatch.setattr("incrowd.formats.csv_reader.BLOCK_BYTES", 2048)
    else:
        pq.write_table(TABLE, path, row_group_size=120)
    return path


@pytest.fixture
def read(monkeypatch):
    """The columns that were read, each time that a file was."""
    found, plain = [], WatchedFile.batches

    def batches(self, columns=None, encoded=()):
        if "out" not in self.name:  # which is read back
            found.append(tuple(self.columns if columns is None else columns))
        return plain(self, columns, encoded)

    monkeypatch.setattr(WatchedFile, "batches", batches)
    return found


@pytest.mark.parametrize(
    "words",
    [
        {"quasi_identifiers": ["age", "job"]},
        {"quasi_identifiers": ["age", "job", "group"], "identifiers": ["note"]},
        {"quasi_identifiers": ["age", "group"], "missing": "drop"},
        {"quasi_identifiers": ["job", "age"], "missing_values": ["?"]},
        {"quasi_identifiers": ["job", "age"], "missing_values": ["?"], "missing": "drop"},
        {"quasi_identifiers": ["age", "weight"], "keep_order": True},
        {"quasi_identifiers": ["job"], "target": "age"},
        {"quasi_identifiers": ["age", "job"], "target": None, "sensitive": ["group", "weight"], "l": 2},
        {"quasi_identifiers": ["age", "job"], "target": None, "method": "mondrian"},
        {"quasi_identifiers": ["age", "job"], "target": None, "method": "cover"},
    ],
)
def test_the_release_is_the_same(path, words, monkeypatch):
    held = incrowd.anonymize(path, **POLICY | words).data
    monkeypatch.setattr(row_cache, "MOST_HELD_BYTES", -1)
    again = incrowd.anonymize(path, **POLICY | words).data
    assert held.equals(again)
    assert held.schema.equals(again.schema, check_metadata=True)


def test_only_what_was_not_counted_is_read_again(path, read, tmp_path):
    release = incrowd.anonymize(path, quasi_identifiers=["age", "job"], **POLICY)
    read.clear()
    release.write(tmp_path / f"out{path.suffix}")
    assert [set(columns) for columns in read] == [{"weight", "group", "note"}]


def test_a_file_that_changed_is_noticed_although_nothing_is_read(tmp_path):
    path = tmp_path / "people.parquet"
    pq.write_table(TABLE.select(["age", "job", "income"]), path)
    release = incrowd.anonymize(path, quasi_identifiers=["age", "job"], **POLICY)
    pq.write_table(TABLE.select(["age", "job", "income"]).slice(1), path)
    with pytest.raises(incrowd.DataError, match="changed while it was being read"):
        release.write(tmp_path / "out.parquet")


@pytest.mark.parametrize(("limit", "again"), [(2 * ROWS, True), (3 * ROWS, False)])
def test_no_more_than_the_limit_is_held(tmp_path, read, monkeypatch, limit, again):
    """Three columns of a byte per row."""
    monkeypatch.setattr(row_cache, "MOST_HELD_BYTES", limit)
    path = tmp_path / "people.parquet"
    pq.write_table(TABLE.select(["age", "job", "income"]), path)
    release = incrowd.anonymize(path, quasi_identifiers=["age", "job"], **POLICY)
    read.clear()
    release.write(tmp_path / "out.parquet")
    assert bool(read) == again


@pytest.mark.parametrize(("gigabytes", "room"), [(64, 1 << 30), (8, 1 << 29), (0, 1 << 26)])
def test_a_small_machine_holds_less(monkeypatch, gigabytes, room):
    told = {"SC_PHYS_PAGES": gigabytes << 18, "SC_PAGE_SIZE": 1 << 12}
    monkeypatch.setattr(row_cache.os, "sysconf", told.__getitem__)
    assert row_cache.held_bytes() == room
