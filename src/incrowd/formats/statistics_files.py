"""Stata, SPSS and SAS files: numbers, dates and texts as they are, codes as codes or with their labels applied.

Their own kinds of missing values, including those that a user of SPSS defined, are missing here. The libraries read and
write a table as a whole. Stata and SPSS files are written with the labels that their source had for columns and values
that are released. What such a file cannot hold exactly becomes text: numbers of more than 15 digits, very large ones,
moments finer than a millisecond. Neither the time of writing nor any note goes into the file.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from incrowd.errors import DataError, OutputError, shorten, shown_type
from incrowd.formats.parquet_files import conform
from incrowd.formats.reader_options import ReaderOptions
from incrowd.formats.sources import HeldFile, Source, as_doubles, is_exact, is_text, whole_numbers
from incrowd.formats.staging import Folder

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
_LARGEST_WHOLE = 2**53
_LARGEST = 8.98e307  # beyond it, Stata counts numbers as missing
_LONGEST = {".dta": 2_000_000, ".sav": 32_767, ".zsav": 32_767}  # bytes of a text
_STATA_NAME = re.compile(r"[^\W\d]\w{0,31}")
_SPSS_NAME = re.compile(r"[^\W\d_][\w.$#@]*(?<!\.)")
_STATA_WORDS = re.compile(
    "_all|_b|byte|_coef|_cons|double|float|if|in|int|long|_n|_N|_pi|_pred|_rc|_skip|strL|using|with"
)
_SPSS_WORDS = re.compile("ALL|AND|BY|EQ|GE|GT|LE|LT|NE|NOT|OR|TO|WITH")
_STATA_TIME = re.compile(rb"(<timestamp>\x11)\d\d \w{3} \d{4} \d\d:\d\d(?=</timestamp>)")
_BLOCK = 1 << 20


class StatisticsSource(HeldFile):
    """A Stata, SPSS or SAS file, with the labels of the codes of columns, if they are kept, and of the columns."""

    def __init__(self, path: Path, options: ReaderOptions | None = None) -> None:
        options = options or {}
        self._encoding = options.get("encoding")
        self._applies = options.get("value_labels") == "apply"
        self.value_labels: Labels = {}
        self.column_labels: Mapping[str, str] = {}
        super().__init__(path)

    def _table(self) -> pa.Table:
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
            columns = [_labelled(c, labels.get(name, {})) for name, c in zip(about.column_names, columns, strict=True)]
        return pa.Table.from_arrays(columns, names=list(about.column_names))

    def _column(self, name: str, values: Any, kind: str) -> pa.Array:
        """A column as Arrow has it: dates and times where the file has them, integers where all numbers are whole."""
        try:
            column = pa.array(values, from_pandas=True)
            if pa.types.is_null(column.type) or pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
                return whole_numbers(column.cast(_KINDS[kind]))
        except (pa.ArrowException, KeyError):
            column = None
        if column is None:
            raise DataError(f"column '{name}' of {self.name} has values that cannot be read; leave it out of the file")
        if pa.types.is_timestamp(column.type):  # counted in fractions of seconds, which are not exact
            column = pc.round_temporal(column, unit="millisecond").cast(pa.timestamp("ms"))
        return column


def _labelled(column: pa.Array, labels: Mapping[Any, str]) -> pa.Array:
    """A column with the labels of its codes, as text; codes without one as they are."""
    if not labels:
        return column
    codes = column.dictionary_encode()
    texts = codes.dictionary.cast(pa.string()).to_pylist()
    named = [labels.get(code, text) for code, text in zip(codes.dictionary.to_pylist(), texts, strict=True)]
    return pa.array(named, pa.string()).take(codes.indices)


class StatisticsRows:
    """Writes record batches as a Stata or SPSS file, see `writers.RowWriter`; the source's labels are kept."""

    def __init__(self, file: Any, path: Path, schema: pa.Schema, source: Source) -> None:
        self._file = file
        self._path = path
        self._suffix = Path(path.name.lower()).suffix
        self._source = source
        self._schema = schema
        self._held: list[pa.RecordBatch] = []
        self._check_names(schema.names)

    def _check_names(self, names: Sequence[str]) -> None:
        stata = self._suffix == ".dta"
        about, allowed, reserved = ("Stata", _STATA_NAME, _STATA_WORDS) if stata else ("SPSS", _SPSS_NAME, _SPSS_WORDS)
        keys = list(names) if stata else [name.upper() for name in names]  # to SPSS, a and A are the same
        taken = Counter(keys)
        bad = [
            repr(name)
            for name, key in zip(names, keys, strict=True)
            if not allowed.fullmatch(name) or len(name.encode()) > 64 or reserved.fullmatch(key) or taken[key] > 1
        ]
        if bad:
            raise OutputError(f"{about} files cannot have columns of the name {shorten(bad)}; rename, or write Parquet")

    def write(self, batch: pa.RecordBatch) -> None:
        self._held.append(conform(batch, self._schema))

    def close(self) -> None:
        if self._file.abandoned:
            return
        table = pa.Table.from_batches(self._held, self._schema)
        self._held = []
        columns = {name: self._column(table.column(name), name) for name in table.column_names}
        self._write(columns, self._value_labels(columns))

    def _column(self, values: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
        recoded = pa.types.is_dictionary(values.type)
        plain = values.cast(values.type.value_type) if recoded else values
        try:
            column = _held_exactly(plain)
        except pa.ArrowException:
            column = None
        if column is None:
            raise OutputError(
                f"column '{name}' of type {shown_type(values.type)} cannot be written here; write Parquet instead"
            )
        if is_text(column.type):
            self._check_text(column, name)
        return column

    def _check_text(self, column: pa.ChunkedArray, name: str) -> None:
        if (pc.max(pc.binary_length(column)).as_py() or 0) > _LONGEST[self._suffix]:
            raise OutputError(f"column '{name}' has a text that is too long for such a file; write Parquet instead")
        if pc.any(pc.match_substring(column, "\0")).as_py():
            raise OutputError(f"column '{name}' has a zero character, which such a file cannot hold; remove it")

    def _value_labels(self, columns: Mapping[str, pa.ChunkedArray]) -> dict[str, dict[Any, str]]:
        """The labels of values that are released, of columns that hold what they held."""
        if not isinstance(self._source, StatisticsSource):
            return {}
        kept = {}
        for name, labels in self._source.value_labels.items():
            if name not in columns or pa.types.is_dictionary(self._schema.field(name).type):
                continue
            text = is_text(columns[name].type)
            used = set(pc.unique(columns[name]).to_pylist())
            found = {code: label for code, label in labels.items() if code in used and isinstance(code, str) == text}
            if self._suffix == ".dta":  # which has labels of whole numbers only
                found = {int(code): label for code, label in found.items() if not text and float(code).is_integer()}
            if found:
                kept[name] = found
        return kept

    def _write(self, columns: Mapping[str, pa.ChunkedArray], labels: Mapping[str, Mapping[Any, str]]) -> None:
        """Let the library write the table next to its place, and bring it there."""
        import polars as pl
        import pyreadstat

        stata = self._suffix == ".dta"
        if stata:
            columns = {name: _as_integers(column) if name in labels else column for name, column in columns.items()}
        frame = pl.DataFrame({name: pl.from_arrow(column) for name, column in columns.items()})
        write = pyreadstat.write_dta if stata else pyreadstat.write_sav
        options = {**self._options(columns), "variable_value_labels": labels}
        folder = Folder(self._path.parent)
        try:
            written = folder.path / f"table{self._suffix}"
            refused = False
            try:
                write(frame, str(written), **options)
            except (pyreadstat.PyreadstatError, pyreadstat.ReadstatError, ValueError):
                refused = True  # its message may hold a value
            if refused:
                raise OutputError(f"{self._path.name} cannot be written as such a file; write CSV or Parquet instead")
            self._copy(written)
        finally:
            folder.remove()

    def _options(self, columns: Mapping[str, pa.ChunkedArray]) -> dict[str, Any]:
        about: Mapping[str, str] = self._source.column_labels if isinstance(self._source, StatisticsSource) else {}
        labels = {"column_labels": {name: label for name, label in about.items() if name in columns}}
        if self._suffix == ".dta":
            return {**labels, "version": 14}  # which later ones read, too
        whole = [name for name, column in columns.items() if _is_whole(column)]
        return {**labels, "compress": self._suffix == ".zsav", "variable_format": dict.fromkeys(whole, "F8.0")}

    def _copy(self, written: Path) -> None:
        """Bring the file to where it belongs, without the time of its making."""
        with written.open("rb") as file:
            head = file.read(_BLOCK)
            if self._suffix == ".dta":
                head = _STATA_TIME.sub(rb"\g<1>01 Jan 1980 00:00", head, count=1)
            else:
                head = head[:92] + b"01 Jan 80" + b"00:00:00" + head[109:]
            self._file.write(head)
            while block := file.read(_BLOCK):
                self._file.write(block)


def _held_exactly(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column as doubles, dates, times or text, whichever holds it exactly."""
    kind = column.type
    if pa.types.is_boolean(kind):
        return column.cast(pa.int8()).cast(pa.float64())
    if pa.types.is_integer(kind):
        extremes = pc.min_max(column).as_py()
        held = all(value is None or abs(value) <= _LARGEST_WHOLE for value in extremes.values())
        return column.cast(pa.float64() if held else pa.string())
    if pa.types.is_floating(kind):
        doubles = pa.chunked_array([as_doubles(chunk) for chunk in column.chunks], pa.float64())
        doubles = pc.if_else(pc.is_nan(doubles), pa.scalar(None, pa.float64()), doubles)
        return doubles if (pc.max(pc.abs(doubles)).as_py() or 0) <= _LARGEST else doubles.cast(pa.string())
    if pa.types.is_decimal(kind):
        values = [value for value in pc.unique(column).to_pylist() if value is not None]
        return column.cast(pa.float64() if all(map(is_exact, values)) else pa.string())
    if pa.types.is_date(kind) or (pa.types.is_timestamp(kind) and kind.tz is None) or pa.types.is_time(kind):
        return _moments(column)
    return column.cast(pa.string())


def _moments(column: pa.ChunkedArray) -> pa.ChunkedArray:
    kind = column.type
    if pa.types.is_date(kind):
        return column.cast(pa.date32())
    try:
        coarse = column.cast(pa.time32("ms") if pa.types.is_time(kind) else pa.timestamp("ms"))
    except pa.ArrowException:  # finer than a millisecond
        return column.cast(pa.string())
    return coarse.cast(pa.time64("us")) if pa.types.is_time(kind) else coarse.cast(pa.timestamp("us"))


def _is_whole(column: pa.ChunkedArray) -> bool:
    return pa.types.is_float64(column.type) and bool(pc.all(pc.equal(pc.floor(column), column)).as_py())


def _as_integers(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column with labels as integers, where they are: Stata labels no others."""
    return column.cast(pa.int32()) if _is_whole(column) else column
