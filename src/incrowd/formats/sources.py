"""Where rows come from: one small protocol over files of any format and dataframes.

A source streams Arrow record batches, as often as it is asked, and knows what identifies its data. It knows nothing of
policies or of what is done with the rows.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from incrowd.errors import DataError, UnknownNameError, shorten, shown
from incrowd.formats.staging import recover_commits

_ROOM = 160 << 20  # bytes of addresses, not of memory: for the stacks of some twenty threads

BATCH_ROWS = 131_072
_WHOLE = 2.0**53  # whole numbers up to here are exact in a double
_TICK = 20_000_000  # nanoseconds; how far apart two changes are that have different times
HASHED_BYTES = 1 << 20  # at a time

Check = Callable[[], object]


class Source(Protocol):
    """A table that can be read any number of times.

    `name` is what messages call it; texts in `missing_values` are missing values in this kind of table.
    """

    name: str
    columns: tuple[str, ...]
    missing_values: tuple[str, ...]

    @property
    def schema(self) -> pa.Schema:
        """The fields as `batches()` gives them when nothing is encoded, with the metadata of the table."""

    def batches(self, columns: Sequence[str] | None = None, encoded: Collection[str] = ()) -> Iterator[pa.RecordBatch]:
        """Stream the rows in order.

        Args:
            columns: The columns to read, in this order; all of them if None.
            encoded: The columns to give as dictionary arrays with int32 indices, where that is cheap: text always,
                other types as they are.
        """

    def fingerprint(self, check: Check | None = None) -> str:
        """The digest of the file's bytes, or of the frame as an Arrow stream, after "sha256:".

        Args:
            check: Called in between; what it raises ends the work.
        """

    def check_unchanged(self) -> None:
        """Raise DataError if the data is not what it was when the source was opened."""


def check_readable(path: Path) -> None:
    """Raise DataError unless the path is a file that can be opened for reading, and read more than once."""
    try:
        os.path.realpath(path)
        is_folder = path.is_dir()
    except (OSError, ValueError):  # too long, or with half a character or a null byte in it
        raise DataError(f"{shown(str(path))} cannot be the name of a file that can be read; check the path") from None
    if is_folder:
        raise DataError(f"{path} is a directory; give a file")
    recover_commits(path.parent, only=path)
    if path.exists() and not path.is_file():  # opening a pipe would wait for somebody to write to it
        raise DataError(f"{path} is not a regular file, and rows are read more than once; save them to a file first")
    try:
        path.open("rb").close()
    except FileNotFoundError:
        raise DataError(f"no file {path}; check the path") from None
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}") from None


def check_room() -> None:
    """Raise MemoryError where there is no room for the threads that read a file: without them Arrow waits for ever."""
    try:
        mmap.mmap(-1, _ROOM).close()
    except OSError:
        raise MemoryError from None


def check_names(names: Sequence[str], name: str) -> None:
    """Raise DataError unless every column has a name of its own."""
    blank = [str(place) for place, column in enumerate(names, 1) if not column.strip()]
    if blank:
        raise DataError(f"{name} has columns without a name, at position {shorten(blank)}; give each column a name")
    twice = [repr(column) for column, count in Counter(names).items() if count > 1]
    if twice:
        raise DataError(f"{name} has several columns of the same name: {shorten(twice)}; rename them")


def choose_columns(source: Source, columns: Sequence[str] | None) -> list[str]:
    chosen = list(source.columns if columns is None else columns)
    for column in chosen:
        if column not in source.columns:
            raise UnknownNameError("column", column, source.columns, source.name)
    return chosen


def is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or str(kind) == "string_view")


def as_array(values: pa.Array | pa.ChunkedArray) -> pa.Array:
    if not isinstance(values, pa.ChunkedArray):
        return values
    if pa.types.is_dictionary(values.type):
        values = values.unify_dictionaries()
    if values.num_chunks == 1:
        return values.chunk(0)
    return pa.concat_arrays(values.chunks) if values.num_chunks else values.combine_chunks()


def as_dictionary(values: pa.Array) -> pa.Array:
    """Text as a dictionary array with int32 indices; other types as they are."""
    if is_text(values.type):
        values = values.dictionary_encode()
    if not pa.types.is_dictionary(values.type):
        return values
    kind = pa.string() if is_text(values.type.value_type) else values.type.value_type
    if values.type.index_type == pa.int32() and values.type.value_type == kind:
        return values
    indices, dictionary = values.indices.cast(pa.int32()), values.dictionary.cast(kind)
    return pa.DictionaryArray.from_arrays(indices, dictionary, ordered=values.type.ordered)


def with_dictionaries(batch: pa.RecordBatch, encoded: Collection[str]) -> pa.RecordBatch:
    """The batch with every encoded column as a dictionary array, where it is one or holds text."""
    for place, name in enumerate(batch.schema.names):
        column = batch.column(place)
        if name in encoded and (values := as_dictionary(column)) is not column:
            batch = batch.set_column(place, name, values)
    return batch


def text_bytes(text: pa.Array) -> memoryview:
    """The bytes of all values of an array of text or bytes, one after the other."""
    wide = pa.types.is_large_string(text.type) or pa.types.is_large_binary(text.type)
    offsets = np.frombuffer(text.buffers()[1], np.int64 if wide else np.int32)
    first, last = int(offsets[text.offset]), int(offsets[text.offset + len(text)])
    return memoryview(text.buffers()[2])[first:last] if last > first else memoryview(b"")


class StreamedSource:
    """A source whose rows come from elsewhere in a stream, whatever brings them; see `Source`."""

    name: str
    columns: tuple[str, ...]
    schema: pa.Schema
    missing_values: tuple[str, ...] = ()

    def stream(self, columns: list[str], encoded: Collection[str]) -> Iterator[pa.RecordBatch]:
        """The rows in order; they have these columns, at least one, and perhaps others, encoded or not."""
        raise NotImplementedError

    def batches(self, columns: Sequence[str] | None = None, encoded: Collection[str] = ()) -> Iterator[pa.RecordBatch]:
        chosen = choose_columns(self, columns)
        self.check_unchanged()
        for batch in self.stream(chosen or list(self.columns[:1]), encoded):
            yield with_dictionaries(batch.select(chosen), encoded)
        self.check_unchanged()

    def check_unchanged(self) -> None:
        """Raise DataError if the data is not what it was when the source was opened."""

    def fingerprint(self, check: Check | None = None) -> str:
        raise NotImplementedError

    def describe(self, schema: pa.Schema, rows: int = 1) -> None:
        """Set the columns; raises DataError if there are none, or no rows."""
        self.schema, self.columns = schema, tuple(schema.names)
        if not self.columns:
            raise DataError(f"{self.name} has no columns")
        check_names(self.columns, self.name)
        if not rows:
            raise DataError(f"{self.name} has no rows")


class WatchedFile(StreamedSource):
    """A file that must not change while it is being read."""

    def __init__(self, path: Path) -> None:
        check_readable(path)
        self.path = path
        self.name = path.name
        self._state = self._stat()
        if abs(time.time_ns() - self._state[-1]) < _TICK:  # another change could bear the same time
            time.sleep(_TICK / 1e9)
            self._state = self._stat()
        self._digest: str | None = None

    def _stat(self) -> tuple[int, ...]:
        """Which file it is, its size, and the time of its last change, which nobody can set."""
        try:
            found = self.path.stat()
        except OSError as error:
            raise DataError(f"cannot read {self.path}: {error.strerror}") from None
        return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns

    def check_unchanged(self) -> None:
        if self._stat() != self._state:
            raise DataError(f"{self.name} changed while it was being read; run again when nothing writes to it")

    def fingerprint(self, check: Check | None = None) -> str:
        if self._digest is None:
            self.check_unchanged()
            digest, block = hashlib.sha256(), bytearray(HASHED_BYTES)
            with self.path.open("rb", buffering=0) as file:
                while read := file.readinto(block):
                    digest.update(memoryview(block)[:read])
                    if check is not None:
                        check()
            self._digest = "sha256:" + digest.hexdigest()
        return self._digest


class HeldFile(WatchedFile):
    """A file whose format can only be read as a whole, with its table in memory; empty text is a missing value."""

    missing_values = ("",)

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        table = self._table()
        self.check_unchanged()
        self.describe(table.schema, table.num_rows)
        self._batches = table.combine_chunks().to_batches(BATCH_ROWS)

    def _table(self) -> pa.Table:
        raise NotImplementedError

    def stream(self, columns: list[str], encoded: Collection[str]) -> Iterator[pa.RecordBatch]:
        yield from self._batches


def whole_numbers(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """A column of doubles as integers, where all of them are whole: some formats have no other numbers."""
    if not pa.types.is_float64(column.type) or column.null_count == len(column):
        return column
    whole = pc.and_(pc.equal(pc.floor(column), column), pc.less_equal(pc.abs(column), _WHOLE))
    return column.cast(pa.int64()) if pc.all(whole).as_py() else column


def is_exact(value: Decimal) -> bool:
    """Whether a decimal number is the same as a double."""
    return value.is_finite() and Decimal(repr(float(value))) == value


def as_doubles(column: pa.Array) -> pa.Array:
    """A column of shorter fractions as doubles with the same digits: 0.1 is 0.1, and not 0.10000000149."""
    if pa.types.is_dictionary(column.type):
        values = as_doubles(column.dictionary)
        return column if values is column.dictionary else values.take(column.indices)
    if pa.types.is_float32(column.type) or pa.types.is_float16(column.type):
        return column.cast(pa.float32()).cast(pa.string()).cast(pa.float64())
    return column
