"""Writers of released rows: any format, with the digest of the bytes that were written."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

import pyarrow as pa

from incrowd.formats.atomic_files import output_errors
from incrowd.formats.sources import Source


class RowWriter(Protocol):
    """Writes rows in one format; made from an open file, the path, the schema and the source of the rows."""

    def write(self, batch: pa.RecordBatch) -> None:
        """Write the rows of a batch that has the columns of the schema, in any order."""

    def close(self) -> None:
        """Write what is left; the file itself stays open."""


RowWriterKind = Callable[[Any, Path, pa.Schema, Source], RowWriter]


class FileWriter:
    """A file of any format that is being written."""

    def __init__(
        self, kind: Callable[[Any, Path, pa.Schema, Source], RowWriter], path: Path, schema: pa.Schema, source: Source
    ) -> None:
        self._parent = path.parent
        self._closed = False
        with output_errors(self._parent):
            self._file = _HashedFile(path)
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

    @property
    def fingerprint(self) -> str:
        """The digest of the bytes that were written, after "sha256:"; to be read after `close`."""
        if not self._closed:
            raise ValueError("the fingerprint is known only after close()")
        return "sha256:" + self._file.digest.hexdigest()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        elif not self._closed:
            self._abandon()


class _HashedFile:
    """A file that knows the SHA-256 of what was written to it.

    Hashing while writing beats reading the finished file again: 0.06 s against 0.07 s for 112 MB, and more where the
    file is no longer in memory.
    """

    def __init__(self, path: Path) -> None:
        self._file = path.open("wb")
        self.abandoned = False  # what comes is not written any more, and need not be made
        self.digest = hashlib.sha256()

    @property
    def closed(self) -> bool:
        return self._file.closed and not self.abandoned

    def write(self, data: bytes | memoryview) -> int:
        if not self.abandoned:
            self._file.write(data)
            self.digest.update(data)
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
