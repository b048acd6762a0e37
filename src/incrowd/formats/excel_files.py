"""Excel files: reading a sheet, and writing one.

Reading gives the values that cells show, never their formulas. A column has the type that all of its cells have:
numbers, dates, times or truth values; where they differ, it is text. Before a file is read, it is checked that it is
safe to open: it is an archive, and a small one can unfold to more than memory holds.

Writing gives values only, never a formula or a link, and neither who wrote it nor when. Excel has numbers of 15 to 17
digits and dates from March 1900 on, to the millisecond. A value that it could not hold exactly becomes text.
"""

from __future__ import annotations

import logging
import re
import sys
import zipfile
import zlib
from collections.abc import Callable, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from incrowd.errors import DataError, OutputError, UnknownNameError, shorten, shown_type
from incrowd.formats.reader_options import ReaderOptions
from incrowd.formats.sources import HeldFile, Source, as_doubles, check_names, is_exact, whole_numbers
from incrowd.formats.staging import Folder

MOST_BYTES = 1 << 30  # that parts may unfold to without being checked for repetition
MOST_RATIO = 200  # real sheets unfold to 5 to 50 times their size
MOST_CELLS = 50_000_000  # of the rectangle around the cells of a sheet, if it is mostly empty
_BLOCK = 1 << 20
_LONGEST_CELL = 20  # bytes of what `_CELL` finds, written without blanks
_CELL = re.compile(rb"""r\s*=\s*["']([A-Za-z]{1,3})([0-9]{1,7})["']""")  # begins with a letter, which is found fast
_DAY = 86_400_000  # milliseconds
_TIMES = datetime(1899, 12, 31), datetime(1900, 1, 1)  # what Excel takes a time without a date for
_NUMBERED = re.compile(r"(.+)_\d+")

MOST_ROWS, MOST_COLUMNS, LONGEST = 1 << 20, 1 << 14, 32_767
_FIRST_DAY = date(1900, 3, 1)  # Excel counts a day before it that there never was
_MOST = {int: 2**53, float: sys.float_info.max}  # that a cell holds exactly
_MADE = datetime(1980, 1, 1)  # the same in every file
_FORMATS = {date: "yyyy-mm-dd", datetime: "yyyy-mm-dd hh:mm:ss.000", time: "hh:mm:ss.000"}
_NUMBERS = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
_MOMENTS = (pa.types.is_date, pa.types.is_timestamp, pa.types.is_time)
Put = Callable[[int, int, Any], object]


class ExcelSource(HeldFile):
    """A sheet of an Excel file. Its first row that is not empty names the columns; rows without cells are left out."""

    def __init__(self, path: Path, options: ReaderOptions | None = None) -> None:
        self._sheet = (options or {}).get("sheet")
        super().__init__(path)

    def _table(self) -> pa.Table:
        check_archive(self.path)
        import fastexcel

        logging.getLogger("fastexcel").setLevel(logging.ERROR)  # it warns of columns without values
        try:
            book = fastexcel.read_excel(self.path)
            sheet = self._chosen(book.sheet_names)
            loaded = book.load_sheet(sheet, schema_sample_rows=None)
            self._check_header(book, sheet, loaded)
            table = pa.Table.from_batches([loaded.to_arrow()])
        except fastexcel.UnsupportedColumnTypeCombinationError:
            reason = "has a column that mixes durations with other values; make it one kind"
        except fastexcel.FastExcelError:
            reason = "is not an Excel file (.xlsx), or it is damaged"
        else:
            return _typed(table)
        raise DataError(f"{self.name} {reason}")  # outside of except: the library's message may hold a value

    def _chosen(self, sheets: list[str]) -> str:
        if self._sheet is not None and self._sheet not in sheets:
            raise UnknownNameError("sheet", self._sheet, sheets, self.name)
        if self._sheet is None and len(sheets) > 1:
            listed = shorten([repr(sheet) for sheet in sheets])
            raise DataError(
                f"{self.name} has several sheets: {listed}; choose one (--sheet NAME, in Python sheet='NAME')"
            )
        return self._sheet or sheets[0]

    def _check_header(self, book: Any, sheet: str, loaded: Any) -> None:
        """Raise DataError if a column has no name of its own: the library would make one up."""
        found = loaded.available_columns()
        blank = [str(place) for place, column in enumerate(found, 1) if column.column_name_from != "looked_up"]
        if blank:
            raise DataError(
                f"{self.name} has columns without a name, at position {shorten(blank)}; the first row that is not "
                "empty names the columns: give each a name there, and delete what is above, such as a title"
            )
        names = {column.name for column in found}
        if any((match := _NUMBERED.fullmatch(name)) and match[1] in names for name in names):
            first = book.load_sheet(sheet, header_row=None, n_rows=1, dtypes="string").to_arrow()
            check_names([str(column[0].as_py()) for column in first.columns], self.name)


def _typed(table: pa.Table) -> pa.Table:
    """The rows that have a cell, with types as narrow as their values."""
    filled = pa.chunked_array([pa.repeat(False, table.num_rows)])
    for column in table.columns:
        filled = pc.or_(filled, pc.is_valid(column))
    columns = [_without_time(whole_numbers(column)) for column in table.filter(filled).columns]
    return pa.Table.from_arrays(columns, names=table.column_names)


def _without_time(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Dates or times, where there is nothing else."""
    if pa.types.is_null(column.type):
        return column.cast(pa.string())
    if not pa.types.is_timestamp(column.type) or column.null_count == len(column):
        return column
    extremes = pc.min_max(column).as_py()
    if _TIMES[0] <= extremes["min"] and extremes["max"] < _TIMES[1]:
        return column.cast(pa.time32("ms"))
    milliseconds = column.cast(pa.timestamp("ms")).cast(pa.int64())
    midnight = pc.equal(pc.multiply(pc.divide(milliseconds, _DAY), _DAY), milliseconds)
    return column.cast(pa.date32()) if pc.all(midnight).as_py() else column


def check_archive(path: Path) -> None:
    """Raise DataError if a file is not an archive, or unfolds to too much."""
    try:
        with zipfile.ZipFile(path) as archive:
            parts = archive.infolist()
            if any(part.flag_bits & 1 for part in parts):
                raise DataError(f"{path.name} is protected by a password; save it without one")
            unfolded = 0
            for part in parts:
                unfolded = _check_part(archive, part, path, unfolded)
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, NotImplementedError, ValueError, RuntimeError):
        raise DataError(f"{path.name} is not an Excel file (.xlsx), or it is damaged") from None


def _check_part(archive: zipfile.ZipFile, part: zipfile.ZipInfo, path: Path, unfolded: int) -> int:
    """Read a part to its end: how many bytes there are by now, and how far apart the cells of a sheet are.

    What the archive says of its parts is not relied on. Readers lay out everything between two cells.
    """
    cells = rows = columns = 0
    is_sheet = "/worksheets/" in f"/{part.filename.lower()}"
    part.file_size = 1 << 62
    most = max(MOST_BYTES, MOST_RATIO * path.stat().st_size)
    rest = b""
    with archive.open(part) as file:
        while block := file.read(_BLOCK):
            unfolded += len(block)
            if unfolded > most:
                raise DataError(
                    f"{path.name} unfolds to more than {most >> 20} MB, more than a table would; is it intact?"
                )
            found = _CELL.findall(rest + block) if is_sheet else []
            rest = block[-_LONGEST_CELL:]
            cells += len(found)
            rows = max([rows, *map(int, {row for _, row in found})])
            columns = max([columns, *map(_column_number, {name for name, _ in found})])
    if rows * columns > max(MOST_CELLS, 20 * cells):
        raise DataError(f"the cells of {path.name} lie too far apart; remove those outside of the table")
    return unfolded


def _column_number(name: bytes) -> int:
    """A is 1, Z is 26, AA is 27."""
    number = 0
    for letter in name.upper():
        number = 26 * number + letter - 64
    return number


class ExcelRows:
    """Writes record batches as the rows of a sheet; see `writers.RowWriter`."""

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
        if any(is_kind(kind) for is_kind in _NUMBERS):
            return self._number
        return self._moment if any(is_kind(kind) for is_kind in _MOMENTS) else self._text

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
        exact = is_exact(value) if isinstance(value, Decimal) else abs(value) <= _MOST[type(value)]
        if exact:
            self._sheet.write_number(row, place, _Digits(value))
        else:
            self._text(row, place, str(value))

    def _moment(self, row: int, place: int, value: Any) -> None:
        if not isinstance(value, str) and _is_held(value):
            self._sheet.write_datetime(row, place, value, self._formats[type(value)])
        else:
            self._text(row, place, str(value))

    def close(self) -> None:
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
    if not nanoseconds and any(is_kind(kind) for is_kind in (pa.types.is_boolean, *_NUMBERS, *_MOMENTS)):
        return column.to_pylist()  # type: ignore[no-any-return]
    try:
        return column.cast(pa.string()).to_pylist()  # type: ignore[no-any-return]
    except pa.ArrowException:
        pass
    raise OutputError(
        f"column '{name}' of type {shown_type(column.type)} cannot be written to a sheet; write Parquet instead"
    )
