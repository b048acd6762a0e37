"""JSON lines: one object per line, read and written in blocks.

The types of columns are detected from all lines before the first row is given, so that a table has the same types
wherever it is cut. Text stays text, also where it looks like a date. A message never shows a value.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json

from incrowd.errors import DataError, OutputError, shown_type
from incrowd.formats.compression import UNREADABLE, compressing, open_bytes, unreadable
from incrowd.formats.sources import BATCH_ROWS, Source, WatchedFile, check_names, is_exact, is_text, text_bytes
from incrowd.table.arrays import to_numpy

BLOCK_BYTES = 1 << 24
_LONGEST = 1 << 26  # bytes of a line
_LONG_NUMBER = re.compile(rb"[:,\[]\s*-?\d{16,}\s*[,}\]]")
_EXACT = 2.0**53  # whole numbers up to here are exact as fractions
_DEEPEST = 50  # objects and lists in each other; Arrow's parser has no limit but its stack
_TEXT = re.compile(rb'"(?:[^"\\]|\\.)*"')


class JsonLinesSource(WatchedFile):
    """A file with a JSON object per line; compressed if its name says so."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.schema = self._found_schema()
        self.columns = tuple(self.schema.names)
        if not self.columns:
            raise DataError(f"{self.name} has no rows")
        check_names(self.columns, self.name)

    def stream(self, columns: list[str], encoded: Collection[str]) -> Iterator[pa.RecordBatch]:
        read = pa.schema([self.schema.field(name) for name in columns])
        for block, start in self._blocks():
            table = self._parsed(block, start, pyarrow.json.ParseOptions(read, unexpected_field_behavior="ignore"))
            yield from table.combine_chunks().to_batches(BATCH_ROWS)

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
        long: set[tuple[str, ...]] = set()  # columns, or fields of them, with whole numbers that fractions cannot keep
        for block, start in self._blocks():
            table = self._parsed(block, start, pyarrow.json.ParseOptions())
            long |= _long_numbers(table, block)
            try:
                found = pa.unify_schemas([found, _as_text(table.schema)], promote_options="permissive")
            except pa.ArrowException:
                self._fail(b"", start)
        for path, values in _leaves(found.empty_table()):
            if path in long and pa.types.is_floating(values.type):
                raise DataError(
                    f"column '{path[0]}' of {self.name} has numbers with more digits than can be kept; put them in "
                    "quotes"
                )
        return pa.schema([field.with_type(_without_null(field.type)) for field in found])

    def _parsed(self, block: bytes, start: int, options: pyarrow.json.ParseOptions) -> pa.Table:
        if not block.strip():
            return pa.table({})
        self._check_depth(block, start)
        with contextlib.suppress(pa.ArrowException):  # whose message may hold a value
            read = pyarrow.json.ReadOptions(block_size=len(block) + 1)
            table = pyarrow.json.read_json(pa.BufferReader(_held_by_arrow(block)), read, options)
            table.validate(full=True)
            return table
        return self._fail(block, start)

    def _check_depth(self, block: bytes, start: int) -> None:
        """Raise DataError for a line that holds more objects and lists in each other than `_DEEPEST`."""
        data = np.frombuffer(block, np.uint8)
        ends = np.flatnonzero(data == ord("\n"))
        if not _are_objects(data, ends):  # Arrow reads on where an object goes on in the next line
            numbers, lines = [0], [block]
        elif block.count(b"[") + block.count(b"{") - len(ends) < _DEEPEST:  # every line has one of its own
            return
        else:
            opening = np.flatnonzero((data == ord("[")) | (data == ord("{")))
            line = np.searchsorted(ends, opening)
            numbers = np.unique(line[_DEEPEST:][line[_DEEPEST:] == line[:-_DEEPEST]]).tolist()  # or in text
            lines = block.split(b"\n") if numbers else []
        for number in numbers:
            if (place := _too_deep(lines[number])) is not None:
                raise DataError(
                    f"line {start + number + lines[number][:place].count(10)} of {self.name} has more than {_DEEPEST} "
                    "lists or objects in each other; correct that line"
                )

    def _fail(self, block: bytes, start: int) -> NoReturn:
        for number, line in enumerate(block.split(b"\n"), start):
            if line.strip() and not _is_object(line):
                raise DataError(f"line {number} of {self.name} is not a JSON object; correct that line")
        raise DataError(
            f"a column of {self.name} holds values of different kinds, such as text and numbers, or appears twice "
            "in a line; make it one kind"
        )


def _held_by_arrow(block: bytes) -> pa.Buffer:
    """A copy that is not Python's: threads of Arrow may hold it until Python ends, and would abort the process."""
    copy = pa.allocate_buffer(len(block))
    memoryview(copy).cast("B")[:] = block
    return copy


def _are_objects(data: npt.NDArray[np.uint8], ends: npt.NDArray[Any]) -> bool:
    """Whether lines end in a closing brace and begin with an opening one, between which no object can go on."""
    inner = ends[(ends > 1) & (ends < len(data) - 1)]
    last = np.where(data[inner - 1] == ord("\r"), data[inner - 2], data[inner - 1])
    return bool((last == ord("}")).all() and (data[inner + 1] == ord("{")).all())


def _too_deep(text: bytes) -> int | None:
    """Where too many objects and lists are in each other; None if they nowhere are."""
    bare = _TEXT.sub(lambda found: b" " * len(found[0]), text).partition(b'"')[0]  # text that never ends holds none
    data = np.frombuffer(bare, np.uint8)
    steps = np.isin(data, list(b"[{")).astype(np.int64) - np.isin(data, list(b"]}"))
    deep = np.flatnonzero(np.cumsum(steps) > _DEEPEST)
    return int(deep[0]) if len(deep) else None


def _long_numbers(table: pa.Table, block: bytes) -> set[tuple[str, ...]]:
    """The columns, and fields of columns, that hold a whole number which is another one as a fraction.

    What was read as a fraction may have been written as one. So the lines with long numbers are read again, but only
    where there is one, and where a fraction is large enough.
    """
    found, large = set(), set()
    for path, values in _leaves(table):
        if pa.types.is_integer(values.type):
            numbers = to_numpy(values.drop_null())
            if len(numbers) and max(int(numbers.max()), -int(numbers.min())) > _EXACT:
                found |= {path for number in numbers[abs(numbers.astype(float)) >= _EXACT] if _is_rounded(int(number))}
        elif pa.types.is_floating(values.type) and (pc.max(pc.abs(values)).as_py() or 0) >= _EXACT:
            large.add(path)
    for line in block.split(b"\n") if large and _LONG_NUMBER.search(block) else ():
        if _LONG_NUMBER.search(line):
            try:
                found |= {path for path, value in _values_of(json.loads(line)) if _is_rounded(value)}
            except ValueError:  # an object that goes on in the next line
                return found | large
    return found


def _is_rounded(value: Any) -> bool:
    return isinstance(value, int) and (abs(value) > 1 << 1023 or int(float(value)) != value)


def _leaves(table: pa.Table) -> Iterator[tuple[tuple[str, ...], pa.Array]]:
    named = zip(table.column_names, table.columns, strict=True)
    waiting: list[tuple[tuple[str, ...], pa.Array]] = []
    waiting += [((name,), chunk) for name, column in named for chunk in column.chunks]
    while waiting:
        path, values = waiting.pop()
        kind = values.type
        if pa.types.is_struct(kind):
            waiting += [((*path, kind.field(i).name), values.field(i)) for i in range(kind.num_fields)]
        elif pa.types.is_list(kind):
            waiting.append(((*path, kind.value_field.name), values.flatten()))
        else:
            yield path, values


def _values_of(document: dict[str, Any]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The path and the value of every single value of a line; items of lists are called as Arrow calls them."""
    waiting: list[tuple[tuple[str, ...], Any]] = [((), document)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, dict):
            waiting += [((*path, name), item) for name, item in value.items()]
        elif isinstance(value, list):
            waiting += [((*path, "item"), item) for item in value]
        else:
            yield path, value


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
    return pa.string() if pa.types.is_null(kind) else kind


class JsonLinesRows:
    """Writes record batches as JSON objects, one per line, with a key for every column; see `writers.RowWriter`."""

    def __init__(self, file: Any, path: Path, schema: pa.Schema, source: Source) -> None:
        self._names = schema.names
        self._keys = [json.dumps(name, ensure_ascii=False) for name in schema.names]
        self._sink = compressing(file, path.name)

    def write(self, batch: pa.RecordBatch) -> None:
        if not batch.num_rows:
            return
        parts: list[Any] = []
        for place, (name, key) in enumerate(zip(self._names, self._keys, strict=True)):
            parts.append(("," if place else "{") + key + ":")
            parts.append(pc.fill_null(_json(batch.column(name), name), "null"))
        text = pc.binary_join_element_wise(*parts, "}\n", "")
        for chunk in text.chunks if isinstance(text, pa.ChunkedArray) else [text]:
            self._sink.write(text_bytes(chunk))

    def close(self) -> None:
        self._sink.close()


def _json(column: pa.Array, name: str) -> pa.Array:
    """Every value of a column as JSON; null where a value is missing."""
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
    if pa.types.is_temporal(kind) and not (pa.types.is_duration(kind) or pa.types.is_interval(kind)):
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
    return all(map(is_exact, values))


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
    return OutputError(f"column '{name}' of type {shown_type(kind)} cannot be written as JSON; write Parquet instead")
