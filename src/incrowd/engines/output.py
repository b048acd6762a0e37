"""Where rows go: files that appear complete or not at all, and writers that know the digest of what they wrote."""

from __future__ import annotations

import contextlib
import errno
import gzip
import hashlib
import os
import secrets
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Protocol, Self, cast

import pyarrow as pa

from incrowd.engines.csv_dialect import output_dialect
from incrowd.engines.csv_files import CsvSource, CsvWriter
from incrowd.engines.parquet_files import ParquetRows
from incrowd.engines.sources import SUFFIXES, Source, file_format
from incrowd.errors import OutputError

_DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def check_output(
    path: str | os.PathLike[str],
    *,
    inputs: Iterable[Path] = (),
    overwrite: bool = False,
    suffixes: tuple[str, ...] | None = None,
) -> Path:
    """Check that a release can be written to a path, before any work is done.

    Args:
        path: Where the release should go.
        inputs: The files it is made from; none of them may be overwritten, also not through a link.
        overwrite: Whether a file that is there already may be replaced.
        suffixes: What its name may end in; those of tables if None.

    Returns:
        The path.

    Raises:
        OutputError: If something is in the way.
    """
    target = Path(path)
    if target.is_dir():
        raise OutputError(f"{target} is a directory; give a file name")
    if not (target.name.endswith(suffixes) if suffixes else file_format(target)):
        allowed = " or ".join(suffixes) if suffixes else SUFFIXES
        raise OutputError(f"cannot tell the format of {target.name} by its suffix; use {allowed}")
    parent = Path(os.path.realpath(target)).parent
    if not parent.is_dir():
        raise OutputError(f"no directory {target.parent} to write {target.name} in; make it first")
    if target.exists():
        for source in inputs:
            if source.exists() and target.samefile(source):
                raise OutputError(f"{target} is the input {source}; give another name")
        if not target.is_file():
            raise OutputError(f"{target} is not a regular file; give another name")
        if not overwrite:
            raise OutputError(f"{target} exists; give another name, or overwrite it on purpose")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise OutputError(f"cannot write in {parent}: permission denied")
    return target


class AtomicFiles:
    """Files that are written beside their targets under hidden names, and moved into place when all are complete.

    On any exception, a keyboard interrupt too, the hidden files are removed and what was there before stays. The moves
    follow each other directly, after everything is on the disk; each of them is atomic.

        with AtomicFiles() as files:
            with open_writer(files.open("release.csv"), schema, source) as writer: ...
            files.open("report.html").write_text(...)
    """

    def __init__(self) -> None:
        self._staged: dict[Path, Path] = {}  # target -> hidden file

    def __enter__(self) -> Self:
        return self

    def open(self, path: str | os.PathLike[str]) -> Path:
        """The hidden file to write instead of a target; empty, in the same directory and with the same suffix."""
        target = Path(os.path.realpath(path))  # through a link, as open() would
        if target in self._staged:
            raise OutputError(f"{path} would be written twice; give different names")
        suffix = "".join(target.suffixes[-2:]) if target.suffix.lower() == ".gz" else target.suffix
        hidden = target.with_name(f".incrowd-{secrets.token_hex(8)}{suffix}")
        with _output_errors(target.parent):
            self._staged[target] = hidden  # before it exists, so that an interrupt here leaves nothing behind
            os.close(os.open(hidden, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
            if target.exists():
                os.chmod(hidden, target.stat().st_mode & 0o7777)
        return hidden

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._commit()
        finally:
            for hidden in self._staged.values():
                with contextlib.suppress(OSError):
                    hidden.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno in _DISK_FULL:
            raise OutputError(f"cannot write: {os.strerror(error.errno)}; nothing was written") from None

    def _commit(self) -> None:
        """Bring everything to the disk, then move it into place."""
        for target, hidden in self._staged.items():
            with _output_errors(target.parent), hidden.open("rb+") as file:
                os.fsync(file.fileno())
        moved: list[str] = []
        for target, hidden in self._staged.items():
            left = f"already replaced: {', '.join(moved)}" if moved else "nothing was written"
            with _output_errors(target.parent, left):
                os.replace(hidden, target)
            moved.append(target.name)
        for parent in {target.parent for target in self._staged}:
            with contextlib.suppress(OSError):  # a directory cannot be synced everywhere; the files already are
                _sync_directory(parent)


def _sync_directory(path: Path) -> None:
    """Make the moves in a directory last."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextlib.contextmanager
def _output_errors(parent: Path, left: str = "nothing was written") -> Iterator[None]:
    """Turn what the system says into an OutputError of one line."""
    try:
        yield
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else "the system gave no reason"
        raise OutputError(f"cannot write in {parent}: {reason}; {left}") from None


class Writer(Protocol):
    """Takes the rows of a release, batch by batch."""

    def write(self, batch: pa.RecordBatch) -> None:
        """Write the rows of a batch that has the columns of the schema, in any order."""

    def close(self) -> None:
        """Write what is left and close the file."""

    @property
    def fingerprint(self) -> str:
        """The digest of the bytes that were written, after "sha256:"; to be read after `close`."""

    def __enter__(self) -> Self: ...

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None: ...


def open_writer(path: Path, schema: pa.Schema, source: Source) -> Writer:
    """Open a file for the rows of a release.

    CSV is written in the dialect of the source if that was CSV too, with its header if it had one. Parquet keeps the
    metadata of the source.

    Args:
        path: The file; its suffix says the format, and whether to compress.
        schema: The columns to write; batches are cast to it.
        source: Where the rows came from.
    """
    if file_format(path) is None:
        raise OutputError(f"cannot tell the format of {path.name} by its suffix; use {SUFFIXES}")
    return _FileWriter(path, schema, source)


class _FileWriter:
    """A CSV or Parquet file that is being written."""

    def __init__(self, path: Path, schema: pa.Schema, source: Source) -> None:
        self._parent = path.parent
        self._closed = False
        with _output_errors(self._parent):
            self._file = _HashedFile(path)
        self._rows: ParquetRows | _CsvRows
        with self._guarded():
            if file_format(path) == "parquet":
                self._rows = ParquetRows(pa.PythonFile(self._file, mode="w"), schema, source.schema)
            else:
                self._rows = _CsvRows(self._file, path, schema, source)

    @contextlib.contextmanager
    def _guarded(self) -> Iterator[None]:
        """Give the file up on any error, and turn the system's errors into ours."""
        try:
            with _output_errors(self._parent):
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
        with self._guarded():
            self._rows.write(batch)

    def close(self) -> None:
        if not self._closed:
            with self._guarded():
                self._rows.close()
                self._file.close()
            self._closed = True

    @property
    def fingerprint(self) -> str:
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


class _CsvRows:
    """Lines of CSV, compressed if the name says so."""

    def __init__(self, file: _HashedFile, path: Path, schema: pa.Schema, source: Source) -> None:
        name = path.name.lower()
        dialect = source.dialect if isinstance(source, CsvSource) else None
        self._schema = schema
        self._lines = CsvWriter(output_dialect(dialect, Path(name.removesuffix(".gz")).suffix), schema.names)
        self._sink: Any = file
        if name.endswith(".gz"):  # without name and time, so that the same rows give the same bytes
            self._sink = gzip.GzipFile(
                filename="", mode="wb", compresslevel=6, fileobj=cast("IO[bytes]", file), mtime=0
            )
        self._sink.write(self._lines.begin())

    def write(self, batch: pa.RecordBatch) -> None:
        self._sink.write(self._lines.lines(batch.select(self._schema.names)))

    def close(self) -> None:
        if isinstance(self._sink, gzip.GzipFile):
            self._sink.close()


class _HashedFile:
    """A file that knows the SHA-256 of what was written to it.

    Hashing while writing beats reading the finished file again: 0.06 s against 0.07 s for 112 MB, and more where the
    file is no longer in memory.
    """

    def __init__(self, path: Path) -> None:
        self._file = path.open("wb")
        self._abandoned = False
        self.digest = hashlib.sha256()

    @property
    def closed(self) -> bool:
        return self._file.closed and not self._abandoned

    def write(self, data: bytes | memoryview) -> int:
        if not self._abandoned:
            self._file.write(data)
            self.digest.update(data)
        return len(data)

    def flush(self) -> None:
        if not self._abandoned:
            self._file.flush()

    def close(self) -> None:
        self._file.close()

    def abandon(self) -> None:
        """Take whatever still comes and write none of it, so that writers can end quietly."""
        self._abandoned = True
        with contextlib.suppress(OSError):
            self._file.close()
