"""Arrow columns as those of another kind of frame, where that has a type of its own: intervals, ordered categories."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

ENDS = ("low", "high")  # the fields of an interval
_FIRST, _LAST = {"ns": "1677-09-22", "": "0001-01-01"}, {"ns": "2262-04-11", "": "9999-12-31"}  # of moments


def native_columns(columns: pa.Table, frame: nw.DataFrame[Any]) -> Iterator[nw.Series[Any]]:
    """The columns of a table as series of another kind of frame, in order."""
    for name in columns.column_names:
        values = columns.column(name)
        if pa.types.is_struct(values.type) and frame.implementation.is_pandas_like():
            yield nw.from_native(_intervals(values, name, frame.to_native()), series_only=True)
        else:
            series = nw.from_arrow(columns.select([name]), backend=frame.implementation).get_column(name)
            yield _ordered(series, values) if frame.implementation.is_polars() else series


def _ordered(series: nw.Series[Any], values: pa.ChunkedArray) -> nw.Series[Any]:
    """Categories in polars, which keep their order only as an `Enum`."""
    if not pa.types.is_dictionary(values.type):
        return series
    polars = import_module("polars")
    categories = values.unify_dictionaries().chunk(0).dictionary.to_pylist()
    return nw.from_native(series.to_native().cast(polars.String).cast(polars.Enum(categories)), series_only=True)


def _intervals(values: pa.ChunkedArray, name: str, frame: Any) -> Any:
    """Intervals in pandas, closed on the left; an open end is infinite, or the first or last moment."""
    pandas = import_module("pandas")
    low, high = (_ends(pc.struct_field(values, end), end) for end in ENDS)
    there = values.is_valid().to_numpy()
    pairs = pandas.arrays.IntervalArray.from_arrays(low, high, closed="left")
    return pandas.Series(pairs, index=frame.index, name=name).where(pandas.Series(there, index=frame.index))


def _ends(ends: pa.ChunkedArray, end: str) -> Any:
    kind = ends.type
    if pa.types.is_date(kind):
        ends = ends.cast(pa.timestamp("s"))
    if pa.types.is_timestamp(ends.type):
        known = _FIRST if end == "low" else _LAST
        moment = np.datetime64(known.get(ends.type.unit, known[""]), ends.type.unit).astype(np.int64)
        return ends.fill_null(pa.scalar(int(moment), pa.int64()).cast(ends.type)).to_pandas()
    if not ends.null_count:
        return ends.to_numpy()
    return ends.cast(pa.float64()).fill_null(-np.inf if end == "low" else np.inf).to_numpy()
