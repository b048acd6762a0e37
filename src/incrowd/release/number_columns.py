"""Generalized numbers and dates as such: the middle or the bounds of each interval, intervals, or ordered categories.

This works on any release, in the hands of a steward or of a recipient: the labels are all that it looks at. Whatever is
promised of the released rows stays true, since equal rows stay equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from incrowd.errors import DataError, PolicyError, UnknownNameError
from incrowd.formats.csv_dialect import may_have_commas
from incrowd.formats.reader_options import ReaderOptions
from incrowd.formats.registry import open_source
from incrowd.formats.sources import Source, is_text
from incrowd.release.native_columns import ENDS, native_columns
from incrowd.table.arrays import text_array
from incrowd.table.missing import encoded
from incrowd.table.scales import Scale, has_commas, scale_of, text_of, with_commas
from incrowd.taxonomies.labels import Interval, parse_interval

WRITTEN = ("midpoint", "bounds")  # what a file can hold
FORMS = (*WRITTEN, "interval", "category")


@dataclass(frozen=True)
class NumberColumn:
    """A column of labels, and what stands for each of them."""

    name: str
    labels: pa.Array
    columns: dict[str, pa.Array]
    comma: bool = False

    @classmethod
    def of(cls, name: str, labels: Sequence[str], form: str, *, commas: bool = False) -> NumberColumn | None:
        """What stands for some labels; None if they are not all numbers or dates, or none is an interval."""
        try:
            intervals = [parse_interval(label) for label in labels]
        except ValueError:
            return None
        if not any(interval and (interval.low or interval.high) for interval in intervals):
            return None
        bounds = [
            (label, label) if interval is None else (interval.low, interval.high)
            for label, interval in zip(labels, intervals, strict=True)
        ]
        texts = sorted({text for pair in bounds for text in pair if text is not None})
        try:
            scale = scale_of(pa.array(texts, pa.string()), name, commas=commas)
        except DataError:
            return None
        if scale is None:
            return None
        found = pa.array(labels, pa.string())
        if form == "midpoint":
            return cls(name, found, {name: _middles(labels, scale)}, scale.comma)
        low, high = ([pair[side] for pair in bounds] for side in (0, 1))
        if form == "bounds":
            ends = {f"{name}_low": _values(low, scale, name), f"{name}_high": _values(high, scale, name)}
            return cls(name, found, ends, scale.comma)
        within = [interval is None or interval.closed for interval in intervals]
        half_open = _values(low, scale, name), _values(high, scale, name, within)
        if form == "interval":
            return cls(name, found, {name: _structs(*half_open)}, scale.comma)
        return cls(name, found, {name: _categories(found, intervals, *half_open)}, scale.comma)

    def as_written(self) -> NumberColumn:
        """The same for a file of text: numbers with a decimal comma where the table has such."""
        if not self.comma:
            return self
        columns = {
            name: with_commas(text_of(values)) if pa.types.is_floating(values.type) else values
            for name, values in self.columns.items()
        }
        return replace(self, columns=columns)

    def convert(self, column: pa.Array) -> list[pa.Array]:
        """The new columns in place of a column of labels."""
        given = encoded(column, self.name)
        places = pc.index_in(given.dictionary.cast(pa.string()), self.labels).take(given.indices)
        return [values.take(places) for values in self.columns.values()]


def _middles(labels: Sequence[str], scale: Scale) -> pa.Array:
    """The middle of each label, as a number or a date; nothing where any value is possible."""
    numbers = np.array([scale.middle(label) for label in labels])
    if scale.kind in ("integer", "number"):
        return pa.array(numbers, from_pandas=True)
    whole = pa.array(np.floor(numbers), from_pandas=True)
    if scale.kind == "date":
        return whole.cast(pa.int32()).cast(pa.date32())
    return whole.cast(pa.int64()).cast(pa.timestamp(scale.unit, scale.timezone))


def _structs(low: pa.Array, high: pa.Array) -> pa.Array:
    """Half-open intervals, low included and high not; an open end is missing, and so is a value that could be any."""
    any_value = pc.and_(low.is_null(), high.is_null())
    return pa.StructArray.from_arrays([low, high], ENDS, mask=any_value)


def _categories(labels: pa.Array, intervals: Sequence[Interval | None], low: pa.Array, high: pa.Array) -> pa.Array:
    """The labels as categories, by their low end, then by their high end; a value that could be any is missing."""
    known = pa.array([each is None or bool(each.low or each.high) for each in intervals])
    ends = pa.table({"low": low, "high": high, "label": labels, "open": low.is_null()})
    order = [("open", "descending"), ("low", "ascending"), ("high", "ascending"), ("label", "ascending")]
    places = pc.sort_indices(ends, sort_keys=order)
    ordered = labels.take(places).filter(known.take(places))
    kind = pa.dictionary(pa.int32(), pa.string(), ordered=True)
    return pa.DictionaryArray.from_arrays(pc.index_in(labels, ordered), ordered, ordered=True).cast(kind)


def _values(texts: Sequence[str | None], scale: Scale, name: str, within: Sequence[bool] | None = None) -> pa.Array:
    """Bounds as numbers or dates; those that are `within` an interval are followed by the next value that there is."""
    known = pa.array([text for text in texts if text is not None], pa.string())
    found = scale.numbers(known, name)
    if within is not None:
        closed = np.array([is_in for text, is_in in zip(texts, within, strict=True) if text is not None], bool)
        found = np.where(closed, np.nextafter(found, np.inf) if scale.kind == "number" else found + 1, found)
    numbers = pa.array(found)
    if scale.kind == "date":
        numbers = numbers.cast(pa.int32()).cast(pa.date32())
    elif scale.kind == "timestamp":
        numbers = numbers.cast(pa.timestamp(scale.unit, scale.timezone))
    there = np.array([text is not None for text in texts])
    return numbers.take(pa.array(np.cumsum(there) - 1, mask=~there))


def number_columns(source: Source, form: str, columns: Iterable[str] | None = None) -> tuple[NumberColumn, ...]:
    """The columns of a release that hold intervals of numbers or dates, and what stands for their labels.

    Raises:
        PolicyError: There is no such form or column.
        DataError: A column that was named cannot be converted.
    """
    if form not in FORMS:
        raise PolicyError(f"The 'form' parameter must be one of {', '.join(FORMS)}. Got {form!r}.")
    chosen = None if columns is None else (columns,) if isinstance(columns, str) else tuple(columns)
    for name in chosen or ():
        if name not in source.columns:
            raise UnknownNameError("column", name, source.columns, source.name)
    labels = _labels(source, source.columns if chosen is None else chosen)
    commas = may_have_commas(source)
    found = {name: NumberColumn.of(name, sorted(texts), form, commas=commas) for name, texts in labels.items()}
    for name in chosen or ():
        if found.get(name) is None:
            raise DataError(f"column '{name}' does not hold intervals of numbers or dates; leave it out")
    if commas and any(has_commas(text_array(sorted(texts)), None, expected=True) for texts in labels.values()):
        found = {name: column and replace(column, comma=True) for name, column in found.items()}
    taken = [new for column in found.values() if column for new in column.columns if new != column.name]
    if clash := next((new for new in taken if new in source.columns), None):
        raise DataError(f"there is a column '{clash}' already; rename it first")
    return tuple(column for column in found.values() if column is not None)


def _labels(source: Source, columns: Sequence[str]) -> dict[str, set[str]]:
    texts = [name for name in columns if is_text(_value_type(source.schema.field(name).type))]
    found: dict[str, set[str]] = {name: set() for name in texts}
    for batch in source.batches(texts, encoded=texts) if texts else ():
        for name in texts:
            labels = encoded(batch.column(name), name).dictionary.to_pylist()
            found[name].update(label for label in labels if label and label not in source.missing_values)
    return found


def _value_type(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def converted(batch: pa.RecordBatch, columns: Sequence[NumberColumn]) -> pa.RecordBatch:
    """A batch of released rows with numbers in place of labels; all other columns stay where they are."""
    by_name = {column.name: column for column in columns}
    arrays: list[pa.Array] = []
    names: list[str] = []
    for name in batch.schema.names:
        column = by_name.get(name)
        arrays += [batch.column(name)] if column is None else column.convert(batch.column(name))
        names += [name] if column is None else list(column.columns)
    return pa.RecordBatch.from_arrays(arrays, names=names)


def converted_rows(source: Source, columns: Sequence[NumberColumn]) -> Iterator[pa.RecordBatch]:
    for batch in source.batches(None, encoded=[column.name for column in columns]):
        yield converted(batch, columns)


def as_numbers(
    data: Any, *, form: str = "midpoint", columns: Iterable[str] | None = None, **reading: Unpack[ReaderOptions]
) -> Any:
    """Turn the intervals of a release into numbers or dates.

    Args:
        data: A release: the path of a file, or a pandas, polars or pyarrow table, such as `release.data`.
        form: "midpoint" for the middle of each interval, which for an open one is its bound; "bounds" for two columns
            instead of one, `age_low` and `age_high`. In `[20-25)` the high bound is 25, which is just above.
            "interval" for a column of pandas `Interval`, closed on the left, or a struct of low and high in polars
            and Arrow: 30 becomes `[30, 31)`, and an open end is infinite (of dates the first or last in pandas), in a
            struct missing. "category" for the labels as ordered categories (an `Enum` in polars), by their low end. A
            value that could be any is empty in all of them.
        columns: The columns to convert; all that hold intervals of numbers or dates if None.
        **reading: How to read a file or a database; see `ReaderOptions`.

    Returns:
        The same kind of frame, or an Arrow table for a file.

    Raises:
        PolicyError: There is no such form or column.
        DataError: A column that was named does not hold intervals.

    Example:
        >>> import incrowd, pyarrow
        >>> rows = pyarrow.table({"age": ["[20-30)", "30", "*"]})
        >>> incrowd.as_numbers(rows, form="bounds").to_pydict()
        {'age_low': [20, 30, None], 'age_high': [30, 30, None]}
    """
    source = open_source(data, **reading)
    found = number_columns(source, form, columns)
    rows = pa.Table.from_batches(list(converted_rows(source, found)))
    if isinstance(data, str | Path) or not found:
        return rows if isinstance(data, str | Path) else data
    frame = nw.from_native(data, eager_only=True, pass_through=False)
    made = [name for column in found for name in column.columns]
    frame = frame.with_columns(*native_columns(rows.select(made), frame)).select(rows.column_names)
    return frame if isinstance(data, nw.DataFrame) else frame.to_native()


def frame_of(data: Any, kind: Any) -> Any:
    """Released rows as another kind of frame: "pandas", "polars" or "pyarrow"."""
    rows = pa.Table.from_batches(list(open_source(data).batches(None)))
    if kind == "pyarrow":
        return rows
    return nw.from_arrow(rows, backend=kind).to_native()
