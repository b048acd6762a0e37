"""What an engine is: all that touches rows. Every engine gives the same release, cell for cell.

An engine is registered by name (see `registry`); being there is enough to be run through the conformance suite.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    import pyarrow as pa

    from incrowd.formats.outputs import Output
    from incrowd.formats.sources import Source
    from incrowd.policy.policy import Policy
    from incrowd.recodings.recoding import Recoding
    from incrowd.run import Run
    from incrowd.table.compressed import CompressedTable
    from incrowd.table.grouping import Counts
    from incrowd.table.out_of_core import OutOfCoreTable


See = Callable[..., object]  # see(batch), or see(batch, counts) where each row of the batch stands for so many


@dataclass(frozen=True)
class Settings:
    """What an engine may use; the words of a policy with the same names. An engine ignores what does not concern it.

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

    def out_of_core(self, source: Source, policy: Policy, run: Run) -> OutOfCoreTable:
        """Read a table once and keep its distinct tuples where they are; otherwise as `Engine.compress`."""


class Engine(Protocol):
    """Compresses, recodes, counts and writes rows.

    A run gets the number of rows as they pass and is asked in between whether to go on. No method changes the source,
    and each raises DataError if the source changed since it was opened. Any engine takes any source. An engine can be
    pickled with a release: it holds its settings, and connects when it has work to do.
    """

    name: str

    def compress(self, source: Source, policy: Policy, run: Run) -> CompressedTable:
        """Read a table once and keep its distinct tuples.

        Args:
            source: The rows.
            policy: Names the columns, and says what to do with missing values.
            run: Gets the number of rows as they pass.

        Raises:
            DataError: No rows are left, or missing values are not allowed.
            TaxonomyError: A value is not in its taxonomy.
        """

    def missing_values(self, source: Source, policy: Policy) -> tuple[str, ...]:
        """The texts that stand for a missing value: those that the user gave, and those of this kind of table."""

    def recode(
        self, source: Source, recoding: Recoding, run: Run, *, seen: bool = False, witnessed: Sequence[str] = ()
    ) -> Iterator[pa.RecordBatch]:
        """The rows of a table, recoded batch by batch, in their order; to look at, not to release.

        Args:
            source: The rows.
            recoding: The recoding.
            run: Gets the number of rows as they pass.
            seen: Whether the recoding was made from these very rows; then constant columns are not even read.
            witnessed: Dropped columns that come along with their original values, after all others.
        """

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
        """All rows of a table, recoded: the same kind of frame, or an Arrow table for a file.

        Args:
            source: The rows.
            recoding: The recoding.
            run: Gets the number of rows as they pass.
            see: Shown every row that is given back, in batches; or, where `sees` allows it, counts of them.
            sees: The columns that `see` looks at. An engine may show these alone, and equal rows once with their
                number, counted in what is given back and nowhere earlier. None for all columns of all rows.
            witnessed: Dropped columns whose original values `see` is shown too; they are not given back.
            keep_order: Whether rows stay in their order; else in one that follows from what is released alone, see
                `row_order`.
        """

    def preview(self, source: Source, recoding: Recoding, rows: int) -> tuple[pa.RecordBatch, pa.RecordBatch]:
        """The first rows that are released, as many as asked for at most: as they were, and as they become.

        Args:
            source: The rows.
            recoding: The recoding.
            rows: How many to show.
        """

    def label_counts(
        self, source: Source, recoding: Recoding, target: str, labels: tuple[str | None, ...], classes: int, run: Run
    ) -> Counts:
        """Records per released class and label of the target, where only rows show them: where tuples are dealt.

        Args:
            source: The rows that the recoding was made from.
            recoding: The recoding.
            target: The column of labels.
            labels: The labels, as the compressed table numbers them.
            classes: Number of released classes.
            run: Gets the number of rows as they pass.
        """

    def output(self, address: str | Path, *, overwrite: bool) -> Output | None:
        """Where rows go if that is no single file of this machine: a table of a database, a folder, a cluster.

        Args:
            address: Where the user wants them.
            overwrite: Whether what is there may be replaced.

        Raises:
            OutputError: Nothing can be written there.
        """

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
        """Write the recoded rows to a file, or to what `output` gave; gives the fingerprint of what is there.

        The rows are read back from where they wait, and must be those that were to be written. Nobody may see them yet:
        whoever calls commits them once they are verified.

        Args:
            source: The rows.
            recoding: The recoding.
            path: The file, or what `output` gave.
            see: Shown every row as it was read back; or, where `sees` allows it, counts of them.
            run: Gets the number of rows as they pass.
            sees: As in `recoded`.
            seen: As in `recode`.
            witnessed: Dropped columns whose original values `see` is shown too; they are not written.
            keep_order: As in `recoded`.

        Raises:
            OutputError: What was read back is not what was to be written.
        """
