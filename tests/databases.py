"""Databases for tests: files of DuckDB and SQLite, and a PostgreSQL server of its own where its programs are."""

import contextlib
import os
import pwd
import shutil
import sqlite3
import subprocess
import tempfile
from pathlib import Path

import pyarrow as pa

PEOPLE = pa.table(
    {
        "id": list(range(60)),
        "age": [20 + number % 6 for number in range(60)],
        "job": [["smith", "nurse", None][number % 3] for number in range(60)],
        "wage": [number % 5 / 2 for number in range(60)],
    }
)
WORDS = {"quasi_identifiers": ["age", "job", "wage"], "k": 4, "identifiers": ["id"], "method": "tdr"}


def duckdb_file(path, table=PEOPLE, name="people"):
    """A table in a file of DuckDB; gives its address."""
    import duckdb

    with duckdb.connect(path) as connection:
        connection.register("rows", table)
        connection.execute(f'CREATE OR REPLACE TABLE "{name}" AS SELECT * FROM rows')
    return f"{path}#{name}"


def sqlite_file(path, table=PEOPLE, name="people"):
    """A table in a file of SQLite; gives its address."""
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f'DROP TABLE IF EXISTS "{name}"')
        connection.execute(f'CREATE TABLE "{name}" ({", ".join(table.column_names)})')
        marks = ", ".join("?" * table.num_columns)
        columns = [column.to_pylist() for column in table.columns]
        connection.executemany(f'INSERT INTO "{name}" VALUES ({marks})', zip(*columns, strict=True))
    return f"{path}#{name}"


def no_server():
    """Why there can be no PostgreSQL server; empty if there can."""
    try:
        import adbc_driver_postgresql  # noqa: F401
    except ImportError:
        return "needs incrowd[postgres]"
    if _programs() is None:
        return "needs the programs of a PostgreSQL server (initdb, pg_ctl)"
    if os.geteuid() == 0 and _other_user() is None:
        return "a PostgreSQL server does not run as root, and there is no other user"
    return ""


def _programs():
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb")) or [shutil.which("initdb")]
    return Path(found[-1]).parent if found[-1] else None


def _other_user():
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name)
    return None


@contextlib.contextmanager
def postgres_server():
    """A server of its own, without a port; gives the URL of its database."""
    folder = Path(tempfile.mkdtemp(prefix="incrowd-"))  # pytest keeps other users out of its folders
    try:
        yield from _serving(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _serving(folder):
    words = {"check": True, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "timeout": 60, "cwd": "/"}
    if os.geteuid() == 0:
        user = _other_user()
        words |= {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        os.chown(folder, user.pw_uid, user.pw_gid)
    data, programs = folder / "data", _programs()
    subprocess.run(
        [programs / "initdb", "-D", data, "-A", "trust", "-U", "incrowd", "--no-sync", "-E", "UTF8", "--locale=C"],
        **words,
    )
    options = f"-k {folder} -c listen_addresses='' -c fsync=off"
    control = [programs / "pg_ctl", "-D", data, "-w", "-l", folder / "log"]
    subprocess.run([*control, "-o", options, "start"], **words)
    try:
        yield f"postgresql:///postgres?host={folder}&user=incrowd"
    finally:
        subprocess.run([*control, "-m", "immediate", "stop"], **{**words, "check": False})


def postgres_table(url, table=PEOPLE, name="people"):
    """A table of a PostgreSQL database; gives its address."""
    import adbc_driver_postgresql.dbapi as adbc

    with adbc.connect(url) as connection, connection.cursor() as cursor:
        cursor.execute(f'DROP TABLE IF EXISTS "{name}"')
        cursor.adbc_ingest(name, table, mode="create")
        connection.commit()
    return f"{url}#{name}"
