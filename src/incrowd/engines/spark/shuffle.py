"""Released rows in an order of their own, on a cluster: the order of `engines/row_order`.

Rows are hashed and equal rows numbered, which makes a second hash to sort by; where there are more distinct rows than
`MOST_DISTINCT`, the first bytes of the first hash come before it. Both hashes are spread evenly, so Spark need not
sample to cut them into partitions. (Of more than seventeen thousand million distinct rows, the order within parts is
another one than that of other engines.)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from incrowd.engines import row_order
from incrowd.engines.row_order import PARTS
from incrowd.engines.spark import kernels
from incrowd.engines.spark.source import ORDER

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_HASH, _SECOND, _LEAD, _PLACE = "h", "s", "lead", "part"
_ROWS = 250_000  # of a part file, until there are as many parts as first bytes
_CUTS = 1 << 16  # of the first two bytes


def shuffled(rows: DataFrame, columns: Sequence[str], names: Sequence[str], records: int) -> DataFrame:
    """Rows in an order that follows from what is released alone."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    hashed = rows.withColumn(_HASH, kernels.hash_of_rows(names)(*columns))
    among_equals = F.row_number().over(Window.partitionBy(_HASH).orderBy(_HASH)) - 1
    drawn = hashed.withColumn(_SECOND, among_equals.cast("long"))
    drawn = drawn.withColumn(_SECOND, kernels.spread()(_HASH, _SECOND)).withColumn(_LEAD, _leading(hashed, records))
    parts = min(PARTS, 1 + records // _ROWS)
    place = (F.when(F.col(_LEAD) >= 0, F.col(_LEAD)).otherwise(_upper(_SECOND)) * parts / _CUTS).cast("int")
    cut = drawn.withColumn(_PLACE, place).repartitionById(parts, _PLACE)
    return cut.sortWithinPartitions(_LEAD, _SECOND).drop(_HASH, _SECOND, _LEAD, _PLACE)


def in_order(rows: DataFrame) -> DataFrame:
    places = [name for name in rows.columns if name.startswith(ORDER)]
    return rows.orderBy(*places)


def _first_bytes(name: str) -> Column:
    from pyspark.sql import functions as F

    return F.shiftrightunsigned(name, 48)


def _upper(name: str) -> Column:
    """The same of a hash whose sign was turned."""
    from pyspark.sql import functions as F

    return F.shiftright(name, 48) + (1 << 15)


def _leading(hashed: DataFrame, records: int) -> Any:
    """What comes before the second hash: nothing (-1), or the first byte of the first one, or its first two."""
    from pyspark.sql import functions as F

    bytes_ = _first_bytes(_HASH)
    if records <= row_order.MOST_DISTINCT:
        return F.lit(-1)
    counted = hashed.select(_HASH).distinct().groupBy(F.shiftrightunsigned(bytes_, 8)).count().toArrow()
    distinct = dict(zip(*(column.to_pylist() for column in counted.columns), strict=True))
    if sum(distinct.values()) <= row_order.MOST_DISTINCT:
        return F.lit(-1)
    deep = F.array(*(F.lit(distinct.get(part, 0) > row_order.MOST_DISTINCT) for part in range(PARTS)))
    first = F.shiftrightunsigned(bytes_, 8)
    return F.when(F.get(deep, first.cast("int")), bytes_).otherwise(F.shiftleft(first, 8))
