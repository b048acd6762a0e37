"""Databases and engines that fail in the middle: one line, and nothing half-written."""

import contextlib
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

import pyarrow as pa
import pytest
from tests.command_line import command
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
from incrowd.errors import DataError, IncrowdError, OutputError
from incrowd.formats.registry import open_source

WITH_TEXT = ("--qi", "age", "--k", "4", "--keep", "text")
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
        hurry = "import incrowd.formats.databases as files; files.PATIENCE = 0.1\n"
        one_line(run(*table, "-o", f"{tmp_path}/a.duckdb#out", before=hurry), 1, "in use by another program")
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
    found = run("anonymize", tmp_path / "people.csv", "-o", address, *WITH_TEXT, before=limit)
    one_line(found, 1, "cannot write to")
    assert [name for name in names(tmp_path) if not name.endswith((".wal", "-journal"))] == [
        f"a.{suffix}",
        "people.csv",
    ]
    rows = pa.Table.from_batches(list(open_source(before).batches()))
    assert rows.to_pydict() == PEOPLE.to_pydict()


DIE = """
import os, signal
from incrowd.formats.{module} import {session} as Session
die, insert = lambda *_: os.kill(os.getpid(), signal.SIGKILL), Session.insert
Session.{moment} = die if "{moment}" == "commit" else lambda self, batch: (insert(self, batch), die())
"""


@pytest.mark.parametrize("moment", ["insert", "commit"])
@pytest.mark.parametrize("suffix", ["duckdb", "sqlite"])
def test_a_kill_while_a_table_is_written_leaves_the_database_as_it_was(tmp_path, suffix, moment):
    lines = "".join(f"{row % 9},{row * 7919}text\n" for row in range(200_000))
    (tmp_path / "people.csv").write_text("age,text\n" + lines)
    path = tmp_path / f"a.{suffix}"
    before = {"duckdb": duckdb_file, "sqlite": sqlite_file}[suffix](path)
    words = ("anonymize", tmp_path / "people.csv", "-o", before.replace("#people", "#out"), *WITH_TEXT)
    session = {"duckdb": "DuckDbTransaction", "sqlite": "SqliteTransaction"}[suffix]
    die = DIE.format(module=f"{suffix}_files", session=session, moment=moment)
    assert run(*words, "--method", "tdr", before=die).returncode == -signal.SIGKILL
    assert pa.Table.from_batches(list(open_source(before).batches())).to_pydict() == PEOPLE.to_pydict()
    with pytest.raises(IncrowdError, match="no table 'out'"):
        open_source(before.replace("#people", "#out"))
    assert not [*tmp_path.glob("*.certificate.json")]


CUT_OFF = """
import os, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA cache_size = 5")
connection.execute("BEGIN")
connection.execute("CREATE TABLE out (text)")
connection.executemany("INSERT INTO out VALUES (?)", [("x" * 100,)] * 20_000)
os._exit(0)
"""


def test_a_transaction_that_was_cut_off_is_undone_before_the_file_is_read(tmp_path):
    before = sqlite_file(tmp_path / "a.sqlite")
    subprocess.run([sys.executable, "-c", CUT_OFF, tmp_path / "a.sqlite"], check=True)
    assert (tmp_path / "a.sqlite-journal").stat().st_size  # or there is nothing to undo
    assert pa.Table.from_batches(list(open_source(before).batches())).to_pydict() == PEOPLE.to_pydict()


def wait_until(process, met):
    """Wait until a condition is met, or the process ends."""
    until = time.monotonic() + 100
    while time.monotonic() < until and process.poll() is None and not met():
        time.sleep(0.005)


def spilled(folder):
    """Bytes that DuckDB has put aside so far."""
    found = 0
    for path in folder.glob(".incrowd-*/*storage*"):
        with contextlib.suppress(OSError):
            found += path.stat().st_size
    return found


def spill_words(folder, output):
    """The arguments of a run with more tuples than may be held."""
    words = ("--qi", "a,b,c", "--k", "4", "--method", "tdr", "--memory-limit", "100MB", "--spill-folder", folder)
    return ("anonymize", ":memory:", "-o", output, *words, "--query", MANY)


def test_a_full_disk_while_tuples_spill(tmp_path):
    """No file may grow beyond 5 MB; what is put aside needs a hundred."""
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (5_000_000, 5_000_000))\n"
    found = run(*spill_words(tmp_path, tmp_path / "r.csv"), before=limit)
    one_line(found, 1, "DuckDB cannot spill what does not fit in memory")
    assert "File too large" in found.stderr
    assert found.stdout == ""
    assert names(tmp_path) == []


def test_a_spill_folder_that_vanishes(tmp_path):
    (tmp_path / "spill").mkdir()
    words = spill_words(tmp_path / "spill", tmp_path / "r.csv")
    process = subprocess.Popen(command(*words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_until(process, lambda: spilled(tmp_path / "spill") > 0)
    assert process.poll() is None
    (tmp_path / "spill").rename(tmp_path / "gone")  # at once; it is being written to
    shutil.rmtree(tmp_path / "gone")
    _, said = process.communicate(timeout=120)
    found = subprocess.CompletedProcess(words, process.returncode, "", said)
    one_line(found, 1, "DuckDB cannot spill what does not fit in memory")
    assert names(tmp_path) == []


def test_a_kill_while_tuples_spill_leaves_what_only_the_owner_can_open_and_the_next_run_removes(tmp_path):
    process = subprocess.Popen(
        command(*spill_words(tmp_path, tmp_path / "r.csv")), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    wait_until(process, lambda: spilled(tmp_path) > 0)
    assert process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert spilled(tmp_path) > 0  # so the fault struck when it had begun
    (folder,) = tmp_path.iterdir()
    assert folder.stat().st_mode & 0o777 == 0o700
    os.utime(folder, (0, 0))  # some time later
    incrowd.anonymize(PEOPLE, **WORDS, engine="duckdb", spill_folder=tmp_path)
    assert names(tmp_path) == []
