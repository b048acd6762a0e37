"""What takes released rows: files of any format, and whatever else rows can go to.

Rows are staged first, read back from there, and visible when they are verified. An output that is not a single file is
a part of what `AtomicFiles` writes: it is committed with the files, or rolled back with them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Self

import pyarrow as pa

from incrowd.errors import DataError
from incrowd.formats.atomic_files import output_errors
from incrowd.formats.registry import open_written
from incrowd.formats.sources import Source, WatchedFile
from incrowd.formats.staging import Move

Proof = Mapping[str, str]  # where rows are ("place" and what finds it), and their "digest"


@dataclass(frozen=True)
class Apart:
    """What a kind of file or database can tell apart, besides what they all can."""

    blanks: bool = True  # a missing value and an empty text
    nans: bool = True  # a missing value and not-a-number


class BatchWriter(Protocol):
    """Takes released rows; a context manager, which leaves nothing half written on an error.

    `name` is what messages call it, `apart` what can be told apart in what is written.
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

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None: ...


class Output(Protocol):
    """A table of a database, a folder, a place on a cluster; made by `Engine.output`, which checks that it can be.

    `name` is what messages call it; the other files of the release are next to the path `beside`.
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
        """The folder in which something new appears, None if there is none."""

    @property
    def proof(self) -> Proof | None:
        """What a manifest says of rows that `commit` makes visible; None if it does not, or nobody could see it."""

    def commit(self) -> None:
        """Make what was written visible, all at once, or complete where it waits, if it is moved into place.

        Raises:
            OutputError: It could not be done, and nothing was changed, unless `is_committed` says otherwise.
        """

    def moves(self) -> list[Move]:
        """What is left to be moved into place after `commit`."""

    def is_committed(self) -> bool | None:
        """Whether the rows are there, by their proof; None if that cannot be seen now."""

    def roll_back(self) -> None:
        """Leave nothing behind of what was not committed and moved; called in the end. It must not raise."""


class RowWriter(Protocol):
    """Writes rows in one format; made from an open file, the path, the schema and the source of the rows."""

    def write(self, batch: pa.RecordBatch) -> None:
        """Write the rows of a batch that has the columns of the schema, in any order."""

    def close(self) -> None:
        """Write what is left; the file itself stays open."""


RowWriterKind = Callable[[Any, Path, pa.Schema, Source], RowWriter]


class FileWriter:
    """A file of any format that is being written by a `RowWriter`; see `BatchWriter`."""

    def __init__(
        self, kind: RowWriterKind, path: Path, schema: pa.Schema, source: Source, apart: Apart | None = None
    ) -> None:
        self.name = path.name
        self.apart = apart or Apart()
        self._path = path
        self._names = schema.names
        self._closed = False
        self._read: Source | None = None
        with output_errors(path.parent):
            self._file = _OutputFile(path)
        with self._guarded():
            self._rows = kind(self._file, path, schema, source)

    @contextlib.contextmanager
    def _guarded(self) -> Iterator[None]:
        """Give the file up on any error, and turn the system's errors into ours."""
        try:
            with output_errors(self._path.parent):
                yield
        except BaseException:
            self._abandon()
            raise

    def _abandon(self) -> None:
        self._closed = True
        self._file.abandon()
        with contextlib.suppress(Exception):
            self._rows.close()

    def write(self, batch: pa.RecordBatch) -> None:
        with self._guarded():
            self._rows.write(batch)

    def finish(self) -> None:
        if not self._closed:
            with self._guarded():
                self._rows.close()
                self._file.close()
            self._closed = True

    def read_back(self, encoded: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows that are in the file, as its format is read; DataError if they cannot be, or have other columns."""
        options: Any = getattr(self._rows, "reader_options", {})
        source = self._read = open_written(self._path, options)
        if len(source.columns) != len(self._names):
            raise DataError("its columns are others")
        named = options.get("header", True)  # without a header, a file does not say what its columns are called
        of_file = dict(zip(self._names, source.columns, strict=True))
        for batch in source.batches(None, encoded=[of_file[name] for name in encoded]):
            yield batch if named else batch.rename_columns(self._names)

    @property
    def fingerprint(self) -> str:
        if not self._closed:
            raise ValueError("the fingerprint is known only after finish()")
        return WatchedFile(self._path).fingerprint() if self._read is None else self._read.fingerprint()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        if kind is None:
            self.finish()
        elif not self._closed:
            self._abandon()


class _OutputFile:
    """A file that can be given up, and then takes what still comes without writing it, so that writers end quietly."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("wb")
        self.abandoned = False  # what comes is not written any more, and need not be made

    @property
    def closed(self) -> bool:
        return self._file.closed and not self.abandoned

    def write(self, data: bytes | memoryview) -> int:
        if not self.abandoned:
            self._file.write(data)
        return len(data)

    def flush(self) -> None:
        if not self.abandoned:
            self._file.flush()

    def close(self) -> None:
        self._file.close()

    def abandon(self) -> None:
        self.abandoned = True
        with contextlib.suppress(OSError):
            self._file.close()
