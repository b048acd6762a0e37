"""Rows recoded on a cluster: each distinct value is numbered by the driver, and rows find their number by a join.

A recoding by value is then done. One that maps tuples, or leaves some out, is asked for every distinct tuple of
numbers, and rows find the answer by another join; those of tuples that are split into several parts are ranked first
(`_allocated`). A row that finds nothing was not there when rows were counted, and ends the work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from incrowd.engines.arrow.recode import ranks
from incrowd.engines.engine import AS_RELEASED, Observer
from incrowd.engines.kept_types import KeptTypes
from incrowd.engines.plan import ReleasePlan
from incrowd.engines.spark import kernels
from incrowd.engines.spark.compress import grouped
from incrowd.engines.spark.hashes import WHOLE, hashes_of, signed, spread, total, with_hashes
from incrowd.engines.spark.lookups import Answers, all_of, any_of, found_by, is_sent_along, lookup_table
from incrowd.engines.spark.session import ends_with_process, spark_errors, working
from incrowd.engines.spark.shuffle import HASH, in_order, shuffled
from incrowd.engines.spark.source import ORDER, CopiedSource, SparkSource
from incrowd.errors import DataError
from incrowd.formats.sources import BATCH_ROWS
from incrowd.recodings.recoding import Mask, Recoding
from incrowd.run import Run
from incrowd.table.grouping import Codes, Counts
from incrowd.table.missing import listed
from incrowd.table.scales import text_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ANSWER_HASH = "hl"  # the column with the hash of all labels of a tuple or part
_FEW = 100_000  # distinct texts of a column that passes; rows find their hashes where there are no more
_MOST_COLUMNS = 80  # released columns, above which Spark no longer compiles what it does to them
Answer = Callable[[Sequence[Codes], Codes], tuple[Answers, Mask | None]]


def recode(
    source: SparkSource, recoding: Recoding, run: Run, plan: ReleasePlan = AS_RELEASED
) -> Iterator[pa.RecordBatch]:
    with spark_errors(f"recode {source.name}"):
        rows, _ = released_rows(source, recoding, run, replace(plan, keep_order=True))
        table = working(run, source.session, rows.toArrow)
    names = [*released_names(source, recoding), *plan.hidden_columns]
    for batch in table.replace_schema_metadata(None).combine_chunks().to_batches(BATCH_ROWS):
        run.rows(len(batch))
        yield batch.rename_columns(names)
    source.check_unchanged()


def recoded(
    source: SparkSource,
    recoding: Recoding,
    run: Run,
    plan: ReleasePlan = AS_RELEASED,
    observer: Observer | None = None,
) -> Any:
    """All rows, recoded: a Spark data frame for one, and for a path.

    The rows are computed once and stay on the cluster, so that what was verified is what is used. If machines that hold
    them are lost, whoever uses them gets an error, and never other rows.
    """
    with spark_errors(f"recode {source.name}"):
        rows, _ = released_rows(source, recoding, run, plan)
        rows = working(run, source.session, rows.localCheckpoint)
        ends_with_process(source.session)
        names = released_names(source, recoding)
        if observer is not None:
            show(source, rows, [*names, *plan.hidden_columns], observer, plan.observed_columns, run)
        source.check_unchanged()
        given = rows.select(rows.columns[: len(names)]).toDF(*names)
        return _as_original(source, given) if isinstance(source, CopiedSource) else given


def released_names(source: SparkSource, recoding: Recoding) -> list[str]:
    return [name for name in source.columns if name not in recoding.dropped]


def released_rows(
    source: SparkSource, recoding: Recoding, run: Run, plan: ReleasePlan, *, types: bool = True
) -> tuple[DataFrame, int | None]:
    """The released rows in their order, and after them the hidden columns; columns are `r0`, `r1`, ...

    And how many there must be, where the counts that were made before say so.
    Where `types`, columns that the recoding leaves as they are keep their type; else all recoded ones are text.
    """
    from pyspark.sql import functions as F

    recoder = Recoder(source, recoding, run, is_training_data=plan.is_training_data)
    rows = recoder.rows(ordered=plan.keep_order)
    names = released_names(source, recoding)
    label_of = {name: label_column(place) for place, name in enumerate(recoding.names)}
    taken = [label_of.get(name) or source.place(name) for name in names]
    taken += [source.place(name) for name in plan.hidden_columns]
    columns = [f"r{place}" for place in range(len(taken))]
    if not plan.keep_order:
        rows = recoder.hashed(rows, names)
    places = [name for name in rows.columns if name.startswith(ORDER)] if plan.keep_order else [HASH]
    chosen = rows.select(*(F.col(old).alias(new) for old, new in zip(taken, columns, strict=True)), *places)
    if not plan.keep_order:
        ordered = shuffled(chosen, source.count())
    else:
        ordered = (chosen if source.has_order and not recoder.moves_rows else in_order(chosen)).drop(*places)
    kept = KeptTypes.of(recoding, source.schema).values if types else {}
    typed = {f"r{names.index(name)}": F.col(f"r{names.index(name)}").try_cast(source.kind(name)) for name in kept}
    return ordered.withColumns(typed) if typed else ordered, recoder.records()


def show(
    source: SparkSource,
    rows: DataFrame,
    names: Sequence[str],
    observer: Observer,
    observed: Sequence[str] | None,
    run: Run,
) -> None:
    """Show an observer the rows, or Spark's counts of the columns that it looks at."""
    if observed is None:
        table = working(run, source.session, rows.toArrow).replace_schema_metadata(None).rename_columns(names)
        for batch in table.combine_chunks().to_batches(BATCH_ROWS):
            observer(batch)
        return
    table = grouped(source, rows, [rows.columns[names.index(name)] for name in observed], run)
    show_counts(table.rename_columns([*observed, "records"]), observer, run)


def show_counts(table: pa.Table, observer: Observer, run: Run) -> None:
    """Show an observer distinct rows, whose number is in the last column."""
    for batch in table.combine_chunks().to_batches(BATCH_ROWS):
        counts = np.asarray(batch.column(batch.num_columns - 1), np.int64)
        run.rows(int(counts.sum()))
        observer(batch.select(range(batch.num_columns - 1)), counts)


def _as_original(source: CopiedSource, rows: DataFrame) -> Any:
    """The rows as the kind of frame that was given."""
    table = rows.toArrow().replace_schema_metadata(None)
    backend = source.backend
    return table if backend is None else nw.from_arrow(table, backend=backend).to_native()


def preview(source: SparkSource, recoding: Recoding, rows: int) -> tuple[pa.RecordBatch, pa.RecordBatch]:
    with spark_errors(f"recode {source.name}"):
        table = in_order(Recoder(source, recoding, Run()).rows(ordered=True)).limit(rows).toArrow()
    (batch,) = table.replace_schema_metadata(None).combine_chunks().to_batches() or [_nothing(table.schema)]
    before = batch.select([source.place(name) for name in source.columns]).rename_columns(list(source.columns))
    label_of = {name: label_column(place) for place, name in enumerate(recoding.names)}
    names = released_names(source, recoding)
    after = batch.select([label_of.get(name) or source.place(name) for name in names]).rename_columns(names)
    return before, after


def _nothing(schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([], field.type) for field in schema], schema=schema)


def label_counts(
    source: SparkSource, recoding: Recoding, target: str, labels: tuple[str | None, ...], classes: int, run: Run
) -> Counts:
    def answer(cells: Sequence[Codes], parts: Codes) -> tuple[Answers, Mask | None]:
        found = np.asarray(recoding.class_numbers(cells, parts), np.int64)
        return {"k": pa.array(found)}, found < classes  # others are left out

    with spark_errors(f"count the rows of {source.name}"):
        rows = Recoder(source, recoding, run).classes(answer)
        found = grouped(source, rows, ["k", source.place(target)], run)
    known = ranks(text_of(found.column(1).combine_chunks()), labels)
    missing = np.asarray(found.column(1).is_null(nan_is_null=True))
    numbers, known = np.asarray(found.column(0)), np.where(missing, len(labels) - 1, known)
    if (np.minimum(numbers, known) < 0).any():
        raise DataError(f"{source.name} changed while it was being measured; run the command again")
    counts = np.zeros((classes, len(labels)), np.int64)
    np.add.at(counts, (numbers, known), np.asarray(found.column(2)))
    run.rows(int(counts.sum()))
    return counts


def label_column(place: int) -> str:
    return f"l{place}"


def _shown(recoding: Recoding, name: str) -> tuple[str, pa.Array]:
    """The name of a column, and all that is shown of it."""
    return name, pa.array(recoding.all_labels(name), pa.string())


def hash_column(place: int) -> str:
    """The column with the hash of a label."""
    return f"h{place}"


class Recoder:
    def __init__(self, source: SparkSource, recoding: Recoding, run: Run, *, is_training_data: bool = False) -> None:
        self.source = source
        self.recoding = recoding
        self._run = run
        self._constant = recoding.constant if is_training_data else ()
        self._read = [place for place, name in enumerate(recoding.names) if name not in self._constant]
        nobody = [np.zeros(1, np.int64) for _ in recoding.names]
        self.moves_rows = False  # whether `rows` may come in another order than those of the source
        self._stay: int | None = None  # records of the tuples that are not left out, if that is known
        self._by_value = recoding.by_value and recoding.release(nobody, np.full(1, -1))[1] is None

    def rows(self, *, ordered: bool = False) -> DataFrame:
        """All rows that are released: original columns, and a column of labels for each recoded one."""
        from pyspark.sql import functions as F

        recoding = self.recoding
        rows = self._numbered(self.source.ordered_rows() if ordered else self.source.rows())
        for place in set(range(len(recoding.names))).difference(self._read):
            rows = rows.withColumn(label_column(place), F.lit(recoding.all_labels(recoding.names[place])[0]))
        return rows if self._by_value else self._answered(rows, self._labels)

    def records(self) -> int | None:
        """How many records `rows` releases, where that is known without looking at them again."""
        if not self._by_value:
            return self._stay
        return None if self.recoding.missing == "drop" else self.source.count()

    def hashed(self, rows: DataFrame, names: Sequence[str]) -> DataFrame:
        """Rows of `rows` with the hash of what is released of each, the columns `names`.

        The driver has the hashes of labels, and of texts that it counted; Spark computes those of numbers. Only what is
        left goes through Python.
        """
        from pyspark.sql import functions as F

        recoding, source = self.recoding, self.source
        hashes = [F.col(hash_column(place)) for place in self._read] if self._by_value else [F.col(ANSWER_HASH)]
        if self._by_value:
            constant = [_shown(recoding, name) for name in self._constant]
            hashes += [F.lit(signed(hashes_of(name, labels))[0].as_py()) for name, labels in constant]
        passing = {source.place(name): name for name in names if name not in recoding.names}
        kinds = {column: source.kind(name).simpleString() for column, name in passing.items()}
        whole = {c: (f"h{c}", name) for c, name in passing.items() if kinds[c] in WHOLE and len(names) <= _MOST_COLUMNS}
        rows = with_hashes(rows, whole, kinds) if whole else rows
        hashes += [F.col(new) for new, _ in whole.values()]
        others = {column: name for column, name in passing.items() if column not in whole}
        for column, name in list(others.items()):
            values = source.known(name)
            if kinds[column] != "string" or values is None or len(values) > _FEW:
                continue
            answers = {"v": values, f"h{column}": signed(hashes_of(name, values))}
            known = lookup_table(source.session, answers, {"v": source.kind(name)})
            rows = rows.join(known, F.col(column).eqNullSafe(F.col("v")), "left").drop("v")
            hashes.append(found_by(F.col(f"h{column}"), f"h{column}"))
            del others[column]
        if others:
            rows = rows.withColumn("hp", kernels.hash_of_rows(list(others.values()))(*others))
            hashes.append(F.col("hp"))
        return rows.withColumn(HASH, total(hashes))

    def classes(self, answer: Answer) -> DataFrame:
        """All rows, with what else than labels a function says of tuples and parts."""
        return self._answered(self._numbered(self.source.rows()), answer)

    def _labels(self, cells: Sequence[Codes], parts: Codes) -> tuple[Answers, Mask | None]:
        places, stay = self.recoding.release(cells, parts)
        found = {
            label_column(place): pa.array(self.recoding.all_labels(name), pa.string()).take(pa.array(numbers))
            for place, (name, numbers) in enumerate(zip(self.recoding.names, places, strict=True))
        }
        hashes = [
            hashes_of(*_shown(self.recoding, name))[numbers]
            for name, numbers in zip(self.recoding.names, places, strict=True)
        ]
        return {**found, ANSWER_HASH: signed(np.sum(hashes, axis=0, dtype=np.uint64))}, stay

    # Values

    def _numbered(self, rows: DataFrame) -> DataFrame:
        """Rows with the number and the label of each value, those that lack a value left out if they must be."""
        from pyspark.sql import functions as F

        for place in self._read:
            column, value = self.source.place(self.recoding.names[place]), f"v{place}"
            same = F.col(column).eqNullSafe(F.col(value))
            rows = rows.join(self._values(place), same, "left").drop(value)
        if self.recoding.missing != "category":
            absent = [f"m{place}" for place in self._read]
            rows = rows.where(~any_of([found_by(F.col(name), name) for name in absent])).drop(*absent)
        found = {n: found_by(F.col(n), n) for n in (f"n{place}" for place in self._read)}
        if self._by_value:
            found |= {label_column(n): found_by(F.col(label_column(n)), f"n{n}") for n in self._read}
        return rows.withColumns(found)

    def _values(self, place: int) -> DataFrame:
        """The distinct values of a column, with their number and label, and whether they are missing."""
        recoding, name = self.recoding, self.recoding.names[place]
        values = self.source.distinct(name)
        missing = np.array(recoding.missing_among(name, values))
        present = np.array(pc.is_valid(values))
        cells = np.full(len(values), recoding.missing_cell(name))
        cells[present] = recoding.cells(name, values.filter(pa.array(present)))
        if recoding.missing == "error" and missing.any():
            raise DataError("rows lack a value in a quasi-identifier, which the policy does not allow")
        self._check_known(name, values, cells, missing)
        columns = {f"v{place}": values, f"n{place}": pa.array(cells.astype(np.int32), mask=cells < 0)}
        if self._by_value:
            _, labels = _shown(recoding, name)
            columns[label_column(place)] = labels.take(pa.array(cells, mask=cells < 0))
            columns[hash_column(place)] = signed(hashes_of(name, labels)).take(pa.array(cells, mask=cells < 0))
        if recoding.missing != "category":
            columns[f"m{place}"] = pa.array(missing | ~present)
        return self._lookup_table(columns, {f"v{place}": self.source.kind(name)})

    def _check_known(self, name: str, values: pa.Array, cells: Any, missing: Any) -> None:
        """Raise an error for values without a number; in rows that lack another value they may be."""
        if self.recoding.missing == "drop":
            return
        lost = cells < 0
        if (lost & missing).any():
            raise DataError(
                f"column '{name}' has missing values, but had none when the recoding was made; fill them in or drop "
                "those rows"
            )
        if lost.any():
            raise self.recoding.unknown(name, listed(values.filter(pa.array(lost))))

    def _lookup_table(self, columns: Answers, kinds: Mapping[str, Any] | None = None) -> DataFrame:
        self.moves_rows |= not is_sent_along(columns)
        return lookup_table(self.source.session, columns, kinds)

    # Tuples

    def _answered(self, rows: DataFrame, answer: Answer) -> DataFrame:
        """Rows with the answer for their tuple or part, those that are left out left out."""
        from pyspark.sql import functions as F

        numbers = [f"n{place}" for place in self._read]
        distinct = grouped(self.source, rows, numbers, self._run)
        cells = [np.zeros(distinct.num_rows, np.int32) for _ in self.recoding.names]
        for place, column in zip(self._read, distinct.columns, strict=False):
            cells[place] = np.asarray(column)
        split = self.recoding.split_tuples(cells)
        found, stay = answer(cells, np.full(distinct.num_rows, -1))
        counts = np.asarray(distinct.columns[-1], np.int64)
        self._stay = None if (split >= 0).any() else int(counts.sum() if stay is None else counts[stay].sum())
        shown = {name: pc.if_else(pa.array(split < 0), column, None) for name, column in found.items()}
        stays = np.ones(distinct.num_rows, bool) if stay is None else stay
        columns = {f"t{n}": column for n, column in zip(numbers, distinct.columns, strict=False)}
        columns |= {"t": pa.array(split), "stays": pa.array(stays | (split >= 0)), **shown}
        known = self._lookup_table(columns)
        same = [F.col(n) == F.col(f"t{n}") for n in numbers]
        joined = rows.join(known, all_of(same), "left").drop(*(f"t{n}" for n in numbers))
        joined = joined.where(found_by(F.col("stays"), "stays")).drop("stays", *numbers)
        if not (split >= 0).any():
            return joined.drop("t")
        chosen = split >= 0
        self.moves_rows = True
        parts = self._parts([column[chosen] for column in cells], split[chosen], answer)
        whole = joined.where(F.col("t") < 0).drop("t")
        return whole.unionByName(self._allocated(joined.where(F.col("t") >= 0).drop(*found), parts))

    def _parts(self, cells: Sequence[Codes], tuples: Codes, answer: Answer) -> DataFrame:
        """The parts of split tuples: which ranks they take, and the answer for each."""
        first, sizes = self.recoding.part_sizes()
        number = np.diff(first)[tuples]
        begins = np.repeat(first[tuples], number)
        within = np.arange(len(begins)) - np.repeat(np.cumsum(number) - number, number)
        parts = begins + within
        until = np.append(0, np.cumsum(sizes))
        low = until[parts] - until[begins]
        found, stay = answer([np.repeat(column, number) for column in cells], parts)
        columns = {
            "pt": pa.array(np.repeat(tuples, number)),
            "low": pa.array(low),
            "high": pa.array(low + sizes[parts]),
            "total": pa.array((until[first[1:]] - until[first[:-1]])[np.repeat(tuples, number)]),
            "stays": pa.array(np.ones(len(parts), bool) if stay is None else stay),
            **found,
        }
        return lookup_table(self.source.session, columns)

    def _allocated(self, rows: DataFrame, parts: DataFrame) -> DataFrame:
        """Rows of split tuples, ranked by the hash of `allocation`: a part takes its ranks, the first any surplus."""
        from pyspark.sql import Window
        from pyspark.sql import functions as F

        names = sorted(set(self.source.columns).difference(self.recoding.dropped))
        hashed = kernels.keyed_hash(self.recoding.key, names)(*(self.source.place(name) for name in names))
        rows = rows.withColumn("h", hashed)
        rows = rows.withColumn("s", (F.row_number().over(Window.partitionBy("t", "h").orderBy("h")) - 1).cast("long"))
        rows = spread(rows, "h", "s")
        rows = rows.withColumn("r", F.row_number().over(Window.partitionBy("t").orderBy("s")) - 1)
        rank = F.when(F.col("r") < F.col("total"), F.col("r")).otherwise(F.lit(0))
        here = (F.col("t") == F.col("pt")) & (rank >= F.col("low")) & (rank < F.col("high"))
        joined = rows.join(parts, here, "left").where(found_by(F.col("stays"), "stays"))
        return joined.drop("t", "h", "s", "r", "pt", "low", "high", "total", "stays")
