"""What the driver knows, as tables that rows find their answer in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import and_, or_
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from incrowd.engines.spark.session import CHANGED

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

Answers = dict[str, pa.Array]
_BROADCAST = 2_000_000  # rows of a table that go to every machine; larger ones are joined in parts


def lookup_table(session: SparkSession, columns: Answers, kinds: Mapping[str, Any] | None = None) -> DataFrame:
    """A table of the driver's, for a join; `kinds` has Spark's types of columns that are not numbers or texts."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import StructField, StructType

    fields = [StructField(name, (kinds or {}).get(name) or _kind(column.type)) for name, column in columns.items()]
    table = session.createDataFrame(pa.table(columns), StructType(fields))
    return F.broadcast(table) if is_sent_along(columns) else table


def is_sent_along(columns: Answers) -> bool:
    """Whether such a table goes to every machine: then rows that look something up stay where they are."""
    return len(next(iter(columns.values()))) <= _BROADCAST


def _kind(kind: pa.DataType) -> Any:
    from pyspark.sql import types

    known = {"int32": types.IntegerType, "int64": types.LongType, "bool": types.BooleanType, "string": types.StringType}
    return known[str(kind)]()


def found_by(column: Column, by: str) -> Column:
    """What a join found, which raises if it found nothing: then a column is null that never is."""
    from pyspark.sql import functions as F

    return F.when(F.col(by).isNull(), F.raise_error(F.lit(CHANGED))).otherwise(column)


def any_of(conditions: Sequence[Column]) -> Column:
    return reduce(or_, conditions)


def all_of(conditions: Sequence[Column]) -> Column:
    return reduce(and_, conditions)
