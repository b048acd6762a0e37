"""From rows to the compressed table by DuckDB's group-by, which spills to disk what does not fit in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa

from incrowd.engines.arrow.compress import Numbered, counted
from incrowd.engines.duckdb.out_of_core import DuckDbTuples
from incrowd.engines.duckdb.session import interruptible, options_in, spill_folder, spilling
from incrowd.engines.duckdb.source import grouping
from incrowd.engines.engine import Settings
from incrowd.engines.plan import ReadPlan
from incrowd.errors import DataError
from incrowd.formats.databases import as_read
from incrowd.formats.duckdb_files import opened, query_errors
from incrowd.formats.prefetch import ahead
from incrowd.formats.sources import BATCH_ROWS, Source
from incrowd.run import Run
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import Counts

_VIEW = "incrowd_rows"


def compress(source: Source, plan: ReadPlan, run: Run, settings: Settings) -> CompressedTable:
    with spilling(settings) as options:
        if (grouped := grouping(source, plan.columns, options, run)) is not None:
            rows = ((_values(batch, source, plan.columns), _counts(batch)) for batch in grouped)
            return counted(rows, source, plan, run)
        return _grouped(source, plan, run, options)


def _values(batch: pa.RecordBatch, source: Source, wanted: Sequence[str]) -> pa.RecordBatch:
    return as_read(batch.select(range(len(wanted))), source.schema, wanted, wanted)


def _counts(batch: pa.RecordBatch) -> Counts:
    return np.asarray(batch.column(batch.num_columns - 1).to_numpy(zero_copy_only=False), np.int64)


class _Numbers:
    """The rows of a source as numbers, for DuckDB to read: whatever type a value has, it sees only its number."""

    def __init__(self, source: Source, plan: ReadPlan, run: Run) -> None:
        self.numbered = Numbered(source, plan)
        self.names = [f"c{place}" for place in range(len(self.numbered.columns))]
        self._source, self._wanted, self._run = source, plan.columns, run
        self._failed: list[BaseException] = []  # DuckDB would only tell the text of an error

    def reader(self) -> pa.RecordBatchReader:
        return pa.RecordBatchReader.from_batches(pa.schema([(name, pa.int32()) for name in self.names]), self._rows())

    def _rows(self) -> Iterator[pa.RecordBatch]:
        try:
            for batch in ahead(self._source.batches(self._wanted, encoded=self._wanted)):
                codes, _ = self.numbered.codes(batch)
                self._run.rows(len(codes[0]))
                yield pa.RecordBatch.from_arrays([pa.array(column, pa.int32()) for column in codes], names=self.names)
        except BaseException as error:
            self._failed.append(error)
            raise

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Raise what went wrong with the source, if that was it."""
        try:
            yield
        except Exception:
            if self._failed:
                raise self._failed[0] from None
            raise
        self._source.check_unchanged()


def _grouped(source: Source, plan: ReadPlan, run: Run, options: dict[str, Any]) -> CompressedTable:
    numbers = _Numbers(source, plan, run)
    columns: list[list[Any]] = [[] for _ in numbers.names]
    counts: list[Counts] = []
    with opened(settings=options) as connection, numbers.errors(), query_errors(source.name):
        connection.register(_VIEW, numbers.reader())
        listed = ", ".join(numbers.names)
        asked = connection.sql(f"SELECT {listed}, count(*) FROM {_VIEW} GROUP BY {listed}")
        found = interruptible(connection, run, lambda: asked.to_arrow_reader(BATCH_ROWS))
        while (batch := interruptible(connection, run, lambda: next(found, None))) is not None:
            for kept, name, numbering in zip(columns, numbers.names, numbers.numbered.columns, strict=True):
                size = 0 if numbering.values is None else len(numbering.values)
                kept.append(batch.column(name).to_numpy().astype(np.min_scalar_type(-size - 1)))
            counts.append(_counts(batch))
    if not counts:
        raise DataError(f"{source.name} has no rows left to release")
    return numbers.numbered.table(columns, np.concatenate(counts))


def out_of_core(source: Source, plan: ReadPlan, run: Run, settings: Settings) -> DuckDbTuples:
    numbers = _Numbers(source, plan, run)
    folder = spill_folder(settings)
    tuples = DuckDbTuples(folder, options_in(folder, settings), source.name)
    try:
        with numbers.errors():
            interruptible(tuples.connection, run, lambda: tuples.fill(numbers.reader(), numbers.numbered))
    except BaseException:
        tuples.close()
        raise
    return tuples
