"""Parquet files: reading them batch by batch, and writing batches with the types of their source."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from incrowd.errors import DataError, OutputError, shown_type
from incrowd.formats.containers import bare, pandas_notes, without_unused
from incrowd.formats.reader_options import ReaderOptions, refuse_options
from incrowd.formats.sources import (
    BATCH_ROWS,
    Source,
    WatchedFile,
    check_names,
    choose_columns,
    is_text,
    with_dictionaries,
)
from incrowd.formats.usual_types import as_stored, stored_schema, usual, usual_batch, usual_schema


class ParquetSource(WatchedFile):
    """A Parquet file.

    Args:
        path: The file.

    Attributes:
        stored: The types that the file has, where they are not those of `schema`.
    """

    missing_values: tuple[str, ...] = ()

    def __init__(self, path: Path, options: ReaderOptions | None = None) -> None:
        refuse_options(options, path.name)
        super().__init__(path)
        with self._open() as file:
            self.stored = file.schema_arrow
            rows = file.metadata.num_rows
        self.schema = usual_schema(self.stored)
        self.columns = tuple(self.schema.names)
        if not self.columns:
            raise DataError(f"{self.name} has no columns")
        check_names(self.columns, self.name)
        if rows == 0:
            raise DataError(f"{self.name} has no rows")

    def batches(self, columns: Sequence[str] | None = None, encoded: Collection[str] = ()) -> Iterator[pa.RecordBatch]:
        """Stream the rows in order; see `Source.batches`."""
        chosen = choose_columns(self, columns)
        self.check_unchanged()
        texts = [name for name in chosen if name in encoded and is_text(self.schema.field(name).type)]
        with self._open(texts) as file:
            # Arrow reads a column with all those whose names go on after a dot, in the file's order: hence the select.
            batches = file.iter_batches(batch_size=BATCH_ROWS, columns=chosen or list(self.columns[:1]))
            while (batch := self._next(batches)) is not None:
                yield with_dictionaries(usual_batch(batch.select(chosen)), encoded)
        self.check_unchanged()

    def _open(self, texts: Sequence[str] = ()) -> pq.ParquetFile:
        try:
            # Arrow would keep all that it reads ahead until the end: memory would grow with the file.
            return pq.ParquetFile(self.path, read_dictionary=list(texts), pre_buffer=False)
        except (pa.ArrowException, OSError, UnicodeDecodeError):  # the names of columns may be no text
            raise DataError(f"{self.name} is not a Parquet file, or it is damaged") from None

    def _next(self, batches: Iterator[pa.RecordBatch]) -> pa.RecordBatch | None:
        try:
            if (batch := next(batches, None)) is not None:
                batch.validate(full=True)  # a damaged file can hold text that is none
            return batch
        except (pa.ArrowException, OSError):
            raise DataError(f"{self.name} is damaged; its rows cannot be read") from None


class ParquetRows:
    """Writes record batches as Parquet, in row groups of at least `BATCH_ROWS` rows.

    Args:
        file: An open binary file.
        path: Where it is.
        schema: The columns to write; batches are cast to it.
        source: Where the rows came from; of the metadata of its schema, only types as pandas notes them are kept.
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
        """Write the rows of a batch that has the columns of the schema, in any order."""
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
        """Write what is left and the footer."""
        if self._rows:
            self._flush()
        self._writer.close()


def _known(schema: pa.Schema, stored: pa.Schema) -> pa.Schema:
    """The types to write: those that are stored, but for runs and dictionaries of views, which it cannot write."""

    def unknown(kind: pa.DataType) -> bool:
        return bool(pa.types.is_run_end_encoded(kind) or (pa.types.is_dictionary(kind) and usual(kind) != kind))

    return pa.schema([one if unknown(other.type) else other for one, other in zip(schema, stored, strict=True)])


def _unwritable(schema: pa.Schema) -> str:
    """Which column has a type that Parquet does not have."""
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
