"""What an engine is: all that touches rows. Every engine gives the same release, cell for cell.

An engine is registered by name in `ENGINES`; being there is enough to be run through the conformance suite.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, cast

from incrowd.errors import UnknownNameError

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa

    from incrowd.formats.sources import Source
    from incrowd.policy.policy import Policy
    from incrowd.recodings.recoding import Recoding
    from incrowd.run import Run
    from incrowd.table.compressed import CompressedTable
    from incrowd.table.grouping import Counts


See = Callable[["pa.RecordBatch"], object]


class Engine(Protocol):
    """Compresses, recodes, counts and writes rows.

    A run gets the number of rows as they pass and is asked in between whether to go on. No method changes the source,
    and each raises DataError if the source changed since it was opened.
    """

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
        witnessed: Sequence[str] = (),
        keep_order: bool = False,
    ) -> Any:
        """All rows of a table, recoded: the same kind of frame, or an Arrow table for a file.

        Args:
            source: The rows.
            recoding: The recoding.
            run: Gets the number of rows as they pass.
            see: Shown every row that is given back, in batches.
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

    def write(
        self,
        source: Source,
        recoding: Recoding,
        path: Path,
        see: See,
        run: Run,
        *,
        seen: bool = False,
        witnessed: Sequence[str] = (),
        keep_order: bool = False,
    ) -> str:
        """Write the recoded rows to a file; gives the file's fingerprint.

        Args:
            source: The rows.
            recoding: The recoding.
            path: The file.
            see: Shown every batch that is written.
            run: Gets the number of rows as they pass.
            seen: As in `recode`.
            witnessed: Dropped columns whose original values `see` is shown too; they are not written.
            keep_order: As in `recoded`.
        """


@dataclass(frozen=True)
class EngineEntry:
    """An engine in the registry.

    Args:
        about: One line for people.
        home: The module that has it as `ENGINE`.
    """

    about: str
    home: str


ENGINES: Mapping[str, EngineEntry] = {
    "arrow": EngineEntry(
        "streams Arrow batches; memory grows with the distinct tuples", "incrowd.engines.arrow.engine"
    ),
}


def engine_of(name: str = "arrow") -> Engine:
    """The engine of that name; imported when it is first used."""
    if name not in ENGINES:
        raise UnknownNameError("engine", name, ENGINES)
    return cast("Engine", import_module(ENGINES[name].home).ENGINE)
