"""Parquet files: reading them batch by batch, and writing batches with the types of their source.

Several files are one table too: a folder, also with partitions such as year=2020/, or a pattern (*.parquet). They
follow each other in the order of their names. The columns that partitions add are text, like those of a CSV file.
"""

from __future__ import annotations

import glob
import hashlib
import os
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq

from incrowd.errors import DataError, OutputError, shown_type
from incrowd.formats.containers import bare, pandas_notes, without_unused
from incrowd.formats.sources import (
    BATCH_ROWS,
    Check,
    Source,
    StreamedSource,
    WatchedFile,
    is_text,
)
from incrowd.formats.usual_types import as_stored, stored_schema, usual, usual_batch, usual_schema

_SUFFIXES = (".parquet", ".pq")
_NOTHING = "__HIVE_DEFAULT_PARTITION__"  # what a partition without a value is called


class ParquetSource(WatchedFile):
    """A Parquet file; `stored` are the types that it has, where they are not those of `schema`."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        with self._open() as file:
            self.stored = file.schema_arrow
            rows = file.metadata.num_rows
        self.describe(usual_schema(self.stored), rows)

    def stream(self, columns: list[str], encoded: Collection[str]) -> Iterator[pa.RecordBatch]:
        texts = [name for name in columns if name in encoded and is_text(self.schema.field(name).type)]
        with self._open(texts) as file:
            # Arrow reads a column with all those whose names go on after a dot, in the file's order: hence the select.
            batches = file.iter_batches(batch_size=BATCH_ROWS, columns=columns)
            while (batch := self._next(batches)) is not None:
                yield usual_batch(batch.select(columns))

    def _open(self, texts: Sequence[str] = ()) -> pq.ParquetFile:
        try:
            # Arrow would keep all that it reads ahead until the end: memory would grow with the file.
            return pq.ParquetFile(self.path, read_dictionary=list(texts), pre_buffer=False)
        except (pa.ArrowException, OSError, UnicodeDecodeError):  # the names of columns may not be text
            raise DataError(f"{self.name} is not a Parquet file, or it is damaged") from None

    def _next(self, batches: Iterator[pa.RecordBatch]) -> pa.RecordBatch | None:
        try:
            if (batch := next(batches, None)) is not None:
                batch.validate(full=True)  # a damaged file can hold text that is not UTF-8
            return batch
        except (pa.ArrowException, OSError):
            raise DataError(f"{self.name} is damaged; its rows cannot be read") from None


def parquet_files(path: str | os.PathLike[str]) -> list[Path] | None:
    """The Parquet files of a folder or of a pattern, in the order of their names; None if it is neither."""
    text = os.fspath(path)
    if os.path.isdir(text):
        found = [Path(folder) / name for folder, _, names in os.walk(text) for name in names]
        found = [file for file in found if not any(part[0] in "._" for part in file.relative_to(text).parts)]
    elif glob.has_magic(text) and not os.path.exists(text) and text.lower().endswith(_SUFFIXES):
        found = [Path(file) for file in glob.glob(text, recursive=True)]
        if not found:
            raise DataError(f"no file is called like {text}; check the pattern")
    else:
        return None
    return sorted(file for file in found if file.name.lower().endswith(_SUFFIXES))


def pattern_home(pattern: str) -> Path:
    """The folder that a pattern begins in, where nothing is left open yet."""
    parts = Path(pattern).parts
    fixed = next(place for place, part in enumerate(parts) if glob.has_magic(part))
    return Path(*parts[:fixed])


class ParquetSet(StreamedSource):
    """Parquet files with the same columns, in order; partitions are in the folder `home`, which gives the name."""

    engine = "arrow"

    def __init__(self, files: Sequence[Path], home: Path) -> None:
        self.name = home.name or str(home.resolve().name)
        self.parts = [ParquetSource(file) for file in files]
        self._partitions = [_partitions(file, home) for file in files]
        first, keys = self.parts[0].schema, tuple(self._partitions[0])
        for part, found in zip(self.parts, self._partitions, strict=True):
            if not bare(part.schema).equals(bare(first)) or tuple(found) != keys:
                raise DataError(
                    f"{part.name} of {self.name} has other columns or types than {self.parts[0].name}; make them alike"
                )
        self.keys = tuple(key for key in keys if key not in first.names)  # what a file says itself counts
        self.describe(pa.schema([*bare(first), *((key, pa.string()) for key in self.keys)]))

    def stream(self, columns: list[str], encoded: Collection[str]) -> Iterator[pa.RecordBatch]:
        stored = [name for name in columns if name not in self.keys]
        for part, partitions in zip(self.parts, self._partitions, strict=True):
            for batch in part.batches(stored, encoded):
                arrays = [
                    _repeated(partitions[name], len(batch)) if name in self.keys else batch.column(name)
                    for name in columns
                ]
                yield pa.RecordBatch.from_arrays(arrays, names=columns)

    def fingerprint(self, check: Check | None = None) -> str:
        digest = hashlib.sha256()
        for part, partitions in zip(self.parts, self._partitions, strict=True):
            digest.update(f"{part.fingerprint(check)} {sorted(partitions.items())}\n".encode())
        return "sha256:" + digest.hexdigest()

    def check_unchanged(self) -> None:
        for part in self.parts:
            part.check_unchanged()


def _partitions(file: Path, home: Path) -> dict[str, str | None]:
    """What the folders that a file is in say of its rows."""
    found: dict[str, str | None] = {}
    inside = file.relative_to(home).parts[:-1] if file.is_relative_to(home) else ()
    for part in inside:
        key, equals, value = part.partition("=")
        if equals and key:
            found[key] = None if value == _NOTHING else unquote(value)
    return found


def _repeated(value: str | None, rows: int) -> pa.Array:
    return pa.nulls(rows, pa.string()) if value is None else pa.repeat(pa.scalar(value), rows)


class ParquetRows:
    """Writes record batches as Parquet, in row groups of at least `BATCH_ROWS` rows; see `writers.RowWriter`.

    Of the metadata of the source, only types as pandas notes them are kept.
    """

    def __init__(self, file: Any, path: Path, schema: pa.Schema, source: Source) -> None:
        kept = bare(_known(schema, stored_schema(schema, source)))
        self._schema = kept.with_metadata(pandas_notes(getattr(source, "stored", source.schema), kept))
        sink = pa.PythonFile(file, mode="w")
        # Labels are few and in every row group: the least one costs much, and lets readers skip next to nothing.
        counted = [field.name for field in schema if not pa.types.is_dictionary(field.type)]
        try:
            self._writer = pq.ParquetWriter(
                sink,
                self._schema,
                write_statistics=counted,
                use_compliant_nested_type=False,  # names stay as read
            )
        except pa.ArrowNotImplementedError:
            raise OutputError(_unwritable(self._schema)) from None
        self._waiting: list[pa.RecordBatch] = []
        self._rows = 0

    def write(self, batch: pa.RecordBatch) -> None:
        self._waiting.append(conform(batch, self._schema))
        self._rows += batch.num_rows
        if self._rows >= BATCH_ROWS:
            self._flush()

    def _flush(self) -> None:
        table = pa.Table.from_batches(self._waiting, self._schema)
        columns = [without_unused(column) for column in table.columns]
        table = pa.Table.from_arrays(columns, schema=self._schema)
        self._writer.write_table(table, row_group_size=self._rows or None)
        self._waiting, self._rows = [], 0

    def close(self) -> None:
        if self._rows:
            self._flush()
        self._writer.close()


def _known(schema: pa.Schema, stored: pa.Schema) -> pa.Schema:
    """The types to write: those that are stored, except runs and dictionaries of views, which Parquet lacks."""

    def unknown(kind: pa.DataType) -> bool:
        return bool(pa.types.is_run_end_encoded(kind) or (pa.types.is_dictionary(kind) and usual(kind) != kind))

    return pa.schema([one if unknown(other.type) else other for one, other in zip(schema, stored, strict=True)])


def _unwritable(schema: pa.Schema) -> str:
    for field in schema:
        try:
            pq.ParquetWriter(pa.BufferOutputStream(), pa.schema([field])).close()
        except pa.ArrowNotImplementedError:
            kind = shown_type(field.type)
            return f"column '{field.name}' of type {kind} cannot be written as Parquet; write an Arrow file"
    return "the columns cannot be written as Parquet; write an Arrow file"


def conform(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """The columns of a batch in the order and the types of a schema."""
    columns = []
    for field in schema:
        column = batch.column(field.name)
        if column.type != field.type:
            try:
                column = as_stored(column, field.type)
            except pa.ArrowException:
                kinds = f"{shown_type(column.type)} cannot be written as {shown_type(field.type)}"
                raise OutputError(f"column '{field.name}' of type {kinds}") from None
        columns.append(column)
    return pa.RecordBatch.from_arrays(columns, schema=schema)
