"""The Spark engine as one object."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from incrowd.engines.engine import Settings
from incrowd.engines.spark.compress import compress
from incrowd.engines.spark.out_of_core import out_of_core
from incrowd.engines.spark.recode import label_counts, preview, recode, recoded
from incrowd.engines.spark.source import as_spark
from incrowd.engines.spark.write import SparkOutput, write
from incrowd.formats.sources import Source
from incrowd.formats.writers import Output


def _on_spark(work: Callable[..., Any]) -> Callable[..., Any]:
    """A method that does this to a source as Spark has it."""

    def method(self: SparkEngine, source: Source, *words: Any, **options: Any) -> Any:
        return work(as_spark(source, self.settings.master), *words, **options)

    return method


@dataclass(frozen=True)
class SparkEngine:
    """Lets a cluster touch the rows."""

    settings: Settings = field(default_factory=Settings)
    name: str = "spark"

    compress = _on_spark(compress)
    out_of_core = _on_spark(out_of_core)
    recode = _on_spark(recode)
    recoded = _on_spark(recoded)
    preview = _on_spark(preview)
    label_counts = _on_spark(label_counts)
    write = _on_spark(write)

    def output(self, address: str | Path, *, overwrite: bool) -> Output | None:
        return SparkOutput(address, overwrite=overwrite)
