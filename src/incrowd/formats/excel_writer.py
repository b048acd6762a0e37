"""Writes one sheet of an Excel file: values only, never a formula or a link, and neither who wrote it nor when.

Excel has numbers of 15 to 17 digits and dates from March 1900 on, to the millisecond. A value that it could not hold
exactly becomes text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa

from incrowd.errors import OutputError, shown_type
from incrowd.formats.held_files import as_doubles
from incrowd.formats.sources import Source
from incrowd.formats.staging import Folder

MOST_ROWS, MOST_COLUMNS, LONGEST = 1 << 20, 1 << 14, 32_767
_FIRST_DAY = date(1900, 3, 1)  # Excel counts a day before it that there never was
_LARGEST = 2**53
_MADE = datetime(1980, 1, 1)  # the same in every file
_FORMATS = {date: "yyyy-mm-dd", datetime: "yyyy-mm-dd hh:mm:ss.000", time: "hh:mm:ss.000"}
_KNOWN = (
    pa.types.is_boolean,
    pa.types.is_integer,
    pa.types.is_floating,
    pa.types.is_decimal,
    pa.types.is_date,
    pa.types.is_timestamp,
    pa.types.is_time,
)
Put = Callable[[int, int, Any], object]


class ExcelRows:
    """Writes record batches as the rows of a sheet.

    Args:
        file: An open binary file.
        path: Where it is.
        schema: The columns to write.
        source: Where the rows came from.
    """

    def __init__(self, file: Any, path: Path, schema: pa.Schema, source: Source) -> None:
        import xlsxwriter.exceptions

        if len(schema) > MOST_COLUMNS:
            raise OutputError(f"a sheet has {MOST_COLUMNS} columns at most, and the release has {len(schema)}")
        self._names = schema.names
        self._errors = xlsxwriter.exceptions.XlsxFileError
        self._folder = Folder(path.parent)  # the library writes rows to files of its own first
        self._rows = 0
        self._book = xlsxwriter.Workbook(file, {"constant_memory": True, "tmpdir": str(self._folder.path)})
        self._book.set_properties({"created": _MADE})
        self._sheet = self._book.add_worksheet("release")
        self._formats = {kind: self._book.add_format({"num_format": text}) for kind, text in _FORMATS.items()}
        for place, name in enumerate(self._names):
            self._text(0, place, name)

    def write(self, batch: pa.RecordBatch) -> None:
        """Write the rows of a batch that has the columns of the schema, in any order."""
        first = self._rows + 1
        self._rows += batch.num_rows
        if self._rows >= MOST_ROWS:
            raise OutputError(f"a sheet has {MOST_ROWS} rows at most; write CSV or Parquet instead")
        columns = [_cells(batch.column(name), name) for name in self._names]
        puts = [self._put(batch.schema.field(name).type) for name in self._names]
        anchor = next((place for place, put in enumerate(puts) if put == self._text), 0)
        for row, cells in enumerate(zip(*columns, strict=True), first):
            filled = False
            for place, value in enumerate(cells):
                if value is not None:
                    puts[place](row, place, value)
                    filled = True
            if not filled:  # without any cell, it would not be a row
                self._sheet.write_string(row, anchor, "")

    def _put(self, kind: pa.DataType) -> Put:
        """What writes a value of a type; where Excel could not hold it exactly, as text."""
        if pa.types.is_dictionary(kind):
            return self._put(kind.value_type)
        if pa.types.is_boolean(kind):
            return self._sheet.write_boolean  # type: ignore[no-any-return]
        if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
            return self._number
        if pa.types.is_date(kind) or pa.types.is_timestamp(kind) or pa.types.is_time(kind):
            return self._moment
        return self._text

    def _text(self, row: int, place: int, value: str) -> None:
        if len(value) > LONGEST:
            name = self._names[place]
            raise OutputError(f"column '{name}' has a text of more than {LONGEST} characters, too long for Excel")
        if "\ufffe" in value or "\uffff" in value:
            name = self._names[place]
            raise OutputError(f"column '{name}' has a character that Excel cannot hold (U+FFFE or U+FFFF); remove it")
        self._sheet.write_string(row, place, value)

    def _number(self, row: int, place: int, value: Any) -> None:
        if isinstance(value, float) and value != value:  # as missing as null is
            return
        exact = abs(value) <= _LARGEST if isinstance(value, int) else _is_exact(value)
        if exact:
            self._sheet.write_number(row, place, _Digits(value))
        else:
            self._text(row, place, str(value))

    def _moment(self, row: int, place: int, value: Any) -> None:
        if isinstance(value, str):
            self._text(row, place, value)
        elif _is_held(value):
            self._sheet.write_datetime(row, place, value, self._formats[type(value)])
        else:
            self._text(row, place, str(value))

    def close(self) -> None:
        """Write what is left."""
        try:
            self._book.close()
        except self._errors as error:
            raise (error.args[0] if isinstance(error.args[0], OSError) else error) from None
        finally:
            self._folder.remove()


class _Digits(float):
    """A number that is written with all of its digits; the library would write 16 of them."""

    def __format__(self, form: str) -> str:
        return repr(float(self)).removesuffix(".0")


def _is_exact(value: float | Decimal) -> bool:
    """Whether a number is finite, and a decimal one is the same as a double."""
    if isinstance(value, Decimal):
        return value.is_finite() and Decimal(repr(float(value))) == value
    return abs(value) < float("inf")


def _is_held(value: date | datetime | time) -> bool:
    """Whether Excel can hold a date or a time exactly."""
    if isinstance(value, datetime):
        return value.tzinfo is None and value.date() >= _FIRST_DAY and value.microsecond % 1000 == 0
    if isinstance(value, time):
        return value.tzinfo is None and value.microsecond % 1000 == 0
    return value >= _FIRST_DAY


def _cells(column: pa.Array, name: str) -> Sequence[Any]:
    """The values of a column as Python has them; what Excel does not know as text."""
    column = as_doubles(column)
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    nanoseconds = (pa.types.is_timestamp(kind) or pa.types.is_time64(kind)) and kind.unit == "ns"
    if not nanoseconds and any(knows(kind) for knows in _KNOWN):
        return column.to_pylist()  # type: ignore[no-any-return]
    try:
        return column.cast(pa.string()).to_pylist()  # type: ignore[no-any-return]
    except pa.ArrowException:
        pass
    raise OutputError(
        f"column '{name}' of type {shown_type(column.type)} cannot be written to a sheet; write Parquet instead"
    )
