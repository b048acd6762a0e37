"""The formats of files, by name: what their names end in, who reads and who writes them.

A format is one entry in `FORMATS`; help, messages, and the conformance suite read it from there. To add one, write a
source (see `sources.Source`, made from a path, and from `ReaderOptions` if it has any) and a row writer (see
`writers.RowWriter`). What reads or writes a format is imported when it is used: the command line starts here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from incrowd.errors import DataError, MissingPackageError, OutputError, UnknownNameError
from incrowd.formats.reader_options import CSV_OPTIONS, ReaderOptions, check_options, refuse_options

if TYPE_CHECKING:
    import pyarrow as pa

    from incrowd.formats.sources import Source
    from incrowd.formats.writers import FileWriter, Output


@dataclass(frozen=True)
class Format:
    """A format of files.

    Args:
        about: What people call it.
        suffixes: What names of such files end in.
        reader: The source that reads it, as "module:class".
        writer: The row writer that writes it, as "module:class"; None if such files are only read.
        compressed: What may follow the suffix, such as ".gz".
        options: The reader options that such files have.
        libraries: What the extra `formats` installs for it: modules that read it, modules that write it.
        types: Whether columns of such files have types; otherwise all is text.
        blanks: Whether such files distinguish a missing value from an empty text.
        nans: Whether they distinguish a missing value from not-a-number.
    """

    about: str
    suffixes: tuple[str, ...]
    reader: str
    writer: str | None
    compressed: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    libraries: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    types: bool = True
    blanks: bool = True
    nans: bool = True

    def matches(self, name: str) -> bool:
        """Whether a file of that name is of this format."""
        name = name.lower()
        ending = next((suffix for suffix in self.compressed if name.endswith(suffix)), "")
        return name.removesuffix(ending).endswith(self.suffixes)


_STATISTICS: dict[str, Any] = {
    "reader": "incrowd.formats.statistics_files:StatisticsSource",
    "options": ("encoding", "value_labels"),
    "libraries": (("pyreadstat",), ("pyreadstat", "polars")),
}
_STATISTICS_ROWS = "incrowd.formats.statistics_files:StatisticsRows"

FORMATS: Mapping[str, Format] = {
    "csv": Format(
        "CSV",
        (".csv", ".tsv", ".txt"),
        "incrowd.formats.csv_reader:CsvSource",
        "incrowd.formats.csv_writer:CsvRows",
        (".gz", ".zst", ".bz2"),
        CSV_OPTIONS,
        types=False,
        blanks=False,
    ),
    "parquet": Format(
        "Parquet",
        (".parquet", ".pq"),
        "incrowd.formats.parquet_files:ParquetSource",
        "incrowd.formats.parquet_files:ParquetRows",
    ),
    "arrow": Format(
        "Arrow and Feather",
        (".arrow", ".feather", ".ipc"),
        "incrowd.formats.arrow_files:ArrowSource",
        "incrowd.formats.arrow_files:ArrowRows",
    ),
    "jsonl": Format(
        "JSON lines",
        (".jsonl", ".ndjson"),
        "incrowd.formats.json_lines:JsonLinesSource",
        "incrowd.formats.json_lines:JsonLinesRows",
        (".gz", ".zst", ".bz2"),
        types=False,
        nans=False,
    ),
    "excel": Format(
        "Excel",
        (".xlsx",),
        "incrowd.formats.excel_files:ExcelSource",
        "incrowd.formats.excel_files:ExcelRows",
        options=("sheet",),
        libraries=(("fastexcel",), ("xlsxwriter",)),
        blanks=False,
        nans=False,
    ),
    "stata": Format("Stata", (".dta",), writer=_STATISTICS_ROWS, blanks=False, nans=False, **_STATISTICS),
    "spss": Format("SPSS", (".sav", ".zsav"), writer=_STATISTICS_ROWS, blanks=False, nans=False, **_STATISTICS),
    "sas": Format("SAS", (".sas7bdat", ".xpt"), writer=None, **_STATISTICS),
}

FRAME = "incrowd.formats.frames:FrameSource"
# Frames that are not in memory, by the module that their types are in: the source that reads them.
FRAMES: Mapping[str, str] = {
    "duckdb": "incrowd.formats.duckdb_files:RelationSource",
    "_duckdb": "incrowd.formats.duckdb_files:RelationSource",
    "pyspark.sql": "incrowd.engines.spark.source:SparkSource",
}
# Engines that read paths by themselves: the source, made from a path, `ReaderOptions` and a master.
READERS: Mapping[str, str] = {
    "spark": "incrowd.engines.spark.source:SparkPath",
}


def _suffixes(known: Iterable[Format]) -> str:
    listed = []
    for each in known:
        more = f" (also with {', '.join(each.compressed[:-1])} or {each.compressed[-1]})" if each.compressed else ""
        names = [", ".join(each.suffixes[:-1])] if len(each.suffixes) > 1 else []
        listed.append(f"{' or '.join([*names, each.suffixes[-1]])}{more}")
    return ", ".join(listed)


SUFFIXES = _suffixes(FORMATS.values())  # that can be read
WRITTEN_SUFFIXES = _suffixes(known for known in FORMATS.values() if known.writer)


def load(home: str) -> Any:
    module, _, name = home.partition(":")
    return getattr(import_module(module), name)


def format_of(path: Path) -> Format | None:
    """The format of a file by its name, None where the name does not say."""
    return next((known for known in FORMATS.values() if known.matches(path.name)), None)


def has_types(target: Path | Output) -> bool:
    """Whether columns have types in what is written there, as in all databases."""
    known = format_of(target) if isinstance(target, Path) else None
    return known is None or known.types


def check_written(path: Path) -> Format:
    """The format that a file of that name is written in.

    Raises:
        OutputError: There is none, or what writes it is not installed.
    """
    known = format_of(path)
    if known is None:
        raise OutputError(f"cannot tell the format of {path.name} from its suffix; use {WRITTEN_SUFFIXES}")
    if known.writer is None:
        raise OutputError(f"{known.about} files are read, but not written; use {WRITTEN_SUFFIXES}")
    _check_installed("writing", known, dict.fromkeys((*known.libraries[1], *known.libraries[0])))  # it is read back
    return known


def _check_installed(doing: str, known: Format, libraries: Iterable[str]) -> None:
    missing = [library for library in libraries if find_spec(library) is None]
    if missing:
        raise MissingPackageError(f"{doing} {known.about} files needs {' and '.join(missing)}", "formats")


def open_source(
    data: Any, *, engine: str = "auto", master: str | None = None, **reading: Unpack[ReaderOptions]
) -> Source:
    """Open a file, a table of a database or a dataframe for reading.

    Args:
        data: The path of a file, a dataframe of any library that Narwhals knows, or what gives an Arrow stream.
        engine: The engine that the rows are for, if it is known: one in `READERS` reads paths by itself.
        master: The cluster of such an engine.
        **reading: How to read it; see `ReaderOptions`.

    Raises:
        DataError: If the data cannot be read or has no rows.
        PolicyError: If an argument is wrong in itself.
    """
    check_options(reading)
    source: Source
    if not isinstance(data, str | os.PathLike):
        refuse_options(reading, "a dataframe")
        module = f"{type(data).__module__}."
        home = next((home for library, home in FRAMES.items() if module.startswith(f"{library}.")), FRAME)
        source = load(home)(data)
    elif engine in READERS:
        source = load(READERS[engine])(data, reading, master)
    else:
        source = _open_elsewhere(data, reading) or _open_file(Path(data), reading)
    return source


def _open_file(path: Path, reading: ReaderOptions) -> Source:
    from incrowd.formats.sources import check_readable

    refuse_options({"query": reading.get("query")}, path.name)
    known = format_of(path)
    check_readable(path)
    if known is None:
        raise DataError(f"cannot tell the format of {path.name} from its suffix; incrowd reads {SUFFIXES}")
    _check_installed("reading", known, known.libraries[0])
    refuse_options(reading, path.name, *known.options)
    return _read_by(known, path, reading)


def _read_by(known: Format, path: Path, reading: ReaderOptions) -> Source:
    source: Source = load(known.reader)(path, reading) if known.options else load(known.reader)(path)
    return source


def open_as_release(data: str | os.PathLike[str], of_original: Mapping[str, Any], **own: Any) -> Source:
    """Open a table that may be a release, by what is said of the original.

    A release is written in the dialect of its original if both are CSV files. The sheet and the query of the original
    are left out if the table has no such sheet, or is named itself.

    Args:
        data: The path of a file, or a table of a database.
        of_original: The reader options of the original.
        **own: The reader options of this table.
    """
    from incrowd.formats.databases import Address

    path, address = Path(data), Address.of(os.fspath(data))
    if address is not None:
        kept = {"query"} if not address.table else set()
    else:
        known = format_of(path)
        kept = set() if known is None else {*known.options} - ({"encoding"} if known.types else set())
        kept -= {"separator"} if ".tsv" in path.suffixes else set()  # whatever separates the columns of the original
    options = {name: value for name, value in of_original.items() if name in kept}
    try:
        return open_source(data, **{**options, **own})
    except UnknownNameError:
        if "sheet" not in options or "sheet" in own:
            raise
    return open_source(data, **own)


_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+:)//?")  # one slash is left where it was taken for a path
_ELSEWHERE = "is {} by clusters alone; set the engine to 'spark' where it knows such addresses"


def _open_elsewhere(data: str | os.PathLike[str], reading: ReaderOptions) -> Source | None:
    """A table of a database, or of several files; None for a single file."""
    from incrowd.formats.databases import Address, DatabaseSource
    from incrowd.formats.parquet_files import ParquetSet, parquet_files, pattern_home

    text = os.fspath(data)
    if (address := Address.of(text)) is not None:
        refuse_options(reading, text, "query")
        return DatabaseSource(address, reading.get("query"))
    if scheme := _scheme(text):
        raise DataError(f"what begins with {scheme} {_ELSEWHERE.format('read')}, or copy it to a file here first")
    files = parquet_files(text)
    if not files:  # a folder without any is refused like all others
        return None
    refuse_options(reading, text)
    return ParquetSet(files, Path(text) if os.path.isdir(text) else pattern_home(text))


def _scheme(text: str) -> str:
    """What an address such as s3://bucket/people.csv begins with; the rest is not shown: it may hold a password."""
    found = _SCHEME.match(text)
    return "" if found is None or os.path.exists(found[1]) else f"{found[1]}//"


def output_of(address: str | Path, *, overwrite: bool) -> Output | None:
    """The table of a database that an address names; None for a file."""
    from incrowd.formats.databases import Address, TableOutput

    found = Address.of(address)
    if found is None and (scheme := _scheme(os.fspath(address))):
        raise OutputError(f"what begins with {scheme} {_ELSEWHERE.format('written')}, or write to a file here first")
    return None if found is None else TableOutput(found, overwrite=overwrite)


def open_writer(path: Path, schema: pa.Schema, source: Source) -> FileWriter:
    """Open a file for the rows of a release.

    CSV is written in the dialect of the source if that was CSV too, with its header if it had one. Stata and SPSS files
    keep the labels of the source, as far as they are of released values.

    Args:
        path: The file; its suffix says the format, and whether to compress.
        schema: The columns to write; batches are cast to it.
        source: Where the rows came from.
    """
    from incrowd.formats.writers import Apart, FileWriter

    known = check_written(path)
    assert known.writer is not None
    return FileWriter(load(known.writer), path, schema, source, Apart(known.blanks, known.nans))


def open_written(path: Path, options: ReaderOptions) -> Source:
    """Open a file that was just written, wherever it waits, by the reader of its format.

    Args:
        path: The file; its name says the format, also where it has none yet.
        options: What its reader cannot find out.
    """
    return _read_by(check_written(path), path, options)
