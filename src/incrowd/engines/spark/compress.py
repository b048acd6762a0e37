"""From rows to the compressed table: Spark counts distinct tuples, the driver numbers their values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from incrowd.engines.arrow.compress import counted
from incrowd.engines.plan import ReadPlan
from incrowd.engines.spark.session import spark_errors, working
from incrowd.engines.spark.source import SparkSource
from incrowd.errors import DataError
from incrowd.formats.sources import BATCH_ROWS
from incrowd.run import Run
from incrowd.table.compressed import CompressedTable
from incrowd.table.missing import encoded

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def compress(source: SparkSource, plan: ReadPlan, run: Run) -> CompressedTable:
    names = plan.columns
    for name in names:
        encoded(pa.nulls(0, source.schema.field(name).type), name)  # refuses what holds no single values
    table = grouped(source, source.rows(), [source.place(name) for name in names], run)
    table = table.rename_columns([*names, "records"])
    if not table.num_rows:
        raise DataError(f"{source.name} has no rows")
    records = int(np.asarray(table.column("records")).sum())
    source.remember({name: table.column(name).unique() for name in names}, records)
    batches = (
        (batch.select(names), np.asarray(batch.column("records"), np.int64))
        for batch in table.combine_chunks().to_batches(BATCH_ROWS)
    )
    return counted(batches, source, plan, run)


def grouped(
    source: SparkSource, rows: DataFrame, columns: list[str], run: Run, also: Sequence[Column] = ()
) -> pa.Table:
    """The distinct rows of some columns, how many records each has, and what else is to be added up of these."""
    from pyspark.sql import functions as F

    with spark_errors(f"count the rows of {source.name}"):
        found: pa.Table = working(run, source.session, rows.groupBy(*columns).agg(F.count(F.lit(1)), *also).toArrow)
    return found.replace_schema_metadata(None)
