"""Written rows, read back from where they wait and compared with what was to be written.

A release is what a recipient reads, whatever a writer, a library or a disk did to the rows on their way. So rows are
read back from the staged bytes by the reader of their format before anybody else can see them, and the witness is shown
what was read and nothing else. That the rest is right as well, columns that nobody counts among them, is shown by two
digests: one of the rows that were handed to the writer, made from their values before anything was serialised, and one
of the rows that were read. Both depend on every cell, its column and its row, and take the same room for any number of
rows.

Hidden columns are counted but not released, such as the one that says whose record it is. They wait in a file without a
name, in the order in which rows were handed to the writer. Row n of the file has value n of them: the digests agree
only if row n that was read is row n that was to be written.
"""

from __future__ import annotations

import contextlib
import hashlib
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from incrowd.errors import DataError, OutputError, many
from incrowd.formats.atomic_files import output_errors
from incrowd.formats.frames import FrameSource
from incrowd.formats.sources import as_array, is_text, text_bytes
from incrowd.formats.writers import Apart, BatchWriter
from incrowd.table.arrays import filled, text_array, to_arrow, to_numpy

HELD_BYTES = 1 << 25  # of columns that wait, before they go to a file
_DAY = 86_400 * 10**9  # nanoseconds
_NULL = np.uint64(0x6E756C6C6E756C6C)
Words = npt.NDArray[np.uint64]


class _Differs(Exception):
    """What was read is not what was to be written; says in which way."""


def written(
    batches: Iterable[pa.RecordBatch],
    schema: pa.Schema,
    open_writer: Callable[[pa.Schema], BatchWriter],
    observer: Callable[..., object],
    check: Callable[[], object],
    folder: Path,
    ahead: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]] = iter,
) -> str:
    """Write rows, read them back, show them, and give the fingerprint of what is there.

    Args:
        batches: The rows; after the columns of the schema come hidden ones, which are shown and not written.
        schema: The columns to write.
        open_writer: Opens what takes them.
        observer: Shown all rows as they were read back, with their hidden columns.
        check: Asked in between whether to go on.
        folder: Where hidden columns wait that do not fit in memory.
        ahead: Gives the same batches, and may read the next one while this one is shown.

    Raises:
        OutputError: What was read back is not what was to be written.
    """
    names = list(schema.names)
    with _HiddenColumns(folder) as hidden, open_writer(schema) as writer:
        meant = RowDigest(schema, writer.apart)
        for batch in batches:
            check()
            rows = batch.select(names)
            meant.add(rows)
            hidden.add(batch.select(batch.schema.names[len(names) :]))
            writer.write(rows)
        writer.finish()
        with _refused(writer.name):
            for rows in ahead(_as_read(writer, meant, hidden)):
                check()
                observer(rows)
        return writer.fingerprint


def _as_read(writer: BatchWriter, meant: RowDigest, hidden: _HiddenColumns) -> Iterator[pa.RecordBatch]:
    """The rows that are there, with their hidden columns; raises at the end if they are not those meant."""
    read = RowDigest(meant.schema, writer.apart)
    for batch in writer.read_back(meant.encoded):
        yield hidden.following(read.add(batch, written=True))
    read.require(meant)


def handed_out(meant: pa.Table, rows: Any, hidden: pa.Table, observer: Callable[..., object]) -> None:
    """Show the rows of a frame that is to be handed out, as whoever gets it reads them.

    Args:
        meant: The rows that it should hold.
        rows: The frame.
        hidden: Columns of the same rows that it does not have.
        observer: Shown every row, with its hidden columns.

    Raises:
        OutputError: The frame holds other rows.
    """
    apart = Apart(nans=False)  # pandas has one for both
    digests = RowDigest(meant.schema, apart), RowDigest(meant.schema, apart)
    for batch in meant.to_batches():
        digests[0].add(batch)
    start = 0
    with _refused("the table"):
        for batch in FrameSource(rows, lenient=True).batches():
            digests[1].add(batch, written=True)
            for name in hidden.column_names:
                batch = batch.append_column(name, as_array(hidden.column(name).slice(start, len(batch))))
            start += len(batch)
            observer(batch)
        digests[1].require(digests[0])


@contextlib.contextmanager
def _refused(name: str) -> Iterator[None]:
    """Say in one line that rows which cannot be read back, or are others, are not released."""
    try:
        yield
    except (_Differs, DataError) as error:
        said = str(error)
    else:
        return
    raise OutputError(f"{name} does not hold what was to be written: {said}; nothing was written")


class RowDigest:
    """A digest of rows in their order, the same in whatever batches and layouts they come.

    Columns of labels, which are dictionaries where they are written, have few values: of these a number is taken for
    each value, times one for the column, and the sums by row are hashed. Of other columns the values themselves are
    hashed, a column for itself.
    """

    def __init__(self, schema: pa.Schema, apart: Apart) -> None:
        self.schema = schema
        self._columns: list[_Labels | _Values] = [
            _Labels(place, field, apart) if _is_label(field.type) else _Values(field, apart)
            for place, field in enumerate(schema)
        ]
        self._labels = hashlib.sha256()
        self.rows = 0

    @property
    def encoded(self) -> list[str]:
        """The columns that are best read as dictionaries: labels, unless there is only one."""
        return [column.name for column in self._columns if isinstance(column, _Labels) and column.several]

    def add(self, batch: pa.RecordBatch, *, written: bool = False) -> pa.RecordBatch:
        """Add rows; gives them back with labels as dictionaries. Those that were written may have other types."""
        if batch.schema.names != self.schema.names:
            raise _Differs("its columns are others")
        total = np.zeros(len(batch), np.uint64)
        columns = []
        for column, values in zip(self._columns, batch.columns, strict=True):
            if isinstance(column, _Labels):
                values = column.add_to(total, values)
            else:
                column.add(column.as_meant(values) if written else values, self.rows)
            columns.append(values)
        self._labels.update(total.data)
        self.rows += len(batch)
        return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)

    def require(self, meant: RowDigest) -> None:
        if self.rows != meant.rows:
            raise _Differs(f"it has {many(self.rows, 'row')} instead of {meant.rows}")
        for own, other in zip(self._columns, meant._columns, strict=True):
            if isinstance(own, _Values) and isinstance(other, _Values) and own.digests() != other.digests():
                raise _Differs(f"column '{own.name}' has other values")
        if self._labels.digest() != meant._labels.digest():
            raise _Differs("its labels are others")


def _is_label(kind: pa.DataType) -> bool:
    return bool(pa.types.is_dictionary(kind) and is_text(kind.value_type))


class _Labels:
    def __init__(self, place: int, field: pa.Field, apart: Apart) -> None:
        self.name = field.name
        self.several = False  # whether more than one value can be there
        self._factor = np.uint64(int.from_bytes(hashlib.sha256(b"%d" % place).digest()[:8], "little") | 1)
        self._null = _NULL if apart.blanks else _hashes([""])[0]
        self._last: tuple[pa.Array, Words] | None = None

    def add_to(self, total: Words, column: pa.Array) -> pa.DictionaryArray:
        """Add the number of each value to the sum of its row; gives the column as a dictionary."""
        if not pa.types.is_dictionary(column.type):
            single = constant(column)
            column = column.dictionary_encode() if single is None else single
        if not is_text(column.type.value_type) and not pa.types.is_null(column.type.value_type):
            raise _Differs(f"column '{self.name}' is not text")
        if self._last is None or not self._last[0].equals(column.dictionary):
            texts = column.dictionary.to_pylist()
            numbers = [
                self._null if text is None else number for text, number in zip(texts, _hashes(texts), strict=True)
            ]
            self._last = column.dictionary, np.array([*numbers, self._null], np.uint64) * self._factor
        table = self._last[1]
        if len(table) == 2 and not column.null_count:
            total += table[0]
            return column
        self.several = True
        places = filled(column.indices, len(table) - 1)
        total += to_numpy(pc.take(to_arrow(table), places))
        return column


def _hashes(texts: Sequence[str | None]) -> Words:
    """A number for each text, the same as long as this process lives."""
    return np.array(list(map(hash, texts)), np.int64).view(np.uint64)


def constant(column: pa.Array) -> pa.DictionaryArray | None:
    """A column of text that is the same in all rows, as a dictionary of one; None if it is not such a one."""
    if not pa.types.is_string(column.type) or column.null_count or not len(column):
        return None
    _, places, held = column.buffers()
    offsets = np.frombuffer(places, np.int32)[column.offset : column.offset + len(column) + 1]
    start, size = int(offsets[0]), int(offsets[1] - offsets[0])
    if int(offsets[-1]) - start != size * len(column) or (np.diff(offsets) != size).any():
        return None
    text = bytes(held.slice(start, size)) if size else b""
    if size and bytes(held.slice(start, size * len(column))) != text * len(column):
        return None
    zeros = to_arrow(np.zeros(len(column), np.int32))
    return pa.DictionaryArray.from_arrays(zeros, text_array([text.decode()]), safe=False)


class _Values:
    def __init__(self, field: pa.Field, apart: Apart) -> None:
        self.name = field.name
        kind = field.type
        self._kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        self._apart = apart
        self._hashes = [hashlib.sha256() for _ in range(3)]  # values, lengths, and where nothing is

    def digests(self) -> list[bytes]:
        return [each.digest() for each in self._hashes]

    def add(self, column: pa.Array, before: int) -> None:
        """Hash values of the type that was meant, which come after `before` rows."""
        column = _storage(column.dictionary_decode() if pa.types.is_dictionary(column.type) else column)
        if pa.types.is_nested(column.type):
            column = text_array(None if value is None else repr(value) for value in column.to_pylist())
        if pa.types.is_null(column.type) or not len(column):
            return
        if pa.types.is_floating(column.type) and not self._apart.nans:
            column = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
        texts = is_text(column.type)
        if column.null_count and (self._apart.blanks or not texts):
            places = np.flatnonzero(to_numpy(pc.is_null(column))) + before
            self._hashes[2].update(places.astype(np.int64).data)
        if texts or pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type):
            self._add_bytes(column)
        else:
            self._hashes[0].update(np.ascontiguousarray(_fixed(column)).data)

    def _add_bytes(self, column: pa.Array) -> None:
        column = column.cast(pa.large_binary())
        if column.null_count:
            column = pc.fill_null(column, b"")
        self._hashes[0].update(text_bytes(column))
        offsets = np.frombuffer(column.buffers()[1], np.int64)[column.offset : column.offset + len(column) + 1]
        self._hashes[1].update(np.diff(offsets).astype(np.uint32).data)

    def as_meant(self, column: pa.Array) -> pa.Array:
        """Values that were read as the type that they were meant to have; not every format has it."""
        kind, found = self._kind, _storage(column)
        if pa.types.is_dictionary(found.type):
            found = found.dictionary_decode()
        if found.type == kind:
            return found
        meant = _storage_type(kind)
        try:
            return _converted(found, meant)
        except (pa.ArrowException, ValueError):
            pass
        raise _Differs(f"column '{self.name}' is {found.type} and not {kind}, or has other values")


def _converted(column: pa.Array, kind: pa.DataType) -> pa.Array:
    """Values of one type as those of another; raises where one of them has no equal there."""
    if pa.types.is_null(kind):
        if _filled_texts(column).null_count < len(column):
            raise ValueError
        return pa.nulls(len(column))
    if is_text(kind) and not is_text(column.type) and not pa.types.is_null(column.type):
        raise ValueError
    if is_text(column.type) and pa.types.is_nested(kind):
        return column  # where such values are written as Python shows them
    if is_text(column.type) and not is_text(kind):
        column = _filled_texts(column).cast(pa.string())
    if pa.types.is_duration(kind) and pa.types.is_interval(column.type):
        return _durations(column).cast(kind)
    if pa.types.is_decimal(kind) and pa.types.is_floating(column.type):
        exact = column.cast(kind)
        if not pc.all(pc.equal(exact.cast(pa.string()).cast(column.type), column)).as_py() and exact.null_count < len(
            exact
        ):
            raise ValueError
        return exact
    return column.cast(kind)


def _filled_texts(column: pa.Array) -> pa.Array:
    """Empty texts as missing values: of numbers and dates there are no others."""
    return pc.if_else(pc.equal(column, ""), pa.scalar(None, column.type), column) if is_text(column.type) else column


def _durations(column: pa.Array) -> pa.Array:
    found = [None if value is None else value.days * _DAY + value.nanoseconds for value in column.to_pylist()]
    return pa.array(found, pa.int64()).cast(pa.duration("ns"))


def _storage(column: pa.Array) -> pa.Array:
    return column.storage if isinstance(column, pa.ExtensionArray) else column


def _storage_type(kind: pa.DataType) -> pa.DataType:
    return kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind


def _fixed(column: pa.Array) -> npt.NDArray[Any]:
    """Values of a fixed width as their bytes; zeros have no sign, and there is one not-a-number."""
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.uint8())
    if column.null_count:
        column = _without_nulls(column)
    if pa.types.is_floating(column.type):
        numbers = to_numpy(column.cast(pa.float64())) + 0.0
        return np.where(np.isnan(numbers), np.nan, numbers)
    width = column.type.bit_width // 8
    held = memoryview(column.buffers()[1])[column.offset * width : (column.offset + len(column)) * width]
    return np.frombuffer(held, np.uint8)


def _without_nulls(column: pa.Array) -> pa.Array:
    width = column.type.bit_width // 8
    bytes_ = np.frombuffer(column.buffers()[1], np.uint8)[column.offset * width : (column.offset + len(column)) * width]
    chosen = bytes_.reshape(len(column), width).copy()
    chosen[to_numpy(pc.is_null(column))] = 0
    return pa.Array.from_buffers(column.type, len(column), [None, pa.py_buffer(chosen)])


class _HiddenColumns:
    """Columns of the written rows that are not written: they wait in memory, or in a file that has no name."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file: Any = None
        self._writer: pa.RecordBatchStreamWriter | None = None
        self._batches: Iterator[pa.RecordBatch] | None = None
        self._waiting: pa.RecordBatch | None = None

    def __enter__(self) -> _HiddenColumns:
        return self

    def __exit__(self, *error: object) -> None:
        if self._file is not None:
            self._file.close()

    def add(self, batch: pa.RecordBatch) -> None:
        """Keep the columns of the next rows, if there are any."""
        if not batch.num_columns:
            return
        with output_errors(self._folder):
            if self._writer is None:
                self._file = tempfile.SpooledTemporaryFile(HELD_BYTES, dir=str(self._folder))  # noqa: SIM115
                self._writer = pa.ipc.new_stream(pa.PythonFile(self._file, mode="w"), batch.schema)
            self._writer.write_batch(batch)

    def following(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """The next rows that were read, with their columns."""
        if self._writer is None:
            return rows
        found, lacking = [], len(rows)
        while lacking:
            if self._waiting is None or not len(self._waiting):
                self._waiting = self._next()
            part = self._waiting.slice(0, lacking)
            self._waiting = self._waiting.slice(len(part))
            found.append(part)
            lacking -= len(part)
        for name in found[0].schema.names if found else ():
            parts = pa.chunked_array([part.column(name) for part in found])
            rows = rows.append_column(name, as_array(parts))
        return rows

    def _next(self) -> pa.RecordBatch:
        assert self._writer is not None
        if self._batches is None:
            self._writer.close()
            self._file.seek(0)
            self._batches = iter(pa.ipc.open_stream(pa.PythonFile(self._file, mode="r")))
        if (batch := next(self._batches, None)) is None:
            raise _Differs("it has more rows than were written")
        return batch
