"""Tables of databases: what addresses mean, reading a table or a query as a source, writing a table as an output.

An address is a file or a URL, and after "#" a table: `hospital.duckdb#patients`, `postgresql://host/hospital#patients`.
A kind of database is one entry in `DRIVERS` and a module (`duckdb_files`, `sqlite_files`, `postgres`) with what it does
differently: a `Database` that reads and a `Transaction` that writes. Reading never changes a database. Writing happens
in one transaction, which ends when the rows are verified.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self, TypeVar

import pyarrow as pa

from incrowd.errors import (
    DataError,
    IncrowdError,
    MissingPackageError,
    OutputError,
    PolicyError,
    UnknownNameError,
    shown,
)
from incrowd.formats.atomic_files import NewFile
from incrowd.formats.containers import bare
from incrowd.formats.frames import VIEWS
from incrowd.formats.registry import load
from incrowd.formats.sources import (
    BATCH_ROWS,
    Check,
    Source,
    StreamedSource,
    WatchedFile,
    as_array,
    as_dictionary,
)
from incrowd.formats.staging import Move, recover_commits
from incrowd.formats.writers import Apart, Proof

DEFAULT_TABLE = "release"
MEMORY = ":memory:"
LONGEST_NAME = 100  # bytes of a table's name, which is part of the names of files
PATIENCE = 5.0  # seconds to wait for another process that has a file open
_UNUSABLE = re.compile(r"[/\\\x00-\x1f\x7f]|\.$|^\.|\.\.")  # what the name of a file or a schema should not contain
_URL = re.compile(r"(?:postgres|postgresql):(/+)(.*)", re.DOTALL)
_MAGIC = {"sqlite": (0, b"SQLite format 3\0"), "duckdb": (8, b"DUCK")}  # the bytes that say what a file is

T = TypeVar("T")


@dataclass(frozen=True)
class Driver:
    """A kind of database."""

    about: str  # what people call it
    home: str  # the `Database`, as "module:class"; made from a location
    suffixes: tuple[str, ...] = ()  # what names of its files end in
    extra: str = ""  # the extra of the package that installs what it needs
    library: str | None = None  # the module that must be installed
    nans: bool = True  # whether its tables distinguish a missing value from not-a-number


DRIVERS: Mapping[str, Driver] = {
    "duckdb": Driver("DuckDB", "incrowd.formats.duckdb_files:DuckDbDatabase", (".duckdb", ".ddb"), "duckdb", "duckdb"),
    "sqlite": Driver("SQLite", "incrowd.formats.sqlite_files:SqliteDatabase", (".sqlite", ".sqlite3"), nans=False),
    "postgresql": Driver(
        "PostgreSQL", "incrowd.formats.postgres:PostgresDatabase", (), "postgres", "adbc_driver_postgresql"
    ),
}


@dataclass(frozen=True)
class Address:
    """Where a table is."""

    kind: str  # a name in `DRIVERS`
    location: str  # the file or the URL
    table: str | None  # None if the address does not say

    @classmethod
    def of(cls, text: str | Path) -> Address | None:
        """The address that a text is, None if it is not the address of a database."""
        location, _, table = str(text).partition("#")
        if (url := _URL.fullmatch(location)) is not None:
            return cls("postgresql", _url(*url.groups()), table or None)
        if location == MEMORY:
            return cls("duckdb", location, table or None)
        for kind, driver in DRIVERS.items():
            if driver.suffixes and location.lower().endswith(driver.suffixes):
                return cls(kind, location, table or None)
        if location.lower().endswith(".db") and (found := _kind_of(Path(location))) is not None:
            return cls(found, location, table or None)
        return None

    def database(self) -> Database:
        driver = DRIVERS[self.kind]
        if driver.library is not None and find_spec(driver.library) is None:
            raise MissingPackageError(f"{driver.about} databases need a package that is not installed", driver.extra)
        made: Database = load(driver.home)(self.location)
        return made


def _url(slashes: str, rest: str) -> str:
    """A URL as it was typed, also if it was turned into a path, which drops slashes."""
    if slashes == "/":
        slashes = "//" if "/" in rest.partition("?")[0] else "///"
    return f"postgresql:{slashes}{rest}"


def _kind_of(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            begin = file.read(32)
    except OSError:
        return None
    return next((kind for kind, (place, magic) in _MAGIC.items() if begin[place:].startswith(magic)), None)


class Database(ABC):
    """What a driver can do; what is written here is for databases that are files.

    Errors are DataError for reading and OutputError for writing, of one line. `name` is what messages call it, without
    anything secret; `engine` is the engine that suits its tables.
    """

    engine = "arrow"
    transaction: type[Transaction]
    logs: tuple[str, ...] = ()  # what follows the name of the file in those of its logs, where changes go first
    first_words: tuple[str, ...] = ("SELECT", "WITH", "VALUES")  # of queries

    def __init__(self, location: str) -> None:
        self.path = None if location == MEMORY else Path(location)
        self.name = Path(location).name
        self._watched: WatchedFile | None = None
        self._log_states: list[tuple[int, int]] = []

    @property
    def file(self) -> Path:
        assert self.path is not None
        return self.path

    @property
    def is_new(self) -> bool:
        """Whether the file is not there yet."""
        return self.path is not None and not self.path.exists()

    @abstractmethod
    def tables(self) -> tuple[str, ...]:
        """The names of all tables and views."""

    @abstractmethod
    def schema(self, query: str) -> pa.Schema: ...

    @abstractmethod
    def stream(self, query: str, columns: Sequence[str], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """The rows of a query in order, of some columns, with the types of its schema."""

    def quoted(self, name: str) -> str:
        """The name of a table in SQL; a dot separates it from its schema."""
        return ".".join(map(quoted, name.split(".")))

    def check_query(self, query: str) -> None:
        """Raise PolicyError unless it may be a single query; the connection makes sure that it only reads."""
        words = query.split(None, 1)
        if not words or words[0].upper() not in self.first_words:
            raise PolicyError("The 'query' parameter must be a single SELECT, which reads and does not write.")

    @abstractmethod
    def settle(self, table: str) -> None:
        """Wait until it is decided what a process that has ended wrote to a table."""

    def watch(self) -> None:
        """Remember the state of the file when it is first read."""
        if self._watched is None:
            self._watched, self._log_states = WatchedFile(self.file), self._logs()

    def _logs(self) -> list[tuple[int, int]]:
        found = []
        for ending in self.logs:
            with contextlib.suppress(OSError):
                state = Path(f"{self.path}{ending}").stat()
                found.append((state.st_size, state.st_mtime_ns))
        return found

    def check_unchanged(self) -> None:
        """Raise DataError if the file or its logs changed since they were first read."""
        if self._watched is not None:
            self._watched.check_unchanged()
            if self._logs() != self._log_states:
                raise DataError(f"{self.name} changed while it was being read; run again when nothing writes to it")

    def check_writable(self, source: Source | None = None) -> None:
        """Raise OutputError unless a table can be written, and no source is read from the same file."""
        NewFile.check(self.file)
        own = getattr(getattr(source, "database", None), "path", None)
        if own is not None and own.exists() and self.file.exists() and own.samefile(self.file):
            raise OutputError(f"{self.name} is being read; write the release to another file")

    def known_as(self, table: str) -> str:
        """The one name of a table, which may be written in several ways: letters of files may be large or small."""
        there = () if self.is_new else patiently(self.tables, DataError, "in use by another program")
        return next((name for name in there if name.lower() == table.lower()), table)

    def location(self) -> str:
        """How `Address` finds the database again, without anything secret."""
        return MEMORY if self.path is None else os.path.realpath(self.path)

    def place(self, table: str) -> str:
        """Which table it is: equal only for the same table of the same database."""
        return f"{self.location()}#{table}"

    def beside(self, table: str) -> Path:
        """The path next to which the other files of a release are; no other table or file has the same."""
        return self.file.with_name(f"{self.name}#{table}.table")


class Transaction(ABC):
    """Rows on their way into a new table that nobody else sees before `commit`; see `writers.BatchWriter`.

    A file that was not there is hidden until it is moved into place (`new`).
    """

    errors: tuple[type[Exception], ...] = ()  # those of the library

    def __init__(self, database: Database, table: str, schema: pa.Schema, apart: Apart, *, overwrite: bool) -> None:
        self.name = f"{database.name}#{table}"
        self.schema, self.apart = schema, apart
        self.database, self.table, self.quoted = database, table, database.quoted(table)
        self.new = NewFile(database.file) if database.is_new else None
        self.connection: Any = None
        self._digest = ""
        try:
            with self._guarded():
                self.begin(database.path if self.new is None else self.new.path)
                if overwrite:
                    self.execute(f"DROP TABLE IF EXISTS {self.quoted}")
                self.create()
        except BaseException:
            self.roll_back()
            raise

    @contextlib.contextmanager
    def _guarded(self) -> Iterator[None]:
        try:
            yield
        except self.errors as error:
            reason = self.reason(error)
            raise OutputError(f"cannot write to {self.database.name}: {reason}; {self.left()}") from None

    @abstractmethod
    def begin(self, path: Path | None) -> None: ...

    @abstractmethod
    def create(self) -> None: ...

    @abstractmethod
    def insert(self, batch: pa.RecordBatch) -> None: ...

    @abstractmethod
    def rows(self) -> Iterator[pa.RecordBatch]:
        """The rows of the table as anyone will read them."""

    def execute(self, statement: str) -> None:
        self.connection.execute(statement)

    def reason(self, error: Exception) -> str:
        """What went wrong, in a few words."""
        return one_line(error)

    def left(self) -> str:
        """What an error leaves behind."""
        return "nothing was written"

    def write(self, batch: pa.RecordBatch) -> None:
        columns = [_cast(batch.column(field.name), field.type) for field in self.schema]
        with self._guarded():
            self.insert(pa.RecordBatch.from_arrays(columns, schema=self.schema))

    def finish(self) -> None:  # noqa: B027
        """Nothing is left: rows are in the table at once."""

    def read_back(self, encoded: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows of the table, in the transaction that has made it; see `BatchWriter.read_back`."""
        digest: _TableDigest | None = None
        with self._guarded():
            for batch in self.rows():
                digest = digest or _TableDigest(batch.schema)
                digest.add(batch)
                yield batch
        self._digest = (digest or _TableDigest(self.schema)).end()

    @property
    def fingerprint(self) -> str:
        if not self._digest:
            for _ in self.read_back(()):
                pass
        return self._digest

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:  # noqa: B027
        """Nothing to close: the output commits, or rolls back."""

    def commit(self) -> None:
        """Make the table visible; a new file is complete then, and waits to be moved into place."""
        with self._guarded():
            self.connection.commit()
            self.connection.close()
        if self.new is not None:
            self.new.complete()

    def roll_back(self) -> None:
        """Leave nothing behind of what was not committed and moved. It does not raise."""
        if self.connection is not None:
            for end in (self.connection.rollback, self.connection.close):
                with contextlib.suppress(*self.errors):
                    end()
        if self.new is not None:
            self.new.vanish()


class QuerySource(StreamedSource, ABC):
    """Rows that a query gives, with text in Arrow's usual layout."""

    def __init__(self, name: str, schema: pa.Schema) -> None:
        self.name = name
        self.describe(read_schema(schema))

    @abstractmethod
    def query_rows(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows of these columns, at least one, in order."""

    def stream(self, columns: list[str], encoded: Collection[str]) -> Iterator[pa.RecordBatch]:
        for batch in self.query_rows(columns):
            yield as_read(batch, self.schema, columns, encoded)

    def fingerprint(self, check: Check | None = None) -> str:
        return digest_of(self.schema, self.batches(), check)


class DatabaseSource(QuerySource):
    """A table of a database, or what a query gives instead."""

    def __init__(self, address: Address, query: str | None = None) -> None:
        self.database = address.database()
        self.engine = self.database.engine
        if query is None:
            table = _only_table(address.table, self.database)
            _complete(address, self.database, table)
            name, self.query = f"{self.database.name}#{table}", f"SELECT * FROM {self.database.quoted(table)}"
            first = f"{self.query}\nLIMIT 1"
        else:
            if address.table is not None:
                raise PolicyError(f"a table ({shown(address.table)}) and a query were given; leave one out")
            self.database.check_query(query)
            name, self.query, first = f"the query of {self.database.name}", query, query
        self._stored = bare(self.database.schema(self.query))
        self._digest: str | None = None
        super().__init__(name, self._stored)
        if next(self.database.stream(first, self.columns[:1], self._stored), None) is None:
            raise DataError(f"{name} has no rows")

    def query_rows(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        return self.database.stream(self.query, columns, self._stored)

    def fingerprint(self, check: Check | None = None) -> str:
        if self._digest is None:
            self._digest = super().fingerprint(check)
        return self._digest

    def check_unchanged(self) -> None:
        self.database.check_unchanged()


def read_schema(schema: pa.Schema) -> pa.Schema:
    """The columns of a database as sources give them, without metadata."""
    return pa.schema([field.with_type(_plain_text(field.type)) for field in bare(schema)])


def _plain_text(kind: pa.DataType) -> pa.DataType:
    """Text in Arrow's usual layout, dictionaries with int32 indices, other types as they are."""
    if pa.types.is_dictionary(kind):
        return pa.dictionary(pa.int32(), _plain_text(kind.value_type), kind.ordered)
    return pa.string() if pa.types.is_large_string(kind) or str(kind) == "string_view" else kind


def as_read(
    batch: pa.RecordBatch, schema: pa.Schema, chosen: Sequence[str], encoded: Collection[str]
) -> pa.RecordBatch:
    """Rows of a database as `Source.batches` gives them."""
    arrays = []
    for name in chosen:
        column, kind = batch.column(name), schema.field(name).type
        if name in encoded or pa.types.is_dictionary(column.type):
            column = as_dictionary(column)
        arrays.append(column if name in encoded else _cast(column, kind))
    return pa.RecordBatch.from_arrays(arrays, names=list(chosen))


def _cast(column: pa.Array, kind: pa.DataType) -> pa.Array:
    return column if column.type == kind else column.cast(kind)


def _only_table(table: str | None, database: Database) -> str:
    found = database.tables()
    if table is None:
        if len(found) != 1:
            listed = ", ".join(found[:10]) or "none"
            raise PolicyError(f"name a table of {database.name} after '#', or give a query; it has: {listed}")
        return found[0]
    if table not in found:
        raise UnknownNameError("table", table, found, database.name)
    return table


def _written_schema(schema: pa.Schema) -> pa.Schema:
    """The columns of a table to write: no dictionaries, no views, no metadata."""
    fields = []
    for field in bare(schema):
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        fields.append(pa.field(field.name, VIEWS.get(str(kind), kind)))
    return pa.schema(fields)


def digest_of(schema: pa.Schema, batches: Iterable[pa.RecordBatch], check: Check | None = None) -> str:
    """The SHA-256 of rows, whatever batches and dictionaries they come in."""
    digest = _TableDigest(schema)
    for batch in batches:
        digest.add(batch)
        if check is not None:
            check()
    return digest.end()


class _TableDigest:
    def __init__(self, schema: pa.Schema) -> None:
        self._digest, self._schema = hashlib.sha256(), _written_schema(schema)
        self._digest.update(self._schema.serialize())
        self._waiting: list[pa.RecordBatch] = []
        self._rows = 0

    def add(self, batch: pa.RecordBatch) -> None:
        columns = [batch.column(field.name).cast(field.type) for field in self._schema]
        self._waiting.append(pa.RecordBatch.from_arrays(columns, schema=self._schema))
        self._rows += len(batch)
        while self._rows >= BATCH_ROWS:
            table = pa.Table.from_batches(self._waiting, self._schema)
            self._update(table.slice(0, BATCH_ROWS))
            self._waiting, self._rows = table.slice(BATCH_ROWS).to_batches(), self._rows - BATCH_ROWS

    def _update(self, table: pa.Table) -> None:
        rows = pa.array(range(len(table)), pa.int64())  # a copy: a slice would be written with what is around it
        columns = [as_array(column).take(rows) for column in table.columns]
        self._digest.update(pa.RecordBatch.from_arrays(columns, schema=table.schema).serialize())

    def end(self) -> str:
        if self._rows:
            self._update(pa.Table.from_batches(self._waiting, self._schema))
        return "sha256:" + self._digest.hexdigest()


class TableOutput:
    """A table of a database that a release is written to; see `writers.Output`."""

    def __init__(self, address: Address, *, overwrite: bool) -> None:
        table = address.table or DEFAULT_TABLE
        if not table.strip(". ") or _UNUSABLE.search(table) or len(os.fsencode(table)) > LONGEST_NAME:
            raise OutputError(f"{shown(table)} cannot be the name of a table; choose another name")
        self._address, self._overwrite = address, overwrite
        self._database = address.database()
        self._database.check_writable()
        self._table = self._database.known_as(table)
        self.name = f"{self._database.name}#{self._table}"
        self.beside = self._database.beside(self._table)
        self._rows: Transaction | None = None
        _complete(address, self._database, self._table)
        if not overwrite:
            self._check_free()

    def _check_free(self) -> None:
        if not self._database.is_new and self._table in self._database.tables():
            raise OutputError(
                f"{self.name} already exists; choose another table, or use --overwrite (in Python overwrite=True)"
            )

    def writer(self, schema: pa.Schema, source: Source) -> Transaction:
        self._database.check_writable(source)
        self._rows = self._begin(_written_schema(schema))
        return self._rows

    def _begin(self, schema: pa.Schema) -> Transaction:
        apart = Apart(nans=DRIVERS[self._address.kind].nans)
        return self._database.transaction(self._database, self._table, schema, apart, overwrite=self._overwrite)

    @property
    def _new(self) -> NewFile | None:
        return None if self._rows is None else self._rows.new

    def prepare(self) -> None:
        """Put the rows into the database that another run has made meanwhile, if there is one by now."""
        if self.is_ready:
            return
        if not self._overwrite:
            self._check_free()
        assert self._rows is not None
        verified, rows = self._rows.fingerprint, self._begin(self._rows.schema)
        try:
            for batch in self._rows.read_back(()):
                rows.write(batch)
            if rows.fingerprint != verified:
                raise OutputError(f"cannot write to {self.name}: its rows came back changed; nothing was written")
        except BaseException:
            rows.roll_back()
            raise
        self._rows.roll_back()
        self._rows = rows

    @property
    def is_ready(self) -> bool:
        return self._new is None or not os.path.lexists(self._new.target)

    @property
    def home(self) -> Path | None:
        return None if self._new is None else self._new.target.parent

    @property
    def proof(self) -> Proof | None:
        """Where the rows are, and their digest; None for a new file, which is moved into place."""
        if self._rows is None or self._new is not None:
            return None
        known = {"kind": self._address.kind, "location": self._database.location(), "table": self._table}
        return {**known, "place": self._database.place(self._table), "digest": self._rows.fingerprint}

    def commit(self) -> None:
        assert self._rows is not None
        self._rows.commit()

    def moves(self) -> list[Move]:
        """What brings a new file to its place; another that is there by now stays: it may have other tables."""
        return [] if self._new is None else [Move(self._new.path, self._new.target, replace=False)]

    def is_committed(self) -> bool | None:
        return None if self.proof is None else is_committed(self.proof, self._address)

    def roll_back(self) -> None:
        if self._rows is not None:
            self._rows.roll_back()


def _complete(address: Address, database: Database, table: str) -> None:
    """Complete the files of a release that belong to a table, if the run that wrote it was cut off."""
    folder = database.beside(table).parent
    recover_commits(folder, only=database.place(table), asked=lambda proof: is_committed(proof, address))


def is_committed(proof: Proof, known: Address | None = None) -> bool | None:
    """Whether the rows of a proof are in their table; None if that cannot be seen now.

    Args:
        proof: What a manifest says.
        known: An address that may name the same table and says more, such as a password.
    """
    address = Address(proof["kind"], proof["location"], proof["table"])
    try:
        database = address.database()
        if known is not None and known.kind == address.kind:
            other = known.database()
            database = other if other.place(proof["table"]) == proof["place"] else database
        database.settle(proof["table"])
        if database.is_new or proof["table"] not in database.tables():
            return False
        query = f"SELECT * FROM {database.quoted(proof['table'])}"
        found = bare(database.schema(query))
        schema, names = read_schema(found), found.names
        rows = (as_read(batch, schema, names, ()) for batch in database.stream(query, names, found))
        return digest_of(schema, rows) == proof["digest"]
    except (IncrowdError, KeyError, OSError, pa.ArrowException):
        return None


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def one_line(error: object) -> str:
    """The first line of what a database says, short enough to show."""
    text = str(error).strip().partition("\n")[0]
    return text if len(text) <= 160 else f"{text[:160]}..."


def patiently(work: Callable[[], T], kind: type[Exception], words: str) -> T:
    """Do what fails while another process has a file open, which it may be about to close."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return work()
        except kind as error:
            if words not in str(error).lower() or time.monotonic() > until:
                raise
            time.sleep(0.02)
