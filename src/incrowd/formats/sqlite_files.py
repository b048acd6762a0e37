"""SQLite, by the module that comes with Python.

A column of SQLite may hold values of any type in any row, so the type of a column is counted over its rows before they
are read: whole numbers, numbers, bytes, or text for everything else. Dates and times are text there, and are recognized
later like those of a CSV file. All reads of a source see the file as it was when it was opened, or end with an error.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from incrowd.errors import DataError, OutputError, PolicyError, shown_type
from incrowd.formats.databases import Database, Transaction, one_line, quoted
from incrowd.formats.sources import BATCH_ROWS

_KINDS = ("integer", "real", "text", "blob")
_PATIENCE = 5.0  # seconds to wait for a lock


class SqliteTransaction(Transaction):
    errors = (sqlite3.Error, OverflowError)
    _begun, _undone = False, True

    def begin(self, path: Path | None) -> None:
        self.connection = sqlite3.connect(str(path), timeout=_PATIENCE, isolation_level=None, check_same_thread=False)
        self.execute("BEGIN IMMEDIATE")
        self._begun = True

    def create(self) -> None:
        columns = ", ".join(f"{quoted(field.name)} {_declared(field.type)}" for field in self.schema)
        self.execute(f"CREATE TABLE {self.quoted} ({columns})")

    def insert(self, batch: pa.RecordBatch) -> None:
        columns = [_values(column, name) for name, column in zip(batch.schema.names, batch.columns, strict=True)]
        marks = ", ".join("?" * len(columns))
        self.connection.executemany(f"INSERT INTO {self.quoted} VALUES ({marks})", zip(*columns, strict=True))

    def rows(self) -> Iterator[pa.RecordBatch]:
        query = f"SELECT * FROM {self.quoted}"
        return _rows(self.connection, query, _schema(self.connection, query))

    def reason(self, error: Exception) -> str:
        said = one_line(error)
        return "it is locked by another program" if "locked" in said else said

    def left(self) -> str:
        """What an error leaves: the file as it was, unless what SQLite has written so far cannot even be undone."""
        self.roll_back()
        if self._undone:
            return "nothing was written"
        name = self.database.name
        return (
            f"what was there before comes back when there is room and {name} is opened again; keep {name}-journal "
            "beside it until then"
        )

    def commit(self) -> None:
        super().commit()
        self._begun = False

    def roll_back(self) -> None:
        """Leave nothing behind; after an error of the disk, SQLite leaves that to the next user of the file."""
        super().roll_back()
        if self.new is None and self._begun:
            self._undone = _undo_what_was_cut_off(self.database.file)
            self._begun = False


class SqliteDatabase(Database):
    """A file of SQLite."""

    transaction = SqliteTransaction
    logs = ("-wal", "-journal")

    @contextlib.contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """A connection that can only read."""
        if self._watched is None:
            _undo_what_was_cut_off(self.file)
        self.watch()
        try:
            connection = sqlite3.connect(
                f"{self.file.resolve().as_uri()}?mode=ro", uri=True, timeout=_PATIENCE, check_same_thread=False
            )
            connection.text_factory = lambda data: data.decode("utf-8", "replace")
        except sqlite3.Error as error:
            raise DataError(f"cannot read {self.name}: {one_line(error)}") from None
        try:
            yield connection
        except sqlite3.DatabaseError as error:
            raise self._failed(one_line(error)) from None
        finally:
            connection.close()

    def _failed(self, said: str) -> Exception:
        if "locked" in said:
            return DataError(f"{self.name} is locked by another program; try again when that is done")
        if "not a database" in said or "malformed" in said:
            return DataError(f"{self.name} is not a SQLite database, or it is damaged")
        if "disk I/O" in said or "unable to open" in said:
            return DataError(f"{self.name} cannot be read: {said}")
        return PolicyError(f"the query of {self.name} fails: {said}")

    def tables(self) -> tuple[str, ...]:
        with self._reading() as connection:
            rows = connection.execute(
                "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND substr(name, 1, 7) <> 'sqlite_'"
                " ORDER BY name"
            ).fetchall()
        return tuple(name for (name,) in rows)

    def quoted(self, name: str) -> str:
        return quoted(name)

    def schema(self, query: str) -> pa.Schema:
        with self._reading() as connection:
            return _schema(connection, query)

    def stream(self, query: str, columns: Sequence[str], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        with self._reading() as connection:
            try:
                yield from _rows(connection, query, pa.schema([schema.field(name) for name in columns]))
            except (pa.ArrowException, OverflowError):
                raise DataError(f"{self.name} changed while it was being read; run again") from None

    def settle(self, table: str) -> None:
        """Undo what a process that ended has not committed."""
        _undo_what_was_cut_off(self.file)


def _undo_what_was_cut_off(path: Path) -> bool:
    """Let SQLite undo a transaction that was cut off, as the next user of the file does; whether none is left."""
    try:
        if not Path(f"{path}-journal").stat().st_size:
            return True
        with contextlib.closing(sqlite3.connect(path, timeout=0)) as opened:
            opened.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.Error as error:
        return "locked" in str(error)  # it belongs to another process that is still writing
    except OSError:
        return True
    return True


def _kind(had: Sequence[int | None]) -> pa.DataType:
    integer, real, text, blob = (bool(found) for found in had)
    if text or (blob and (integer or real)):
        return pa.string()
    if blob:
        return pa.binary()
    return pa.float64() if real else pa.int64() if integer else pa.string()


def _schema(connection: sqlite3.Connection, query: str) -> pa.Schema:
    found = connection.execute(f"SELECT * FROM ({query}\n) LIMIT 0")
    names = [column[0] for column in found.description]
    asked = [f"max(typeof({quoted(name)}) = '{kind}')" for name in names for kind in _KINDS]
    had = connection.execute(f"SELECT {', '.join(asked)} FROM ({query}\n)").fetchone()
    width = len(_KINDS)
    return pa.schema([(name, _kind(had[place * width : (place + 1) * width])) for place, name in enumerate(names)])


def _rows(connection: sqlite3.Connection, query: str, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    listed = ", ".join(_read_as(quoted(field.name), field.type) for field in schema)
    cursor = connection.execute(f"SELECT {listed} FROM ({query}\n)")
    while rows := cursor.fetchmany(BATCH_ROWS):
        columns = zip(zip(*rows, strict=True), schema, strict=True)
        yield pa.RecordBatch.from_arrays([pa.array(values, field.type) for values, field in columns], schema=schema)


def _read_as(column: str, kind: pa.DataType) -> str:
    if pa.types.is_string(kind):
        return f"CAST({column} AS TEXT)"
    return f"CAST({column} AS REAL)" if pa.types.is_floating(kind) else column


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
    """Values as SQLite stores them: dates, times and decimals as text, not-a-number as null."""
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
