"""Reads a sheet of an Excel file: the values that its cells show, never their formulas.

A column has the type that all of its cells have: numbers, dates, times or truth values; where they differ, it is text.
"""

from __future__ import annotations

import logging
import re
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from incrowd.errors import DataError, UnknownNameError, shorten
from incrowd.formats.excel_archives import check_archive
from incrowd.formats.held_files import HeldFile, whole_numbers
from incrowd.formats.reader_options import ReaderOptions, refuse_options
from incrowd.formats.sources import check_names

_DAY = 86_400_000  # milliseconds
_TIMES = datetime(1899, 12, 31), datetime(1900, 1, 1)  # what Excel takes a time without a date for
_NUMBERED = re.compile(r"(.+)_\d+")


class ExcelSource(HeldFile):
    """A sheet of an Excel file. Its first row that is not empty names the columns; rows without any cell are no rows.

    Args:
        path: The file.
        options: The name of the sheet, which is needed where there are several.
    """

    def __init__(self, path: Path, options: ReaderOptions | None = None) -> None:
        refuse_options(options, path.name, "sheet")
        self._sheet = (options or {}).get("sheet")
        super().__init__(path)

    def _table(self) -> pa.Table:
        """Read the sheet."""
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
            return _typed(table.filter(_filled(table)))
        raise DataError(f"{self.name} {reason}")  # outside of except: the library's message may hold a value

    def _chosen(self, sheets: list[str]) -> str:
        """The sheet to read."""
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
                "empty names the columns: give each a name there, and delete what stands above, such as a title"
            )
        names = {column.name for column in found}
        if any((match := _NUMBERED.fullmatch(name)) and match[1] in names for name in names):
            first = book.load_sheet(sheet, header_row=None, n_rows=1, dtypes="string").to_arrow()
            check_names([str(column[0].as_py()) for column in first.columns], self.name)


def _filled(table: pa.Table) -> pa.ChunkedArray:
    """Which rows have a cell."""
    filled = pa.chunked_array([pa.repeat(False, table.num_rows)])
    for column in table.columns:
        filled = pc.or_(filled, pc.is_valid(column))
    return filled


def _typed(table: pa.Table) -> pa.Table:
    """Columns with types as narrow as their values: whole numbers, and dates and times where there is nothing else."""
    columns = [_without_time(whole_numbers(column)) for column in table.columns]
    return pa.Table.from_arrays(columns, names=table.column_names)


def _without_time(column: pa.ChunkedArray) -> pa.ChunkedArray:
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
