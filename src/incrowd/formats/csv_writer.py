"""Writes CSV lines in the dialect of their source."""

from __future__ import annotations

import codecs
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from incrowd.errors import OutputError, shown_type
from incrowd.formats.compression import compressing, uncompressed
from incrowd.formats.csv_dialect import Dialect, output_dialect
from incrowd.formats.csv_reader import CsvSource
from incrowd.formats.reader_options import ReaderOptions
from incrowd.formats.sources import Source, text_bytes
from incrowd.table.arrays import filled, text_array, to_arrow, to_numpy

MOST_JOINED_BYTES = 1 << 29  # of the lines of a batch
_EMPTY = text_array([""])
_NULLS = {"null_handling": "replace", "null_replacement": ""}  # of joins: null is written as empty text
_OFTEN = 4  # rows per pair of values, about, from which it pays to join the values of two columns once


@dataclass(frozen=True)
class _Cells:
    """A column, or several with separators between them, as they are to be written.

    Without `places`, `values` has the text of each row; with them, each text that occurs. A null is an empty cell.
    """

    values: pa.Array
    places: pa.Array | None = None
    quoted: bool = False  # whether quotes were needed

    @property
    def texts(self) -> pa.Array:
        return self.values if self.places is None else self.values.take(self.places)

    @property
    def few(self) -> float:
        """How many values there are, an empty cell included; beyond all bounds where they are not known."""
        return math.inf if self.places is None else len(self.values) + 1

    @property
    def most_bytes(self) -> int:
        if self.places is None:
            return int(self.values.nbytes)
        longest = pc.max(pc.binary_length(self.values)).as_py() or 0
        return (longest + 1) * len(self.places)

    def joined_with(self, other: _Cells, separator: pa.Scalar) -> _Cells:
        """This column and the next, of few values both, as one."""
        (left, first), (right, second) = self._without_nulls(), other._without_nulls()
        lefts = left.take(to_arrow(np.repeat(np.arange(len(left)), len(right))))
        rights = right.take(to_arrow(np.tile(np.arange(len(right)), len(left))))
        pairs = pc.binary_join_element_wise(lefts, rights, separator)
        return _Cells(pairs, to_arrow(first * len(right) + second), self.quoted or other.quoted)

    def followed_by(self, end: pa.Scalar) -> _Cells:
        values, places = (self.values, None) if self.places is None else self._without_nulls()
        ended = pc.binary_join_element_wise(values, end, _EMPTY[0], **_NULLS)
        return _Cells(ended, None if places is None else to_arrow(places), self.quoted)

    def _without_nulls(self) -> tuple[pa.Array, npt.NDArray[np.int64]]:
        """The values and places, in which an empty cell is a value too."""
        assert self.places is not None
        values = pc.fill_null(self.values, _EMPTY[0])
        if self.places.null_count:
            values = pa.concat_arrays([values, _EMPTY])
        return values, to_numpy(filled(self.places.cast(pa.int64()), len(self.values)))


class CsvRows:
    """Lines of CSV, compressed if the name says so."""

    def __init__(self, file: Any, path: Path, schema: pa.Schema, source: Source) -> None:
        dialect = source.dialect if isinstance(source, CsvSource) else None
        self._schema = schema
        self._lines = CsvWriter(output_dialect(dialect, Path(uncompressed(path.name)).suffix), schema.names)
        dialect = self._lines.dialect
        self.reader_options: ReaderOptions = {
            "separator": dialect.separator,
            "quote": dialect.quote,
            "encoding": dialect.encoding,
            "header": dialect.header,
        }
        self._sink = compressing(file, path.name)
        self._sink.write(self._lines.begin())

    def write(self, batch: pa.RecordBatch) -> None:
        self._sink.write(self._lines.lines(batch.select(self._schema.names)))

    def close(self) -> None:
        self._sink.close()


class CsvWriter:
    """Turns record batches into the bytes of CSV lines.

    A value is quoted only where it has to be: if it holds a separator, a quote or a line end, or if it is the empty
    value of a single column, which would otherwise be a blank line. Null is written as empty text.
    """

    def __init__(self, dialect: Dialect, columns: Sequence[str]) -> None:
        self.dialect = dialect
        self.columns = tuple(columns)
        unicode = dialect.encoding in ("utf-8", "utf-8-sig")
        self._encoder = None if unicode else codecs.getincrementalencoder(dialect.encoding)()
        marks = [dialect.separator, dialect.newline, dialect.quote * 2]
        self._separator, self._newline, self._blank = text_array(marks)  # as Arrow has them
        self._marks = [mark.encode() for mark in (dialect.separator, dialect.quote, "\r", "\n")]
        self._odd = "[" + "".join(f"\\x{mark[0]:02x}" for mark in self._marks) + "]"
        # Arrow's own writer is nearly twice as fast as joining, but writes these lines only.
        self._plain = dialect.quote == '"' and dialect.newline == "\n" and len(self.columns) > 1
        self._options = pyarrow.csv.WriteOptions(
            include_header=False, delimiter=dialect.separator, quoting_style="none"
        )

    def begin(self) -> bytes:
        start = codecs.BOM_UTF8 if self.dialect.encoding == "utf-8-sig" else b""
        if not self.dialect.header:
            return start
        names = pa.RecordBatch.from_arrays([text_array([name]) for name in self.columns], names=self.columns)
        return start + bytes(self.lines(names))

    def lines(self, batch: pa.RecordBatch) -> bytes | memoryview:
        """The rows of a batch, whose columns are those of the writer, in its order."""
        if batch.num_rows == 0:
            return b""
        cells = [self._cells(column, name) for column, name in zip(batch.columns, self.columns, strict=True)]
        if batch.num_rows > 1 and sum(each.most_bytes for each in cells) > MOST_JOINED_BYTES:
            half = batch.num_rows // 2
            return bytes(self.lines(batch.slice(0, half))) + bytes(self.lines(batch.slice(half)))
        merged = self._merged(cells, batch.num_rows)
        plain = self._plain and not any(each.quoted for each in cells)
        if plain and 2 * len(merged) > len(cells):
            data = self._write_plain([each.texts for each in cells])
        else:
            data = self._join(merged)
        return self._encode(data, cells) if self._encoder else data

    def _cells(self, column: pa.Array, name: str) -> _Cells:
        if pa.types.is_dictionary(column.type):
            values = self._cells(column.dictionary, name)
            return _Cells(values.values, column.indices, values.quoted)
        text = _as_text(column, name)
        held = bytes(text_bytes(text)) if len(text) else b""  # a copy costs a tenth of looking value by value
        if not any(mark in held for mark in self._marks):
            return _Cells(text)
        quote = self.dialect.quote
        wrapped = pc.binary_join_element_wise(quote, pc.replace_substring(text, quote, quote * 2), quote, "")
        return _Cells(pc.if_else(pc.match_substring_regex(text, self._odd), wrapped, text), quoted=True)

    def _merged(self, cells: Sequence[_Cells], rows: int) -> list[_Cells]:
        """Neighbours of few values as one column: pairs of values are joined once, and not in every row."""
        found: list[_Cells] = []
        for each in cells:
            last = found[-1] if found else None
            if last and last.few * each.few * _OFTEN <= rows:
                found[-1] = last.joined_with(each, self._separator)
            else:
                found.append(each)
        return found

    def _write_plain(self, texts: list[pa.Array]) -> memoryview:
        """The lines of columns in which nothing needs quotes."""
        sink = pa.BufferOutputStream()
        pyarrow.csv.write_csv(pa.RecordBatch.from_arrays(texts, names=self.columns), sink, self._options)
        return memoryview(sink.getvalue())

    def _join(self, cells: Sequence[_Cells]) -> memoryview:
        """The lines of columns in which every value already has the quotes it needs."""
        *before, last = cells
        if len(self.columns) == 1:
            texts = pc.fill_null(last.texts, _EMPTY[0])
            last = _Cells(pc.if_else(pc.equal(texts, _EMPTY[0]), self._blank, texts))
        ends = last.followed_by(self._newline).texts
        if not before:
            return text_bytes(ends)
        joined = pc.binary_join_element_wise(*(each.texts for each in before), ends, self._separator, **_NULLS)
        return text_bytes(joined)

    def _encode(self, data: memoryview, cells: Sequence[_Cells]) -> bytes:
        assert self._encoder is not None
        try:
            return self._encoder.encode(str(data, "utf-8"))
        except UnicodeEncodeError as error:
            letter = error.object[error.start]
        named = zip(self.columns, cells, strict=True)
        column = next((name for name, each in named if letter.encode() in bytes(text_bytes(each.texts))), "")
        raise OutputError(
            f"column '{column}' has the character U+{ord(letter):04X}, which {self.dialect.encoding} cannot write; "
            "read a UTF-8 file, or write Parquet"
        )


def _as_text(column: pa.Array, name: str) -> pa.Array:
    if pa.types.is_string(column.type):
        return column
    try:
        return column.cast(pa.string())
    except pa.ArrowException:
        kind = column.type
    raise OutputError(f"column '{name}' of type {shown_type(kind)} cannot be written as text; write Parquet instead")
