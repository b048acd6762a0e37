"""JSON lines: one object per line, read and written in blocks.

The types of columns are found out from all lines before the first is given out, so that a table has the same types
wherever it is cut. Text stays text, also where it looks like a date. A message never shows what stands in a line.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Collection, Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, NoReturn

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json

from incrowd.errors import DataError, OutputError
from incrowd.formats.compression import UNREADABLE, compressing, open_bytes, unreadable
from incrowd.formats.csv_dialect import Given, refuse_words
from incrowd.formats.sources import (
    BATCH_ROWS,
    Source,
    WatchedFile,
    check_names,
    choose_columns,
    is_text,
    with_dictionaries,
)

BLOCK_BYTES = 1 << 24
_LONGEST = 1 << 26  # bytes of a line
_LONG_NUMBER = re.compile(rb"[:,\[]\s*-?\d{16,}\s*[,}\]]")
_EXACT = 2.0**53  # whole numbers up to here are exact as fractions


class JsonLinesSource(WatchedFile):
    """A file with a JSON object per line.

    Args:
        path: The file; compressed if its name says so.
        given: What the caller says of the file; nothing, that is.
    """

    missing_values: tuple[str, ...] = ()

    def __init__(self, path: Path, given: Given | None = None) -> None:
        refuse_words(given)
        super().__init__(path)
        self.schema = self._found_schema()
        self.columns = tuple(self.schema.names)
        if not self.columns:
            raise DataError(f"{self.name} has no rows")
        check_names(self.columns, self.name)

    def batches(self, columns: Sequence[str] | None = None, encoded: Collection[str] = ()) -> Iterator[pa.RecordBatch]:
        """Stream the rows in order; see `Source.batches`."""
        chosen = choose_columns(self, columns)
        self.check_unchanged()
        read = pa.schema([self.schema.field(name) for name in chosen or self.columns[:1]])
        for block, start in self._blocks():
            table = self._parsed(block, start, pyarrow.json.ParseOptions(read, unexpected_field_behavior="ignore"))
            for batch in table.combine_chunks().to_batches(BATCH_ROWS):
                yield with_dictionaries(batch.select(chosen), encoded)
        self.check_unchanged()

    def _blocks(self) -> Iterator[tuple[bytes, int]]:
        """The file in blocks of whole lines, each with the number of its first line."""
        line, rest = 1, b""
        try:
            with open_bytes(self.path) as file:
                while data := file.read(BLOCK_BYTES):
                    data = rest + data
                    end = data.rfind(b"\n") + 1
                    block, rest = data[:end], data[end:]
                    if len(rest) > _LONGEST:
                        raise DataError(f"a line of {self.name} is longer than {_LONGEST >> 20} MB; is it JSON lines?")
                    if block:
                        yield block, line
                        line += block.count(b"\n")
        except UNREADABLE as error:
            raise unreadable(self.name, error) from None
        if rest:
            yield rest, line

    def _found_schema(self) -> pa.Schema:
        found = pa.schema([])
        for block, start in self._blocks():
            table = self._parsed(block, start, pyarrow.json.ParseOptions())
            self._check_numbers(table, block)
            try:
                found = pa.unify_schemas([found, _as_text(table.schema)], promote_options="permissive")
            except pa.ArrowException:
                self._fail(b"", start)
        return pa.schema([field.with_type(_without_null(field.type)) for field in found])

    def _parsed(self, block: bytes, start: int, options: pyarrow.json.ParseOptions) -> pa.Table:
        if not block.strip():
            return pa.table({})
        with contextlib.suppress(pa.ArrowException):  # whose message may hold a value
            read = pyarrow.json.ReadOptions(block_size=len(block) + 1)
            table = pyarrow.json.read_json(pa.BufferReader(block), read, options)
            table.validate(full=True)
            return table
        return self._fail(block, start)

    def _check_numbers(self, table: pa.Table, block: bytes) -> None:
        """Raise DataError for whole numbers that were read as fractions and are not what they were."""
        for name, column in zip(table.column_names, table.columns, strict=True):
            if not pa.types.is_floating(column.type) or not _LONG_NUMBER.search(block):
                continue
            if (pc.max(pc.abs(column)).as_py() or 0) >= _EXACT:
                raise DataError(
                    f"column '{name}' of {self.name} has numbers with more digits than can be kept; put them in quotes"
                )

    def _fail(self, block: bytes, start: int) -> NoReturn:
        """Raise the DataError that says what is wrong and where."""
        for number, line in enumerate(block.split(b"\n"), start):
            if line.strip() and not _is_object(line):
                raise DataError(f"line {number} of {self.name} is not a JSON object; correct that line")
        raise DataError(
            f"a column of {self.name} holds values of different kinds, such as text and numbers, or stands twice in a "
            "line; make it one kind"
        )


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _as_text(schema: pa.Schema) -> pa.Schema:
    return pa.schema([field.with_type(_undated(field.type)) for field in schema])


def _undated(kind: pa.DataType) -> pa.DataType:
    """A type that Arrow found, with text where it took text for a time."""
    if pa.types.is_timestamp(kind):
        return pa.string()
    if pa.types.is_list(kind):
        return pa.list_(_undated(kind.value_type))
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_undated(field.type)) for field in kind])
    return kind


def _without_null(kind: pa.DataType) -> pa.DataType:
    """The type of a column; text where no line has a value."""
    return pa.string() if pa.types.is_null(kind) else kind


class JsonLinesRows:
    """Writes record batches as JSON objects, one per line, with a key for every column.

    Args:
        file: An open binary file.
        path: Where it is; its name says whether to compress.
        schema: The columns to write.
        source: Where the rows came from.
    """

    def __init__(self, file: Any, path: Path, schema: pa.Schema, source: Source) -> None:
        self._names = schema.names
        self._keys = [json.dumps(name, ensure_ascii=False) for name in schema.names]
        self._compressed = compressing(file, path.name)
        self._sink: Any = file if self._compressed is None else self._compressed

    def write(self, batch: pa.RecordBatch) -> None:
        """Write the rows of a batch that has the columns of the schema, in any order."""
        if not batch.num_rows:
            return
        parts: list[Any] = []
        for place, (name, key) in enumerate(zip(self._names, self._keys, strict=True)):
            parts.append(("," if place else "{") + key + ":")
            parts.append(pc.fill_null(_json(batch.column(name), name), "null"))
        text = pc.binary_join_element_wise(*parts, "}\n", "")
        self._sink.write(b"".join(_bytes(text)))

    def close(self) -> None:
        """Write what is left."""
        if self._compressed is not None:
            self._compressed.close()


def _bytes(text: pa.Array | pa.ChunkedArray) -> Iterator[memoryview]:
    for chunk in text.chunks if isinstance(text, pa.ChunkedArray) else [text]:
        chunk = chunk.cast(pa.large_string())
        offsets = chunk.buffers()[1]
        first, last = (
            int.from_bytes(offsets[8 * i : 8 * i + 8], "little") for i in (chunk.offset, chunk.offset + len(chunk))
        )
        if last > first:
            yield memoryview(chunk.buffers()[2])[first:last]


def _json(column: pa.Array, name: str) -> pa.Array:
    """Every value of a column as JSON; null where there is none."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _json(column.dictionary, name).take(column.indices)
    if is_text(kind):
        return _quoted(column.cast(pa.string()))
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind):
        if not _is_exact(column):
            raise OutputError(f"column '{name}' has numbers that readers of JSON would round; write Parquet instead")
        return column.cast(pa.string())
    if pa.types.is_floating(kind):
        return _fraction(column, name)
    if pa.types.is_temporal(kind) and not pa.types.is_duration(kind):
        return _quoted(column.cast(pa.string()))
    if pa.types.is_nested(kind) or pa.types.is_null(kind):
        return pa.array([None if value is None else _nested(value, name) for value in column.to_pylist()], pa.string())
    raise _unwritable(name, kind)


def _is_exact(column: pa.Array) -> bool:
    """Whether whole numbers fit into 64 bits with a sign, and others are the same as doubles, which readers have."""
    if pa.types.is_uint64(column.type):
        return (pc.max(column).as_py() or 0) < 1 << 63
    if not pa.types.is_decimal(column.type):
        return True
    values = [value for value in pc.unique(column).to_pylist() if value is not None]
    if column.type.scale <= 0:
        return all(-(1 << 63) <= value < 1 << 63 for value in values)
    return all(Decimal(repr(float(value))) == value for value in values)


def _fraction(column: pa.Array, name: str) -> pa.Array:
    """Numbers with a fraction, also where it is zero, so that they are read as what they were; NaN as null."""
    if pc.any(pc.is_inf(column)).as_py():
        raise OutputError(f"column '{name}' has infinite numbers, which JSON cannot write; write Parquet instead")
    text = pc.if_else(pc.is_nan(column), pa.scalar(None, pa.string()), column.cast(pa.string()))
    whole = pc.invert(pc.match_substring_regex(text, r"[.eE]"))
    return pc.if_else(whole, pc.binary_join_element_wise(text, ".0", ""), text)


def _quoted(text: pa.Array) -> pa.Array:
    odd = pc.match_substring_regex(text, r'["\\\x00-\x1f]')
    if pc.any(odd).as_py():
        text = pc.replace_substring(pc.replace_substring(text, "\\", "\\\\"), '"', '\\"')
        for code in range(32):
            if pc.any(pc.match_substring(text, chr(code))).as_py():
                text = pc.replace_substring(text, chr(code), json.dumps(chr(code))[1:-1])
    return pc.binary_join_element_wise('"', text, '"', "")


def _nested(value: Any, name: str) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=str, allow_nan=False)
    except ValueError:
        raise OutputError(f"column '{name}' has numbers that JSON cannot write; write Parquet instead") from None


def _unwritable(name: str, kind: pa.DataType) -> OutputError:
    return OutputError(f"column '{name}' of type {kind} cannot be written as JSON; write Parquet instead")
