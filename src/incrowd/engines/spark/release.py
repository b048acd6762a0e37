"""Released rows as a Spark data frame, counted by Spark for the witness."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from incrowd.engines.engine import See
from incrowd.engines.kept_types import KeptTypes
from incrowd.engines.spark.compress import grouped
from incrowd.engines.spark.order import in_order, shuffled
from incrowd.engines.spark.recode import Recoder, label_column
from incrowd.engines.spark.session import ends_with_process, spark_errors
from incrowd.engines.spark.source import CopiedSource, SparkSource, as_spark
from incrowd.engines.spark.working import working
from incrowd.formats.sources import BATCH_ROWS, Source
from incrowd.recodings.recoding import Recoding
from incrowd.run import Run

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def released_rows(
    source: SparkSource,
    recoding: Recoding,
    run: Run,
    *,
    seen: bool = False,
    witnessed: Sequence[str] = (),
    keep_order: bool = False,
    types: bool = True,
) -> DataFrame:
    """The released rows in their order, and after them the witnessed columns; columns are `r0`, `r1`, ...

    Args:
        source: The rows.
        recoding: The recoding.
        run: Asked in between whether to go on.
        seen: As in `Engine.recode`.
        witnessed: As in `Engine.recode`.
        keep_order: As in `Engine.recoded`.
        types: Whether columns that the recoding leaves as they are keep their type; else all recoded ones are text.
    """
    from pyspark.sql import functions as F

    rows = Recoder(source, recoding, run, seen=seen).rows(ordered=keep_order)
    names = released_names(source, recoding)
    label_of = {name: label_column(place) for place, name in enumerate(recoding.names)}
    taken = [label_of.get(name) or source.place(name) for name in names]
    taken += [source.place(name) for name in witnessed]
    columns = [f"r{place}" for place in range(len(taken))]
    places = [name for name in rows.columns if keep_order and name.startswith("o")]
    chosen = rows.select(*(F.col(old).alias(new) for old, new in zip(taken, columns, strict=True)), *places)
    if keep_order:
        ordered = in_order(chosen).drop(*places)
    else:
        ordered = shuffled(chosen, columns[: len(names)], names, source.count())
    kept = KeptTypes.of(recoding, source.schema).values if types else {}
    typed = {f"r{names.index(name)}": F.col(f"r{names.index(name)}").try_cast(source.kind(name)) for name in kept}
    return ordered.withColumns(typed) if typed else ordered


def released_names(source: SparkSource, recoding: Recoding) -> list[str]:
    """The columns that leave."""
    return [name for name in source.columns if name not in recoding.dropped]


def recode(
    source: Source,
    recoding: Recoding,
    run: Run,
    *,
    seen: bool = False,
    witnessed: Sequence[str] = (),
    master: str | None = None,
) -> Iterator[pa.RecordBatch]:
    """The rows, recoded, in their order; see `Engine.recode`."""
    spark = as_spark(source, master)
    with spark_errors(f"recode {spark.name}"):
        rows = released_rows(spark, recoding, run, seen=seen, witnessed=witnessed, keep_order=True)
        table = working(run, spark.session, rows.toArrow)
    names = [*released_names(spark, recoding), *witnessed]
    for batch in table.replace_schema_metadata(None).combine_chunks().to_batches(BATCH_ROWS):
        run.rows(len(batch))
        yield batch.rename_columns(names)
    spark.check_unchanged()


def recoded(
    source: Source,
    recoding: Recoding,
    run: Run,
    *,
    see: See | None = None,
    sees: Sequence[str] | None = None,
    witnessed: Sequence[str] = (),
    keep_order: bool = False,
    master: str | None = None,
) -> Any:
    """All rows, recoded: a Spark data frame for one, and for a path; see `Engine.recoded`.

    The rows are computed once and stay on the cluster, so that what was verified is what is used. If machines that hold
    them are lost, whoever uses them gets an error, and never other rows.
    """
    spark = as_spark(source, master)
    with spark_errors(f"recode {spark.name}"):
        rows = released_rows(spark, recoding, run, witnessed=witnessed, keep_order=keep_order)
        rows = working(run, spark.session, rows.localCheckpoint)
        ends_with_process(spark.session)
        names = released_names(spark, recoding)
        if see is not None:
            show(spark, rows, [*names, *witnessed], see, sees, run)
        spark.check_unchanged()
        given = rows.select(rows.columns[: len(names)]).toDF(*names)
        return _as_original(spark, given) if isinstance(spark, CopiedSource) else given


def show(
    source: SparkSource, rows: DataFrame, names: Sequence[str], see: See, sees: Sequence[str] | None, run: Run
) -> None:
    """Show a witness the rows, or Spark's counts of the columns that it looks at."""
    if sees is None:
        table = working(run, source.session, rows.toArrow).replace_schema_metadata(None).rename_columns(names)
        for batch in table.combine_chunks().to_batches(BATCH_ROWS):
            see(batch)
        return
    columns = [rows.columns[names.index(name)] for name in sees]
    table = grouped(source, rows, columns, run)
    for batch in table.combine_chunks().to_batches(BATCH_ROWS):
        counts = np.asarray(batch.column(batch.num_columns - 1), np.int64)
        run.rows(int(counts.sum()))
        see(batch.select(range(len(sees))).rename_columns(list(sees)), counts)


def _as_original(source: CopiedSource, rows: DataFrame) -> Any:
    """The rows as the kind of frame that was given."""
    table = rows.toArrow().replace_schema_metadata(None)
    backend = source.backend
    return table if backend is None else nw.from_arrow(table, backend=backend).to_native()
