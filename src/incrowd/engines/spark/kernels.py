"""What the workers of a cluster compute of Arrow columns: the hashes that allocate records and order rows.

They are the functions that every engine uses. Their code travels with the data frame, by value: workers need not have
this package.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from incrowd.engines import allocation, row_order
from incrowd.engines.allocation import RowHash
from incrowd.engines.row_order import row_hashes


def hash_of_rows(names: Sequence[str]) -> Any:
    """A function of columns that hashes what is released of each row, as `row_order` does."""
    names = list(names)

    def hashes(*columns: pa.Array) -> pa.Array:
        return pa.array(row_hashes(pa.RecordBatch.from_arrays(list(columns), names=names)).view(np.int64))

    return _travelling(hashes)


def keyed_hash(key: bytes, names: Sequence[str]) -> Any:
    """A function of columns that hashes original rows with a key, as `allocation` does."""
    names, hashed = list(names), RowHash(key)

    def hashes(*columns: pa.Array) -> pa.Array:
        same = [_in_utc(column) for column in columns]
        return pa.array(hashed(pa.RecordBatch.from_arrays(same, names=names)).view(np.int64))

    return _travelling(hashes)


def _in_utc(column: pa.Array) -> pa.Array:
    """Moments as text must not depend on the time zone of the session."""
    zoned = pa.types.is_timestamp(column.type) and column.type.tz is not None
    return column.cast(pa.timestamp(column.type.unit, "UTC")) if zoned else column


def _travelling(function: Any) -> Any:
    """A function for Spark to call with Arrow columns."""
    import sys

    from pyspark import cloudpickle
    from pyspark.sql import functions as F

    for module in (allocation, row_order, sys.modules[__name__]):
        cloudpickle.register_pickle_by_value(module)
    return F.arrow_udf(function, "long")
