"""Recoded rows into a folder of files, written beside the target by the cluster, counted there, then moved.

Like all that Spark writes, a release is a folder of part files. It appears at once, when it was verified. On this
machine that is done as for any other release; elsewhere by Hadoop's file systems, which Spark Connect does not show.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from incrowd.engines.engine import See
from incrowd.engines.spark.output import SparkOutput
from incrowd.engines.spark.release import released_names, released_rows, show
from incrowd.engines.spark.session import spark_errors
from incrowd.engines.spark.source import SparkSource, as_spark
from incrowd.engines.spark.working import working
from incrowd.errors import DataError
from incrowd.formats.outputs import Output
from incrowd.formats.registry import has_types, open_writer
from incrowd.formats.sources import Source
from incrowd.recodings.recoding import Recoding
from incrowd.run import Run

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


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
    spark = as_spark(source, master)
    names = released_names(spark, recoding)
    with spark_errors(f"write the release of {spark.name}"):
        types = path.kind not in ("csv", "json") if isinstance(path, SparkOutput) else has_types(path)
        rows = released_rows(spark, recoding, run, seen=seen, witnessed=witnessed, keep_order=keep_order, types=types)
        if not isinstance(path, SparkOutput):
            return _to_one_file(spark, rows, path, see, run, [*names, *witnessed], len(witnessed))
        target = path.begin(spark)
        kept = rows.select(rows.columns[: len(names)]).toDF(*names)
        working(run, spark.session, lambda: target.save(kept))
        written = target.read_back(names, kept.schema)
        spark.check_unchanged()
        if not witnessed:
            show(spark, written, names, see, sees, run)
        else:
            show(spark, rows, [*names, *witnessed], see, sees, run)
            _check_same(spark, rows, written, [*range(len(names))], run)
        return target.fingerprint()


def _check_same(source: SparkSource, rows: DataFrame, written: DataFrame, columns: Sequence[int], run: Run) -> None:
    """Raise DataError unless the rows that were counted are those that were written."""
    from pyspark.sql import functions as F

    def digest(frame: DataFrame) -> Any:
        texts = [F.coalesce(F.col(frame.columns[place]).cast("string"), F.lit("")) for place in columns]
        total = F.sum(F.xxhash64(*texts).cast("decimal(38,0)"))
        return working(run, source.session, frame.agg(F.count(F.lit(1)), total).toArrow).to_pylist()[0].values()

    if list(digest(rows)) != list(digest(written)):
        raise DataError(f"{source.name} changed while it was being released; run again when nothing writes to it")


def _to_one_file(
    source: SparkSource, rows: DataFrame, path: Path | Output, see: See, run: Run, names: Sequence[str], extra: int
) -> str:
    """Bring all rows to the driver, and write them there."""
    table: pa.Table = working(run, source.session, rows.toArrow).replace_schema_metadata(None).rename_columns(names)
    source.check_unchanged()
    kept = table.select(list(names[: len(names) - extra]))
    writer = open_writer(path, kept.schema, source) if isinstance(path, Path) else path.writer(kept.schema, source)
    with writer as opened:
        for batch in table.combine_chunks().to_batches():
            run.rows(len(batch))
            see(batch)
            opened.write(batch.select(kept.column_names))
    return opened.fingerprint
