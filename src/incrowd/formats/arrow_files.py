"""Arrow IPC files, which are Feather files too: reading them batch by batch, and writing them.

The file format knows one dictionary per column for all batches, and a dictionary may hold only what released rows have.
So the rows of a table with categories are held until all of them are known; without categories, they stream.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from incrowd.errors import DataError
from incrowd.formats.containers import bare, pandas_notes, without_unused
from incrowd.formats.parquet_files import conform
from incrowd.formats.sources import BATCH_ROWS, Source, WatchedFile, is_text, with_dictionaries
from incrowd.formats.usual_types import stored_schema, usual_batch, usual_schema


class ArrowSource(WatchedFile):
    """An Arrow file in the format for files, which is that of Feather, or for streams.

    `stored` are the types that it has, where they are not those of `schema`.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        first = next((batch for batch in self._read(None) if batch.num_rows), None)
        if first is None:
            raise DataError(f"{self.name} has no rows")
        self.stored = first.schema
        self.describe(usual_schema(first.schema), first.num_rows)

    def stream(self, columns: list[str], encoded: Collection[str]) -> Iterator[pa.RecordBatch]:
        for batch in self._read(columns):
            batch = with_dictionaries(usual_batch(batch.select(columns)), encoded)
            for start in range(0, batch.num_rows, BATCH_ROWS):
                yield batch.slice(start, BATCH_ROWS)

    def _read(self, columns: Sequence[str] | None) -> Iterator[pa.RecordBatch]:
        """The batches of the file, each of them checked; columns that are not asked for may be there too."""
        try:
            with pa.OSFile(str(self.path), "rb") as file:
                for batch in _batches(file, columns):
                    batch.validate(full=True)  # a damaged file can hold text that is not UTF-8
                    list(batch.schema.names)  # they are decoded here
                    yield batch
        except (pa.ArrowException, OSError, EOFError, UnicodeDecodeError):  # the names of columns may not be text
            raise DataError(f"{self.name} is not an Arrow or Feather file, or it is damaged") from None


def _batches(file: pa.NativeFile, columns: Sequence[str] | None) -> Iterator[pa.RecordBatch]:
    try:
        reader = pa.ipc.open_file(file)
    except pa.ArrowInvalid:  # not the format for files
        file.seek(0)
        yield from pa.ipc.open_stream(file)
        return
    if columns is not None and len(set(reader.schema.names)) == len(reader.schema):
        fields = sorted(reader.schema.get_field_index(name) for name in columns)
        reader = pa.ipc.open_file(file, options=pa.ipc.IpcReadOptions(included_fields=fields))
    for number in range(reader.num_record_batches):
        yield reader.get_batch(number)


class ArrowRows:
    """Writes record batches as an Arrow file without metadata, see `writers.RowWriter`; recoded columns become text."""

    def __init__(self, file: Any, path: Path, schema: pa.Schema, source: Source) -> None:
        fields = [pa.field(field.name, _written(field, source.schema), field.nullable) for field in schema]
        self._schema = bare(stored_schema(pa.schema(fields), source))
        notes = pandas_notes(getattr(source, "stored", source.schema), self._schema)
        self._schema = self._schema.with_metadata(notes)
        self._file = file
        self._held: list[pa.RecordBatch] | None = None
        if any(pa.types.is_dictionary(field.type) for field in self._schema):
            self._held = []
        options = pa.ipc.IpcWriteOptions(compression="lz4")
        self._writer = pa.ipc.new_file(pa.PythonFile(file, mode="w"), self._schema, options=options)

    def write(self, batch: pa.RecordBatch) -> None:
        batch = conform(batch, self._schema)
        if self._held is not None:
            self._held.append(batch)
        elif batch.num_rows:
            self._writer.write_batch(batch)

    def close(self) -> None:
        if self._held and not self._file.abandoned:
            table = pa.Table.from_batches(self._held, self._schema)
            columns = [without_unused(column) for column in table.columns]
            self._writer.write_table(pa.Table.from_arrays(columns, schema=self._schema), BATCH_ROWS)
        self._writer.close()


def _written(field: pa.Field, original: pa.Schema) -> pa.DataType:
    """The type of a column in the file: a category only where it was one before."""
    kind = field.type
    was = original.field(field.name).type if field.name in original.names else kind
    if pa.types.is_dictionary(kind) and is_text(kind.value_type) and not pa.types.is_dictionary(was):
        return pa.string()
    return kind
