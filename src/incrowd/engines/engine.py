"""What an engine is: all that touches rows. Every engine gives the same release, cell for cell.

An engine is registered by name in `ENGINES`; being there is enough to be run through the conformance suite.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
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

    def recode(self, source: Source, recoding: Recoding, run: Run, *, seen: bool = False) -> Iterator[pa.RecordBatch]:
        """The rows of a table, recoded batch by batch.

        Args:
            source: The rows.
            recoding: The recoding.
            run: Gets the number of rows as they pass.
            seen: Whether the recoding was made from these very rows; then constant columns are not even read.
        """

    def recoded(self, source: Source, recoding: Recoding, run: Run) -> Any:
        """All rows of a table, recoded: the same kind of frame, or an Arrow table for a file."""

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
        see: Callable[[pa.RecordBatch], object],
        run: Run,
        *,
        seen: bool = False,
    ) -> str:
        """Write the recoded rows to a file, showing every batch to `see` on the way; gives the file's fingerprint."""


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
