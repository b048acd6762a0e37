"""Paths on whatever a cluster reads: files, folders of files and patterns, here or at an address such as hdfs://.

A path without a scheme that is there is a path of this machine. All others are for Spark to find.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd.engines.spark.digests import data_files, file_digest, folder_digest
from incrowd.engines.spark.session import session_of, spark_errors
from incrowd.engines.spark.source import ORDER, SparkSource
from incrowd.errors import DataError
from incrowd.formats.csv_dialect import SAMPLE_BYTES, Dialect, detect
from incrowd.formats.reader_options import CSV_OPTIONS, ReaderOptions, refuse_options
from incrowd.formats.sources import Check, WatchedFile

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

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


def local_path(address: str) -> Path | None:
    """The path of this machine that an address names; None for one elsewhere."""
    scheme = _SCHEME.match(address)
    if scheme is None:
        return Path(os.path.abspath(address))
    return Path("/" + address[scheme.end() :].lstrip("/")) if scheme[1].lower() == "file" else None


def format_of(address: str) -> str | None:
    """What Spark calls the format of a path, by its suffix."""
    name = address.rstrip("/").lower().removesuffix(".gz")
    return next((known for known, suffixes in FORMATS.items() if name.endswith(suffixes)), None)


def for_spark(path: Path, *, pattern: bool = True) -> str:
    """A path of this machine as Spark reads it.

    Args:
        path: The path.
        pattern: Whether Spark will take stars and brackets in it for a pattern.
    """
    text = re.sub(r"([\[\]{}*?\\])", r"\\\1", str(path)) if pattern else str(path)
    return f"file://{text}"


class SparkPath(SparkSource):
    """A path that Spark reads.

    Args:
        address: The path.
        options: How to read CSV files.
        master: The cluster.
    """

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


def charset(dialect: Dialect) -> str:
    """What Spark calls the encoding of a CSV file."""
    return _CHARSETS.get(dialect.encoding, dialect.encoding)


def read_csv(session: SparkSession, where: str, dialect: Dialect, columns: Any, *, strip: bool = False) -> DataFrame:
    """The rows of CSV files as text, empty cells as empty text; rows with too few or too many cells are errors."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import StringType, StructField, StructType

    numbered = [f"c{place}" for place in range(len(columns))]
    options: dict[str, Any] = {
        "sep": dialect.separator,
        "quote": dialect.quote,
        "escape": dialect.quote,
        "encoding": charset(dialect),
        "header": dialect.header,
        "multiLine": True,
        "columnPruning": False,  # else nobody notices that a record has too few or too many cells
        "mode": "FAILFAST",
        "ignoreLeadingWhiteSpace": strip,
        "ignoreTrailingWhiteSpace": strip,
    }
    schema = StructType([StructField(name, StringType()) for name in numbered])
    rows = session.read.schema(schema).options(**options).csv(where)
    return rows.select(*(F.coalesce(F.col(name), F.lit("")).alias(name) for name in numbered)).toDF(*columns)
