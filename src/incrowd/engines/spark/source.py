"""Tables that Spark reads: a data frame of the user's, or a path on whatever the cluster sees.

Inside the engine columns are numbered (`c0`, `c1`, ...): the names of a table may hold dots and quotes, and may differ
in nothing but case, all of which Spark reads as something else.

A path without a scheme that exists is a path of this machine. All others are for Spark to find.
"""

from __future__ import annotations

import hashlib
import os
import re
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import narwhals as nw
import pyarrow as pa

from incrowd.engines.spark.session import session_of, spark_errors
from incrowd.errors import DataError
from incrowd.formats.csv_dialect import SAMPLE_BYTES, Dialect, detect
from incrowd.formats.databases import QuerySource
from incrowd.formats.frames import FrameSource
from incrowd.formats.parquet_files import ParquetSet, parquet_files
from incrowd.formats.reader_options import CSV_OPTIONS, ReaderOptions, refuse_options
from incrowd.formats.sources import BATCH_ROWS, Check, Source, WatchedFile, as_array

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

LOOKED_AT = 1_000_000  # rows that come to the driver to be looked at
ORDER = "o"  # columns that say where a row was: o0, o1, ...
FORMATS = {
    "parquet": (".parquet", ".pq"),
    "csv": (".csv", ".tsv", ".txt"),
    "json": (".json", ".jsonl", ".ndjson"),
    "orc": (".orc",),
}
SUFFIXES = ", ".join(suffix for suffixes in FORMATS.values() for suffix in suffixes)
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):")
_SAMPLE_LINES = 2_000
_CHARSETS = {"utf-8-sig": "UTF-8", "iso8859-1": "ISO-8859-1", "ascii": "US-ASCII"}
_DIGITS = 15  # hexadecimal ones of a digest that fit in a number of Spark
_PIECES = 4


class SparkSource(QuerySource):
    """A Spark data frame, of a session or of Spark Connect.

    It is evaluated more than once, and must give the same rows each time. It has no state to compare: rows that were
    not there when they were counted are noticed one by one.
    """

    engine = "spark"
    name = "the table"
    has_order = False  # whether Spark gives the rows in their order without sorting them, whatever is joined to them

    def __init__(self, frame: DataFrame) -> None:
        self.frame = frame
        self._values: dict[str, pa.Array] = {}
        self._records: int | None = None
        self.session: SparkSession = frame.sparkSession
        with spark_errors(f"read {self.name}"):
            self.columns = tuple(frame.columns)
            found = self.rows().limit(0).toArrow().schema
        named = [field.with_name(name) for field, name in zip(found, self.columns, strict=True)]
        super().__init__(self.name, pa.schema(named))

    def remember(self, values: Mapping[str, pa.ChunkedArray], records: int | None = None) -> None:
        """Keep what is asked for when rows are recoded: the distinct values of columns, and the number of rows."""
        self._values |= {name: as_array(distinct) for name, distinct in values.items()}
        self._records = self._records if records is None else records

    def glimpse(self) -> Source:
        """A table to look at for what may be risky about its columns: some rows, if these are too many for here."""
        return SparkSource(self.frame.limit(LOOKED_AT)) if self.count() > LOOKED_AT else self

    def count(self) -> int:
        if self._records is None:
            with spark_errors(f"count the rows of {self.name}"):
                self._records = int(self.rows().count())
        return self._records

    def distinct(self, name: str) -> pa.Array:
        """The distinct values of a column, null among them if there is one."""
        if name not in self._values:
            with spark_errors(f"count the values of {self.name}"):
                self.remember({name: self.rows().select(self.place(name)).distinct().toArrow().column(0)})
        return self._values[name]

    def known(self, name: str) -> pa.Array | None:
        """The distinct values of a column, null among them if there is one; None where nobody has counted them."""
        return self._values.get(name)

    def place(self, name: str) -> str:
        return f"c{self.columns.index(name)}"

    def kind(self, name: str) -> Any:
        return self.frame.schema.fields[self.columns.index(name)].dataType

    def rows(self) -> DataFrame:
        return self.frame.toDF(*(f"c{place}" for place in range(len(self.columns))))

    def ordered_rows(self) -> DataFrame:
        """The rows, with columns that say where each was."""
        from pyspark.sql import functions as F

        return self.rows().withColumn(f"{ORDER}0", F.monotonically_increasing_id())

    def query_rows(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows in the order in which Spark gives them; all of them come to the driver."""
        with spark_errors(f"read {self.name}"):
            table = self.rows().select([self.place(name) for name in columns]).toArrow()
        if not table.num_rows:
            raise DataError(f"{self.name} has no rows")
        yield from table.rename_columns(list(columns)).combine_chunks().to_batches(BATCH_ROWS)

    def fingerprint(self, check: Check | None = None) -> str:
        """A digest of the rows in any order, which Spark adds up."""
        if check is not None:
            check()
        with spark_errors(f"read {self.name}"):
            return frame_digest(self.rows(), self.columns)


def as_spark(source: Source, master: str | None) -> SparkSource:
    """A source for Spark; that of another kind of table is copied to the cluster."""
    if isinstance(source, SparkSource):
        return source
    if source not in _COPIES:
        table = pa.Table.from_batches(list(source.batches()))
        _COPIES[source] = CopiedSource(source, session_of(master), table)
    return _COPIES[source]


class CopiedSource(SparkSource):
    has_order = True

    def __init__(self, original: Source, session: SparkSession, table: pa.Table) -> None:
        self._original = weakref.ref(original)
        self.name = original.name
        self.missing_values = original.missing_values
        self.backend = _backend(original)
        with spark_errors(f"take {self.name}"):
            super().__init__(moved(table, session).toDF(*table.column_names))

    def check_unchanged(self) -> None:
        if (original := self._original()) is not None:
            original.check_unchanged()


def moved(table: pa.Table, session: SparkSession) -> DataFrame:
    """A table of the driver's as a data frame; moments without a time zone stay without one."""
    from pyspark.sql.pandas.types import from_arrow_schema

    fields = [
        pa.field(f"c{place}", field.type.value_type if pa.types.is_dictionary(field.type) else field.type)
        for place, field in enumerate(table.schema)
    ]
    plain = table.rename_columns([field.name for field in fields]).cast(pa.schema(fields))
    return session.createDataFrame(plain, from_arrow_schema(plain.schema, prefer_timestamp_ntz=True))


def _backend(source: Source) -> Any:
    """The library of a frame, for a release of the same kind; None for Arrow."""
    if not isinstance(source, FrameSource):
        return None
    implementation = nw.from_native(source.frame).implementation
    return None if implementation is nw.Implementation.PYARROW else implementation


_COPIES: weakref.WeakKeyDictionary[Source, CopiedSource] = weakref.WeakKeyDictionary()


def local_path(address: str) -> Path | None:
    """The path of this machine that an address names; None for one elsewhere."""
    scheme = _SCHEME.match(address)
    if scheme is None:
        return Path(os.path.abspath(address))
    return Path("/" + address[scheme.end() :].lstrip("/")) if scheme[1].lower() == "file" else None


def format_of(address: str) -> str | None:
    name = address.rstrip("/").lower().removesuffix(".gz")
    return next((known for known, suffixes in FORMATS.items() if name.endswith(suffixes)), None)


def for_spark(path: Path, *, pattern: bool = True) -> str:
    """A path of this machine as Spark reads it, which may take stars and brackets in it for a pattern."""
    text = re.sub(r"([\[\]{}*?\\])", r"\\\1", str(path)) if pattern else str(path)
    return f"file://{text}"


class SparkPath(SparkSource):
    def __init__(self, address: str | Path, options: ReaderOptions | None = None, master: str | None = None) -> None:
        self._made_of = (str(address), options, master)
        self.address = str(address)
        self.name = self.address.rstrip("/").rpartition("/")[2] or self.address
        self.kind_of_file = format_of(self.address)
        if self.kind_of_file is None:
            raise DataError(f"cannot tell the format of {self.name} from its suffix; Spark reads {SUFFIXES}")
        path = local_path(self.address)
        self.path = path if path is not None and path.exists() else None
        if path is not None and path.name and self.path is None and not re.search(r"[*?\[{]", self.address):
            raise DataError(f"no file {address}; check the path, or give the full address of another file system")
        self._watched = [WatchedFile(file) for file in data_files(self.path)] if self.path is not None else []
        self.missing_values = ("",) if self.kind_of_file == "csv" else ()
        session = session_of(master)
        with spark_errors(f"read {self.name}"):
            super().__init__(self._opened(session, options or {}))

    def __reduce__(self) -> Any:
        return SparkPath, self._made_of

    @property
    def has_order(self) -> bool:  # type: ignore[override]
        """Pieces of one file come one after the other, but those of several files by their size."""
        return len(self._watched) == 1

    def _opened(self, session: SparkSession, options: ReaderOptions) -> DataFrame:
        where = self.address if self.path is None else for_spark(self.path)
        refuse_options(options, self.name, *(CSV_OPTIONS if self.kind_of_file == "csv" else ()))
        if self.kind_of_file != "csv":
            return session.read.format(str(self.kind_of_file)).load(where)
        dialect, columns = detect(*self._sample(session, where), self.name, options)
        self.dialect = dialect
        return read_csv(session, where, dialect, columns, strip=bool(options.get("strip")))

    def _sample(self, session: SparkSession, where: str) -> tuple[bytes, bool]:
        """The first bytes of the first file, and whether they are all."""
        if self._watched and not self._watched[0].path.name.endswith(".gz"):
            with self._watched[0].path.open("rb") as file:
                head = file.read(SAMPLE_BYTES)
                return head, not file.read(1)
        lines = session.read.text(where).limit(_SAMPLE_LINES).toArrow().column(0).to_pylist()
        return ("\n".join(lines) + "\n").encode(), len(lines) < _SAMPLE_LINES

    def ordered_rows(self) -> DataFrame:
        """The rows, with columns that say where each was: the file, the block of it, and the place in there."""
        from pyspark.sql import functions as F

        known = self.frame.select(
            "*",
            F.col("_metadata.file_path"),
            F.col("_metadata.file_block_start"),
            F.monotonically_increasing_id(),
        )
        return known.toDF(*(f"c{n}" for n in range(len(self.columns))), *(f"{ORDER}{n}" for n in range(3)))

    def fingerprint(self, check: Check | None = None) -> str:
        """The digest of the file's bytes; of several files, that of their digests in the order of their names."""
        if len(self._watched) == 1 and self.path == self._watched[0].path:
            return self._watched[0].fingerprint(check)
        if self.path is not None and self._watched:
            return folder_digest(self.path, check)
        with spark_errors(f"read {self.name}"):
            return file_digest(self.session, self.address)

    def check_unchanged(self) -> None:
        """Raise DataError if a file of this machine changed; Spark notices others that are gone."""
        for file in self._watched:
            file.check_unchanged()
        if self.path is not None and len(data_files(self.path)) != len(self._watched):
            raise DataError(f"{self.name} changed while it was being read; run again when nothing writes to it")


def csv_options(dialect: Dialect, *, strip: bool = False) -> dict[str, Any]:
    return {
        "sep": dialect.separator,
        "quote": dialect.quote,
        "escape": dialect.quote,
        "encoding": _CHARSETS.get(dialect.encoding, dialect.encoding),
        "header": dialect.header,
        "ignoreLeadingWhiteSpace": strip,
        "ignoreTrailingWhiteSpace": strip,
    }


def read_csv(session: SparkSession, where: str, dialect: Dialect, columns: Any, *, strip: bool = False) -> DataFrame:
    """The rows of CSV files as text, empty cells as empty text; rows with too few or too many cells are errors."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import StringType, StructField, StructType

    numbered = [f"c{place}" for place in range(len(columns))]
    options = {
        **csv_options(dialect, strip=strip),
        "multiLine": True,
        "columnPruning": False,  # else nobody notices that a record has too few or too many cells
        "mode": "FAILFAST",
    }
    schema = StructType([StructField(name, StringType()) for name in numbered])
    rows = session.read.schema(schema).options(**options).csv(where)
    return rows.select(*(F.coalesce(F.col(name), F.lit("")).alias(name) for name in numbered)).toDF(*columns)


def frame_digest(rows: DataFrame, columns: Sequence[str]) -> str:
    """The digest of a frame: that of its columns and types, the number of rows, and the sums of their SHA-256 digests.

    Rows of a frame have no order, so their digests are added up, in pieces that Spark can add.
    """
    from pyspark.sql import functions as F

    text = F.to_json(F.struct(*rows.columns), {"ignoreNullFields": "false"})
    digest = F.sha2(text, 256)
    pieces = [
        F.sum(F.conv(F.substring(digest, 1 + _DIGITS * piece, _DIGITS), 16, 10).cast("decimal(38,0)"))
        for piece in range(_PIECES)
    ]
    sums = rows.agg(F.count(F.lit(1)), *pieces).toArrow().to_pylist()[0].values()
    kinds = [field.dataType.simpleString() for field in rows.schema.fields]
    described = repr([*zip(columns, kinds, strict=True), *map(str, sums)])
    return "sha256:" + hashlib.sha256(described.encode()).hexdigest()


def data_files(path: Path) -> list[Path]:
    """The files of a file or folder that hold rows, in the order of their names."""
    if not path.is_dir():
        return [path]
    found = [Path(folder) / name for folder, _, names in os.walk(path) for name in names]
    hidden = {file for file in found if any(part[0] in "._" for part in file.relative_to(path).parts)}
    return sorted(file for file in found if file not in hidden)


def folder_digest(path: Path, check: Check | None = None) -> str:
    """The digest of the files of a folder: for Parquet, what every engine says of that folder."""
    files = data_files(path)
    if parquet_files(path) == files:
        return ParquetSet(files, path).fingerprint(check)
    return _together(WatchedFile(file).fingerprint(check) for file in files)


def _together(digests: Iterable[str]) -> str:
    """The digest of several files, as `ParquetSet` has it for those without partitions."""
    return "sha256:" + hashlib.sha256("".join(f"{digest} []\n" for digest in digests).encode()).hexdigest()


def file_digest(session: SparkSession, address: str) -> str:
    """The digest of the files at an address, as `folder_digest` has it; the cluster reads them."""
    from pyspark.sql import functions as F

    files = session.read.format("binaryFile").load(address)
    found = files.select("path", F.sha2("content", 256).alias("digest")).orderBy("path").toArrow()
    digests = [f"sha256:{digest}" for digest in found.column("digest").to_pylist()]
    return digests[0] if len(digests) == 1 else _together(digests)
