"""Tables of databases: what addresses mean, reading a table or a query as a source, writing a table as an output.

An address is a file or a URL, and after "#" a table: `hospital.duckdb#patients`, `postgresql://host/hospital#patients`.
What is particular to a database is in its driver (`duckdb_files`, `sqlite_files`, `postgres`); a driver is one entry in
`DRIVERS`. Reading never changes a database. Writing happens in one transaction, which ends when the rows are verified.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

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
from incrowd.formats.containers import bare
from incrowd.formats.frames import VIEWS
from incrowd.formats.new_files import NewFile
from incrowd.formats.outputs import Apart, Proof
from incrowd.formats.sources import BATCH_ROWS, Check, Source, as_array, as_dictionary, check_names, choose_columns
from incrowd.formats.staging import Move, heal

DEFAULT_TABLE = "release"
MEMORY = ":memory:"
LONGEST_NAME = 100  # bytes of a table's name, which is a part of the names of files
_UNUSABLE = re.compile(r"[/\\\x00-\x1f\x7f]|\.$|^\.|\.\.")  # what no name of a file should have, or no schema
_URL = re.compile(r"(?:postgres|postgresql):(/+)(.*)", re.DOTALL)
_MAGIC = {"sqlite": (0, b"SQLite format 3\0"), "duckdb": (8, b"DUCK")}  # where a file says what it is


@dataclass(frozen=True)
class Driver:
    """A kind of database.

    Args:
        about: What people call it.
        home: The class that knows it, as "module:class"; made from a location.
        suffixes: What names of its files end in.
        extra: The extra of the package that brings what it needs; empty if it needs nothing more.
        library: The module that must be there.
        nans: Whether its tables tell a missing value from not-a-number.
    """

    about: str
    home: str
    suffixes: tuple[str, ...] = ()
    extra: str = ""
    library: str | None = None
    nans: bool = True


DRIVERS: Mapping[str, Driver] = {
    "duckdb": Driver("DuckDB", "incrowd.formats.duckdb_files:DuckDbDatabase", (".duckdb", ".ddb"), "duckdb", "duckdb"),
    "sqlite": Driver("SQLite", "incrowd.formats.sqlite_files:SqliteDatabase", (".sqlite", ".sqlite3"), nans=False),
    "postgresql": Driver(
        "PostgreSQL", "incrowd.formats.postgres:PostgresDatabase", (), "postgres", "adbc_driver_postgresql"
    ),
}


class Session(Protocol):
    """A transaction that has made a new table; nobody else sees the table before it is committed.

    Attributes:
        new: The database itself, if it is a file that was not there; hidden until it is moved into place.
    """

    new: NewFile | None

    def insert(self, batch: pa.RecordBatch) -> None:
        """Add rows, after those that are there."""

    def read(self) -> Iterator[pa.RecordBatch]:
        """The rows as anyone will read them."""

    def commit(self) -> None:
        """Make the table visible."""

    def roll_back(self) -> None:
        """Leave nothing behind. It must not raise."""


class Database(Protocol):
    """What a driver can do. Errors are DataError for reading and OutputError for writing, of one line.

    Attributes:
        name: What messages call it, without anything secret.
        engine: The engine that suits its tables.
    """

    name: str
    engine: str

    @property
    def is_new(self) -> bool:
        """Whether nothing is there yet."""

    def tables(self) -> tuple[str, ...]:
        """The tables and views that there are."""

    def quoted(self, name: str) -> str:
        """The name of a table or a column in SQL."""

    def check_query(self, query: str) -> None:
        """Raise PolicyError unless it is a single query that only reads."""

    def schema(self, query: str) -> pa.Schema:
        """The columns of a query."""

    def stream(self, query: str, columns: Sequence[str], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """The rows of a query in order, of some columns, with the types of its schema."""

    def check_unchanged(self) -> None:
        """Raise DataError if the data is not what it was."""

    def check_writable(self, source: Source | None = None) -> None:
        """Raise OutputError unless a table can be written, and no source is read from the same file."""

    def known_as(self, table: str) -> str:
        """The one name of a table that may be named in several ways."""

    def place(self, table: str) -> str:
        """Which table it is: equal for the same one, and for no other of any database."""

    def beside(self, table: str) -> Path:
        """A path whose neighbours are the other files of a release; that of no other table, nor of a file."""

    def location(self) -> str:
        """How `Address` finds the database again, without anything secret."""

    def settle(self, table: str) -> None:
        """Wait until it is decided what a process that has ended wrote to a table."""

    def begin(self, table: str, schema: pa.Schema, *, overwrite: bool) -> Session:
        """Begin a transaction with an empty table of plain types."""


@dataclass(frozen=True)
class Address:
    """Where a table is.

    Args:
        kind: The kind of database, a name in `DRIVERS`.
        location: The file or the URL.
        table: The table, None if the address does not say.
    """

    kind: str
    location: str
    table: str | None

    @classmethod
    def of(cls, text: str | Path) -> Address | None:
        """The address that a text is; None if it is none, but perhaps a file."""
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
        """What can be done with the database.

        Raises:
            MissingPackageError: What it needs is not installed.
        """
        driver = DRIVERS[self.kind]
        if driver.library is not None and find_spec(driver.library) is None:
            raise MissingPackageError(f"{driver.about} databases need a package that is not installed", driver.extra)
        module, _, name = driver.home.partition(":")
        made: Database = getattr(import_module(module), name)(self.location)
        return made


def _url(slashes: str, rest: str) -> str:
    """A URL as it was typed, also if it went through a path, which has lost slashes: then the host is what is left."""
    if slashes == "/":
        slashes = "//" if "/" in rest.partition("?")[0] else "///"
    return f"postgresql:{slashes}{rest}"


def _kind_of(path: Path) -> str | None:
    """What a file with a name that does not tell says that it is."""
    try:
        with path.open("rb") as file:
            begin = file.read(32)
    except OSError:
        return None
    return next((kind for kind, (place, magic) in _MAGIC.items() if begin[place:].startswith(magic)), None)


class DatabaseSource:
    """A table of a database, or a query.

    Args:
        address: Where it is.
        query: What to read instead of a table.
    """

    missing_values: tuple[str, ...] = ()

    def __init__(self, address: Address, query: str | None = None) -> None:
        self.database = address.database()
        self.engine = self.database.engine
        if query is None:
            table = _only_table(address.table, self.database)
            _complete(address, self.database, table)
            self.name, self.query = f"{self.database.name}#{table}", f"SELECT * FROM {self.database.quoted(table)}"
        else:
            if address.table is not None:
                raise PolicyError(f"a table ({shown(address.table)}) and a query were given; leave one out")
            self.database.check_query(query)
            self.name, self.query = f"the query of {self.database.name}", query
        self._schema = bare(self.database.schema(self.query))
        self.schema = _as_read(self._schema)
        self.columns = tuple(self.schema.names)
        if not self.columns:
            raise DataError(f"{self.name} has no columns")
        check_names(self.columns, self.name)
        self._digest: str | None = None
        if (
            next(
                self.database.stream(
                    f"{self.query}\nLIMIT 1" if query is None else query, self.columns[:1], self._schema
                ),
                None,
            )
            is None
        ):
            raise DataError(f"{self.name} has no rows")

    def batches(self, columns: Sequence[str] | None = None, encoded: Collection[str] = ()) -> Iterator[pa.RecordBatch]:
        """Stream the rows in order; see `Source.batches`."""
        chosen = choose_columns(self, columns)
        self.database.check_unchanged()
        for batch in self.database.stream(self.query, chosen or self.columns[:1], self._schema):
            yield as_read(batch, self.schema, chosen, encoded)

    def fingerprint(self, check: Check | None = None) -> str:
        """The SHA-256 of the rows, as a stream of Arrow batches of one size."""
        if self._digest is None:
            self._digest = digest_of(self.schema, self.batches(), check)
        return self._digest

    def check_unchanged(self) -> None:
        """Raise DataError if the data is not what it was when the source was opened."""
        self.database.check_unchanged()


def _as_read(schema: pa.Schema) -> pa.Schema:
    return pa.schema([field.with_type(plain_text(field.type)) for field in schema])


def as_read(
    batch: pa.RecordBatch, schema: pa.Schema, chosen: Sequence[str], encoded: Collection[str]
) -> pa.RecordBatch:
    """Rows of a database as `Source.batches` gives them."""
    if not chosen:
        return pa.RecordBatch.from_arrays([pa.nulls(len(batch))], names=["none"]).select([])
    arrays = []
    for name in chosen:
        column, kind = batch.column(name), schema.field(name).type
        if name in encoded or pa.types.is_dictionary(column.type):
            column = as_dictionary(column)
        arrays.append(column if column.type == kind or name in encoded else column.cast(kind))
    return pa.RecordBatch.from_arrays(arrays, names=list(chosen))


def plain_text(kind: pa.DataType) -> pa.DataType:
    """A type as `batches` gives it: text in Arrow's usual layout, dictionaries with int32 indices."""
    if pa.types.is_dictionary(kind):
        return pa.dictionary(pa.int32(), plain_text(kind.value_type), kind.ordered)
    return pa.string() if pa.types.is_large_string(kind) or str(kind) == "string_view" else kind


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


def plain(schema: pa.Schema) -> pa.Schema:
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
    """The SHA-256 of rows that come one batch after the other."""

    def __init__(self, schema: pa.Schema) -> None:
        self._digest, self._schema = hashlib.sha256(), plain(schema)
        self._digest.update(self._schema.serialize())
        self._waiting: list[pa.RecordBatch] = []
        self._rows = 0

    def add(self, batch: pa.RecordBatch) -> None:
        columns = [batch.column(field.name).cast(field.type) for field in self._schema]
        self._waiting.append(pa.RecordBatch.from_arrays(columns, schema=self._schema))
        self._rows += len(batch)
        while self._rows >= BATCH_ROWS:
            table = pa.Table.from_batches(self._waiting, self._schema)
            self._digest.update(_whole(table.slice(0, BATCH_ROWS)).serialize())
            self._waiting, self._rows = table.slice(BATCH_ROWS).to_batches(), self._rows - BATCH_ROWS

    def end(self) -> str:
        if self._rows:
            self._digest.update(_whole(pa.Table.from_batches(self._waiting, self._schema)).serialize())
        return "sha256:" + self._digest.hexdigest()


def _whole(table: pa.Table) -> pa.RecordBatch:
    """A table as one batch of its own: a slice would be written with what is around it."""
    rows = pa.array(range(len(table)), pa.int64())
    return pa.RecordBatch.from_arrays([as_array(column).take(rows) for column in table.columns], schema=table.schema)


class TableOutput:
    """A table of a database that a release is written to; see `outputs.Output`.

    Args:
        address: Where it goes.
        overwrite: Whether a table that is there may be replaced.
    """

    def __init__(self, address: Address, *, overwrite: bool) -> None:
        table = address.table or DEFAULT_TABLE
        if not table.strip(". ") or _UNUSABLE.search(table) or len(os.fsencode(table)) > LONGEST_NAME:
            raise OutputError(f"{shown(table)} cannot be the name of a table; choose another name")
        self._address, self._overwrite = address, overwrite
        self._database = address.database()
        self._apart = Apart(nans=DRIVERS[address.kind].nans)
        self._database.check_writable()
        self._table = self._database.known_as(table)
        self.name = f"{self._database.name}#{self._table}"
        self.beside = self._database.beside(self._table)
        self._session: Session | None = None
        self._rows: TableRows | None = None
        _complete(address, self._database, self._table)
        if not overwrite:
            self._check_free()

    def _check_free(self) -> None:
        if not self._database.is_new and self._table in self._database.tables():
            raise OutputError(
                f"{self.name} already exists; choose another table, or use --overwrite (in Python overwrite=True)"
            )

    def writer(self, schema: pa.Schema, source: Source) -> TableRows:
        """Begin to write; see `Output.writer`."""
        self._database.check_writable(source)
        self._session, self._rows = self._begin(plain(schema))
        return self._rows

    def _begin(self, kinds: pa.Schema) -> tuple[Session, TableRows]:
        session = self._database.begin(self._table, kinds, overwrite=self._overwrite)
        return session, TableRows(session, kinds, self.name, self._apart)

    def prepare(self) -> None:
        """Put the rows into the database that another run has made meanwhile, if there is one by now."""
        if self.is_ready:
            return
        if not self._overwrite:
            self._check_free()
        assert self._session is not None
        assert self._rows is not None
        session, rows = self._begin(self._rows.schema)
        try:
            with rows:
                for batch in self._session.read():
                    rows.write(batch)
                rows.finish()
                for _ in rows.read_back(()):
                    pass
            if rows.fingerprint != self._rows.fingerprint:
                raise OutputError(f"cannot write to {self.name}: its rows came back changed; nothing was written")
        except BaseException:
            session.roll_back()
            raise
        self._session.roll_back()
        self._session, self._rows = session, rows

    @property
    def is_ready(self) -> bool:
        """Whether a file that is to be new still is."""
        new = None if self._session is None else self._session.new
        return new is None or not os.path.lexists(new.target)

    @property
    def home(self) -> Path | None:
        """The folder of a new file."""
        new = None if self._session is None else self._session.new
        return None if new is None else new.target.parent

    @property
    def proof(self) -> Proof | None:
        """Where the rows are, and their digest; None for a new file, which is moved into place."""
        if self._rows is None or (self._session is not None and self._session.new is not None):
            return None
        known = {"kind": self._address.kind, "location": self._database.location(), "table": self._table}
        return {**known, "place": self._database.place(self._table), "digest": self._rows.fingerprint}

    def commit(self) -> None:
        """Make the table visible, or complete the new file that it is in."""
        assert self._session is not None
        self._session.commit()
        if self._session.new is None:
            self._session = None

    def moves(self) -> list[Move]:
        """What brings a new file to its place."""
        new = None if self._session is None else self._session.new
        return [] if new is None else [new.move()]

    def is_committed(self) -> bool | None:
        """Whether the rows are there; see `Output.is_committed`."""
        return None if self.proof is None else is_committed(self.proof, self._address)

    def roll_back(self) -> None:
        """Leave nothing behind."""
        if self._session is not None:
            self._session.roll_back()
            self._session = None


def _complete(address: Address, database: Database, table: str) -> None:
    """Complete the files of a release that belong to a table, if the run that wrote it was cut off."""
    beside = database.beside(table)
    heal(beside.parent, only=database.place(table), asked=lambda proof: is_committed(proof, address))


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
        schema, names = _as_read(found), found.names
        rows = (as_read(batch, schema, names, ()) for batch in database.stream(query, names, found))
        return digest_of(schema, rows) == proof["digest"]
    except (IncrowdError, KeyError, OSError, pa.ArrowException):
        return None


class TableRows:
    """Rows on their way into a table; see `outputs.BatchWriter`."""

    def __init__(self, session: Session, schema: pa.Schema, name: str, apart: Apart) -> None:
        self.name = name
        self.apart = apart
        self._session = session
        self.schema = schema
        self._digest = ""

    def write(self, batch: pa.RecordBatch) -> None:
        """Write the rows of a batch that has the columns of the schema, in any order."""
        columns = [_decoded(batch.column(field.name), field.type) for field in self.schema]
        self._session.insert(pa.RecordBatch.from_arrays(columns, schema=self.schema))

    def finish(self) -> None:
        """Nothing is left: rows are in the table at once."""

    def read_back(self, encoded: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows of the table, in the transaction that has made it; see `BatchWriter.read_back`."""
        digest: _TableDigest | None = None
        for batch in self._session.read():
            digest = digest or _TableDigest(batch.schema)
            digest.add(batch)
            yield batch
        self._digest = (digest or _TableDigest(self.schema)).end()

    @property
    def fingerprint(self) -> str:
        """The digest of the rows as they are read back, after "sha256:"."""
        if not self._digest:
            for _ in self.read_back(()):
                pass
        return self._digest

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing to close: the output commits, or rolls back."""


def _decoded(column: pa.Array, kind: pa.DataType) -> pa.Array:
    return column if column.type == kind else column.cast(kind)


def one_line(error: Any) -> str:
    """The first line of what a database says, short enough to show."""
    text = str(error).strip().partition("\n")[0]
    return text if len(text) <= 160 else f"{text[:160]}..."
