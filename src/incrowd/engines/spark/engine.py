"""The Spark engine as one object."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from incrowd.engines.engine import AS_RELEASED, Observer, Settings
from incrowd.engines.plan import ReadPlan, ReleasePlan
from incrowd.engines.spark import compress, out_of_core, recode, write
from incrowd.engines.spark.out_of_core import SparkTuples
from incrowd.engines.spark.source import SparkSource, as_spark
from incrowd.formats.sources import Source
from incrowd.formats.writers import Output
from incrowd.recodings.recoding import Recoding
from incrowd.run import Run
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import Counts


@dataclass(frozen=True)
class SparkEngine:
    """Lets a cluster touch the rows."""

    settings: Settings = field(default_factory=Settings)
    name: str = "spark"

    def _spark(self, source: Source) -> SparkSource:
        return as_spark(source, self.settings.master)

    def compress(self, source: Source, plan: ReadPlan, run: Run) -> CompressedTable:
        return compress.compress(self._spark(source), plan, run)

    def out_of_core(self, source: Source, plan: ReadPlan, run: Run) -> SparkTuples:
        return out_of_core.out_of_core(self._spark(source), plan, run)

    def recode(
        self, source: Source, recoding: Recoding, run: Run, plan: ReleasePlan = AS_RELEASED
    ) -> Iterator[pa.RecordBatch]:
        return recode.recode(self._spark(source), recoding, run, plan)

    def recoded(
        self,
        source: Source,
        recoding: Recoding,
        run: Run,
        plan: ReleasePlan = AS_RELEASED,
        observer: Observer | None = None,
    ) -> Any:
        return recode.recoded(self._spark(source), recoding, run, plan, observer)

    def preview(self, source: Source, recoding: Recoding, rows: int) -> tuple[pa.RecordBatch, pa.RecordBatch]:
        return recode.preview(self._spark(source), recoding, rows)

    def label_counts(
        self, source: Source, recoding: Recoding, target: str, labels: tuple[str | None, ...], classes: int, run: Run
    ) -> Counts:
        return recode.label_counts(self._spark(source), recoding, target, labels, classes, run)

    def output(self, address: str | Path, *, overwrite: bool) -> Output | None:
        return write.SparkOutput(address, overwrite=overwrite)

    def write(
        self,
        source: Source,
        recoding: Recoding,
        path: Path | Output,
        observer: Observer,
        run: Run,
        plan: ReleasePlan = AS_RELEASED,
    ) -> str:
        return write.write(self._spark(source), recoding, path, observer, run, plan)
