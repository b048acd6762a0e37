"""Databases and engines that fail in the middle: one line, and nothing half-written."""

import contextlib
import signal
import sqlite3
import subprocess
import sys
import time

import pyarrow as pa
import pytest
from tests.databases import (
    PEOPLE,
    WORDS,
    duckdb_file,
    no_server,
    postgres_server,
    postgres_table,
    sqlite_file,
)
from tests.faults.processes import names, one_line, run

import incrowd
from incrowd.errors import DataError, OutputError
from incrowd.formats.registry import open_source

OPTIONS = ("--qi", "age,job,wage", "--k", "4", "--identifiers", "id", "--method", "tdr")
HOLD = """
import sys, time, duckdb
connection = duckdb.connect(sys.argv[1])
connection.execute("CREATE TABLE held AS SELECT 1 AS a")
print("held", flush=True)
time.sleep(60)
"""
MANY = "SELECT i AS a, i * 7 % 1000003 AS b, i % 2 AS c FROM range(5000000) AS r(i)"


@contextlib.contextmanager
def held(path):
    """A file of DuckDB that another process has open."""
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout.readline() == "held\n"
        yield
    finally:
        holder.kill()
        holder.communicate()


def test_a_duckdb_file_that_another_program_holds(tmp_path):
    address = duckdb_file(tmp_path / "a.duckdb")
    (tmp_path / "people.csv").write_text("age\n" + "1\n2\n" * 30)
    with held(tmp_path / "a.duckdb"):
        one_line(run("anonymize", address, "-o", tmp_path / "r.csv", *OPTIONS), 1, "is in use by another program")
        table = ("anonymize", tmp_path / "people.csv", "--qi", "age", "--k", "2")
        one_line(run(*table, "-o", f"{tmp_path}/a.duckdb#out"), 1, "in use by another program")
    assert [name for name in names(tmp_path) if name.startswith((".", "r"))] == []


@pytest.mark.parametrize("mode", ["EXCLUSIVE", "IMMEDIATE"])
def test_a_sqlite_file_that_is_locked(tmp_path, mode, monkeypatch):
    monkeypatch.setattr("incrowd.formats.sqlite_files._PATIENCE", 0.1)
    address = sqlite_file(tmp_path / "a.sqlite")
    release = incrowd.anonymize(PEOPLE, **WORDS)
    with contextlib.closing(sqlite3.connect(tmp_path / "a.sqlite", isolation_level=None)) as other:
        other.execute(f"BEGIN {mode}")
        if mode == "EXCLUSIVE":
            with pytest.raises(DataError, match="is locked by another program"):
                open_source(address)
        with pytest.raises((OutputError, DataError), match="locked by another program"):
            release.write(f"{tmp_path}/a.sqlite#out")
    assert names(tmp_path) == ["a.sqlite"]
    assert open_source(address).columns == tuple(PEOPLE.column_names)


def test_a_database_that_is_gone_between_two_reads(tmp_path):
    for make, name in ((duckdb_file, "a.duckdb"), (sqlite_file, "a.sqlite")):
        release = incrowd.anonymize(make(tmp_path / name), **WORDS)
        (tmp_path / name).unlink()
        with pytest.raises(DataError, match=f"cannot read .*{name}"):
            release.write(tmp_path / "r.csv")
    assert names(tmp_path) == []


@pytest.mark.skipif(bool(no_server()), reason=no_server())
def test_a_server_that_is_gone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with postgres_server() as url:
        release = incrowd.anonymize(postgres_table(url), **WORDS)
        assert release.data.num_rows == 60
    for write in (lambda: release.write("r.csv"), lambda: release.write(f"{url}#out")):
        with pytest.raises((DataError, OutputError), match=r"cannot connect|lost the connection") as error:
            write()
        assert "\n" not in str(error.value)
    one_line(run("anonymize", f"{url}#people", "-o", tmp_path / "r.csv", *OPTIONS), 1, "cannot connect to postgres")
    assert names(tmp_path) == []


@pytest.mark.parametrize("suffix", ["duckdb", "sqlite"])
@pytest.mark.parametrize("new", [True, False])
def test_a_full_disk_while_a_table_is_written(tmp_path, suffix, new):
    """No file may grow beyond 300 kB, which the release of 40,000 rows of text does."""
    (tmp_path / "people.csv").write_text(
        "age,text\n" + "".join(f"{row % 9},{row * 7919}text\n" for row in range(40_000))
    )
    before = {"duckdb": duckdb_file, "sqlite": sqlite_file}[suffix](tmp_path / f"a.{suffix}")
    address = f"{tmp_path / 'new'}.{suffix}" if new else before.replace("#people", "#out")
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))\n"
    found = run("anonymize", tmp_path / "people.csv", "-o", address, "--qi", "age", "--k", "4", before=limit)
    one_line(found, 1, "cannot write to")
    assert [name for name in names(tmp_path) if not name.endswith((".wal", "-journal"))] == [
        f"a.{suffix}",
        "people.csv",
    ]
    rows = pa.Table.from_batches(list(open_source(before).batches()))
    assert rows.to_pydict() == PEOPLE.to_pydict()


def test_a_full_disk_while_tuples_spill(tmp_path):
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (5_000_000, 5_000_000))\n"
    words = ("--qi", "a,b,c", "--k", "4", "--memory-limit", "100MB", "--spill-folder", tmp_path, "--query", MANY)
    found = run("anonymize", ":memory:", "-o", tmp_path / "r.csv", *words, before=limit)
    one_line(found, 1, "DuckDB")
    assert names(tmp_path) == []


def test_a_kill_while_tuples_spill_leaves_what_only_the_owner_can_open_and_the_next_run_removes(tmp_path):
    words = ["--qi", "a,b,c", "--k", "4", "--memory-limit", "100MB", "--spill-folder", str(tmp_path), "--query", MANY]
    code = "from incrowd.cli import main; main()"
    command = [sys.executable, "-c", code, "anonymize", ":memory:", "-o", str(tmp_path / "r.csv"), *words]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    until = time.monotonic() + 60
    while time.monotonic() < until and process.poll() is None and not list(tmp_path.glob(".incrowd-*/*")):
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    for folder in tmp_path.iterdir():
        assert folder.stat().st_mode & 0o777 == 0o700
    time.sleep(2.1)  # a folder may have been made just now
    incrowd.anonymize(PEOPLE, **WORDS, engine="duckdb", spill_folder=tmp_path)
    assert names(tmp_path) == []
