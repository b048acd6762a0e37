"""Dataframes of any library that Narwhals knows: reading their columns as Arrow, and giving the same type back."""

from __future__ import annotations

import contextlib
import hashlib
import io
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, TypeVar, cast

import narwhals as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from incrowd.errors import DataError, PolicyError
from incrowd.formats.containers import bare, pandas_notes, without_unused
from incrowd.formats.sources import BATCH_ROWS, Check, as_array, as_dictionary, check_names, choose_columns, is_text
from incrowd.formats.usual_types import as_stored, as_usual

Frame = TypeVar("Frame")
Rows = npt.NDArray[np.int64]
Columns = Mapping[str, pa.Array]
VIEWS = {"string_view": pa.large_string(), "binary_view": pa.large_binary()}


class FrameSource:
    """A dataframe in memory.

    Args:
        frame: A frame of a library that Narwhals knows; a lazy frame of polars, which is collected; or anything with
            Arrow's C stream interface, which becomes an Arrow table.
        lenient: Whether objects that Arrow cannot store are read as how they print, and not refused.
    """

    name = "the table"
    missing_values: tuple[str, ...] = ()

    def __init__(self, frame: Any, *, lenient: bool = False) -> None:
        self.frame = frame = _held(frame, self.name)
        self._lenient = lenient
        self._table = _wrap(frame, self.name)
        self._shape = self._table.shape
        self.columns = tuple(self._table.columns)
        if not self.columns:
            raise DataError(f"{self.name} has no columns")
        if not self._shape[0]:
            raise DataError(f"{self.name} has no rows")
        self._schema: pa.Schema | None = None

    @property
    def stored(self) -> pa.Schema:
        """The types that the frame has, where they are not those of `schema`; only a table of Arrow says which."""
        native = self._table.to_native()
        return native.schema if isinstance(native, pa.Table) else self.schema

    @property
    def schema(self) -> pa.Schema:
        if self._schema is None:
            self._schema = next(self.batches()).schema
        return self._schema

    def batches(self, columns: Sequence[str] | None = None, encoded: Collection[str] = ()) -> Iterator[pa.RecordBatch]:
        """Stream the rows in order; see `Source.batches`. Text is always of Arrow's type `string`."""
        chosen = choose_columns(self, columns)
        self.check_unchanged()
        values = [self._column(name, name in encoded) for name in chosen]
        for start in range(0, self._shape[0], BATCH_ROWS):
            arrays = [_as_string(as_array(column.slice(start, BATCH_ROWS))) for column in values]
            if arrays:
                yield pa.RecordBatch.from_arrays(arrays, names=chosen)
            else:
                rows = min(BATCH_ROWS, self._shape[0] - start)
                yield pa.RecordBatch.from_arrays([pa.nulls(rows)], names=["none"]).select([])

    def _column(self, name: str, encoded: bool) -> pa.Array | pa.ChunkedArray:
        """A whole column as Arrow: types are detected from all of its values, not per batch."""
        native = self._table.to_native()
        if isinstance(native, pa.Table):
            column = native.column(name)
        else:
            try:
                column = self._table.get_column(name).to_arrow()
            except Exception:  # every library has its own errors, and their messages show values
                column = None
        if column is None and self._lenient:
            return pa.array(map(repr, self._table.get_column(name).to_list()), pa.string())
        if column is None:
            raise DataError(f"column '{name}' mixes types or holds objects that a table cannot store; convert it first")
        column = as_usual(column, name)
        if encoded or pa.types.is_dictionary(column.type):
            return as_dictionary(as_array(column))
        return column

    def fingerprint(self, check: Check | None = None) -> str:
        sink = _HashSink()
        with pa.ipc.new_stream(pa.PythonFile(sink, mode="w"), self.schema) as stream:
            for batch in self.batches():
                stream.write_batch(batch)
                if check is not None:
                    check()
        return "sha256:" + sink.digest.hexdigest()

    def check_unchanged(self) -> None:
        if self._table.shape != self._shape or tuple(self._table.columns) != self.columns:
            raise DataError(f"{self.name} changed while it was being read; work on a copy")


class _HashSink(io.RawIOBase):
    def __init__(self) -> None:
        self.digest = hashlib.sha256()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.digest.update(data)
        return len(data)


def rebuild(
    frame: Frame,
    replaced: Mapping[str, pa.Array | pa.ChunkedArray],
    dropped: Collection[str] = (),
    rows: Rows | None = None,
    *,
    index: bool = False,
) -> Frame:
    """A frame of the same kind with some columns replaced, some dropped, and some rows in some order.

    All other columns, their types and their order stay as they are. What the frame holds besides its values does not
    go along: metadata, and categories that no row has.

    Args:
        frame: The frame that the release was made from; it is not changed.
        replaced: The new values of columns, for every row of the frame: text, or values of the type that they had.
        dropped: The columns to leave out.
        rows: The places of the rows to give back, in order; all as they are if None.
        index: Whether a pandas frame keeps its index; otherwise its rows are numbered from 0.
    """
    table = _wrap(frame, "the table")
    native = table.to_native()
    new = {name: _plain(values, table.shape[0], rows) for name, values in replaced.items() if name not in dropped}
    if isinstance(native, pa.Table):
        result: Any = _rebuild_arrow(native, new, dropped, rows)
    elif nw.dependencies.is_pandas_like_dataframe(native):
        result = _rebuild_pandas(native, new, dropped, rows, index=index)
    else:
        result = _rebuild_narwhals(table, new, dropped, rows)
    return cast("Frame", nw.from_native(result) if isinstance(frame, nw.DataFrame) else result)


def _rebuild_arrow(table: pa.Table, new: Columns, dropped: Collection[str], rows: Rows | None) -> pa.Table:
    columns, fields = [], []
    for field, column in zip(table.schema, table.columns, strict=True):
        if field.name in dropped:
            continue
        if field.name in new:
            columns.append(new[field.name])
            fields.append(pa.field(field.name, new[field.name].type))
        else:
            columns.append(without_unused(_taken(column, rows)))
            fields.append(field)
    kept = pa.Table.from_arrays(columns, schema=bare(pa.schema(fields)))
    return kept.replace_schema_metadata(pandas_notes(table.schema, kept.schema))


def _taken(column: pa.ChunkedArray, rows: Rows | None) -> pa.ChunkedArray:
    """Some rows of a column, copied: a part of a buffer would carry the others along."""
    if rows is None:
        return column
    taken = as_usual(column, "").take(pa.array(rows))  # Arrow cannot take some types
    return as_stored(taken, column.type)


def _rebuild_pandas(
    frame: Any, new: Columns, dropped: Collection[str], rows: Rows | None, *, index: bool = False
) -> Any:
    kept = frame.drop(columns=list(dropped))  # a new frame, also where nothing is dropped
    if rows is not None:
        kept = kept.iloc[rows]
    if not index:
        kept = kept.reset_index(drop=True)
    kept.columns = kept.columns.rename(None)
    kept.attrs = {}
    for name, values in new.items():
        kept[name] = _as_pandas(values, frame[name].dtype)  # without an index of its own, which pandas would align
    for name in kept.columns.difference(list(new), sort=False):
        kind = str(kept[name].dtype)
        if kind == "category":
            kept[name] = _with_used_categories(kept[name])
        elif kind.startswith("dictionary"):
            kept[name] = type(kept[name].array)(without_unused(pa.chunked_array(pa.array(kept[name]))))
    return kept


def _as_pandas(values: pa.Array, kind: Any) -> Any:
    if is_text(values.type):
        return values.to_pandas().array
    if hasattr(kind, "__from_arrow__"):
        return kind.__from_arrow__(pa.chunked_array([values]))
    if kind.kind == "O":
        return np.array([*values.to_pylist(), None], object)[:-1]  # None, so that it is not a matrix
    if values.null_count and kind.kind in "iub":  # of rows that fit nothing: a type of the same width that has nulls
        return values.to_pandas(types_mapper=_nullable).array
    return values.to_pandas().astype(kind).array


def _nullable(kind: pa.DataType) -> Any:
    import pandas as pd

    name = "boolean" if pa.types.is_boolean(kind) else str(kind).replace("int", "Int").replace("uI", "UI")
    return pd.api.types.pandas_dtype(name)


def _with_used_categories(series: Any) -> Any:
    """A categorical column without categories that no row has; where they have no order of their own, sorted."""
    series = series.cat.remove_unused_categories()
    if series.cat.ordered:
        return series
    try:
        return series.cat.reorder_categories(sorted(series.cat.categories))
    except TypeError:  # of several kinds, which have no order: as they occur
        return series.cat.reorder_categories(list(series.dropna().unique()))


def _rebuild_narwhals(table: nw.DataFrame[Any], new: Columns, dropped: Collection[str], rows: Rows | None) -> Any:
    kept = table.select([name for name in table.columns if name not in dropped])
    kept = kept if rows is None else kept[rows]
    series = [_series(name, values, table) for name, values in new.items()]
    if rows is not None or any(isinstance(kind, nw.Enum) for kind in kept.schema.values()):
        others = [kept.get_column(name) for name in kept.columns if name not in new]
        series += [_copied(column) for column in others if not column.dtype.is_numeric()]
    return kept.with_columns(*series).to_native()


def _series(name: str, values: pa.Array, table: nw.DataFrame[Any]) -> nw.Series[Any]:
    if is_text(values.type):
        return nw.new_series(name, values, nw.String, backend=table.implementation)
    made = nw.new_series(name, values, backend=table.implementation)
    kind = table.schema[name]
    return made if made.dtype == kind else made.cast(kind)


def _copied(column: nw.Series[Any]) -> nw.Series[Any]:
    """A column whose buffers hold its own values only: polars shares the text of rows that are gone."""
    kind = column.dtype
    if isinstance(kind, nw.Enum):
        used = set(column.unique().to_list())
        kind = nw.Enum([category for category in kind.categories if category in used])
        column = column.cast(nw.String)
    copied = nw.new_series(column.name, column.to_arrow(), backend=column.implementation)
    return copied if copied.dtype == kind else copied.cast(kind)


def _plain(values: pa.Array | pa.ChunkedArray, size: int, rows: Rows | None) -> pa.Array:
    plain = as_array(values)
    if len(plain) != size:
        raise ValueError(f"{len(plain)} values for {size} rows")
    if pa.types.is_dictionary(plain.type):
        plain = plain.dictionary_decode()
    return plain if rows is None else plain.take(pa.array(rows))


def _held(frame: Any, name: str) -> Any:
    """A frame whose rows are in memory, made from one that is lazy or can be read only once."""
    native = nw.to_native(frame, pass_through=True)
    if nw.dependencies.is_polars_lazyframe(native):
        try:
            return native.collect()
        except Exception:  # of many kinds, and the messages may show values
            pass
        raise DataError(f"{name} is a lazy frame whose query fails when it is run; collect it first to see why")
    if hasattr(native, "__arrow_c_stream__") and not nw.dependencies.is_into_dataframe(native):
        with contextlib.suppress(Exception):  # a stream of something else than rows
            return pa.table(native)
    return frame


def _wrap(frame: Any, name: str) -> nw.DataFrame[Any]:
    native = nw.to_native(frame, pass_through=True)
    if isinstance(native, pa.Table):
        check_names(native.column_names, name)
    elif nw.dependencies.is_pandas_like_dataframe(native):
        labels = list(native.columns)
        odd = next((label for label in labels if not isinstance(label, str)), None)
        if odd is not None:
            kind = type(odd).__name__
            raise DataError(f"{name} has a column label of type {kind}; labels must be text, such as 'age'")
        check_names(labels, name)
    try:
        table = nw.from_native(native)
    except TypeError:
        table = None
    if isinstance(table, nw.LazyFrame):
        raise DataError(f"{name} is lazy ({type(frame).__name__}); collect it first")
    if not isinstance(table, nw.DataFrame):
        kind = f"{type(frame).__module__}.{type(frame).__qualname__}".removeprefix("builtins.")
        raise PolicyError(f"cannot read a table from {kind}; give a path or a dataframe (pandas, polars, pyarrow)")
    check_names(table.columns, name)
    return table


def _as_string(values: pa.Array) -> pa.Array:
    return values.cast(pa.string()) if is_text(values.type) and values.type != pa.string() else values
