"""Which values are missing, and columns as distinct values with indices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from incrowd.errors import DataError, shown_type
from incrowd.table.arrays import filled, text_array, to_arrow, to_numpy
from incrowd.table.scales import text_of


def is_missing(values: pa.Array, tokens: Sequence[str]) -> Any:
    """Which values are missing: nulls, not-a-numbers, and texts that mean a missing value."""
    missing = pc.is_null(values, nan_is_null=True)
    kind = values.type
    # -9 means the same in a CSV file and in a frame, as an integer, a float or a decimal
    numeric = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    if tokens and (numeric or pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        missing = pc.or_(missing, pc.is_in(text_of(values), text_array(tokens)))
    return to_numpy(missing)


def encoded(column: pa.Array, name: str) -> pa.DictionaryArray:
    """A column as distinct values and indices; nulls are null indices."""
    if pa.types.is_nested(column.type):
        raise DataError(
            f"column '{name}' has type {shown_type(column.type)}, which holds no single values; convert it to text"
        )
    try:
        return column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    except pa.ArrowNotImplementedError:
        raise DataError(
            f"column '{name}' has type {shown_type(column.type)}, which cannot be used; convert it"
        ) from None


def encoded_in_any_order(column: pa.Array, name: str) -> pa.DictionaryArray:
    """The same, with distinct values in any order, which is faster for whole numbers that are close to each other."""
    if not pa.types.is_integer(column.type) or column.null_count or len(column) == 0:
        return encoded(column, name)
    values = to_numpy(column)
    least, most = int(values.min()), int(values.max())
    if most - least >= len(values) or most >= 1 << 62:
        return encoded(column, name)
    offsets = values.astype(np.int64)
    offsets -= least
    present = np.zeros(most - least + 1, bool)
    present[offsets] = True
    places = np.cumsum(present, dtype=np.int32)
    places -= 1
    distinct = to_arrow((np.flatnonzero(present) + least).astype(values.dtype))
    return pa.DictionaryArray.from_arrays(to_arrow(looked_up(places, to_arrow(offsets))), distinct, safe=False)


def looked_up(table: npt.NDArray[Any], places: pa.Array) -> npt.NDArray[Any]:
    """The entry of a small table at each place, by Arrow: it needs a third of numpy's time, and checks no bounds."""
    return to_numpy(pc.take(to_arrow(table), places, boundscheck=False))


def same_values(one: pa.Array, other: pa.Array) -> bool:
    """Whether two dictionaries have the same values in the same order; of floats, whose zeros have signs, none are."""
    return not pa.types.is_floating(one.type) and bool(one.equals(other))


def places_of(column: pa.DictionaryArray, of_null: int) -> pa.Array:
    return filled(column.indices, of_null)


def listed(values: pa.Array) -> list[Any]:
    """Values as Python has them; timestamps of nanoseconds, which it has not, as text."""
    nanoseconds = pa.types.is_timestamp(values.type) and values.type.unit == "ns"
    return list((values.cast(pa.string()) if nanoseconds else values).to_pylist())
