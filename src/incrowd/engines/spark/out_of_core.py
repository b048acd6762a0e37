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
from incrowd.engines.numbered_tuples import NumberedTuples
from incrowd.engines.spark.lookups import all_of, found_by, lookup_table
from incrowd.engines.spark.session import ends_with_process, spark_errors
from incrowd.engines.spark.source import SparkSource, as_spark
from incrowd.engines.spark.working import working
from incrowd.errors import DataError
from incrowd.formats.sources import Source
from incrowd.policy.policy import Policy
from incrowd.run import Run
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import Codes, Counts, group
from incrowd.table.missing import encoded
from incrowd.table.out_of_core import ValuesInClasses

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_LISTED = 4096  # numbers that a question may list; the answers for more are joined
_RECORDS = "n"


def out_of_core(source: Source, policy: Policy, run: Run, *, master: str | None = None) -> SparkTuples:
    """Group the rows of a table, and leave the tuples on the cluster; see `KeepsTuples.out_of_core`."""
    spark = as_spark(source, master)
    numbered = Numbered(spark, policy)
    with spark_errors(f"count the rows of {spark.name}"):
        rows = _numbers(spark, policy, numbered)
        tuples = working(run, spark.session, _grouped(rows, rows.columns, counted=False).localCheckpoint)
        ends_with_process(spark.session)
    spark.check_unchanged()
    found = SparkTuples(spark, tuples, run)
    if policy.missing == "drop":
        numbered.incomplete = found.drop_incomplete(len(policy.attributes))
    found.count()
    found.learn(numbered)
    spark.remember({}, found.records if policy.missing == "category" else None)
    run.rows(found.records)
    return found


def _numbers(source: SparkSource, policy: Policy, numbered: Numbered) -> DataFrame:
    """The rows as numbers, a column each: a0, a1, ..."""
    from pyspark.sql import functions as F

    rows, names = source.rows(), []
    for place, column in enumerate(numbered.columns):
        encoded(pa.nulls(0, source.schema.field(column.name).type), column.name)  # refuses what holds no single values
        values, name = source.distinct(column.name), f"a{place}"
        if not len(values):
            raise DataError(f"{source.name} has no rows")
        numbers = column.codes(values)
        if place < len(policy.attributes):
            check_missing(policy, numbers >= 0, source)
        columns = {"v": values, name: pa.array(numbers.astype(np.int32))}
        known = lookup_table(source.session, columns, {"v": source.kind(column.name)})
        rows = rows.join(known, F.col(source.place(column.name)).eqNullSafe(F.col("v")), "left").drop("v")
        names.append(name)
    return rows.select(*(found_by(F.col(name), name).alias(name) for name in names))


def _grouped(rows: DataFrame, columns: Sequence[str], *, counted: bool = True) -> DataFrame:
    """How many records have each combination of some columns."""
    from pyspark.sql import functions as F

    records = F.sum(_RECORDS) if counted else F.count(F.lit(1))
    return rows.groupBy(*columns).agg(records.alias(_RECORDS))


class SparkTuples(NumberedTuples):
    """Distinct tuples on a cluster; see `table.out_of_core.OutOfCoreTable`.

    Args:
        source: Where they come from.
        tuples: The tuples as numbers, with the number of records of each.
        run: Asked in between whether to go on.
    """

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

    def _used(self, place: int) -> tuple[Codes, Counts]:
        """See `NumberedTuples`."""
        numbers, counts = self._asked(_grouped(self._frame, [f"a{place}"]))
        order = np.argsort(numbers)
        return np.asarray(numbers[order], np.int64), np.asarray(counts[order], np.int64)

    def label_counts(self, attribute: int) -> Counts:
        """Records per code of one attribute and label of the target."""
        assert self._label_of is not None
        numbers, labels, counts = self._asked(_grouped(self._frame, [f"a{attribute}", self._label_column]))
        found = np.zeros((self.attributes[attribute].size, len(self.labels)), np.int64)
        np.add.at(found, (self._code_of[attribute][numbers], self._label_of[labels]), counts)
        return found

    @property
    def _label_column(self) -> str:
        return f"a{len(self.attributes)}"

    def values_in_classes(
        self, members: Sequence[int], cells: Sequence[Codes], attribute: int, codes: Codes, asked: Sequence[int]
    ) -> list[ValuesInClasses]:
        """One grouped count for all that is asked; see `OutOfCoreTable.values_in_classes`."""
        from pyspark.sql import functions as F

        chosen = np.zeros(self.attributes[attribute].size, bool)
        chosen[codes] = True
        rows = self._with_cells(members, {**dict(enumerate(cells)), attribute: np.where(chosen, cells[attribute], -1)})
        classes = [f"k{member}" for member in members]
        values = [f"a{member}" for member in asked]
        sets = [[F.col(name) for name in (*classes, value)] for value in values]
        counted = rows.where(F.col(f"k{attribute}") >= 0).groupingSets(sets, *map(F.col, (*classes, *values)))
        counted_by = [F.grouping(value).alias(f"g{place}") for place, value in enumerate(values)]
        found = self._asked(counted.agg(F.sum(_RECORDS).alias(_RECORDS), *counted_by))
        width, records = len(members), len(members) + len(asked)
        numbers, _ = group(found[:width], [int(cells[member].max()) + 1 for member in members])
        size = int(numbers.max()) + 1
        counted_values = []
        for place, member in enumerate(asked):
            there = np.flatnonzero(found[records + 1 + place] == 0)
            code = self._code_of[member][found[width + place][there].astype(np.int64)]
            counted_values.append(_merged(code, numbers[there], found[records][there], size))
        return counted_values

    def _with_cells(self, members: Sequence[int], cells: Mapping[int, Codes]) -> DataFrame:
        """The tuples, with the cell of each member: k0, k1, ..."""
        rows = self._frame
        for member in members:
            of_number = np.asarray(cells[member], np.int64)[self._code_of[member]]  # the last is that of missing values
            rows = _looked_up(rows, f"a{member}", np.roll(of_number, 1), f"k{member}")
        return rows

    def classes(self, cells: Sequence[Codes]) -> CompressedTable:
        """One tuple for each class; see `OutOfCoreTable.classes`."""
        members = range(len(self.attributes))
        rows = self._with_cells(members, dict(enumerate(cells)))
        label = [self._label_column] if self.has_target else []
        found = self._asked(_grouped(rows, [*(f"k{member}" for member in members), *label]))
        first = []
        for member, numbers in zip(members, found, strict=False):
            distinct, places = np.unique(cells[member], return_index=True)
            first.append(places[np.searchsorted(distinct, numbers)])
        target = (self.labels, self._label_of[found[-2]]) if self._label_of is not None else None
        return CompressedTable.build(self.attributes, first, np.asarray(found[-1], np.int64), target)

    def close(self) -> None:
        """Let go of the tuples; Spark removes what nobody refers to."""
        self._tuples = None


def _merged(codes: Codes, classes: Codes, counts: Counts, size: int) -> ValuesInClasses:
    """Counts of values in classes, where several values may have the same code."""
    numbers, first = group([classes, codes], [size, int(codes.max(initial=0)) + 1])
    total = np.zeros(len(first), np.int64)
    np.add.at(total, numbers, counts)
    return ValuesInClasses(np.asarray(codes, np.int64)[first], classes[first], total, size)


def _looked_up(rows: DataFrame, column: str, answers: Codes, name: str) -> DataFrame:
    """Rows with the answer for a number of theirs; the first answer is for -1."""
    from pyspark.sql import functions as F

    if len(answers) <= _LISTED:
        listed: Column = F.lit([int(answer) for answer in answers])
        return rows.withColumn(name, F.get(listed, F.col(column) + 1))
    known = {"number": pa.array(np.arange(len(answers)) - 1), name: pa.array(answers)}
    table = lookup_table(rows.sparkSession, known)
    return rows.join(table, F.col(column) == F.col("number")).drop("number")
