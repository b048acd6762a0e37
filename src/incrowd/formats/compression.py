"""Compressed files of text: what the end of a name says of them, reading and writing them.

What is written holds neither a name nor a time, so that the same rows give the same bytes.
"""

from __future__ import annotations

import bz2
import gzip
import zlib
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

import pyarrow as pa

from incrowd.errors import DataError

COMPRESSED = (".gz", ".zst", ".bz2")
UNREADABLE = (OSError, EOFError, zlib.error, pa.ArrowException)


def uncompressed(name: str) -> str:
    """The name of a file, in small letters, without what says that it is compressed."""
    name = name.lower()
    ending = Path(name).suffix
    return name.removesuffix(ending) if ending in COMPRESSED else name


def open_bytes(path: Path) -> BinaryIO:
    ending = Path(path.name.lower()).suffix
    if ending == ".gz":
        return cast("BinaryIO", gzip.open(path, "rb"))
    if ending == ".bz2":
        return cast("BinaryIO", bz2.open(path, "rb"))
    if ending == ".zst":
        return cast("BinaryIO", pa.CompressedInputStream(pa.OSFile(str(path), "r"), "zstd"))
    return path.open("rb")


def unreadable(name: str, error: BaseException) -> DataError:
    reason = getattr(error, "strerror", None) or "it is damaged or not what its suffix says"
    return DataError(f"cannot read {name}: {reason}")


def compressing(file: Any, name: str) -> Any:
    """What to write to instead of an open file, compressed if the name says so; closing it leaves the file open."""
    ending = Path(name.lower()).suffix
    if ending == ".gz":
        return gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=cast("IO[bytes]", file), mtime=0)
    if ending == ".bz2":
        return bz2.BZ2File(file, "wb")
    left_open = _LeftOpen(file)
    return pa.CompressedOutputStream(pa.PythonFile(left_open, mode="w"), "zstd") if ending == ".zst" else left_open


class _LeftOpen:
    """A file that others may write to but not close: Arrow closes what it has written to."""

    closed = False

    def __init__(self, file: Any) -> None:
        self.write, self.flush = file.write, file.flush

    def close(self) -> None:
        self.closed = True
