"""Where released rows go if not to a single file: staged first, visible when they are verified.

An output is a part of what `AtomicFiles` writes: it is committed with the files, or rolled back with them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

if TYPE_CHECKING:
    import pyarrow as pa

    from incrowd.formats.sources import Source
    from incrowd.formats.staging import Move

Proof = Mapping[str, str]  # where rows are ("place" and what finds it), and their "digest"


@dataclass(frozen=True)
class Apart:
    """What a kind of file or database tells apart, besides all that every one does.

    Args:
        blanks: Whether a missing value and an empty text are two things.
        nans: Whether a missing value and not-a-number are.
    """

    blanks: bool = True
    nans: bool = True


class BatchWriter(Protocol):
    """Takes released rows; a context manager, which leaves nothing half written on an error.

    Attributes:
        name: What messages call it.
        apart: What can be told apart in what is written.
    """

    name: str
    apart: Apart

    def write(self, batch: pa.RecordBatch) -> None:
        """Write the rows of a batch that has the columns of the schema, in any order."""

    def finish(self) -> None:
        """Write what is left: all rows have come."""

    def read_back(self, encoded: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows as anyone will read them, from where they wait; once, after `finish`.

        Args:
            encoded: Columns that are best read as dictionaries.
        """

    @property
    def fingerprint(self) -> str:
        """The digest of what is there, after "sha256:"; to be read at the end."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class Output(Protocol):
    """A table of a database, a folder, a place on a cluster; made by `Engine.output`, which checks that it can be.

    Attributes:
        name: What messages call it.
        beside: The path whose neighbours are the other files of the release.
    """

    name: str
    beside: Path

    def writer(self, schema: pa.Schema, source: Source) -> BatchWriter:
        """Begin to write; nobody sees the rows before `commit`."""

    def prepare(self) -> None:
        """Do all that takes long or is likely to fail, when the rows were verified; `commit` comes next.

        Raises:
            OutputError: It could not be done, and nothing was changed.
        """

    @property
    def is_ready(self) -> bool:
        """Whether it can still be committed as it was prepared, when nobody else writes to `home`."""

    @property
    def home(self) -> Path | None:
        """The folder in which something appears that was not there, None if there is none."""

    @property
    def proof(self) -> Proof | None:
        """What a manifest says of rows that `commit` makes visible; None if it does not, or nobody could see it."""

    def commit(self) -> None:
        """Make what was written visible, all at once, or complete where it waits, if it is moved into place.

        Raises:
            OutputError: It could not be done, and nothing was changed; unless `is_committed` knows better.
        """

    def moves(self) -> list[Move]:
        """What is left to be moved into place after `commit`."""

    def is_committed(self) -> bool | None:
        """Whether the rows are there, by their proof; None if that cannot be seen now."""

    def roll_back(self) -> None:
        """Leave nothing behind of what was not committed and moved; called in the end. It must not raise."""
