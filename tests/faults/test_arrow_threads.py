"""Threads of Arrow hold nothing of Python once a pass is over; if they did when Python ends, it would abort."""

import subprocess
import sys
import threading
import time
import weakref

import pyarrow as pa
import pyarrow.csv
import pytest

from incrowd.errors import DataError
from incrowd.formats import csv_reader, json_lines
from incrowd.formats.csv_reader import CsvSource
from incrowd.formats.json_lines import JsonLinesSource

ROWS = "age,sex\n" + "".join(f"{i % 90},{'fm'[i % 2]}\n" for i in range(3000))
LEFT = """
import sys
from pathlib import Path
from incrowd.formats.csv_reader import CsvSource, _OPEN
rows = CsvSource(Path(sys.argv[1])).batches()
next(rows)
assert len(_OPEN) == 1
sys.exit(3)
"""


@pytest.fixture
def source(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_reader, "BLOCK_BYTES", 1 << 12)
    monkeypatch.setattr(csv_reader, "HELD_BYTES", -1)  # so that every pass reads the file
    (tmp_path / "people.csv").write_text(ROWS)
    found = CsvSource(tmp_path / "people.csv")
    found._is_small = False
    return found


@pytest.fixture
def lent(monkeypatch):
    """What was given to Arrow to hold."""
    found = []

    def lend(self, thing):
        found.append(weakref.ref(thing))
        self._lent.append(found[-1])
        return thing

    monkeypatch.setattr(csv_reader._Reading, "_lend", lend)
    return found


def test_nothing_is_held_after_a_pass(source, lent):
    for _ in range(100):
        assert sum(map(len, source.batches(["sex"], encoded=["sex"]))) == 3000
        assert [ref() for ref in lent] == [None, None]
        lent.clear()


def test_nothing_is_held_after_a_pass_that_ends_early(source, lent):
    for _ in range(20):
        rows = source.batches()
        next(rows)
        rows.close()
        assert [ref() for ref in lent] == [None, None]
        lent.clear()


def test_a_pass_ends_only_when_others_let_go(source, lent, monkeypatch):
    opened = pyarrow.csv.open_csv
    held = []

    def slowly(file, **options):
        held.append(file)
        threading.Timer(0.3, held.clear).start()
        return opened(file, **options)

    monkeypatch.setattr(pyarrow.csv, "open_csv", slowly)
    started = time.monotonic()
    assert sum(map(len, source.batches())) == 3000
    assert time.monotonic() - started >= 0.2
    assert [ref() for ref in lent] == [None, None]


def test_blocks_belong_to_arrow(source, monkeypatch):
    given = []
    opened = pyarrow.csv.open_csv
    monkeypatch.setattr(
        pyarrow.csv, "open_csv", lambda file, **more: (given.append(type(file)), opened(file, **more))[1]
    )
    list(source.batches())
    assert given == [pa.BufferedInputStream]  # it copies what Python has read; a PythonFile would hand it on


def test_lines_of_json_belong_to_arrow(tmp_path, monkeypatch):
    before, held = pa.total_allocated_bytes(), json_lines._held_by_arrow(b"abc" * 1000)
    assert pa.total_allocated_bytes() - before >= 3000  # memory of Arrow's own
    given = []
    monkeypatch.setattr(json_lines, "_held_by_arrow", lambda block: (given.append(block), held)[1])
    (tmp_path / "people.jsonl").write_text('{"age": 3}\n' * 5)
    with pytest.raises(DataError):  # what is read is the copy
        JsonLinesSource(tmp_path / "people.jsonl")
    assert given == [b'{"age": 3}\n' * 5]


def test_an_error_while_arrow_reads_comes_out_as_it_is(source, lent):
    def fails(self, size):
        raise DataError("gone")

    source.batches()
    real = csv_reader._Utf8Stream._next
    try:
        csv_reader._Utf8Stream._next = fails
        with pytest.raises(DataError, match="gone"):
            list(source.batches())
    finally:
        csv_reader._Utf8Stream._next = real
    assert [ref() for ref in lent] == [None, None]


def test_a_pass_that_is_left_in_the_middle_ends_before_python_does(tmp_path):
    (tmp_path / "people.csv").write_text("age,sex\n" + "34,f\n" * 8_000_000)
    found = subprocess.run(
        [sys.executable, "-c", LEFT, str(tmp_path / "people.csv")], capture_output=True, text=True, check=False
    )
    assert (found.returncode, found.stderr) == (3, "")
