"""A few rows before and after, side by side; for the steward, who may see both."""

from __future__ import annotations

import pyarrow as pa

from incrowd.engines.spark.order import in_order
from incrowd.engines.spark.recode import Recoder, label_column
from incrowd.engines.spark.release import released_names
from incrowd.engines.spark.session import spark_errors
from incrowd.engines.spark.source import as_spark
from incrowd.formats.sources import Source
from incrowd.recodings.recoding import Recoding
from incrowd.run import Run


def preview(
    source: Source, recoding: Recoding, rows: int, *, master: str | None = None
) -> tuple[pa.RecordBatch, pa.RecordBatch]:
    """The first few rows that are released; see `Engine.preview`."""
    spark = as_spark(source, master)
    with spark_errors(f"recode {spark.name}"):
        table = in_order(Recoder(spark, recoding, Run()).rows(ordered=True)).limit(rows).toArrow()
    (batch,) = table.replace_schema_metadata(None).combine_chunks().to_batches() or [_nothing(table.schema)]
    before = batch.select([spark.place(name) for name in spark.columns]).rename_columns(list(spark.columns))
    label_of = {name: label_column(place) for place, name in enumerate(recoding.names)}
    names = released_names(spark, recoding)
    after = batch.select([label_of.get(name) or spark.place(name) for name in names]).rename_columns(names)
    return before, after


def _nothing(schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([], field.type) for field in schema], schema=schema)
