"""Dataframes of any library that Narwhals knows: reading their columns as Arrow, and giving the same type back."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, TypeVar, cast

import narwhals as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from incrowd.errors import DataError, PolicyError
from incrowd.formats.parquet_files import amended_metadata
from incrowd.formats.sources import BATCH_ROWS, Check, as_array, as_dictionary, check_names, choose_columns, is_text

Frame = TypeVar("Frame")


class FrameSource:
    """A dataframe in memory.

    Args:
        frame: An eager frame of pandas, polars, pyarrow or another library that Narwhals knows.
    """

    name = "the table"
    missing_values: tuple[str, ...] = ()

    def __init__(self, frame: Any) -> None:
        self.frame = frame
        self._table = _wrap(frame, self.name)
        self._shape = self._table.shape
        self.columns = tuple(self._table.columns)
        if not self.columns:
            raise DataError(f"{self.name} has no columns")
        if not self._shape[0]:
            raise DataError(f"{self.name} has no rows")
        self._schema: pa.Schema | None = None

    @property
    def schema(self) -> pa.Schema:
        """The fields as `batches()` gives them when nothing is encoded."""
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
        """A whole column as Arrow: types are found out from all of its values, not per batch."""
        native = self._table.to_native()
        if isinstance(native, pa.Table):
            column = native.column(name)
        else:
            try:
                column = self._table.get_column(name).to_arrow()
            except Exception:  # every library has its own errors, and their messages show values
                column = None
        if column is None:
            raise DataError(f"column '{name}' mixes types or holds objects that a table cannot store; convert it first")
        if encoded or pa.types.is_dictionary(column.type):
            return as_dictionary(as_array(column))
        return column

    def fingerprint(self, check: Check | None = None) -> str:
        """The SHA-256 of the table as an Arrow stream."""
        sink = _HashSink()
        with pa.ipc.new_stream(pa.PythonFile(sink, mode="w"), self.schema) as stream:
            for batch in self.batches():
                stream.write_batch(batch)
                if check is not None:
                    check()
        return "sha256:" + sink.digest.hexdigest()

    def check_unchanged(self) -> None:
        """Raise DataError if rows or columns were added or removed."""
        if self._table.shape != self._shape or tuple(self._table.columns) != self.columns:
            raise DataError(f"{self.name} changed while it was being read; work on a copy")


class _HashSink:
    """A file that keeps only the digest of what is written to it."""

    closed = False

    def __init__(self) -> None:
        self.digest = hashlib.sha256()

    def write(self, data: bytes) -> int:
        self.digest.update(data)
        return len(data)

    def flush(self) -> None:
        pass

    def close(self) -> None:
        self.closed = True


def rebuild(
    frame: Frame,
    replaced: Mapping[str, pa.Array | pa.ChunkedArray],
    dropped: Collection[str] = (),
    keep: npt.NDArray[np.bool_] | None = None,
) -> Frame:
    """The same frame with some columns replaced by text, some dropped, and some rows left out.

    All other columns, their types, the order of rows and columns, and the index of a pandas frame stay as they are.

    Args:
        frame: The frame that the release was made from; it is not changed.
        replaced: The new text of columns, with a value for every row of the frame, or for every row that is kept.
        dropped: The columns to leave out.
        keep: Which rows to keep; all if None.
    """
    table = _wrap(frame, "the table")
    native = table.to_native()
    rows = table.shape[0] if keep is None else int(keep.sum())
    texts = {name: _kept_text(values, rows, keep) for name, values in replaced.items() if name not in dropped}
    if isinstance(native, pa.Table):
        result: Any = _rebuild_arrow(native, texts, dropped, keep)
    elif nw.dependencies.is_pandas_like_dataframe(native):
        result = _rebuild_pandas(native, texts, dropped, keep)
    else:
        result = _rebuild_narwhals(table, texts, dropped, keep)
    return cast("Frame", nw.from_native(result) if isinstance(frame, nw.DataFrame) else result)


def _rebuild_arrow(
    table: pa.Table, texts: Mapping[str, pa.Array], dropped: Collection[str], keep: npt.NDArray[np.bool_] | None
) -> pa.Table:
    kept = table.select([name for name in table.column_names if name not in dropped])
    kept = kept if keep is None else kept.filter(pa.array(keep))
    for name, text in texts.items():
        kept = kept.set_column(kept.column_names.index(name), pa.field(name, text.type), text)
    return kept.replace_schema_metadata(amended_metadata(table.schema, kept.schema))


def _rebuild_pandas(
    frame: Any, texts: Mapping[str, pa.Array], dropped: Collection[str], keep: npt.NDArray[np.bool_] | None
) -> Any:
    kept = frame if keep is None else frame.loc[keep]
    kept = kept.drop(columns=list(dropped))  # a new frame, also where nothing is dropped
    for name, text in texts.items():
        kept[name] = text.to_pandas().array  # without an index of its own, which pandas would align
    return kept


def _rebuild_narwhals(
    table: nw.DataFrame[Any],
    texts: Mapping[str, pa.Array],
    dropped: Collection[str],
    keep: npt.NDArray[np.bool_] | None,
) -> Any:
    kept = table.select([name for name in table.columns if name not in dropped])
    kept = kept if keep is None else kept.filter(keep.tolist())
    series = [nw.new_series(name, text, nw.String, backend=table.implementation) for name, text in texts.items()]
    return kept.with_columns(*series).to_native()


def _kept_text(values: pa.Array | pa.ChunkedArray, rows: int, keep: npt.NDArray[np.bool_] | None) -> pa.Array:
    """Values as plain text, for the rows that are kept."""
    text = as_array(values)
    if pa.types.is_dictionary(text.type):
        text = text.dictionary_decode()
    text = text if is_text(text.type) else text.cast(pa.string())
    if keep is not None and len(text) == len(keep):
        text = text.filter(pa.array(keep))
    if len(text) != rows:
        raise ValueError(f"{len(text)} values for {rows} rows")
    return text


def _wrap(frame: Any, name: str) -> nw.DataFrame[Any]:
    """The frame behind Narwhals' interface, with names that can be used."""
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
    """Text in Arrow's usual layout, and other values as they are."""
    return values.cast(pa.string()) if is_text(values.type) and values.type != pa.string() else values
