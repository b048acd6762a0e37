"""DuckDB: tables and queries of its files, and relations of a connection that is the user's own.

A file is attached read-only to a database in memory for every read, so that nothing is held in between, a source can be
pickled, and an engine can bring a memory limit of its own. Extensions are never downloaded.
"""

from __future__ import annotations

import contextlib
import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from incrowd.errors import DataError, OutputError, PolicyError
from incrowd.formats.databases import MEMORY, Database, QuerySource, Transaction, one_line, patiently, quoted
from incrowd.formats.sources import BATCH_ROWS, Source

_ALIAS = "source"  # what the file is called inside
SETTINGS: dict[str, Any] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "preserve_insertion_order": "true",
}
_SPILLED = re.compile(r"duckdb_temp_|could not write", re.IGNORECASE)
_SYSTEM = ("information_schema", "pg_catalog")
_INSERTED = 1 << 16  # rows at a time: of a whole row group at once, a transaction does not read its own rows back


def opened(location: str = MEMORY, settings: Mapping[str, Any] | None = None) -> duckdb.DuckDBPyConnection:
    """A connection to a database, with times in UTC, and without a progress bar, which would go to stdout."""
    connection = duckdb.connect(location, config={**SETTINGS, **(settings or {})})
    connection.execute("SET TimeZone = 'UTC'; SET enable_progress_bar = false")
    return connection


class DuckDbTransaction(Transaction):
    errors = (duckdb.Error,)

    def begin(self, path: Path | None) -> None:
        self.connection = patiently(lambda: opened(str(path)), duckdb.Error, "could not set lock")
        self.execute("BEGIN")

    def create(self) -> None:
        self._run(f"CREATE TABLE {self.quoted} AS SELECT * FROM incrowd_batch", self.schema.empty_table())

    def _run(self, statement: str, rows: pa.Table) -> None:
        self.connection.register("incrowd_batch", rows)
        self.execute(statement)
        self.connection.unregister("incrowd_batch")

    def insert(self, batch: pa.RecordBatch) -> None:
        for start in range(0, len(batch), _INSERTED):
            rows = pa.Table.from_batches([batch.slice(start, _INSERTED)])
            self._run(f"INSERT INTO {self.quoted} SELECT * FROM incrowd_batch", rows)

    def rows(self) -> Iterator[pa.RecordBatch]:
        yield from self.connection.sql(f"SELECT * FROM {self.quoted}").to_arrow_reader(BATCH_ROWS)

    def reason(self, error: Exception) -> str:
        return _reason(error)


class DuckDbDatabase(Database):
    """A file of DuckDB, or nothing but memory, for queries over other files."""

    transaction = DuckDbTransaction
    engine = "duckdb"
    logs = (".wal",)

    def __init__(self, location: str) -> None:
        super().__init__(location)
        self.name = "DuckDB" if self.path is None else self.name

    def connect(self, settings: Mapping[str, Any] | None = None) -> duckdb.DuckDBPyConnection:
        """A connection that can read the file, and nothing else."""
        if self.path is not None:
            self.watch()
        connection = opened(settings=settings)
        if self.path is None:
            return connection
        try:
            where = str(self.path.resolve()).replace("'", "''")
            connection.execute(f"ATTACH '{where}' AS {_ALIAS} (TYPE duckdb, READ_ONLY)")
            connection.execute(f"USE {_ALIAS}")
        except duckdb.Error as error:
            connection.close()
            raise DataError(_unreadable(self.name, error)) from None
        return connection

    def tables(self) -> tuple[str, ...]:
        if self.path is None:
            return ()
        with self.connect() as connection:
            rows = connection.execute(
                "SELECT table_schema, table_name FROM information_schema.tables"
                " WHERE table_catalog = current_database() ORDER BY 1, 2"
            ).fetchall()
        return tuple(name if schema == "main" else f"{schema}.{name}" for schema, name in rows if schema not in _SYSTEM)

    def check_query(self, query: str) -> None:
        try:
            statements = duckdb.extract_statements(query)
        except duckdb.Error as error:
            raise PolicyError(f"DuckDB cannot read the query: {one_line(error)}") from None
        if [statement.type for statement in statements] != [duckdb.StatementType.SELECT]:
            raise PolicyError("The 'query' parameter must be a single SELECT, which reads and does not write.")

    def schema(self, query: str) -> pa.Schema:
        with self.connect() as connection, query_errors(self.name):
            found: pa.Schema = connection.sql(f"SELECT * FROM ({query}\n) LIMIT 0").to_arrow_table().schema
        return found

    def stream(self, query: str, columns: Sequence[str], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        listed = ", ".join(map(quoted, columns))
        with self.connect() as connection, query_errors(self.name):
            yield from connection.sql(f"SELECT {listed} FROM ({query}\n)").to_arrow_reader(BATCH_ROWS)

    def check_writable(self, source: Source | None = None) -> None:
        if self.path is None:
            raise OutputError("a database in memory keeps nothing; give a file such as release.duckdb")
        super().check_writable(source)

    def known_as(self, table: str) -> str:
        return super().known_as(table.removeprefix("main."))

    def settle(self, table: str) -> None:
        """Bring what a process that ended has committed from the log into the file, as the next writer does."""
        if self._logs():
            with query_errors(self.name):
                opened(str(self.path)).close()


class RelationSource(QuerySource):
    """A relation. It is run again for every read, so it must give the same rows every time.

    A connection does one thing at a time: whoever reads holds it until all rows are read.
    """

    engine = "duckdb"

    def __init__(self, relation: Any) -> None:
        if not hasattr(relation, "aggregate"):
            raise PolicyError("a table of DuckDB must be a relation, such as connection.table('people')")
        self.relation = relation
        self._lock = threading.Lock()
        with query_errors("the relation"):
            schema = relation.limit(0).to_arrow_table().schema
            self._rows: int = relation.count("*").fetchall()[0][0]
        super().__init__("the relation", schema)
        if not self._rows:
            raise DataError(f"{self.name} has no rows")

    def query_rows(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """See `QuerySource`; raises DataError if they are not as many as before."""
        rows = 0
        for batch in self.reading(lambda: self.relation.project(", ".join(map(quoted, columns)))):
            rows += len(batch)
            yield batch
        if rows != self._rows:
            raise DataError(f"{self.name} changed while it was being read; keep its rows in a table first")

    def reading(self, made: Callable[[], Any]) -> Iterator[pa.RecordBatch]:
        with self._lock, query_errors(self.name):
            yield from made().to_arrow_reader(BATCH_ROWS)


@contextlib.contextmanager
def query_errors(name: str) -> Iterator[None]:
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


def _reason(error: Exception, *others: int) -> str:
    """What went wrong, in the system's words if it was the system; of errors with more numbers if they are given."""
    text = str(error)
    for number in (28, 122, 27, 13, 30, *others):  # no space, quota, too large, permission, read-only
        if os.strerror(number).lower() in text.lower():
            return os.strerror(number)
    if "could not set lock" in text.lower():
        return "it is in use by another program"
    return one_line(error)
