"""The Spark engine as one object."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd.engines.arrow.compress import missing_values
from incrowd.engines.engine import See, Settings
from incrowd.engines.spark import compress, count, out_of_core, preview, release, write
from incrowd.engines.spark.output import SparkOutput
from incrowd.formats.outputs import Output

if TYPE_CHECKING:
    import pyarrow as pa

    from incrowd.engines.spark.out_of_core import SparkTuples
    from incrowd.formats.sources import Source
    from incrowd.policy.policy import Policy
    from incrowd.recodings.recoding import Recoding
    from incrowd.run import Run
    from incrowd.table.compressed import CompressedTable
    from incrowd.table.grouping import Counts


@dataclass(frozen=True)
class SparkEngine:
    """Lets a cluster touch the rows.

    Args:
        settings: Says which cluster.
    """

    settings: Settings = field(default_factory=Settings)
    name: str = "spark"

    missing_values = staticmethod(missing_values)

    def compress(self, source: Source, policy: Policy, run: Run) -> CompressedTable:
        """Read a table once and keep its distinct tuples; see `Engine.compress`."""
        return compress.compress(source, policy, run, master=self.settings.master)

    def out_of_core(self, source: Source, policy: Policy, run: Run) -> SparkTuples:
        """Group the rows of a table, and leave the tuples on the cluster; see `KeepsTuples.out_of_core`."""
        return out_of_core.out_of_core(source, policy, run, master=self.settings.master)

    def recode(
        self, source: Source, recoding: Recoding, run: Run, *, seen: bool = False, witnessed: Sequence[str] = ()
    ) -> Iterator[pa.RecordBatch]:
        """The rows, recoded, in their order; see `Engine.recode`."""
        return release.recode(source, recoding, run, seen=seen, witnessed=witnessed, master=self.settings.master)

    def recoded(
        self,
        source: Source,
        recoding: Recoding,
        run: Run,
        *,
        see: See | None = None,
        sees: Sequence[str] | None = None,
        witnessed: Sequence[str] = (),
        keep_order: bool = False,
    ) -> Any:
        """All rows, recoded; see `Engine.recoded`."""
        words: dict[str, Any] = {"see": see, "sees": sees, "witnessed": witnessed, "keep_order": keep_order}
        return release.recoded(source, recoding, run, **words, master=self.settings.master)

    def preview(self, source: Source, recoding: Recoding, rows: int) -> tuple[pa.RecordBatch, pa.RecordBatch]:
        """The first few rows that are released; see `Engine.preview`."""
        return preview.preview(source, recoding, rows, master=self.settings.master)

    def label_counts(
        self, source: Source, recoding: Recoding, target: str, labels: tuple[str | None, ...], classes: int, run: Run
    ) -> Counts:
        """Records per released class and label; see `Engine.label_counts`."""
        master = self.settings.master
        return count.label_counts(source, recoding, target, labels, classes, run, master=master)

    def output(self, address: str | Path, *, overwrite: bool) -> Output | None:
        """A folder that the cluster writes to; see `Engine.output`."""
        return SparkOutput(address, overwrite=overwrite)

    def write(
        self,
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
    ) -> str:
        """Write the recoded rows; see `Engine.write`."""
        words: dict[str, Any] = {"sees": sees, "seen": seen, "witnessed": witnessed, "keep_order": keep_order}
        return write.write(source, recoding, path, see, run, **words, master=self.settings.master)
