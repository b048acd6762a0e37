"""The DuckDB engine as one object."""

from __future__ import annotations

from dataclasses import dataclass

from incrowd.engines.arrow.engine import ArrowEngine
from incrowd.engines.duckdb.compress import compress, out_of_core
from incrowd.engines.duckdb.out_of_core import DuckDbTuples
from incrowd.engines.plan import ReadPlan
from incrowd.formats.sources import Source
from incrowd.run import Run
from incrowd.table.compressed import CompressedTable


@dataclass(frozen=True)
class DuckDbEngine(ArrowEngine):
    """Groups rows by DuckDB, and recodes them as the Arrow engine does."""

    name: str = "duckdb"

    def compress(self, source: Source, plan: ReadPlan, run: Run) -> CompressedTable:
        return compress(source, plan, run, self.settings)

    def out_of_core(self, source: Source, plan: ReadPlan, run: Run) -> DuckDbTuples:
        return out_of_core(source, plan, run, self.settings)
