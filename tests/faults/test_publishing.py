"""A release in a database and the files beside it: they belong together, whatever ends the process, and when."""

import contextlib
import errno
import json
import os
import resource
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from tests.databases import PEOPLE, WORDS, no_server, postgres_server
from tests.faults import publishing
from tests.faults.processes import MORE, anonymize, heeding, names, one_line, people, run

import incrowd
from incrowd.errors import OutputError
from incrowd.formats import atomic_files, staging
from incrowd.formats.databases import Address, TableOutput
from incrowd.formats.registry import open_source
from incrowd.formats.sqlite_files import SqliteDatabase, SqliteTransaction
from incrowd.formats.writers import Apart

SCRIPT = Path(__file__).with_name("publishing.py")
STRIDE = 5 if MORE == 1 else 1  # every fifth call, where there is no time for all
POSTGRES = pytest.mark.skipif(bool(no_server()), reason=no_server())
KINDS = ["sqlite", "duckdb", pytest.param("postgresql", marks=POSTGRES)]


@pytest.fixture(scope="module")
def server():
    with postgres_server() as url:
        yield url


def struck(folder, address, number, before, first):
    """What is found when a signal comes at each of many calls."""
    words = [sys.executable, SCRIPT, address, int(number), before, first, STRIDE]
    done = subprocess.run(
        [*map(str, words)], cwd=folder, capture_output=True, text=True, preexec_fn=heeding, check=False, timeout=600
    )
    rounds = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, done.stderr
    assert rounds[-1]["code"] == 0
    assert len(rounds) > 5 / STRIDE
    return rounds


def address_of(kind, request):
    return f"{request.getfixturevalue('server')}#rows" if kind == "postgresql" else f"a.{kind}#rows"


@pytest.mark.parametrize(
    ("kind", "before", "first"),
    [
        ("sqlite", "old", 0),
        ("sqlite", "new", 1),
        ("duckdb", "old", 2),
        ("duckdb", "new", 3),
        pytest.param("postgresql", "old", 4, marks=POSTGRES),
    ],
)
def test_a_kill_at_any_call_leaves_rows_and_files_that_belong_together(tmp_path, request, kind, before, first):
    outcomes = set()
    for each in struck(tmp_path, address_of(kind, request), signal.SIGKILL, before, first):
        assert each["later"] == 0, each
        _, later, left = each["found"]
        assert later in ("new", {"old": "old", "new": "none"}[before]), each
        assert left == [], each
        outcomes.add(later)
    assert len(outcomes) == 2


@pytest.mark.parametrize("kind", KINDS)
def test_a_signal_at_any_call_is_answered_before_or_after_all_of_it_and_what_is_said_is_true(tmp_path, request, kind):
    number = {"sqlite": signal.SIGINT, "duckdb": signal.SIGTERM, "postgresql": signal.SIGHUP}[kind]
    for each in struck(tmp_path, address_of(kind, request), number, "old", 1):
        between, later, left = each["found"]
        assert (each["code"], each["later"], between, left) == (0, 0, later, []), each
        assert later in ("old", "new"), each
        assert bool(each["said"]) == (later == "new"), each


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_files_that_cannot_follow_their_rows_are_told_and_completed_by_the_next_command(tmp_path, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)
    address = f"a.{kind}#rows"
    publishing.publish(address, "old")

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(staging, "_replace", full)
    with pytest.raises(OutputError, match=r"were written, but not the files beside it \(No space left") as told:
        publishing.publish(address, "new")
    assert "nothing was written" not in str(told.value)
    assert (tmp_path / f"{address}.recoding.json").exists()
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    open_source(address)  # as any command does that reads it
    assert publishing.found(address) == "new"
    assert not [*tmp_path.glob(".*")]


@pytest.mark.parametrize(
    ("committed", "seen", "left", "said"),
    [
        (True, True, "new", None),
        (False, False, "old", "lost; nothing was written"),
        (True, None, "new", "lost; it cannot be seen now whether"),
        (False, None, "old", "lost; it cannot be seen now whether"),
    ],
)
def test_an_error_at_the_very_commit_is_looked_into(tmp_path, monkeypatch, committed, seen, left, said):
    monkeypatch.chdir(tmp_path)
    publishing.publish("a.sqlite#rows", "old")
    commit = SqliteTransaction.commit

    def lost(self):
        if committed:
            commit(self)
        raise OutputError("lost; nothing was written")

    monkeypatch.setattr(SqliteTransaction, "commit", lost)
    if seen is None:
        monkeypatch.setattr(TableOutput, "is_committed", lambda self: None)
    with pytest.raises(OutputError, match=said) if said else contextlib.nullcontext():
        publishing.publish("a.sqlite#rows", "new")
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    TableOutput(Address.of("a.sqlite#rows"), overwrite=True)
    assert publishing.found("a.sqlite#rows") == left
    assert not [*tmp_path.glob(".*")]


def test_rows_without_a_certificate_take_that_of_others_away_though_they_were_killed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    publishing.publish("a.sqlite#rows", "old")
    rows = pa.table({"a": ["applied"] * 3})
    monkeypatch.setattr(staging.Manifest, "make", lambda self: (_ for _ in ()).throw(SystemExit))  # as if killed
    with contextlib.suppress(SystemExit), publishing.AtomicFiles() as files:
        output = TableOutput(Address.of("a.sqlite#rows"), overwrite=True)
        with files.join(output).writer(rows.schema, None) as writer:
            writer.write(rows.to_batches()[0])
        files.remove(tmp_path / "a.sqlite#rows.certificate.json")
    assert (tmp_path / "a.sqlite#rows.certificate.json").exists()
    monkeypatch.undo()
    assert open_source(tmp_path / "a.sqlite#rows").fingerprint() == writer.fingerprint
    assert not (tmp_path / "a.sqlite#rows.certificate.json").exists()
    assert not [*tmp_path.glob(".*")]


@pytest.mark.parametrize("kilobytes", [50, 100, 200, 300])
def test_a_full_disk_while_sqlite_writes_what_it_cannot_hold_in_memory(tmp_path, kilobytes):
    """SQLite then leaves it to the next user of the file to bring back what was there."""
    old, new = (pa.table({"a": [f"{row * 7919}text" for row in range(rows)]}) for rows in (2_000, 150_000))

    def write(rows):
        output = TableOutput(Address.of(f"{tmp_path}/a.sqlite#rows"), overwrite=True)
        with publishing.AtomicFiles() as files, files.join(output).writer(rows.schema, None) as writer:
            writer.write(rows.to_batches()[0])

    write(old)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (kilobytes << 10, before[1]))
    try:
        with pytest.raises(OutputError, match=r"cannot write to a\.sqlite: disk I/O error; nothing was written"):
            write(new)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert names(tmp_path) == ["a.sqlite"]
    with contextlib.closing(sqlite3.connect(f"file:{tmp_path}/a.sqlite?mode=ro", uri=True)) as connection:
        assert connection.execute("SELECT count(*) FROM rows").fetchall() == [(2_000,)]


def test_what_sqlite_cannot_bring_back_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr("incrowd.formats.sqlite_files._undo_what_was_cut_off", lambda path: False)
    monkeypatch.chdir(tmp_path)
    publishing.publish("a.sqlite#rows", "old")
    rows = pa.record_batch({"a": ["x"]})
    session = SqliteTransaction(SqliteDatabase("a.sqlite"), "rows", rows.schema, Apart(), overwrite=True)
    session.execute("DROP TABLE rows")
    with pytest.raises(OutputError, match=r"keep a\.sqlite-journal beside it") as told:
        session.write(rows)
    assert "nothing was written" not in str(told.value)


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_of_many_runs_into_one_new_database_all_that_may_replace_do(tmp_path, kind):
    """Some find a database that was not there when they began: they put their rows into it."""
    tables = ["a", "a", "a", "b", "b", "c"]
    race = subprocess.run(
        [sys.executable, SCRIPT, "race", f"new.{kind}", *tables],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert race.returncode == 0, race.stderr
    assert json.loads(race.stdout) == [0] * len(tables)
    for table in set(tables):
        source = open_source(f"{tmp_path}/new.{kind}#{table}")
        certificate = (tmp_path / f"new.{kind}#{table}.certificate.json").read_text()
        assert certificate == source.fingerprint()
    assert len(names(tmp_path)) == 1 + 2 * len(set(tables))


def test_a_database_that_appears_at_the_last_moment_gets_the_rows_as_well(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    locked = atomic_files.locked

    def then(homes):
        monkeypatch.setattr(atomic_files, "locked", locked)
        publishing.publish("a.sqlite#other", "old")
        return locked(homes)

    monkeypatch.setattr(atomic_files, "locked", then)
    publishing.publish("a.sqlite#rows", "new")
    assert (publishing.found("a.sqlite#rows"), publishing.found("a.sqlite#other")) == ("new", "old")


STRUCK = """
import os, signal
from incrowd.formats import staging
init = staging.Folder.__init__
def struck(self, parent):
    init(self, parent)
    os.kill(os.getpid(), signal.SIGINT)
staging.Folder.__init__ = struck
"""


@pytest.mark.parametrize("suffix", ["csv", "xlsx", "dta", "sqlite", "duckdb"])
def test_an_interrupt_just_when_a_hidden_folder_was_made_leaves_none(tmp_path, suffix):
    found = run(*anonymize(people(tmp_path), output=f"r.{suffix}"), before=STRUCK)
    if suffix == "csv":  # its folder is made when nothing can be interrupted any more
        one_line(found, 130, "written and complete: r.csv")
    else:
        one_line(found, 130, "interrupted; no file was written")
        assert names(tmp_path) == ["people.csv"]
    assert not [*tmp_path.glob(".*")]


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
@pytest.mark.parametrize("table", ["a/b", "/", "..", ".", "a\nb", "../a", "a..b", "x" * 300, "a."])
def test_a_name_that_no_table_can_have_is_one_line(tmp_path, kind, table):
    release = incrowd.anonymize(PEOPLE, **WORDS)
    with pytest.raises(OutputError, match="cannot be the name of a table; choose another name") as told:
        release.write(f"{tmp_path}/r.{kind}#{table}")
    assert "\n" not in str(told.value)
    assert names(tmp_path) == []
