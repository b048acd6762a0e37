"""The hashes of `engines/row_order` as expressions of Spark, so that rows need not go through workers in Python.

What a recoding shows is known to the driver, which hashes it there: rows find the hash where they find the label.
Whole numbers, dates and moments are hashed by arithmetic. Spark counts in signed numbers and refuses those that run
over, so 64 bits are handled in parts of at most 32: nothing here runs over, whatever the session is set to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import add
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from incrowd.engines.allocation import GOLDEN, MIX_FACTORS, MIX_SHIFTS, Hashes
from incrowd.engines.row_order import hash_of_nothing, row_hashes, seed_of

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_HALF, _QUARTER = 1 << 32, 1 << 16
_SIGN = -(1 << 63)
WHOLE = ("tinyint", "smallint", "int", "bigint", "boolean", "date", "timestamp")  # types whose hashes Spark computes


def signed(hashes: Hashes) -> pa.Array:
    """Hashes as the numbers that Spark has."""
    return pa.array(np.ascontiguousarray(hashes).view(np.int64))


def hashes_of(name: str, values: pa.Array) -> Hashes:
    """The hash of each value of a column."""
    return row_hashes(pa.RecordBatch.from_arrays([values], names=[name]))


def total(hashes: Sequence[Column]) -> Column:
    """The sum of hashes, which is that of a row."""
    return _joined(reduce(add, map(_high, hashes)), reduce(add, map(_low, hashes)))


def with_hashes(rows: DataFrame, columns: Mapping[str, tuple[str, str]], kinds: Mapping[str, str]) -> DataFrame:
    """Rows with the hashes of columns of whole numbers, dates and moments.

    Args:
        rows: The rows.
        columns: The column that gets the hashes, and the name by which its values are hashed, by column.
        kinds: Spark's name of the type of each column.
    """
    from pyspark.sql import functions as F

    seeds = {column: seed_of(name) for column, (_, name) in columns.items()}
    nothing = {column: _as_signed(int(hash_of_nothing(seed)[0])) for column, seed in seeds.items()}
    numbers = {
        new: F.coalesce(_number(column, kinds[column]), F.lit(0)).bitwiseXOR(F.lit(_as_signed(int(seeds[column]))))
        for column, (new, _) in columns.items()
    }
    mixed_ones = mixed(rows.withColumns(numbers), list(numbers))
    return mixed_ones.withColumns(
        {
            new: F.when(F.col(column).isNull(), F.lit(nothing[column])).otherwise(F.col(new))
            for column, (new, _) in columns.items()
        }
    )


def spread(rows: DataFrame, hashes: str, numbers: str) -> DataFrame:
    """Rows whose running numbers among equals have become the second hash, in the order of signed numbers."""
    from pyspark.sql import functions as F

    rows = mixed(rows.withColumn(numbers, F.col(numbers).cast("long")), [numbers])
    rows = mixed(rows.withColumn(numbers, F.col(numbers).bitwiseXOR(F.col(hashes))), [numbers])
    return rows.withColumn(numbers, F.col(numbers).bitwiseXOR(F.lit(_SIGN)))


def mixed(rows: DataFrame, names: Sequence[str]) -> DataFrame:
    """Rows whose numbers in some columns are replaced by `allocation.mix` of them.

    Steps are projections of their own, since Spark would else write out each number once for every use of it.
    """
    from pyspark.sql import functions as F

    columns = rows.columns
    high, low = divmod(GOLDEN, _HALF)
    numbers = {name: _joined(_high(F.col(name)) + high, _low(F.col(name)) + low) for name in names}
    for by, factor in zip(MIX_SHIFTS, MIX_FACTORS, strict=False):
        rows = rows.withColumns({name: _shifted(number, by) for name, number in numbers.items()})
        products = {f"{name}_product": _product(F.col(name), factor) for name in names}
        rows = rows.withColumns({**products, **{f"{name}_above": _above(F.col(name), factor) for name in names}})
        numbers = {
            name: _joined(_high(F.col(f"{name}_product")) + F.col(f"{name}_above"), _low(F.col(f"{name}_product")))
            for name in names
        }
    return rows.withColumns({name: _shifted(number, MIX_SHIFTS[-1]) for name, number in numbers.items()}).select(
        *columns
    )


def _shifted(number: Column, by: int) -> Column:
    from pyspark.sql import functions as F

    return number.bitwiseXOR(F.shiftrightunsigned(number, by))


def _product(number: Column, factor: int) -> Column:
    """The 64 bits of the lower half of a number times the lower half of a factor, which is taken in quarters."""
    from pyspark.sql import functions as F

    above, lowest = divmod(factor % _HALF, _QUARTER)
    first = _low(number) * lowest
    upper = F.shiftrightunsigned(first, 16) + _low(number) * above
    return F.shiftleft(upper, 16).bitwiseOR(_quarter(first))


def _above(number: Column, factor: int) -> Column:
    """What the other products of halves add to the upper half of a product."""
    from pyspark.sql import functions as F

    (f3, f2), (f1, f0) = (divmod(half, _QUARTER) for half in divmod(factor, _HALF))
    crossed = F.shiftleft(_quarter(_low(number) * f3), 16) + F.shiftleft(_quarter(_high(number) * f1), 16)
    return _low(number) * f2 + _high(number) * f0 + crossed


def _number(column: str, kind: str) -> Column:
    from pyspark.sql import functions as F

    if kind == "date":
        return F.unix_date(column).cast("long")
    if kind == "timestamp":
        return F.unix_micros(column)
    return F.col(column).cast("long")


def _joined(high: Column, low: Column) -> Column:
    """64 bits of two sums, of upper and lower halves."""
    from pyspark.sql import functions as F

    return F.shiftleft(high + _high(low), 32).bitwiseOR(_low(low))


def _low(column: Column) -> Column:
    from pyspark.sql import functions as F

    return column.bitwiseAND(F.lit(_HALF - 1))


def _high(column: Column) -> Column:
    from pyspark.sql import functions as F

    return F.shiftrightunsigned(column, 32)


def _quarter(column: Column) -> Column:
    from pyspark.sql import functions as F

    return column.bitwiseAND(F.lit(_QUARTER - 1).cast("long"))


def _as_signed(number: int) -> int:
    return number - (1 << 64) if number >> 63 else number
