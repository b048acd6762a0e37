"""The DuckDB engine as one object."""

from __future__ import annotations

from dataclasses import dataclass, field

from incrowd.engines.arrow.compress import missing_values
from incrowd.engines.arrow.count import label_counts
from incrowd.engines.arrow.preview import preview
from incrowd.engines.arrow.recode import recoded, released
from incrowd.engines.arrow.write import output, write
from incrowd.engines.duckdb.compress import compress, out_of_core
from incrowd.engines.duckdb.out_of_core import DuckDbTuples
from incrowd.engines.engine import Settings
from incrowd.formats.sources import Source
from incrowd.policy.policy import Policy
from incrowd.run import Run
from incrowd.table.compressed import CompressedTable


@dataclass(frozen=True)
class DuckDbEngine:
    """Groups rows by DuckDB, and recodes them as the Arrow engine does."""

    settings: Settings = field(default_factory=Settings)
    name: str = "duckdb"

    def compress(self, source: Source, policy: Policy, run: Run) -> CompressedTable:
        """Group the rows of a table; see `Engine.compress`."""
        return compress(source, policy, run, self.settings)

    def out_of_core(self, source: Source, policy: Policy, run: Run) -> DuckDbTuples:
        """Group the rows of a table, and leave the tuples in DuckDB; see `KeepsTuples.out_of_core`."""
        return out_of_core(source, policy, run, self.settings)

    missing_values = staticmethod(missing_values)
    recode = staticmethod(released)
    recoded = staticmethod(recoded)
    preview = staticmethod(preview)
    label_counts = staticmethod(label_counts)
    output = staticmethod(output)
    write = staticmethod(write)
