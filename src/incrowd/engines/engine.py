"""What an engine is: all that touches rows. Every engine gives the same release, cell for cell.

An engine is registered by name (see `registry`); being there is enough to be run through the conformance suite.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from incrowd.engines.plan import ReadPlan, ReleasePlan

if TYPE_CHECKING:
    import pyarrow as pa

    from incrowd.formats.sources import Source
    from incrowd.formats.writers import Output
    from incrowd.recodings.recoding import Recoding
    from incrowd.run import Run
    from incrowd.table.compressed import CompressedTable
    from incrowd.table.grouping import Counts
    from incrowd.table.out_of_core import OutOfCoreTable


Observer = Callable[..., object]  # given a batch, and perhaps how many records each of its rows is
AS_RELEASED = ReleasePlan()


@dataclass(frozen=True)
class Settings:
    """What an engine may use; an engine ignores what does not concern it.

    Args:
        memory_limit: The most memory that an engine may take for itself, such as "2GB"; its own choice if None.
        spill_folder: Where it may put what does not fit; a folder of the system if None.
        master: The cluster, such as "local[2]" or "sc://host".
    """

    memory_limit: str | None = None
    spill_folder: str | Path | None = None
    master: str | None = None


@runtime_checkable
class KeepsTuples(Protocol):
    """An engine that can keep the distinct tuples, so that only counts of classes leave it."""

    def out_of_core(self, source: Source, plan: ReadPlan, run: Run) -> OutOfCoreTable:
        """Read a table once and keep its distinct tuples where they are; otherwise as `Engine.compress`."""


class Engine(Protocol):
    """Compresses, recodes, counts and writes rows.

    A run gets the number of rows as they pass and is asked in between whether to go on. No method changes the source,
    and each raises DataError if the source changed since it was opened. Any engine takes any source. An engine can be
    pickled with a release: it holds its settings, and connects when it has work to do.
    """

    name: str

    def compress(self, source: Source, plan: ReadPlan, run: Run) -> CompressedTable:
        """Read a table once and keep its distinct tuples.

        Raises:
            DataError: No rows are left, or missing values are not allowed.
            TaxonomyError: A value is not in its taxonomy.
        """

    def recode(
        self, source: Source, recoding: Recoding, run: Run, plan: ReleasePlan = AS_RELEASED
    ) -> Iterator[pa.RecordBatch]:
        """The rows of a table, recoded batch by batch, in their order; to look at, not to release."""

    def recoded(
        self,
        source: Source,
        recoding: Recoding,
        run: Run,
        plan: ReleasePlan = AS_RELEASED,
        observer: Observer | None = None,
    ) -> Any:
        """All rows of a table, recoded: the same kind of frame, or an Arrow table for a file.

        The observer is shown every row that is given back, in batches; or, where the plan allows it, counts of them.
        """

    def preview(self, source: Source, recoding: Recoding, rows: int) -> tuple[pa.RecordBatch, pa.RecordBatch]:
        """The first rows that are released, at most this many: as they were, and as they become."""

    def label_counts(
        self, source: Source, recoding: Recoding, target: str, labels: tuple[str | None, ...], classes: int, run: Run
    ) -> Counts:
        """Records per released class and label of the target, classes x labels, where tuples are allocated to parts.

        Only rows show them then. The labels are those of the compressed table, in its order.
        """

    def output(self, address: str | Path, *, overwrite: bool) -> Output | None:
        """Where rows go unless that is a single file of this machine: a table of a database, a folder, a cluster.

        Raises:
            OutputError: Nothing can be written there.
        """

    def write(
        self,
        source: Source,
        recoding: Recoding,
        path: Path | Output,
        observer: Observer,
        run: Run,
        plan: ReleasePlan = AS_RELEASED,
    ) -> str:
        """Write the recoded rows to a file, or to what `output` gave; gives the fingerprint of what is there.

        The rows are read back from where they wait, must be those that were to be written, and are then shown to the
        observer. Nobody else may see them yet: whoever calls commits them once they are verified.

        Raises:
            OutputError: What was read back is not what was to be written.
        """
