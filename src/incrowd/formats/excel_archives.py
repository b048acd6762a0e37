"""Whether an Excel file is safe to open: it is an archive, and a small one can unfold to more than memory holds.

What is looked at: how large the parts really are, whatever the archive says of them, and how far apart the cells of a
sheet are, since readers lay out everything in between.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from pathlib import Path

from incrowd.errors import DataError

MOST_BYTES = 1 << 30  # that parts may unfold to without being looked at for repetition
MOST_RATIO = 200  # real sheets unfold to 5 to 50 times their size
MOST_CELLS = 50_000_000  # of the rectangle around the cells of a sheet, if it is mostly empty
_BLOCK = 1 << 20
_LONGEST_CELL = 20  # bytes of what `_CELL` finds, written without blanks
_CELL = re.compile(rb"""r\s*=\s*["']([A-Za-z]{1,3})([0-9]{1,7})["']""")  # begins with a letter, which is found fast


def check_archive(path: Path) -> None:
    """Raise DataError if a file is no archive, or unfolds to too much."""
    try:
        with zipfile.ZipFile(path) as archive:
            parts = archive.infolist()
            if any(part.flag_bits & 1 for part in parts):
                raise DataError(f"{path.name} is protected by a password; save it without one")
            unfolded = 0
            for part in parts:
                unfolded = _check_part(archive, part, path, unfolded)
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, NotImplementedError, ValueError, RuntimeError):
        raise DataError(f"{path.name} is not an Excel file (.xlsx), or it is damaged") from None


def _check_part(archive: zipfile.ZipFile, part: zipfile.ZipInfo, path: Path, unfolded: int) -> int:
    """Read a part to its end, and tell how many bytes there are by now."""
    extent = _Extent()
    is_sheet = "/worksheets/" in f"/{part.filename.lower()}"
    part.file_size = 1 << 62  # what the archive says is not to be relied on
    most = max(MOST_BYTES, MOST_RATIO * path.stat().st_size)
    with archive.open(part) as file:
        while block := file.read(_BLOCK):
            unfolded += len(block)
            if unfolded > most:
                raise DataError(
                    f"{path.name} unfolds to more than {most >> 20} MB, more than a table would; is it intact?"
                )
            if is_sheet:
                extent.add(block)
    if extent.rows * extent.columns > max(MOST_CELLS, 20 * extent.cells):
        raise DataError(f"the cells of {path.name} lie too far apart; remove those outside of the table")
    return unfolded


class _Extent:
    """How far the cells of a sheet reach, and how many there are."""

    def __init__(self) -> None:
        self.cells = self.rows = self.columns = 0
        self._rest = b""

    def add(self, block: bytes) -> None:
        """Look at the next bytes of the sheet."""
        found = _CELL.findall(self._rest + block)
        self._rest = block[-_LONGEST_CELL:]
        self.cells += len(found)
        self.rows = max([self.rows, *map(int, {row for _, row in found})])
        self.columns = max([self.columns, *map(_column, {name for name, _ in found})])


def _column(name: bytes) -> int:
    """The number of a column: A is 1, Z is 26, AA is 27."""
    number = 0
    for letter in name.upper():
        number = 26 * number + letter - 64
    return number
