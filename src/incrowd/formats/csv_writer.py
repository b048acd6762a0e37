"""Writes CSV lines in the dialect of their source."""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from incrowd.arrays import text_array
from incrowd.errors import OutputError
from incrowd.formats.compression import compressing, uncompressed
from incrowd.formats.csv_dialect import Dialect, output_dialect
from incrowd.formats.csv_reader import CsvSource
from incrowd.formats.sources import Source

MOST_JOINED_BYTES = 1 << 29


class CsvRows:
    """Lines of CSV, compressed if the name says so."""

    def __init__(self, file: Any, path: Path, schema: pa.Schema, source: Source) -> None:
        dialect = source.dialect if isinstance(source, CsvSource) else None
        self._schema = schema
        self._lines = CsvWriter(output_dialect(dialect, Path(uncompressed(path.name)).suffix), schema.names)
        self._compressed = compressing(file, path.name)
        self._sink: Any = file if self._compressed is None else self._compressed
        self._sink.write(self._lines.begin())

    def write(self, batch: pa.RecordBatch) -> None:
        """Write the rows of a batch that has the columns of the schema, in any order."""
        self._sink.write(self._lines.lines(batch.select(self._schema.names)))

    def close(self) -> None:
        """Write what is left."""
        if self._compressed is not None:
            self._compressed.close()


class CsvWriter:
    """Turns record batches into the bytes of CSV lines.

    A value is quoted only where it has to be: if it holds a separator, a quote or a line end, or if it is the empty
    value of a single column, which would otherwise be a blank line. Null is written as empty text.

    Args:
        dialect: How to write.
        columns: The names of the columns.
    """

    def __init__(self, dialect: Dialect, columns: Sequence[str]) -> None:
        self.dialect = dialect
        self.columns = tuple(columns)
        unicode = dialect.encoding in ("utf-8", "utf-8-sig")
        self._encoder = None if unicode else codecs.getincrementalencoder(dialect.encoding)()
        self._marks = [mark.encode() for mark in (dialect.separator, dialect.quote, "\r", "\n")]
        self._odd = "[" + "".join(f"\\x{mark[0]:02x}" for mark in self._marks) + "]"
        # Arrow's own writer is nearly twice as fast as joining, but writes these lines only.
        self._plain = dialect.quote == '"' and dialect.newline == "\n" and len(self.columns) > 1
        self._options = pyarrow.csv.WriteOptions(
            include_header=False, delimiter=dialect.separator, quoting_style="none"
        )

    def begin(self) -> bytes:
        """The byte order mark and the header, where the dialect has them."""
        start = codecs.BOM_UTF8 if self.dialect.encoding == "utf-8-sig" else b""
        if not self.dialect.header:
            return start
        names = pa.RecordBatch.from_arrays([text_array([name]) for name in self.columns], names=self.columns)
        return start + bytes(self.lines(names))

    def lines(self, batch: pa.RecordBatch) -> bytes | memoryview:
        """The rows of a batch, whose columns are those of the writer, in its order."""
        if batch.num_rows == 0:
            return b""
        if batch.num_rows > 1 and batch.nbytes > MOST_JOINED_BYTES:
            half = batch.num_rows // 2
            return bytes(self.lines(batch.slice(0, half))) + bytes(self.lines(batch.slice(half)))
        cells = [self._cells(column, name) for column, name in zip(batch.columns, self.columns, strict=True)]
        texts = [text for text, _ in cells]
        plain = self._plain and not any(quoted for _, quoted in cells)
        data = self._write_plain(texts) if plain else self._join(texts)
        return self._encode(data, texts) if self._encoder else data

    def _cells(self, column: pa.Array, name: str) -> tuple[pa.Array, bool]:
        """A column as it is to be written, and whether quotes were needed."""
        if pa.types.is_dictionary(column.type):
            values, quoted = self._cells(column.dictionary, name)
            return values.take(column.indices), quoted
        text = _as_text(column, name)
        held = _held_bytes(text)
        if not any(mark in held for mark in self._marks):
            return text, False
        quote = self.dialect.quote
        wrapped = pc.binary_join_element_wise(quote, pc.replace_substring(text, quote, quote * 2), quote, "")
        return pc.if_else(pc.match_substring_regex(text, self._odd), wrapped, text), True

    def _write_plain(self, texts: list[pa.Array]) -> memoryview:
        """The lines of columns in which nothing needs quotes."""
        sink = pa.BufferOutputStream()
        pyarrow.csv.write_csv(pa.RecordBatch.from_arrays(texts, names=self.columns), sink, self._options)
        return memoryview(sink.getvalue())

    def _join(self, texts: list[pa.Array]) -> memoryview:
        """The lines of columns in which every value already has the quotes it needs."""
        nulls = {"null_handling": "replace", "null_replacement": ""}
        if len(texts) == 1:
            blank = pc.equal(pc.fill_null(texts[0], ""), "")
            texts = [pc.if_else(blank, self.dialect.quote * 2, texts[0])]
        ends = pc.binary_join_element_wise(texts[-1], self.dialect.newline, "", **nulls)
        joined = pc.binary_join_element_wise(*texts[:-1], ends, self.dialect.separator, **nulls)
        return memoryview(_held(joined))

    def _encode(self, data: memoryview, texts: list[pa.Array]) -> bytes:
        """The lines in the encoding of the dialect."""
        assert self._encoder is not None
        try:
            return self._encoder.encode(str(data, "utf-8"))
        except UnicodeEncodeError as error:
            letter = error.object[error.start]
        column = next((name for name, text in zip(self.columns, texts, strict=True) if _holds(text, letter)), "")
        raise OutputError(
            f"column '{column}' has the character U+{ord(letter):04X}, which {self.dialect.encoding} cannot write; "
            "read a UTF-8 file, or write Parquet"
        )


def _as_text(column: pa.Array, name: str) -> pa.Array:
    """A column of any type as text, the way Arrow writes its values."""
    if pa.types.is_string(column.type):
        return column
    try:
        return column.cast(pa.string())
    except pa.ArrowException:
        kind = column.type
    raise OutputError(f"column '{name}' of type {kind} cannot be written as text; write Parquet instead")


def _held(text: pa.Array) -> pa.Buffer:
    """The part of an array's buffer that holds its values, one after the other."""
    offsets = np.frombuffer(text.buffers()[1], dtype=np.int32)
    first, last = int(offsets[text.offset]), int(offsets[text.offset + len(text)])
    return text.buffers()[2].slice(first, last - first) if last > first else pa.py_buffer(b"")


def _held_bytes(text: pa.Array) -> bytes:
    """The bytes of all values of an array, for a quick search: the copy costs a tenth of looking value by value."""
    return cast("bytes", _held(text).to_pybytes()) if len(text) else b""


def _holds(text: pa.Array, letter: str) -> bool:
    """Whether a character occurs in a column."""
    return letter.encode() in _held_bytes(text)
