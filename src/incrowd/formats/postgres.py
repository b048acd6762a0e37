"""PostgreSQL through ADBC: reading tables and queries as Arrow batches, and writing tables.

A source keeps one transaction open and lets every other connection see what that one sees, so that all reads are of the
same moment. It can only read. Credentials are left to the usual places (a password file, the environment, the URL), and
never shown.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

import adbc_driver_manager
import adbc_driver_postgresql.dbapi as adbc
import pyarrow as pa

from incrowd.errors import DataError, OutputError, PolicyError
from incrowd.formats.databases import Database, Transaction, one_line, quoted
from incrowd.formats.sources import Source

_TYPMOD = b"POSTGRESQL:typmod"
_IN_ORDER = ("SET synchronize_seqscans = off", "SET max_parallel_workers_per_gather = 0", "SET TimeZone = 'UTC'")
_PATIENCE = 20  # seconds to wait for another program that uses a table
_WHERE = ("host", "hostaddr", "port", "dbname", "service")  # parts of a URL's query that say where a database is
_USUAL = ("host", "hostaddr", "port", "database", "user", "service")  # what the environment may say instead
_SECRET = ("password", "passfile", "sslpassword", "sslkey")
_LOST = ("08", "57")  # kinds of errors: the connection, the operator


class PostgresTransaction(Transaction):
    errors = (adbc_driver_manager.Error,)

    def begin(self, path: Path | None) -> None:
        assert isinstance(self.database, PostgresDatabase)
        self.connection = self.database.connect()
        with self.connection.cursor() as cursor:
            for setting in _IN_ORDER:
                cursor.execute(setting)
            _hold(cursor, self.table)

    def execute(self, statement: str) -> None:
        with self.connection.cursor() as cursor:
            cursor.execute(statement)

    def create(self) -> None:
        self._ingest(self.schema.empty_table(), "create")

    def insert(self, batch: pa.RecordBatch) -> None:
        rows = pa.Table.from_batches([batch])
        self._ingest(rows, "append")

    def _ingest(self, rows: pa.Table, mode: str) -> None:
        home, _, last = self.table.rpartition(".")
        with self.connection.cursor() as cursor:
            cursor.adbc_ingest(last, rows, mode=mode, db_schema_name=home or None)

    def rows(self) -> Iterator[pa.RecordBatch]:
        query = f"SELECT * FROM {self.quoted}"
        with self.connection.cursor() as cursor:
            yield from _rows(cursor, query, _fields(cursor, query))

    def reason(self, error: Exception) -> str:
        return _said(error)


class PostgresDatabase(Database):
    """A database of a PostgreSQL server."""

    transaction = PostgresTransaction
    first_words = ("SELECT", "WITH", "VALUES", "TABLE")

    def __init__(self, location: str) -> None:
        super().__init__(location)
        self.path = None
        self._location = location
        self.name = unquote(urlsplit(location).path.strip("/")) or "PostgreSQL"
        self._keeper: Any = None
        self._snapshot = ""

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_keeper": None, "_snapshot": ""}

    def connect(self) -> Any:
        try:
            return adbc.connect(self._location)
        except adbc_driver_manager.Error as error:
            said = _said(error)
            advice = "; check host and port, and that the server runs" if any(sign in said for sign in _AWAY) else ""
            raise DataError(f"cannot connect to {self.name} at {_host(self._location)}: {said}{advice}") from None

    @contextlib.contextmanager
    def _reading(self) -> Iterator[Any]:
        """A cursor that can only read, and reads what was there when the source was opened."""
        with self._errors():
            if self._keeper is None:
                self._keeper = self.connect()
                weakref.finalize(self, _close, self._keeper)
                with self._keeper.cursor() as cursor:
                    cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
                    cursor.execute("SELECT pg_export_snapshot()")
                    self._snapshot = cursor.fetchone()[0]
            with self.connect() as connection, connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
                cursor.execute(f"SET TRANSACTION SNAPSHOT '{self._snapshot}'")
                for setting in _IN_ORDER:
                    cursor.execute(setting)
                yield cursor

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except adbc_driver_manager.Error as error:
            if isinstance(error, adbc_driver_manager.OperationalError) or (error.sqlstate or "").startswith(_LOST):
                raise DataError(f"lost the connection to {self.name}: {_said(error)}") from None
            raise PolicyError(f"the query of {self.name} fails: {_said(error)}") from None

    def tables(self) -> tuple[str, ...]:
        with self._reading() as cursor:
            cursor.execute(
                "SELECT table_schema::text, table_name::text FROM information_schema.tables WHERE table_schema NOT IN"
                " ('information_schema', 'pg_catalog') ORDER BY 1, 2"
            )
            rows = cursor.fetchall()
        return tuple(name if schema == "public" else f"{schema}.{name}" for schema, name in rows)

    def schema(self, query: str) -> pa.Schema:
        with self._reading() as cursor:
            return pa.schema([(field.name, _kind(field)) for field in _fields(cursor, query)])

    def stream(self, query: str, columns: Sequence[str], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        with self._reading() as cursor:
            fields = [field for field in _fields(cursor, query) if field.name in columns]
            yield from _rows(cursor, query, sorted(fields, key=lambda field: columns.index(field.name)))

    def check_writable(self, source: Source | None = None) -> None:
        try:
            self.connect().close()
        except DataError as error:
            raise OutputError(str(error)) from None

    def known_as(self, table: str) -> str:
        if "." not in table:
            with self._reading() as cursor:
                cursor.execute("SELECT current_schema()::text")
                table = f"{cursor.fetchone()[0] or 'public'}.{table}"
        return table.removeprefix("public.")

    def place(self, table: str) -> str:
        return f"postgresql:{self._mark()}:{self.name}#{table}"

    def _mark(self) -> str:
        """A few digits for the server and the database, by what says where they are: the URL or the environment."""
        parts = urlsplit(self._location)
        given = {word: value for word, value in parse_qsl(parts.query) if word in _WHERE}
        host = parts.netloc.rpartition("@")[2].lower()
        usual = {word: os.environ.get(f"PG{word.upper()}", "") for word in _USUAL}
        known = [host, self.name, usual["database"] or usual["user"] if parts.path in ("", "/") else ""]
        if not host and "host" not in given and "hostaddr" not in given:
            known += [usual["host"], usual["hostaddr"], usual["service"]]
        if ":" not in host and "port" not in given:
            known.append(usual["port"])
        return hashlib.sha256(repr((known, sorted(given.items()))).encode()).hexdigest()[:8]

    def beside(self, table: str) -> Path:
        return Path(f"{self.name.replace('/', '_')}-{self._mark()}.postgresql#{table}.table")

    def location(self) -> str:
        parts = urlsplit(self._location)
        user, at, host = parts.netloc.rpartition("@")
        query = urlencode([(word, value) for word, value in parse_qsl(parts.query) if word not in _SECRET])
        return f"postgresql://{user.partition(':')[0]}{at}{host}{parts.path}" + (f"?{query}" if query else "")

    def settle(self, table: str) -> None:
        """Wait until nobody is writing a table: the server may still be committing for a process that has ended."""
        with self._errors(), self.connect() as connection, connection.cursor() as cursor:
            _hold(cursor, table)


def _hold(cursor: Any, table: str) -> None:
    """Let nobody else write a table until the transaction ends; whoever is at it is waited for."""
    key = int.from_bytes(hashlib.sha256(f"incrowd {table}".encode()).digest()[:8], "big", signed=True)
    cursor.execute(f"SET LOCAL lock_timeout = '{_PATIENCE}s'")
    cursor.execute(f"SELECT pg_advisory_xact_lock({key})")
    cursor.fetchone()


def _close(connection: Any) -> None:
    with contextlib.suppress(adbc_driver_manager.Error):
        connection.close()


def _fields(cursor: Any, query: str) -> list[pa.Field]:
    cursor.execute(f"SELECT * FROM ({query}\n) AS rows LIMIT 0")
    return list(cursor.fetch_record_batch().schema)


def _kind(field: pa.Field) -> pa.DataType:
    """The type of a column: exact numbers as such where they have a scale, other types of PostgreSQL as text."""
    if _is_plain(field.type):
        return field.type
    if (typmod := (field.metadata or {}).get(_TYPMOD)) is not None and "numeric" in str(field.type):
        precision, scale = divmod(int(typmod) - 4, 1 << 16)
        if 0 < precision <= 38 and 0 <= scale <= precision:
            return pa.decimal128(precision, scale)
    return pa.string()


def _is_plain(kind: pa.DataType) -> bool:
    return not isinstance(kind, pa.BaseExtensionType)


def _rows(cursor: Any, query: str, fields: Sequence[pa.Field]) -> Iterator[pa.RecordBatch]:
    """Rows of some columns; types that Arrow lacks come as text."""
    listed = ", ".join(
        quoted(field.name) if _is_plain(field.type) else f"{quoted(field.name)}::text AS {quoted(field.name)}"
        for field in fields
    )
    cursor.execute(f"SELECT {listed} FROM ({query}\n) AS rows")
    schema = pa.schema([(field.name, _kind(field)) for field in fields])
    for batch in cursor.fetch_record_batch():
        try:
            columns = [column.cast(field.type) for column, field in zip(batch.columns, schema, strict=True)]
        except pa.ArrowInvalid:
            raise DataError("a column of exact numbers holds NaN or infinity; read it as text, by a query") from None
        yield pa.RecordBatch.from_arrays(columns, schema=schema)


_AWAY = ("refused", "translate host", "timeout", "timed out", "No route")  # of a server that cannot be reached


def _host(location: str) -> str:
    """The host and the port of a server, without user and password."""
    host = urlsplit(location).netloc.rpartition("@")[2] or "the local socket"
    return host if ":" in host or host == "the local socket" else f"{host}:5432"


def _said(error: Exception) -> str:
    """What the server says, without the query, whose values nobody needs to see."""
    text = str(error)
    if "lock timeout" in text:
        return "another program is using the table, and does not end"
    _, found, rest = text.partition("ERROR:")
    after = text.partition("failed: ")[2] or text.partition("Failed to connect: ")[2] or text
    return one_line(rest if found else after)
