"""Reads CSV files as text, record by record.

Every value is text and stays what it was: no type is inferred, `007` stays `007`, and an empty value is an empty text.
A message never shows a value.
"""

from __future__ import annotations

import atexit
import codecs
import csv
import io
import time
import weakref
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, NoReturn

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from incrowd.errors import DataError, many
from incrowd.formats.compression import UNREADABLE, open_bytes, uncompressed, unreadable
from incrowd.formats.csv_dialect import GIVE_ENCODING, SAMPLE_BYTES, Dialect, detect, undecodable
from incrowd.formats.reader_options import ReaderOptions
from incrowd.formats.sources import WatchedFile, check_names, check_room

# Measured on 112 MB and 900 MB: blocks of 1 to 16 MB read equally fast, and a pass takes 60 MB with 1, 220 MB with 4.
# What is done with a batch has a cost per batch and column, which is why it is not the smallest.
BLOCK_BYTES = 1 << 22
HELD_BYTES = (
    1 << 25
)  # of a file, or of its encoded rows, that are kept once they were read: they are read several times
_FEW = 4  # rows per distinct value of a batch, at least, where encoded rows are worth keeping
ENCODED_TEXT = pa.dictionary(pa.int32(), pa.string())


class CsvSource(WatchedFile):
    """A CSV file, read as text; compressed if its name says so. What the options leave open is detected."""

    missing_values = ("",)

    def __init__(self, path: Path, options: ReaderOptions | None = None) -> None:
        options = options or {}
        super().__init__(path)
        try:
            with open_bytes(path) as file:
                head = file.read(SAMPLE_BYTES)
                whole = not file.read(1)
        except UNREADABLE as error:
            raise unreadable(self.name, error) from None
        self.dialect, self.columns = detect(head, whole, self.name, options)
        self._strip = bool(options.get("strip"))
        if self._strip:
            self.columns = tuple(name.strip() for name in self.columns)
            check_names(self.columns, self.name)
        self.schema = pa.schema([(column, pa.string()) for column in self.columns])
        self._is_small = whole or (path.name.lower() == uncompressed(path.name) and path.stat().st_size <= HELD_BYTES)
        self._held: list[pa.RecordBatch] | None = None

    def stream(self, columns: list[str], encoded: Collection[str]) -> Iterator[pa.RecordBatch]:
        if self._held is None and self._is_small:
            self._held = list(self._read(list(self.columns), encoded))
        if self._held is not None and set(columns) <= set(self._held[0].schema.names):
            return (_decoded(batch.select(columns), encoded) for batch in self._held)
        if self._held is None and set(columns) <= set(encoded):
            return self._kept(columns)
        return self._read(columns, encoded)

    def _kept(self, columns: list[str]) -> Iterator[pa.RecordBatch]:
        """The rows of encoded columns; those of few values are kept, if all rows are read and small as numbers."""
        held: list[pa.RecordBatch] = []
        names, room = columns, HELD_BYTES
        for batch in self._read(columns, columns):
            names = [name for name in names if len(batch.column(name).dictionary) * _FEW <= len(batch)]
            if names and room >= 0:
                held.append(_narrowed(batch.select(names)))
                room -= held[-1].nbytes
            else:
                held = []
            yield batch
        self._held = [batch.select(names) for batch in held] or None

    def _read(self, columns: list[str], encoded: Collection[str]) -> Iterator[pa.RecordBatch]:
        stream = _Utf8Stream(self.path, self.dialect, len(self.columns))
        watch = _RowWatch(stream.sentinel)
        reading = _Reading(stream, watch)
        failure, rows = "", 0
        try:
            reading.begin(self._options(columns, encoded))
            while (batch := reading.next()) is not None:
                if batch.num_rows:
                    rows += batch.num_rows
                    yield _stripped(batch) if self._strip else batch
        except pa.ArrowException as error:
            failure = str(error)
        finally:
            reading.end()
        if stream.failure is not None:
            raise stream.failure
        self.check_unchanged()
        if failure or watch.ragged or not watch.ended:  # outside of except: Arrow's message holds the row's text
            self._fail(failure, watch)
        if rows == 0:
            raise DataError(f"{self.name} has a header but no rows")

    def _options(self, columns: list[str], encoded: Collection[str]) -> dict[str, Any]:
        return {
            "read_options": pyarrow.csv.ReadOptions(
                block_size=BLOCK_BYTES,
                column_names=list(self.columns),
                skip_rows_after_names=int(self.dialect.header),
            ),
            "parse_options": pyarrow.csv.ParseOptions(
                delimiter=self.dialect.separator,
                quote_char=self.dialect.quote,
                newlines_in_values=True,
                ignore_empty_lines=len(self.columns) > 1,
            ),
            "convert_options": pyarrow.csv.ConvertOptions(
                strings_can_be_null=False,
                include_columns=columns,
                column_types={column: ENCODED_TEXT if column in encoded else pa.string() for column in columns},
            ),
        }

    def _fail(self, failure: str, watch: _RowWatch) -> NoReturn:
        if "UTF8" in failure:
            self._fail_encoding()
        line, width = self._locate()
        if watch.ragged and not watch.swallowed:
            got, expected = width or watch.ragged, len(self.columns)
            raise DataError(
                f"line {line} of {self.name} has {many(got, 'column')} instead of {expected}; correct that line, "
                "or, if columns are separated by something else, give --separator (in Python separator)"
            )
        if not watch.ragged and self._is_whole():
            raise MemoryError  # what was raised within Arrow does not come out of it
        raise DataError(
            f"the record on line {line} of {self.name} does not end within {BLOCK_BYTES >> 20} MB or before the file "
            f"does; is a quote ({self.dialect.quote}) left open?"
        )

    def _is_whole(self) -> bool:
        """Whether every record ends, so that it was not the file that could not be read."""
        try:
            return all(sum(map(len, record)) < BLOCK_BYTES >> 1 for record, _ in self._records(strict=True))
        except csv.Error:
            return False

    def _records(self, *, strict: bool) -> Iterator[tuple[list[str], int]]:
        """The records as Python reads them, each with the line that follows it."""
        with open_bytes(self.path) as file:
            text = io.TextIOWrapper(file, self.dialect.encoding, errors="replace", newline="")
            marks = {"delimiter": self.dialect.separator, "quotechar": self.dialect.quote}
            reader = csv.reader(text, **marks, strict=strict)  # type: ignore[arg-type]
            for record in reader:
                yield record, reader.line_num + 1

    def _locate(self) -> tuple[int, int]:
        """The line on which the first bad record starts and its columns, or that of the last record and 0."""
        start, following = 1, 1
        try:
            for record, line in self._records(strict=False):
                start, following = following, line
                if record and len(record) != len(self.columns):
                    return start, len(record)
        except csv.Error:  # a value of more than 128 KiB: the open quote
            return following, 0
        return start, 0

    def _fail_encoding(self) -> NoReturn:
        """Raise the DataError that says where the first byte is that is not UTF-8."""
        decoder, offset = codecs.getincrementaldecoder("utf-8")(), 0
        with open_bytes(self.path) as file:
            while True:
                chunk = file.read(BLOCK_BYTES)
                kept = len(decoder.getstate()[0])
                try:
                    decoder.decode(chunk, not chunk)
                except UnicodeDecodeError as error:
                    raise undecodable(
                        self.name, "utf-8", error.object[error.start], offset - kept + error.start
                    ) from None
                if not chunk:
                    raise DataError(f"{self.name} is not utf-8; {GIVE_ENCODING}")
                offset += len(chunk)


def _decoded(batch: pa.RecordBatch, encoded: Collection[str]) -> pa.RecordBatch:
    """The rows with columns that are not to be encoded as plain text; another pass may have asked for others."""
    for place, name in enumerate(batch.schema.names):
        if name not in encoded and pa.types.is_dictionary(batch.schema.field(place).type):
            batch = batch.set_column(place, name, batch.column(place).dictionary_decode())
    return batch


def _narrowed(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The rows of encoded columns with numbers of a byte or two."""
    columns = []
    for column in batch.columns:
        kind = pa.int8() if len(column.dictionary) <= 1 << 7 else pa.int16()
        fits = len(column.dictionary) <= 1 << 15
        columns.append(column.cast(pa.dictionary(kind, pa.string())) if fits else column)
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _stripped(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The rows without blanks around values; of encoded columns only the distinct values are trimmed."""
    columns = []
    for column in batch.columns:
        if pa.types.is_dictionary(column.type):
            texts = pc.utf8_trim_whitespace(column.dictionary).dictionary_encode()  # some may be equal now
            column = pa.DictionaryArray.from_arrays(texts.indices.take(column.indices), texts.dictionary)
        else:
            column = pc.utf8_trim_whitespace(column)
        columns.append(column)
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


_PATIENCE = 5  # seconds, after which threads of Arrow that still hold something are not waited for
_OPEN: weakref.WeakSet[_Reading] = weakref.WeakSet()


class _Reading:
    """One pass of Arrow over a stream; it is over when the threads of Arrow have let go of all that is Python's.

    They may do so long after the last row has come. If Python ends meanwhile, that aborts the process. So Arrow gets
    objects of its own to hold, the pass ends when they are gone, and so does every pass that was left in the middle
    before Python ends. Blocks are copied once, so that threads hold none that Python has made.
    """

    def __init__(self, stream: _Utf8Stream, watch: _RowWatch) -> None:
        self._stream = stream
        self._watch = watch
        self._reader: Any = None
        self._lent: list[weakref.ref[Any]] = []
        _OPEN.add(self)

    def begin(self, options: dict[str, Any]) -> None:
        check_room()
        options["parse_options"].invalid_row_handler = self._lend(self._watch.hear)
        # A buffer of one byte holds nothing back: every block is read at once, into memory of Arrow.
        try:
            self._reader = pyarrow.csv.open_csv(
                pa.BufferedInputStream(pa.PythonFile(self._lend(_Lent(self._stream)), mode="r"), 1), **options
            )
        finally:
            options.clear()  # an error would hold them

    def _lend(self, thing: Any) -> Any:
        self._lent.append(weakref.ref(thing))
        return thing

    def next(self) -> pa.RecordBatch | None:
        try:
            return self._reader.read_next_batch()
        except StopIteration:
            return None

    def end(self) -> None:
        """Close everything, and wait until nobody else holds any of it."""
        reader, self._reader = self._reader, None
        if reader is not None:
            reader.close()
        del reader
        self._stream.close()
        until = time.monotonic() + _PATIENCE
        while any(lent() is not None for lent in self._lent) and time.monotonic() < until:
            time.sleep(0.0002)
        _OPEN.discard(self)


@atexit.register
def _end_all() -> None:
    for reading in list(_OPEN):
        reading.end()


class _Lent:
    """A stream for Arrow to hold. Letting go of it runs no code of Python."""

    __slots__ = ("__weakref__", "close", "read")
    closed = False

    def __init__(self, stream: _Utf8Stream) -> None:
        self.read = stream.read_safely
        self.close = stream.close


class _RowWatch:
    """Hears of every row with the wrong number of columns, the sentinel at the end of the file among them."""

    def __init__(self, sentinel: str) -> None:
        self.sentinel = sentinel
        self.ended = False  # the sentinel came as a row of its own: every quote before it was closed
        self.swallowed = False  # the sentinel came as part of another row: a quote was left open
        self.ragged = 0  # columns of the first bad row

    def hear(self, row: pyarrow.csv.InvalidRow) -> str:
        try:
            text = row.text
        except UnicodeDecodeError:
            text = ""
        if text.strip("\r\n") == self.sentinel:
            self.ended = True
            return "skip"
        self.swallowed = self.swallowed or self.sentinel in text
        self.ragged = self.ragged or row.actual_columns
        return "error"


class _Utf8Stream(io.RawIOBase):
    """A CSV file's bytes as UTF-8, without byte order mark and leading blank lines, and with a sentinel at the end.

    Arrow takes a quote that is never closed as closed at the end of the file, and would put all that follows it into
    one value. The sentinel is a record of one column too many: if it is not met as a row, a quote swallowed it.
    """

    def __init__(self, path: Path, dialect: Dialect, width: int) -> None:
        self.sentinel = dialect.separator.join(["\0"] * (width + 1))
        self._name = path.name
        self._encoding = dialect.encoding
        plain = dialect.encoding in ("utf-8", "utf-8-sig")
        self._decoder = None if plain else codecs.getincrementaldecoder(dialect.encoding)()
        self._skipped = b"\r\n" if width > 1 else b""
        self._file = open_bytes(path)
        self._offset = 0
        self._rest = b""
        self._last = b""
        self._ended = False
        self.failure: Exception | None = None  # what went wrong while Arrow read

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        """The next bytes, about `size` of them.

        Arrow drops a line feed at the start of a block if the block before it ends in a carriage return, even within a
        value, and takes a block of nothing else for the end of the file. So a block never ends in a carriage return,
        and is short only for that reason or at the end.
        """
        size = size if size >= 0 else BLOCK_BYTES
        parts, have = [self._rest] if self._rest else [], len(self._rest)
        while have < size and not self._ended:
            part = self._next(size - have)
            if part:
                parts.append(part)
                have += len(part)
                self._last = part[-1:]
        data = parts[0] if len(parts) == 1 else b"".join(parts)
        end = len(data[:size].rstrip(b"\r")) if have > size or not self._ended else size
        self._rest = data[end or size :]
        return data[: end or size]

    def read_safely(self, size: int = -1) -> bytes:
        """The same for Arrow, whose threads must not hold an error either: the file ends there."""
        try:
            return self.read(size)
        except Exception as error:
            self.failure = self.failure or (None if self.closed else error)
            return b""

    def _next(self, size: int) -> bytes:
        """Some more bytes; at the end of the file the sentinel."""
        try:
            raw = self._file.read(size)
        except UNREADABLE as error:
            raise unreadable(self._name, error) from None
        self._ended = not raw
        data = self._decode(raw) if self._decoder else raw
        self._offset += len(raw)
        if not self._last:
            data = data.removeprefix(codecs.BOM_UTF8).lstrip(self._skipped)
        if self._ended:
            whole_line = (data[-1:] or self._last) in (b"\n", b"\r")
            data += (b"" if whole_line else b"\n") + self.sentinel.encode() + b"\n"
        return data

    def _decode(self, raw: bytes) -> bytes:
        assert self._decoder is not None
        kept = len(self._decoder.getstate()[0])
        try:
            return self._decoder.decode(raw, self._ended).encode()
        except UnicodeDecodeError as error:
            offset = self._offset - kept + error.start
            raise undecodable(self._name, self._encoding, error.object[error.start], offset) from None
        except UnicodeError:
            raise DataError(f"{self._name} is not {self._encoding}; {GIVE_ENCODING}") from None

    def close(self) -> None:
        self._file.close()
        super().close()
