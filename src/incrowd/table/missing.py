"""Which values are missing, and columns as distinct values with indices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from incrowd.errors import DataError
from incrowd.table.scales import text_of


def is_missing(values: pa.Array, tokens: Sequence[str]) -> Any:
    """Which values are missing: nulls, not-a-numbers, and texts that stand for a missing value."""
    missing = pc.is_null(values, nan_is_null=True)
    kind = values.type
    # -9 means the same in a CSV file and in a frame, as an integer, a float or a decimal
    numeric = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    if tokens and (numeric or pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        missing = pc.or_(missing, pc.is_in(text_of(values), pa.array(tokens, pa.string())))
    return missing.to_numpy(zero_copy_only=False)


def encoded(column: pa.Array, name: str) -> pa.DictionaryArray:
    """A column as distinct values and indices; nulls are null indices."""
    if pa.types.is_nested(column.type):
        raise DataError(f"column '{name}' has type {column.type}, which holds no single values; convert it to text")
    return column if pa.types.is_dictionary(column.type) else column.dictionary_encode()


def listed(values: pa.Array) -> list[Any]:
    """Values as Python has them; timestamps of nanoseconds, which it has not, as text."""
    nanoseconds = pa.types.is_timestamp(values.type) and values.type.unit == "ns"
    return list((values.cast(pa.string()) if nanoseconds else values).to_pylist())
