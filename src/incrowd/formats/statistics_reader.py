"""Reads Stata, SPSS and SAS files: numbers, dates and texts as they are, codes as codes or with their labels applied.

Their own kinds of missing values, those of SPSS that a user defined among them, are missing here. Such a file is read
as a whole.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from incrowd.errors import DataError
from incrowd.formats.held_files import HeldFile, whole_numbers
from incrowd.formats.reader_options import ReaderOptions, refuse_options

READERS = {
    ".dta": "read_dta",
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}
_KINDS = {
    "string": pa.string(),
    "int8": pa.int8(),
    "int16": pa.int16(),
    "int32": pa.int32(),
    "float": pa.float32(),
    "double": pa.float64(),
}
Labels = Mapping[str, Mapping[Any, str]]


class StatisticsSource(HeldFile):
    """A Stata, SPSS or SAS file.

    Args:
        path: The file.
        options: Its encoding, where the file does not say it right, and what becomes of
            codes with labels.

    Attributes:
        value_labels: The labels of the codes of columns, where they are kept.
        column_labels: What columns are about, where the file says so.
    """

    def __init__(self, path: Path, options: ReaderOptions | None = None) -> None:
        refuse_options(options, path.name, "encoding", "value_labels")
        options = options or {}
        self._encoding = options.get("encoding")
        self._applies = options.get("value_labels") == "apply"
        self.value_labels: Labels = {}
        self.column_labels: Mapping[str, str] = {}
        super().__init__(path)

    def _table(self) -> pa.Table:
        """Read the file."""
        import pyreadstat

        read = getattr(pyreadstat, READERS[self.path.suffix.lower()])
        try:
            values, about = read(str(self.path), output_format="dict", encoding=self._encoding)
        except MemoryError:
            raise
        except Exception:  # of several kinds, for damaged files, dates beyond all calendars, and wrong encodings
            values = None
        if values is None:
            raise DataError(f"{self.name} is not what its suffix says, is damaged, or needs its encoding to be given")
        self.column_labels = {name: label for name, label in about.column_names_to_labels.items() if label}
        labels: Labels = about.variable_value_labels
        self.value_labels = {} if self._applies else labels
        columns = [self._column(name, values[name], about.readstat_variable_types[name]) for name in about.column_names]
        if self._applies:
            columns = [labelled(c, labels.get(name, {})) for name, c in zip(about.column_names, columns, strict=True)]
        return pa.Table.from_arrays(columns, names=list(about.column_names))

    def _column(self, name: str, values: Any, kind: str) -> pa.Array:
        """A column as Arrow has it: dates and times where the file has them, integers where all numbers are whole."""
        try:
            column = pa.array(values, from_pandas=True)
            if pa.types.is_null(column.type) or is_number(column.type):
                return whole_numbers(column.cast(_KINDS[kind]))
        except (pa.ArrowException, KeyError):
            column = None
        if column is None:
            raise DataError(f"column '{name}' of {self.name} has values that cannot be read; leave it out of the file")
        if pa.types.is_timestamp(column.type):  # counted in fractions of seconds, which are not exact
            column = pc.round_temporal(column, unit="millisecond").cast(pa.timestamp("ms"))
        return column


def is_number(kind: pa.DataType) -> bool:
    """Whether an Arrow type holds numbers that Stata and SPSS have too."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def labelled(column: pa.Array, labels: Mapping[Any, str]) -> pa.Array:
    """A column with the labels of its codes, as text; codes without one as they are."""
    if not labels:
        return column
    codes = column.dictionary_encode()
    texts = codes.dictionary.cast(pa.string()).to_pylist()
    named = [labels.get(code, text) for code, text in zip(codes.dictionary.to_pylist(), texts, strict=True)]
    return pa.array(named, pa.string()).take(codes.indices)
