"""The formats of files, by name: what their names end in, who reads and who writes them.

A format is one entry in `FORMATS`; help, messages, and the conformance suite read it from there. To add one, write a
source (see `sources.Source`, made from a path and a `Given`) and a row writer (see `writers.RowWriter`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd.errors import DataError, OutputError

if TYPE_CHECKING:
    import pyarrow as pa

    from incrowd.formats.sources import Source
    from incrowd.formats.writers import FileWriter


@dataclass(frozen=True)
class Format:
    """A format of files.

    Args:
        about: What people call it.
        suffixes: What names of such files end in.
        compressed: What may follow, such as ".gz".
        reader: The source that reads it, as "module:class".
        writer: The row writer that writes it, as "module:class".
    """

    about: str
    suffixes: tuple[str, ...]
    compressed: tuple[str, ...]
    reader: str
    writer: str

    def matches(self, name: str) -> bool:
        """Whether a file of that name is of this format."""
        name = name.lower()
        for suffix in self.compressed:
            name = name.removesuffix(suffix)
        return name.endswith(self.suffixes)


FORMATS: Mapping[str, Format] = {
    "csv": Format(
        "CSV",
        (".csv", ".tsv", ".txt"),
        (".gz",),
        "incrowd.formats.csv_reader:CsvSource",
        "incrowd.formats.csv_writer:CsvRows",
    ),
    "parquet": Format(
        "Parquet",
        (".parquet", ".pq"),
        (),
        "incrowd.formats.parquet_files:ParquetSource",
        "incrowd.formats.parquet_files:ParquetRows",
    ),
}


def _suffixes() -> str:
    """All suffixes, for people."""
    listed = []
    for known in FORMATS.values():
        more = f" (also with {' or '.join(known.compressed)})" if known.compressed else ""
        listed.append(f"{', '.join(known.suffixes[:-1])} or {known.suffixes[-1]}{more}")
    return ", ".join(listed)


SUFFIXES = _suffixes()


def format_of(path: Path) -> Format | None:
    """The format of a file by its name, None where the name does not say."""
    return next((known for known in FORMATS.values() if known.matches(path.name)), None)


def open_source(
    data: Any,
    *,
    separator: str | None = None,
    quote: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    strip: bool | None = None,
) -> Source:
    """Open a file or a dataframe for reading.

    Args:
        data: The path of a file, or a dataframe of any library that Narwhals knows.
        separator: What separates the columns of a CSV file; found out if None.
        quote: What quotes the values of a CSV file; found out if None.
        encoding: How the text of a CSV file is encoded; UTF-8, or what its byte order mark says, if None.
        header: Whether a CSV file starts with the names of its columns; found out if None.
        strip: Whether to leave out blanks around the values and names of a CSV file.

    Raises:
        DataError: If the data cannot be read or has no rows.
        PolicyError: If an argument is wrong in itself.
    """
    from incrowd.formats.csv_dialect import Given, refuse_dialect
    from incrowd.formats.sources import check_readable

    given = Given(separator, quote, encoding, header, strip)
    if not isinstance(data, str | os.PathLike):
        from incrowd.formats.frames import FrameSource

        refuse_dialect(given)
        return FrameSource(data)
    path = Path(data)
    known = format_of(path)
    if known is None:
        check_readable(path)
        raise DataError(f"cannot tell the format of {path.name} from its suffix; incrowd reads {SUFFIXES}")
    given.check()
    source: Source = _found(known.reader)(path, given)
    return source


def open_writer(path: Path, schema: pa.Schema, source: Source) -> FileWriter:
    """Open a file for the rows of a release.

    CSV is written in the dialect of the source if that was CSV too, with its header if it had one. Parquet keeps the
    metadata of the source.

    Args:
        path: The file; its suffix says the format, and whether to compress.
        schema: The columns to write; batches are cast to it.
        source: Where the rows came from.
    """
    from incrowd.formats.writers import FileWriter

    known = format_of(path)
    if known is None:
        raise OutputError(f"cannot tell the format of {path.name} from its suffix; use {SUFFIXES}")
    return FileWriter(_found(known.writer), path, schema, source)


def _found(home: str) -> Any:
    module, _, name = home.partition(":")
    return getattr(import_module(module), name)
