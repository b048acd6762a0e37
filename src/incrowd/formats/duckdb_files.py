"""DuckDB: reading tables and queries of its files, and writing tables into them.

A file is attached read-only to a database in memory for every read, so that nothing is held in between, a source can be
pickled, and an engine can bring a memory limit of its own. Extensions are never downloaded. A new file is written in a
hidden folder beside its place; a table in a file that is there in one transaction.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import duckdb
import pyarrow as pa

from incrowd.errors import DataError, OutputError, PolicyError
from incrowd.formats.databases import MEMORY, one_line
from incrowd.formats.new_files import NewFile
from incrowd.formats.sources import BATCH_ROWS, Source, WatchedFile

_ALIAS = "source"  # what the file is called inside
SETTINGS: dict[str, Any] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "preserve_insertion_order": "true",
}
_SPILLED = re.compile(r"duckdb_temp_|could not write", re.IGNORECASE)
_PATIENCE = 5.0  # seconds to wait for another process that has a file open
_SYSTEM = ("information_schema", "pg_catalog")
_INSERTED = 1 << 16  # rows at a time: of a whole row group at once, a transaction does not read its own rows back

T = TypeVar("T")


def connected(settings: Mapping[str, Any] | None = None) -> duckdb.DuckDBPyConnection:
    """A database in memory, with times in UTC whatever the machine's are.

    Args:
        settings: More settings of DuckDB, such as a memory limit.
    """
    return opened(MEMORY, settings)


def opened(location: str, settings: Mapping[str, Any] | None = None) -> duckdb.DuckDBPyConnection:
    """A connection to a database, with times in UTC, and without a progress bar, which would go to stdout."""
    connection = duckdb.connect(location, config={**SETTINGS, **(settings or {})})
    connection.execute("SET TimeZone = 'UTC'; SET enable_progress_bar = false")
    return connection


class DuckDbDatabase:
    """A file of DuckDB, or nothing but memory, for queries over other files.

    Args:
        location: The file, or ":memory:".
    """

    engine = "duckdb"

    def __init__(self, location: str) -> None:
        self._path = None if location == MEMORY else Path(location)
        self.name = "DuckDB" if self._path is None else self._path.name
        self._watched: WatchedFile | None = None
        self._log: tuple[int, int] | None = None

    def connect(self, settings: Mapping[str, Any] | None = None) -> duckdb.DuckDBPyConnection:
        """A connection that can read the file, and nothing else.

        Raises:
            DataError: There is no such file, or it cannot be read now.
        """
        if self._path is None:
            return connected(settings)
        if self._watched is None:
            self._watched, self._log = WatchedFile(self._path), self._log_state()
        connection = connected(settings)
        try:
            where = str(self._path.resolve()).replace("'", "''")
            connection.execute(f"ATTACH '{where}' AS {_ALIAS} (TYPE duckdb, READ_ONLY)")
            connection.execute(f"USE {_ALIAS}")
        except duckdb.Error as error:
            connection.close()
            raise DataError(_unreadable(self.name, error)) from None
        return connection

    def _log_state(self) -> tuple[int, int] | None:
        """Size and last change of the file's log, where changes go first."""
        assert self._path is not None
        with contextlib.suppress(OSError):
            found = self._path.with_name(self._path.name + ".wal").stat()
            return found.st_size, found.st_mtime_ns
        return None

    @property
    def is_new(self) -> bool:
        """Whether nothing is there yet."""
        return self._path is None or not self._path.exists()

    def tables(self) -> tuple[str, ...]:
        """The tables and views of the file; those outside the main schema with their schema."""
        if self._path is None:
            return ()
        with self.connect() as connection:
            rows = connection.execute(
                "SELECT table_schema, table_name FROM information_schema.tables"
                " WHERE table_catalog = current_database() ORDER BY 1, 2"
            ).fetchall()
        return tuple(name if schema == "main" else f"{schema}.{name}" for schema, name in rows if schema not in _SYSTEM)

    def quoted(self, name: str) -> str:
        """A name in SQL; of a table in another schema, its parts."""
        return ".".join('"' + part.replace('"', '""') + '"' for part in name.split("."))

    def check_query(self, query: str) -> None:
        """Raise PolicyError unless it is a single SELECT."""
        try:
            statements = duckdb.extract_statements(query)
        except duckdb.Error as error:
            raise PolicyError(f"DuckDB cannot read the query: {one_line(error)}") from None
        if [statement.type for statement in statements] != [duckdb.StatementType.SELECT]:
            raise PolicyError("The 'query' parameter must be a single SELECT, which reads and does not write.")

    def schema(self, query: str) -> pa.Schema:
        """The columns of a query."""
        with self.connect() as connection, query_errors(self.name):
            found: pa.Schema = connection.sql(f"SELECT * FROM ({query}\n) LIMIT 0").to_arrow_table().schema
        return found

    def stream(self, query: str, columns: Sequence[str], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """The rows of a query in order."""
        listed = ", ".join('"' + name.replace('"', '""') + '"' for name in columns)
        with self.connect() as connection, query_errors(self.name):
            yield from connection.sql(f"SELECT {listed} FROM ({query}\n)").to_arrow_reader(BATCH_ROWS)

    def check_unchanged(self) -> None:
        """Raise DataError if the file or its log changed since they were first read."""
        if self._watched is not None:
            self._watched.check_unchanged()
            if self._log != self._log_state():
                raise DataError(f"{self.name} changed while it was being read; run again when nothing writes to it")

    def check_writable(self, source: Source | None = None) -> None:
        """Raise OutputError unless the file can be written, and is not the source."""
        if self._path is None:
            raise OutputError("a database in memory keeps nothing; give a file such as release.duckdb")
        NewFile.check(self._path)
        own = getattr(getattr(source, "database", None), "_path", None)
        if own is not None and own.exists() and self._path.exists() and own.samefile(self._path):
            raise OutputError(f"{self.name} is being read; write the release to another file")

    def known_as(self, table: str) -> str:
        """The name that a table has, whose letters may be large or small; that which it would get if there is none."""
        table = table.removeprefix("main.")
        there = () if self.is_new else _patiently(self.tables, DataError, "in use by another program")
        return next((name for name in there if name.lower() == table.lower()), table)

    def place(self, table: str) -> str:
        """Which table it is, wherever it is named from."""
        return f"{self.location()}#{table}"

    def beside(self, table: str) -> Path:
        """The neighbour of the other files of a release: no other file or table has one of that name."""
        path = self._path or Path("memory")
        return path.with_name(f"{path.name}#{table}.table")

    def location(self) -> str:
        """How to find it again."""
        return MEMORY if self._path is None else os.path.realpath(self._path)

    def settle(self, table: str) -> None:
        """Bring what a process that ended has committed from the log into the file, as the next writer does."""
        if self._path is not None and self._log_state() is not None:
            with query_errors(self.name):
                opened(str(self._path)).close()

    def begin(self, table: str, schema: pa.Schema, *, overwrite: bool) -> DuckDbSession:
        """Begin a transaction with an empty table."""
        assert self._path is not None
        return DuckDbSession(self._path, self.quoted(table), schema, overwrite=overwrite)


class DuckDbSession:
    """A table that is being written into a file of DuckDB; see `databases.Session`."""

    def __init__(self, path: Path, table: str, schema: pa.Schema, *, overwrite: bool) -> None:
        self._name, self._table = path.name, table
        self.new = None if path.exists() else NewFile(path)
        place = str(path if self.new is None else self.new.path)
        try:
            with self._errors():
                self._connection = _patiently(lambda: opened(place), duckdb.Error, "could not set lock")
                self._connection.execute("BEGIN")
                if overwrite:
                    self._connection.execute(f"DROP TABLE IF EXISTS {table}")
                self._run(f"CREATE TABLE {table} AS SELECT * FROM incrowd_batch", schema.empty_table())
        except BaseException:
            self.roll_back()
            raise

    def _run(self, statement: str, rows: pa.Table) -> None:
        self._connection.register("incrowd_batch", rows)
        self._connection.execute(statement)
        self._connection.unregister("incrowd_batch")

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except duckdb.Error as error:
            raise OutputError(f"cannot write to {self._name}: {_reason(error)}; nothing was written") from None

    def insert(self, batch: pa.RecordBatch) -> None:
        """Add rows, after those that are there."""
        with self._errors():
            for start in range(0, len(batch), _INSERTED):
                rows = pa.Table.from_batches([batch.slice(start, _INSERTED)])
                self._run(f"INSERT INTO {self._table} SELECT * FROM incrowd_batch", rows)

    def read(self) -> Iterator[pa.RecordBatch]:
        """The rows as anyone will read them."""
        with self._errors():
            found = self._connection.sql(f"SELECT * FROM {self._table}")
            yield from found.to_arrow_reader(BATCH_ROWS)

    def commit(self) -> None:
        """Make the table visible; a new file is complete then, and waits to be moved into place."""
        with self._errors():
            self._connection.execute("COMMIT")
            self._connection.close()
        if self.new is not None:
            self.new.complete()

    def roll_back(self) -> None:
        """Leave nothing behind."""
        with contextlib.suppress(duckdb.Error, AttributeError):
            self._connection.execute("ROLLBACK")
        with contextlib.suppress(duckdb.Error, AttributeError):
            self._connection.close()
        if self.new is not None:
            self.new.vanish()


def _patiently(work: Callable[[], T], kind: type[Exception], words: str) -> T:
    """Do what fails while another process has a file open, which it may be about to close."""
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            return work()
        except kind as error:
            if words not in str(error).lower() or time.monotonic() > until:
                raise
            time.sleep(0.02)


@contextlib.contextmanager
def query_errors(name: str) -> Iterator[None]:
    """Turn what DuckDB says of a query into an error of one line."""
    try:
        yield
    except duckdb.OutOfMemoryException as error:
        raise DataError(f"DuckDB has too little memory or disk for {name}: {_reason(error)}; allow more") from None
    except duckdb.IOException as error:
        if _SPILLED.search(str(error)):
            raise DataError(
                f"DuckDB cannot spill what does not fit in memory for {name}: {_reason(error, 2)}; allow more memory, "
                "or give a spill folder with more room"
            ) from None
        raise DataError(f"{name} cannot be read: {_reason(error)}") from None
    except duckdb.Error as error:
        raise PolicyError(f"the query of {name} fails: {one_line(error)}") from None


def _unreadable(name: str, error: duckdb.Error) -> str:
    if "lock" in str(error).lower() or isinstance(error, duckdb.ResourceInUseException):
        return f"{name} is in use by another program, which may change it; close that program, or copy the file"
    return f"{name} is not a DuckDB database that this version can read: {_reason(error)}"


def _reason(error: duckdb.Error, *others: int) -> str:
    """What went wrong, in few words: the system's, if it was the system.

    Args:
        error: What DuckDB says.
        others: More numbers of errors that need no more words than the system's.
    """
    text = str(error)
    for number in (28, 122, 27, 13, 30, *others):  # no space, quota, too large, permission, read-only
        if os.strerror(number).lower() in text.lower():
            return os.strerror(number)
    if "could not set lock" in text.lower():
        return "it is in use by another program"
    return one_line(error)
