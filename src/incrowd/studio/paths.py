"""Paths that people type: files inside one folder, and nothing else, whatever the path looks like."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from incrowd.errors import DataError
from incrowd.formats.registry import format_of

MOST_LETTERS = 500
MOST_DEPTH = 3  # folders below the first that are looked into for tables
MOST_TABLES = 200
MOST_ENTRIES = 5_000  # files and folders that are looked at


def inside(folder: Path, text: str) -> Path:
    typed = PurePosixPath(text)
    parts = text.split("/")
    strange = any(part in ("", ".", "..") or "\\" in part or not part.isprintable() for part in parts)
    if not text or len(text) > MOST_LETTERS or typed.is_absolute() or strange or _is_drive(text):
        raise DataError("give the path of a file in the folder of the studio, such as data/people.csv")
    path = folder.joinpath(*parts)
    try:
        real = Path(os.path.realpath(path, strict=True))
    except (OSError, ValueError):
        raise DataError(f"no file {text} in the folder of the studio; check the path") from None
    if real != path:
        raise DataError(f"{text} leads through a link; give the path of the file itself")
    if not path.is_file():
        raise DataError(f"{text} is not a file; give the path of a table")
    return path


def _is_drive(text: str) -> bool:
    return len(text) > 1 and text[1] == ":"


def tables(folder: Path, hidden: Path) -> list[str]:
    """The tables in a folder, as paths relative to it, in alphabetical order."""
    found = []
    for path in _files(folder, hidden, MOST_DEPTH, [MOST_ENTRIES]):
        if format_of(path) is not None:
            found.append(path.relative_to(folder).as_posix())
            if len(found) >= MOST_TABLES:
                break
    return sorted(found)


def _files(folder: Path, hidden: Path, depth: int, left: list[int]) -> Iterator[Path]:
    """The files of a folder and of those below; no links, nothing hidden, and not too many."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        left[0] -= 1
        if left[0] < 0:
            return
        if entry.name.startswith(".") or entry.is_symlink() or not entry.name.isprintable():
            continue
        path = Path(entry.path)
        if entry.is_file():
            yield path
        elif entry.is_dir() and depth > 0 and path != hidden and not _is_own(path):
            yield from _files(path, hidden, depth - 1, left)


def _is_own(folder: Path) -> bool:
    """Whether a folder is of incrowd itself, and has no tables for anyone."""
    return folder.name.endswith((".studio", ".confidential")) or (folder / "ledger.json").exists()


@contextmanager
def private_file(path: Path) -> Iterator[IO[bytes]]:
    """A file to write, for its owner alone; it appears when it is whole."""
    hidden = path.with_name(f".{path.name}")
    with os.fdopen(os.open(hidden, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "wb") as file:
        yield file
    hidden.replace(path)


def safe_name(text: str) -> str:
    """A name for an uploaded file: its last part, of letters, digits and a few signs."""
    last = text.replace("\\", "/").rpartition("/")[2]
    kept = "".join(letter if letter.isalnum() or letter in "-_. " else "_" for letter in last).strip(" .")[-100:]
    kept = kept.lstrip(".- ")
    if not kept or format_of(Path(kept)) is None:
        raise DataError(
            "the name of the file does not say what it is; give a table such as people.csv or people.parquet"
        )
    return kept
