"""Several Parquet files as one table: a folder, also with partitions such as year=2020/, or a pattern (*.parquet).

Files follow each other in the order of their names. The columns that partitions add are text, like those of a CSV file.
"""

from __future__ import annotations

import glob
import hashlib
import os
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from urllib.parse import unquote

import pyarrow as pa

from incrowd.errors import DataError
from incrowd.formats.containers import bare
from incrowd.formats.parquet_files import ParquetSource
from incrowd.formats.sources import Check, as_dictionary, check_names, choose_columns

_SUFFIXES = (".parquet", ".pq")
_NOTHING = "__HIVE_DEFAULT_PARTITION__"  # what a partition without a value is called


def parquet_files(path: str | os.PathLike[str]) -> list[Path] | None:
    """The Parquet files of a folder or of a pattern, in the order of their names; None if it is neither."""
    text = os.fspath(path)
    if os.path.isdir(text):
        found = [Path(folder) / name for folder, _, names in os.walk(text) for name in names]
        found = [file for file in found if not any(part[0] in "._" for part in file.relative_to(text).parts)]
    elif glob.has_magic(text) and not os.path.exists(text) and text.lower().endswith(_SUFFIXES):
        found = [Path(file) for file in glob.glob(text, recursive=True)]
        if not found:
            raise DataError(f"no file is called like {text}; check the pattern")
    else:
        return None
    return sorted(file for file in found if file.name.lower().endswith(_SUFFIXES))


def pattern_home(pattern: str) -> Path:
    """The folder that a pattern begins in, where nothing is left open yet."""
    parts = Path(pattern).parts
    fixed = next(place for place, part in enumerate(parts) if glob.has_magic(part))
    return Path(*parts[:fixed])


class ParquetSet:
    """Parquet files with the same columns.

    Args:
        files: The files, in order.
        home: The folder that partitions are in, and what messages call the table.
    """

    engine = "arrow"
    missing_values: tuple[str, ...] = ()

    def __init__(self, files: Sequence[Path], home: Path) -> None:
        self.name = home.name or str(home.resolve().name)
        self.parts = [ParquetSource(file) for file in files]
        self._partitions = [_partitions(file, home) for file in files]
        first, keys = self.parts[0].schema, tuple(self._partitions[0])
        for part, found in zip(self.parts, self._partitions, strict=True):
            if not bare(part.schema).equals(bare(first)) or tuple(found) != keys:
                raise DataError(
                    f"{part.name} of {self.name} has other columns or types than {self.parts[0].name}; make them alike"
                )
        self.keys = tuple(key for key in keys if key not in first.names)  # what a file says itself counts
        self.schema = pa.schema([*bare(first), *((key, pa.string()) for key in self.keys)])
        self.columns = tuple(self.schema.names)
        check_names(self.columns, self.name)

    def batches(self, columns: Sequence[str] | None = None, encoded: Collection[str] = ()) -> Iterator[pa.RecordBatch]:
        """Stream the rows in order, file by file; see `Source.batches`."""
        chosen = choose_columns(self, columns)
        stored = [name for name in chosen if name not in self.keys]
        for part, partitions in zip(self.parts, self._partitions, strict=True):
            for batch in part.batches(stored, encoded):
                arrays = [
                    _repeated(partitions[name], len(batch), encode=name in encoded)
                    if name in self.keys
                    else batch.column(name)
                    for name in chosen
                ]
                yield pa.RecordBatch.from_arrays(arrays, names=chosen) if arrays else batch

    def fingerprint(self, check: Check | None = None) -> str:
        """The SHA-256 of the fingerprints of all files, in order, with their partitions."""
        digest = hashlib.sha256()
        for part, partitions in zip(self.parts, self._partitions, strict=True):
            digest.update(f"{part.fingerprint(check)} {sorted(partitions.items())}\n".encode())
        return "sha256:" + digest.hexdigest()

    def check_unchanged(self) -> None:
        """Raise DataError if a file is not what it was when the source was opened."""
        for part in self.parts:
            part.check_unchanged()


def _partitions(file: Path, home: Path) -> dict[str, str | None]:
    """What the folders that a file is in say of its rows."""
    found: dict[str, str | None] = {}
    inside = file.relative_to(home).parts[:-1] if file.is_relative_to(home) else ()
    for part in inside:
        key, equals, value = part.partition("=")
        if equals and key:
            found[key] = None if value == _NOTHING else unquote(value)
    return found


def _repeated(value: str | None, rows: int, *, encode: bool) -> pa.Array:
    column = pa.nulls(rows, pa.string()) if value is None else pa.repeat(pa.scalar(value), rows)
    return as_dictionary(column) if encode else column
