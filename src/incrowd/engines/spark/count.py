"""What only rows can show about a release: which labels of the target are in which class, where tuples are dealt."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from incrowd.engines.arrow.count import ranks
from incrowd.engines.spark.compress import grouped
from incrowd.engines.spark.lookups import Answers
from incrowd.engines.spark.recode import Recoder
from incrowd.engines.spark.session import spark_errors
from incrowd.engines.spark.source import as_spark
from incrowd.errors import DataError
from incrowd.formats.sources import Source
from incrowd.recodings.recoding import Mask, Recoding
from incrowd.run import Run
from incrowd.table.grouping import Codes, Counts
from incrowd.table.scales import text_of


def label_counts(
    source: Source,
    recoding: Recoding,
    target: str,
    labels: tuple[str | None, ...],
    classes: int,
    run: Run,
    *,
    master: str | None = None,
) -> Counts:
    """Records per released class and label; see `Engine.label_counts`."""

    def answer(cells: Sequence[Codes], dealt: Codes) -> tuple[Answers, Mask | None]:
        found = np.asarray(recoding.class_numbers(cells, dealt), np.int64)
        return {"k": pa.array(found)}, found < classes  # others are left out

    spark = as_spark(source, master)
    with spark_errors(f"count the rows of {spark.name}"):
        rows = Recoder(spark, recoding, run).classes(answer)
        found = grouped(spark, rows, ["k", spark.place(target)], run)
    known = ranks(text_of(found.column(1).combine_chunks()), labels)
    missing = np.asarray(found.column(1).is_null(nan_is_null=True))
    numbers, known = np.asarray(found.column(0)), np.where(missing, len(labels) - 1, known)
    if (np.minimum(numbers, known) < 0).any():
        raise DataError(f"{spark.name} changed while it was being measured; run the command again")
    counts = np.zeros((classes, len(labels)), np.int64)
    np.add.at(counts, (numbers, known), np.asarray(found.column(2)))
    run.rows(int(counts.sum()))
    return counts
