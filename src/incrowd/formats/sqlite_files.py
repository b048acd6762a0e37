"""SQLite, by the module that comes with Python: reading tables and queries of its files, and writing tables into them.

A column of SQLite may hold values of any type in any row, so what a column is, is counted over its rows before they are
read: whole numbers, numbers, bytes, or text for all else. Dates and times are text there, and are recognized later like
those of a CSV file. All reads of a source see the file as it was when it was opened, or end with an error.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from incrowd.errors import DataError, OutputError, PolicyError, shown_type
from incrowd.formats.databases import one_line
from incrowd.formats.new_files import NewFile
from incrowd.formats.sources import BATCH_ROWS, Source, WatchedFile

_KINDS = ("integer", "real", "text", "blob")
_PATIENCE = 5.0  # seconds to wait for a lock
_LOGS = ("-wal", "-journal")


class SqliteDatabase:
    """A file of SQLite.

    Args:
        location: The file.
    """

    engine = "arrow"

    def __init__(self, location: str) -> None:
        self._path = Path(location)
        self.name = self._path.name
        self._watched: WatchedFile | None = None
        self._logs: tuple[Any, ...] = ()

    @contextlib.contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """A connection that can only read."""
        if self._watched is None:
            _undo_what_was_cut_off(self._path)
            self._watched, self._logs = WatchedFile(self._path), self._log_states()
        try:
            connection = sqlite3.connect(
                f"{self._path.resolve().as_uri()}?mode=ro", uri=True, timeout=_PATIENCE, check_same_thread=False
            )
            connection.text_factory = _text
        except sqlite3.Error as error:
            raise DataError(f"cannot read {self.name}: {one_line(error)}") from None
        try:
            yield connection
        except sqlite3.DatabaseError as error:
            raise self._failed(error) from None
        finally:
            connection.close()

    def _failed(self, error: sqlite3.Error) -> Exception:
        said = one_line(error)
        if "locked" in said:
            return DataError(f"{self.name} is locked by another program; try again when that is done")
        if "not a database" in said or "malformed" in said:
            return DataError(f"{self.name} is not a SQLite database, or it is damaged")
        if "disk I/O" in said or "unable to open" in said:
            return DataError(f"{self.name} cannot be read: {said}")
        return PolicyError(f"the query of {self.name} fails: {said}")

    def _log_states(self) -> tuple[Any, ...]:
        found = []
        for ending in _LOGS:
            with contextlib.suppress(OSError):
                state = self._path.with_name(self._path.name + ending).stat()
                found.append((state.st_size, state.st_mtime_ns))
        return tuple(found)

    @property
    def is_new(self) -> bool:
        """Whether nothing is there yet."""
        return not self._path.exists()

    def tables(self) -> tuple[str, ...]:
        """The tables and views of the file."""
        with self._reading() as connection:
            rows = connection.execute(
                "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND substr(name, 1, 7) <> 'sqlite_'"
                " ORDER BY name"
            ).fetchall()
        return tuple(name for (name,) in rows)

    def quoted(self, name: str) -> str:
        """A name in SQL."""
        return _quoted(name)

    def check_query(self, query: str) -> None:
        """Raise PolicyError unless it is a single query; that it only reads is up to the connection."""
        words = query.split(None, 1)
        if not words or words[0].upper() not in ("SELECT", "WITH", "VALUES"):
            raise PolicyError("The 'query' parameter must be a single SELECT, which reads and does not write.")

    def schema(self, query: str) -> pa.Schema:
        """The columns of a query, each with the type that all its values have."""
        with self._reading() as connection:
            return _schema(connection, query)

    def stream(self, query: str, columns: Sequence[str], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """The rows of a query in order."""
        with self._reading() as connection:
            try:
                yield from _rows(connection, query, pa.schema([schema.field(name) for name in columns]))
            except (pa.ArrowException, OverflowError):
                raise DataError(f"{self.name} changed while it was being read; run again") from None

    def check_unchanged(self) -> None:
        """Raise DataError if the file or its logs changed since they were first read."""
        if self._watched is not None:
            self._watched.check_unchanged()
            if self._log_states() != self._logs:
                raise DataError(f"{self.name} changed while it was being read; run again when nothing writes to it")

    def check_writable(self, source: Source | None = None) -> None:
        """Raise OutputError unless the file can be written, and is not the source."""
        NewFile.check(self._path)
        own = getattr(getattr(source, "database", None), "_path", None)
        if own is not None and own.exists() and self._path.exists() and own.samefile(self._path):
            raise OutputError(f"{self.name} is being read; write the release to another file")

    def known_as(self, table: str) -> str:
        """The name that a table has, whose letters may be large or small; that which it would get if there is none."""
        there = () if self.is_new else self.tables()
        return next((name for name in there if name.lower() == table.lower()), table)

    def place(self, table: str) -> str:
        """Which table it is, wherever it is named from."""
        return f"{os.path.realpath(self._path)}#{table}"

    def beside(self, table: str) -> Path:
        """The neighbour of the other files of a release: no other file or table has one of that name."""
        return self._path.with_name(f"{self._path.name}#{table}.table")

    def location(self) -> str:
        """How to find it again."""
        return os.path.realpath(self._path)

    def settle(self, table: str) -> None:
        """Undo what a process that ended has not committed."""
        _undo_what_was_cut_off(self._path)

    def begin(self, table: str, schema: pa.Schema, *, overwrite: bool) -> SqliteSession:
        """Begin a transaction with an empty table."""
        return SqliteSession(self._path, self.quoted(table), schema, overwrite=overwrite)


def _undo_what_was_cut_off(path: Path) -> bool:
    """Let SQLite undo a transaction that was cut off, as the next user of the file does; rows stay.

    Returns:
        Whether none is left.
    """
    try:
        if not Path(f"{path}-journal").stat().st_size:
            return True
        with contextlib.closing(sqlite3.connect(path, timeout=0)) as opened:
            opened.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.Error as error:
        return "locked" in str(error)  # it is another one's that is still going on
    except OSError:
        return True
    return True


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _kind(had: Sequence[int | None]) -> pa.DataType:
    """The type of a column from which types of SQLite it has."""
    integer, real, text, blob = (bool(found) for found in had)
    if text or (blob and (integer or real)):
        return pa.string()
    if blob:
        return pa.binary()
    return pa.float64() if real else pa.int64() if integer else pa.string()


def _schema(connection: sqlite3.Connection, query: str) -> pa.Schema:
    found = connection.execute(f"SELECT * FROM ({query}\n) LIMIT 0")
    names = [column[0] for column in found.description]
    asked = [f"max(typeof({_quoted(name)}) = '{kind}')" for name in names for kind in _KINDS]
    had = connection.execute(f"SELECT {', '.join(asked)} FROM ({query}\n)").fetchone()
    width = len(_KINDS)
    return pa.schema([(name, _kind(had[place * width : (place + 1) * width])) for place, name in enumerate(names)])


def _rows(connection: sqlite3.Connection, query: str, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    listed = ", ".join(_read_as(_quoted(field.name), field.type) for field in schema)
    cursor = connection.execute(f"SELECT {listed} FROM ({query}\n)")
    while rows := cursor.fetchmany(BATCH_ROWS):
        columns = zip(zip(*rows, strict=True), schema, strict=True)
        yield pa.RecordBatch.from_arrays([pa.array(values, field.type) for values, field in columns], schema=schema)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _read_as(column: str, kind: pa.DataType) -> str:
    if pa.types.is_string(kind):
        return f"CAST({column} AS TEXT)"
    return f"CAST({column} AS REAL)" if pa.types.is_floating(kind) else column


class SqliteSession:
    """A table that is being written into a file of SQLite; see `databases.Session`."""

    def __init__(self, path: Path, table: str, schema: pa.Schema, *, overwrite: bool) -> None:
        self._name, self._table, self._path = path.name, table, path
        self._begun, self._undone = False, True
        self.new = None if path.exists() else NewFile(path)
        place = path if self.new is None else self.new.path
        columns = ", ".join(f"{_quoted(field.name)} {_declared(field.type)}" for field in schema)
        try:
            with self._errors():
                self._connection = sqlite3.connect(
                    place, timeout=_PATIENCE, isolation_level=None, check_same_thread=False
                )
                self._connection.execute("BEGIN IMMEDIATE")
                self._begun = True
                if overwrite:
                    self._connection.execute(f"DROP TABLE IF EXISTS {table}")
                self._connection.execute(f"CREATE TABLE {table} ({columns})")
        except BaseException:
            self.roll_back()
            raise

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OverflowError) as error:
            said = one_line(error)
            said = "it is locked by another program" if "locked" in said else said
            raise OutputError(f"cannot write to {self._name}: {said}; {self._left()}") from None

    def _left(self) -> str:
        """What an error leaves: the file as it was, unless what SQLite has written so far cannot even be undone."""
        self.roll_back()
        if self._undone:
            return "nothing was written"
        return (
            f"what was there before comes back when there is room and {self._name} is opened again; keep "
            f"{self._name}-journal beside it until then"
        )

    def insert(self, batch: pa.RecordBatch) -> None:
        """Add rows, after those that are there."""
        columns = [_values(column, name) for name, column in zip(batch.schema.names, batch.columns, strict=True)]
        marks = ", ".join("?" * len(columns))
        with self._errors():
            self._connection.executemany(f"INSERT INTO {self._table} VALUES ({marks})", zip(*columns, strict=True))

    def read(self) -> Iterator[pa.RecordBatch]:
        """The rows as anyone will read them."""
        query = f"SELECT * FROM {self._table}"
        with self._errors():
            yield from _rows(self._connection, query, _schema(self._connection, query))

    def commit(self) -> None:
        """Make the table visible; a new file is complete then, and waits to be moved into place."""
        with self._errors():
            self._connection.execute("COMMIT")
            self._begun = False
            self._connection.close()
        if self.new is not None:
            self.new.complete()

    def roll_back(self) -> None:
        """Leave nothing behind."""
        with contextlib.suppress(sqlite3.Error, AttributeError):
            self._connection.execute("ROLLBACK")
        with contextlib.suppress(sqlite3.Error, AttributeError):
            self._connection.close()
        if self.new is not None:
            self.new.vanish()
        elif self._begun:  # after an error of the disk SQLite leaves it to the next user of the file
            self._undone = _undo_what_was_cut_off(self._path)
            self._begun = False


def _declared(kind: pa.DataType) -> str:
    """What a column is declared as, so that values stay as they are stored."""
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind):
        return "INTEGER"
    return "REAL" if pa.types.is_floating(kind) else "BLOB" if pa.types.is_binary(kind) else "TEXT"


def _values(column: pa.Array, name: str) -> list[Any]:
    try:
        return list(_stored(column).to_pylist())
    except pa.ArrowNotImplementedError:
        said = f"column '{name}' of type {shown_type(column.type)} cannot be written to SQLite; write Parquet instead"
        raise OutputError(said) from None


def _stored(column: pa.Array) -> pa.Array:
    """Values as SQLite stores them: dates, times and decimals as text; not-a-number, which it has not, as nothing."""
    kind = column.type
    if pa.types.is_boolean(kind):
        return column.cast(pa.int8())
    if pa.types.is_floating(kind):
        return pc.if_else(pc.is_nan(column), pa.scalar(None, kind), column)
    if pa.types.is_integer(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return column
    if pa.types.is_nested(kind):
        return pa.array([None if value is None else repr(value) for value in column.to_pylist()], pa.string())
    return column.cast(pa.string())
