"""Writers of released rows into files of any format, which read back what they have written."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

import pyarrow as pa

from incrowd.errors import DataError
from incrowd.formats.atomic_files import output_errors
from incrowd.formats.outputs import Apart
from incrowd.formats.registry import open_written
from incrowd.formats.sources import Source, WatchedFile


class RowWriter(Protocol):
    """Writes rows in one format; made from an open file, the path, the schema and the source of the rows."""

    def write(self, batch: pa.RecordBatch) -> None:
        """Write the rows of a batch that has the columns of the schema, in any order."""

    def close(self) -> None:
        """Write what is left; the file itself stays open."""


RowWriterKind = Callable[[Any, Path, pa.Schema, Source], RowWriter]


class FileWriter:
    """A file of any format that is being written.

    Args:
        kind: Makes the row writer.
        path: The file.
        schema: The columns to write.
        source: Where the rows came from.
        apart: What such files tell apart.
    """

    def __init__(
        self, kind: RowWriterKind, path: Path, schema: pa.Schema, source: Source, apart: Apart | None = None
    ) -> None:
        self.name = path.name
        self.apart = apart or Apart()
        self._path = path
        self._names = schema.names
        self._parent = path.parent
        self._closed = False
        self._read: Source | None = None
        with output_errors(self._parent):
            self._file = _OutputFile(path)
        with self._guarded():
            self._rows = kind(self._file, path, schema, source)

    @contextlib.contextmanager
    def _guarded(self) -> Iterator[None]:
        """Give the file up on any error, and turn the system's errors into ours."""
        try:
            with output_errors(self._parent):
                yield
        except BaseException:
            self._abandon()
            raise

    def _abandon(self) -> None:
        """Close without writing any more."""
        self._closed = True
        self._file.abandon()
        with contextlib.suppress(Exception):
            self._rows.close()

    def write(self, batch: pa.RecordBatch) -> None:
        """Write the rows of a batch that has the columns of the schema, in any order."""
        with self._guarded():
            self._rows.write(batch)

    def close(self) -> None:
        """Write what is left and close the file."""
        if not self._closed:
            with self._guarded():
                self._rows.close()
                self._file.close()
            self._closed = True

    def finish(self) -> None:
        """Write what is left: all rows have come."""
        self.close()

    def read_back(self, encoded: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows that are in the file, as its format is read; see `BatchWriter.read_back`.

        Raises:
            DataError: They cannot be read, or the columns are others.
        """
        words = getattr(self._rows, "words", {})
        source = self._read = open_written(self._path, words)
        if len(source.columns) != len(self._names):
            raise DataError("its columns are others")
        named = words.get("header", True)  # without a header, a file does not say what its columns are called
        of_file = dict(zip(self._names, source.columns, strict=True))
        for batch in source.batches(None, encoded=[of_file[name] for name in encoded]):
            yield batch if named else batch.rename_columns(self._names)

    @property
    def fingerprint(self) -> str:
        """The digest of the bytes that are in the file, after "sha256:"; to be read after `close`."""
        if not self._closed:
            raise ValueError("the fingerprint is known only after close()")
        return WatchedFile(self._path).fingerprint() if self._read is None else self._read.fingerprint()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        elif not self._closed:
            self._abandon()


class _OutputFile:
    """A file that can be given up, and then takes what still comes without writing it."""

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
        """Take whatever still comes and write none of it, so that writers can end quietly."""
        self.abandoned = True
        with contextlib.suppress(OSError):
            self._file.close()
