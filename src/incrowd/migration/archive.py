"""Reads single files out of a zip archive that may be hostile: nothing is extracted, and no size is believed.

Which entries an archive may have is checked before anything is read. What is read is bounded while it is unpacked, so a
wrong size in the headers changes nothing.
"""

from __future__ import annotations

import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from incrowd.errors import DataError, shown
from incrowd.schemas.regular_files import open_regular

MOST_ENTRIES = 10_000
MOST_BYTES = 1 << 28  # of all files that are read of an archive, unpacked
_MOST_RATIO = 300  # of a file that is copied: tables about people are not as repetitive
_FREE = 1 << 20  # bytes of which the ratio does not matter
_CHUNK = 1 << 20
_SPOILED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError, ValueError)


class Archive:
    """A zip archive of which every entry has a plain name, comes once and is a regular file."""

    def __init__(self, opened: zipfile.ZipFile, name: str) -> None:
        self.name = name
        self._zip = opened
        self._left = MOST_BYTES
        entries = opened.infolist()
        if len(entries) > MOST_ENTRIES:
            raise DataError(f"{name} has {len(entries):,} entries, more than any project; give a project")
        for entry in entries:
            if reason := _refusal(entry):
                raise DataError(
                    f"{name} has an entry {shown(entry.filename)} that {reason}; give a project as it was saved"
                )
        self.names = [entry.filename for entry in entries]
        if len({each.lower() for each in self.names}) < len(self.names):
            raise DataError(f"{name} has two entries of the same name; give a project as it was saved")

    def __contains__(self, entry: str) -> bool:
        return entry in self.names

    def text(self, entry: str, most: int = MOST_BYTES) -> str:
        """A file of the archive as text.

        Raises:
            DataError: It is not there, is too large, damaged, or not UTF-8.
        """
        most = min(most, self._left)
        data = b"".join(self._chunks(entry, most))
        self._left -= len(data)
        if b"\0" in data:
            raise DataError(f"{self.name}: {entry} holds null bytes, so it is no text; save the project again")
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise DataError(
                f"{self.name}: {entry} line {line} is not UTF-8; save the project again with a recent version"
            ) from None

    def copy(self, entry: str, target: Path) -> None:
        """Copy a file of any size out of the archive, unless it is packed as no table is."""
        packed = self._entry(entry).compress_size
        with target.open("wb") as file:
            for chunk in self._chunks(entry, max(_FREE, packed * _MOST_RATIO)):
                file.write(chunk)

    def _entry(self, entry: str) -> zipfile.ZipInfo:
        if entry not in self:
            raise DataError(f"{self.name} has no {entry}; give a project as it was saved")
        return self._zip.getinfo(entry)

    def _chunks(self, entry: str, most: int) -> Iterator[bytes]:
        info, size = self._entry(entry), 0
        try:
            with self._zip.open(info) as stream:
                while chunk := stream.read(_CHUNK):
                    size += len(chunk)
                    if size > most:
                        raise DataError(f"{self.name}: {entry} unpacks to more than {most:,} bytes; give a project")
                    yield chunk
        except _SPOILED as error:
            raise DataError(f"{self.name}: {entry} is damaged ({shown(str(error))}); save the project again") from None


@contextmanager
def open_archive(path: Path) -> Iterator[Archive]:
    """Open a zip archive.

    Raises:
        DataError: It cannot be read, is no zip archive, or has entries that no project has.
    """
    with _opened(path) as file:
        try:
            opened = zipfile.ZipFile(file)
        except _SPOILED:
            raise DataError(f"{path.name} is no zip archive, as projects of ARX are; give a .deid file") from None
        with opened:
            yield Archive(opened, path.name)


def _opened(path: Path) -> IO[bytes]:
    try:
        return open_regular(path)
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}; give a file that is there") from None


def _refusal(entry: zipfile.ZipInfo) -> str:
    """What is wrong with an entry, if anything is."""
    name = entry.filename
    parts = name.rstrip("/").split("/")
    if name.startswith("/") or "\\" in name or ":" in parts[0] or any(part in ("", ".", "..") for part in parts):
        return "leads out of the archive"
    if stat.S_IFMT(entry.external_attr >> 16) not in (0, stat.S_IFREG, stat.S_IFDIR):
        return "is a link or a device"
    if entry.flag_bits & 1:
        return "is encrypted"
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return "is packed in an unusual way"
    return ""
