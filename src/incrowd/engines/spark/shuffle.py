"""Released rows in an order of their own, on a cluster: the order of `engines/row_order`.

Rows are hashed and equal rows numbered, which makes a second hash to sort by; where there are more distinct rows than
`MOST_DISTINCT`, the first bytes of the first hash come before it, so that equal rows are together wherever they go, and
rows are moved once. Both hashes are spread evenly, so Spark need not sample to cut them into partitions. (Of more than
seventeen thousand million distinct rows, the order within parts is another one than that of other engines.)
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from incrowd.engines import row_order
from incrowd.engines.row_order import PARTS
from incrowd.engines.spark.hashes import spread
from incrowd.engines.spark.source import ORDER

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.window import WindowSpec

HASH, _SECOND, _LEAD, _PLACE = _OWN = ("h", "s", "lead", "part")
_ROWS = 250_000  # of a part file, until there are as many parts as first bytes
_CUTS = 1 << 16  # of the first two bytes
_LOOKED_AT = 2  # times as many rows as would be many if they are distinct, before all are counted


def shuffled(hashed: DataFrame, records: int) -> DataFrame:
    """Rows in an order that follows from what is released alone, whose hash is in the column `HASH`."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    lead = _leading(hashed, records)
    parts = min(PARTS, 1 + records // _ROWS)
    if lead is None:
        drawn = _drawn(hashed, Window.partitionBy(HASH))
        return _cut(drawn, _upper(_SECOND), parts).sortWithinPartitions(_SECOND).drop(*_OWN)
    drawn = _drawn(_cut(hashed.withColumn(_LEAD, lead), F.col(_LEAD), parts), Window.partitionBy(_PLACE, HASH))
    return drawn.sortWithinPartitions(_LEAD, _SECOND).drop(*_OWN)


def _drawn(rows: DataFrame, equals: WindowSpec) -> DataFrame:
    """Rows with the second hash, of the first one and a running number among equals."""
    from pyspark.sql import functions as F

    return spread(rows.withColumn(_SECOND, F.row_number().over(equals.orderBy(HASH)) - 1), HASH, _SECOND)


def _cut(rows: DataFrame, first_bytes: Column, parts: int) -> DataFrame:
    """Rows in partitions by the first two bytes of what they are sorted by."""
    return rows.withColumn(_PLACE, (first_bytes * parts / _CUTS).cast("int")).repartitionById(parts, _PLACE)


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


def _leading(hashed: DataFrame, records: int) -> Column | None:
    """What comes before the second hash: nothing, or the first byte of the first one, or its first two."""
    from pyspark.sql import functions as F

    most = row_order.MOST_DISTINCT
    if records <= most:
        return None
    bytes_ = _first_bytes(HASH)
    first = F.shiftrightunsigned(bytes_, 8)
    if _cannot_be_deep(records, most) and hashed.select(HASH).limit(_LOOKED_AT * most).distinct().count() > most:
        return F.shiftleft(first, 8)
    counted = hashed.select(HASH).distinct().groupBy(first).count().toArrow()
    distinct = dict(zip(*(column.to_pylist() for column in counted.columns), strict=True))
    if sum(distinct.values()) <= most:
        return None
    deep = F.array(*(F.lit(distinct.get(part, 0) > most) for part in range(PARTS)))
    return F.when(F.get(deep, first.cast("int")), bytes_).otherwise(F.shiftleft(first, 8))


def _cannot_be_deep(records: int, most: int) -> bool:
    """Whether no part of so many rows has more distinct ones than that: not within thirty standard deviations."""
    mean = records / PARTS
    return mean + 30 * math.sqrt(mean) < most
