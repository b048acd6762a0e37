"""Recoded rows into a folder of files, written beside the target by the cluster, counted there, then moved.

Like all that Spark writes, a release is a folder of part files. It appears at once, when it was verified. On this
machine that is done as for any other release; elsewhere by Hadoop's file systems, which Spark Connect does not show.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from incrowd.engines.engine import See
from incrowd.engines.spark.output import SparkOutput
from incrowd.engines.spark.release import released_names, released_rows, show
from incrowd.engines.spark.session import spark_errors
from incrowd.engines.spark.source import SparkSource, as_spark
from incrowd.engines.spark.working import working
from incrowd.errors import DataError, OutputError
from incrowd.formats.outputs import BatchWriter, Output
from incrowd.formats.read_back import written as written_back
from incrowd.formats.registry import has_types, open_writer
from incrowd.formats.sources import Source
from incrowd.recodings.recoding import Recoding
from incrowd.run import Run

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructType


def write(
    source: Source,
    recoding: Recoding,
    path: Path | Output,
    see: See,
    run: Run,
    *,
    sees: Sequence[str] | None = None,
    seen: bool = False,
    witnessed: Sequence[str] = (),
    keep_order: bool = False,
    master: str | None = None,
) -> str:
    """Write the recoded rows; see `Engine.write`. A single file is written by the driver, a folder by the cluster."""
    from pyspark.sql import Observation

    spark = as_spark(source, master)
    names = released_names(spark, recoding)
    with spark_errors(f"write the release of {spark.name}"):
        types = path.kind not in ("csv", "json") if isinstance(path, SparkOutput) else has_types(path)
        rows = released_rows(spark, recoding, run, seen=seen, witnessed=witnessed, keep_order=keep_order, types=types)
        if not isinstance(path, SparkOutput):
            return _to_one_file(spark, rows, path, see, run, [*names, *witnessed], len(witnessed))
        target = path.begin(spark)
        kept = rows.select(rows.columns[: len(names)]).toDF(*names)
        seen_rows = Observation()  # by Spark, on their way to whoever writes: that costs no second look at them
        working(run, spark.session, lambda: target.save(kept.observe(seen_rows, *_digest(kept, kept.schema))))
        meant = [working(run, spark.session, kept.count), seen_rows.get["total"]]  # not all may have been asked for
        written = target.read_back(names, kept.schema)
        spark.check_unchanged()
        if written.columns != names or _asked(spark, written, kept.schema, run) != meant:
            raise OutputError(f"{path.name} does not hold what was to be written; nothing was written")
        if not witnessed:
            show(spark, written, names, see, sees, run)
        else:
            # Whose record each is stands in no file. These rows are counted instead, once it is shown that without
            # that column they are the very rows of the files, however often each occurs.
            show(spark, rows, [*names, *witnessed], see, sees, run)
            counted = rows.select(rows.columns[: len(names)]).toDF(*names)
            if _asked(spark, counted, kept.schema, run) != meant:
                raise DataError(
                    f"{source.name} changed while it was being released; run again when nothing writes to it"
                )
        return target.fingerprint()


def _digest(frame: DataFrame, schema: StructType) -> list[Column]:
    """The number of rows, and the sum of their hashes: the same for the same rows in any order.

    Args:
        frame: The rows.
        schema: The types that they were meant to have: where all is text, values are made from it again.
    """
    from pyspark.sql import functions as F
    from pyspark.sql.types import StringType

    texts = []
    for name, field in zip(frame.columns, schema.fields, strict=True):
        quoted = F.col("`" + name.replace("`", "``") + "`")
        typed = quoted if frame.schema[name].dataType == field.dataType else quoted.try_cast(field.dataType)
        text = typed if isinstance(field.dataType, StringType) else F.to_json(F.struct(typed.alias("v")))
        texts.append(F.coalesce(text.cast("string"), F.lit("")))
    return [F.count(F.lit(1)).alias("rows"), F.sum(F.xxhash64(*texts).cast("decimal(38,0)")).alias("total")]


def _asked(source: SparkSource, frame: DataFrame, schema: StructType, run: Run) -> list[Any]:
    """What the cluster finds in a frame."""
    found = working(run, source.session, frame.agg(*_digest(frame, schema)).toArrow)
    return list(found.to_pylist()[0].values())


def _to_one_file(
    source: SparkSource, rows: DataFrame, path: Path | Output, see: See, run: Run, names: Sequence[str], extra: int
) -> str:
    """Bring all rows to the driver, and write them there."""
    table: pa.Table = working(run, source.session, rows.toArrow).replace_schema_metadata(None).rename_columns(names)
    source.check_unchanged()
    schema = table.select(list(names[: len(names) - extra])).schema

    def opened(schema: pa.Schema) -> BatchWriter:
        return open_writer(path, schema, source) if isinstance(path, Path) else path.writer(schema, source)

    def batches() -> Iterator[pa.RecordBatch]:
        for batch in table.combine_chunks().to_batches():
            run.rows(len(batch))
            yield batch

    folder = path.parent if isinstance(path, Path) else path.beside.parent
    return written_back(batches(), schema, opened, see, run.check, folder)
