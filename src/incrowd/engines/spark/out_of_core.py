"""Tuples that stay on the cluster while a top-down search asks for counts.

Values are stored as the numbers that the driver gave them. What a number is released as comes along with each question,
as a list that every machine looks numbers up in. The tuples are computed once and stay where they are; if machines that
hold them are lost, the search ends with an error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from incrowd.engines.arrow.compress import Numbered, check_missing
from incrowd.engines.plan import ReadPlan
from incrowd.engines.spark.lookups import all_of, found_by, lookup_table
from incrowd.engines.spark.session import ends_with_process, spark_errors, working
from incrowd.engines.spark.source import SparkSource
from incrowd.errors import DataError
from incrowd.run import Run
from incrowd.table.grouping import Codes
from incrowd.table.missing import encoded
from incrowd.table.out_of_core import OutOfCoreTable

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_LISTED = 4096  # numbers that a question may list; the answers for more are joined
_RECORDS = "n"


def out_of_core(source: SparkSource, plan: ReadPlan, run: Run) -> SparkTuples:
    from pyspark.sql import functions as F

    numbered = Numbered(source, plan)
    with spark_errors(f"count the rows of {source.name}"):
        rows = _numbers(source, plan, numbered)
        counted = rows.groupBy(*rows.columns).agg(F.count(F.lit(1)).alias(_RECORDS))
        tuples = working(run, source.session, counted.localCheckpoint)
        ends_with_process(source.session)
    source.check_unchanged()
    found = SparkTuples(source, tuples, run)
    if plan.missing == "drop":
        numbered.incomplete = found.drop_incomplete(len(plan.attributes))
    found.count()
    numbered.explain(found)
    source.remember({}, found.records if plan.missing == "category" else None)
    run.rows(found.records)
    return found


def _numbers(source: SparkSource, plan: ReadPlan, numbered: Numbered) -> DataFrame:
    """The rows as numbers, a column each: a0, a1, ..."""
    from pyspark.sql import functions as F

    rows, names = source.rows(), []
    for place, column in enumerate(numbered.columns):
        encoded(pa.nulls(0, source.schema.field(column.name).type), column.name)  # refuses what holds no single values
        values, name = source.distinct(column.name), f"a{place}"
        if not len(values):
            raise DataError(f"{source.name} has no rows")
        numbers = column.codes(values)
        if place < len(plan.attributes):
            check_missing(plan, numbers >= 0, source)
        columns = {"v": values, name: pa.array(numbers.astype(np.int32))}
        known = lookup_table(source.session, columns, {"v": source.kind(column.name)})
        rows = rows.join(known, F.col(source.place(column.name)).eqNullSafe(F.col("v")), "left").drop("v")
        names.append(name)
    return rows.select(*(found_by(F.col(name), name).alias(name) for name in names))


class SparkTuples(OutOfCoreTable):
    """Distinct tuples on a cluster, as numbers, with the number of records of each."""

    def __init__(self, source: SparkSource, tuples: DataFrame, run: Run) -> None:
        self._source = source
        self._tuples: DataFrame | None = tuples
        self._run = run

    def drop_incomplete(self, attributes: int) -> int:
        """Leave out tuples that lack a value of an attribute, which come first; how many records these are."""
        from pyspark.sql import functions as F

        complete = all_of([F.col(f"a{place}") >= 0 for place in range(attributes)])
        lacking = self._frame.where(~complete).agg(F.coalesce(F.sum(_RECORDS), F.lit(0)))
        (records,) = self._asked(lacking)
        self._tuples = self._frame.where(complete)
        return int(records[0])

    def count(self) -> None:
        """Find out how many tuples there are."""
        from pyspark.sql import functions as F

        tuples, records = self._asked(self._frame.agg(F.count(F.lit(1)), F.coalesce(F.sum(_RECORDS), F.lit(0))))
        self.tuples, self.records = int(tuples[0]), int(records[0])
        if not self.tuples:
            raise DataError(f"{self._source.name} has no rows left to release")

    @property
    def _frame(self) -> DataFrame:
        if self._tuples is None:
            raise DataError(f"the tuples of {self._source.name} are gone; run again")
        return self._tuples

    def _asked(self, question: DataFrame) -> list[Any]:
        with spark_errors(f"count the rows of {self._source.name}"):
            table = working(self._run, self._source.session, question.toArrow)
        return [column.to_numpy() for column in table.columns]

    def _ask(self, cells: Mapping[int, Codes], numbers: Sequence[int], *, each: bool = False) -> list[Any]:
        from pyspark.sql import functions as F

        rows = self._frame
        for place, cell_of in cells.items():
            rows = _looked_up(rows, f"a{place}", np.roll(cell_of, 1), f"k{place}")
            if (cell_of < 0).any():
                rows = rows.where(F.col(f"k{place}") >= 0)
        classes, columns = [f"k{place}" for place in cells], [f"a{place}" for place in numbers]
        records = F.sum(_RECORDS).alias(_RECORDS)
        if not each:
            return self._asked(rows.groupBy(*classes, *columns).agg(records))
        sets = [[F.col(name) for name in (*classes, column)] for column in columns]
        counted = rows.groupingSets(sets, *map(F.col, (*classes, *columns)))
        about = [F.grouping(column).alias(f"g{place}") for place, column in enumerate(columns)]
        return self._asked(counted.agg(records, *about))

    def close(self) -> None:
        self._tuples = None  # Spark removes what nobody refers to


def _looked_up(rows: DataFrame, column: str, answers: Codes, name: str) -> DataFrame:
    """Rows with the answer for a number of theirs; the first answer is for -1."""
    from pyspark.sql import functions as F

    if len(answers) <= _LISTED:
        listed: Column = F.lit([int(answer) for answer in answers])
        return rows.withColumn(name, F.get(listed, F.col(column) + 1))
    known = {"number": pa.array(np.arange(len(answers)) - 1), name: pa.array(answers)}
    table = lookup_table(rows.sparkSession, known)
    return rows.join(table, F.col(column) == F.col("number")).drop("number")
