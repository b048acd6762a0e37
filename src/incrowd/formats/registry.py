"""The formats of files, by name: what their names end in, who reads and who writes them.

A format is one entry in `FORMATS`; help, messages, and the conformance suite read it from there. To add one, write a
source (see `sources.Source`, made from a path and `ReaderOptions`) and a row writer (see `writers.RowWriter`).
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

if TYPE_CHECKING:
    import pyarrow as pa

    from incrowd.formats.outputs import Output
    from incrowd.formats.reader_options import ReaderOptions
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
        writer: The row writer that writes it, as "module:class"; None where such files are only read.
        libraries: What the extra `formats` installs for it: modules that read it, modules that write it.
        types: Whether columns of such files have types, or all is text.
        blanks: Whether such files tell a missing value from an empty text.
        nans: Whether they tell a missing value from not-a-number.
    """

    about: str
    suffixes: tuple[str, ...]
    compressed: tuple[str, ...]
    reader: str
    writer: str | None
    libraries: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    types: bool = True
    blanks: bool = True
    nans: bool = True

    def matches(self, name: str) -> bool:
        """Whether a file of that name is of this format."""
        name = name.lower()
        ending = next((suffix for suffix in self.compressed if name.endswith(suffix)), "")
        return name.removesuffix(ending).endswith(self.suffixes)


_COMPRESSED = (".gz", ".zst", ".bz2")
_STATISTICS = (("pyreadstat",), ("pyreadstat", "polars"))

FORMATS: Mapping[str, Format] = {
    "csv": Format(
        "CSV",
        (".csv", ".tsv", ".txt"),
        _COMPRESSED,
        "incrowd.formats.csv_reader:CsvSource",
        "incrowd.formats.csv_writer:CsvRows",
        types=False,
        blanks=False,
    ),
    "parquet": Format(
        "Parquet",
        (".parquet", ".pq"),
        (),
        "incrowd.formats.parquet_files:ParquetSource",
        "incrowd.formats.parquet_files:ParquetRows",
    ),
    "arrow": Format(
        "Arrow and Feather",
        (".arrow", ".feather", ".ipc"),
        (),
        "incrowd.formats.arrow_files:ArrowSource",
        "incrowd.formats.arrow_files:ArrowRows",
    ),
    "jsonl": Format(
        "JSON lines",
        (".jsonl", ".ndjson"),
        _COMPRESSED,
        "incrowd.formats.json_lines:JsonLinesSource",
        "incrowd.formats.json_lines:JsonLinesRows",
        types=False,
        nans=False,
    ),
    "excel": Format(
        "Excel",
        (".xlsx",),
        (),
        "incrowd.formats.excel_reader:ExcelSource",
        "incrowd.formats.excel_writer:ExcelRows",
        (("fastexcel",), ("xlsxwriter",)),
        blanks=False,
        nans=False,
    ),
    "stata": Format(
        "Stata",
        (".dta",),
        (),
        "incrowd.formats.statistics_reader:StatisticsSource",
        "incrowd.formats.statistics_writer:StatisticsRows",
        _STATISTICS,
        blanks=False,
        nans=False,
    ),
    "spss": Format(
        "SPSS",
        (".sav", ".zsav"),
        (),
        "incrowd.formats.statistics_reader:StatisticsSource",
        "incrowd.formats.statistics_writer:StatisticsRows",
        _STATISTICS,
        blanks=False,
        nans=False,
    ),
    "sas": Format(
        "SAS",
        (".sas7bdat", ".xpt"),
        (),
        "incrowd.formats.statistics_reader:StatisticsSource",
        None,
        _STATISTICS,
    ),
}


FRAME = "incrowd.formats.frames:FrameSource"
# Frames that are not in memory, by the module that their types are in: the source that reads them.
FRAMES: Mapping[str, str] = {
    "duckdb": "incrowd.formats.relations:RelationSource",
    "_duckdb": "incrowd.formats.relations:RelationSource",
    "pyspark.sql": "incrowd.engines.spark.source:SparkSource",
}
# Engines that read paths by themselves: the source, made from a path, `ReaderOptions` and a master.
READERS: Mapping[str, str] = {
    "spark": "incrowd.engines.spark.source:SparkPath",
}


def _suffixes(known: Iterable[Format]) -> str:
    """All suffixes, for people."""
    listed = []
    for each in known:
        more = f" (also with {', '.join(each.compressed[:-1])} or {each.compressed[-1]})" if each.compressed else ""
        names = [", ".join(each.suffixes[:-1])] if len(each.suffixes) > 1 else []
        listed.append(f"{' or '.join([*names, each.suffixes[-1]])}{more}")
    return ", ".join(listed)


SUFFIXES = _suffixes(FORMATS.values())  # that can be read
WRITTEN_SUFFIXES = _suffixes(known for known in FORMATS.values() if known.writer)


def format_of(path: Path) -> Format | None:
    """The format of a file by its name, None where the name does not say."""
    return next((known for known in FORMATS.values() if known.matches(path.name)), None)


def has_types(target: Path | Output) -> bool:
    """Whether columns have types in what is written there, as in all databases."""
    known = format_of(target) if isinstance(target, Path) else None
    return known is None or known.types


_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+:)//?")  # one slash is left where it was taken for a path
_ELSEWHERE = "is {} by clusters alone; set the engine to 'spark' where it knows such addresses"


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
        engine: The engine that the rows are for, where it is known: one in `READERS` reads paths by itself.
        master: The cluster of such an engine.
        **reading: How to read it; see `ReaderOptions`.

    Raises:
        DataError: If the data cannot be read or has no rows.
        PolicyError: If an argument is wrong in itself.
    """
    from incrowd.formats.reader_options import check_options, refuse_options
    from incrowd.formats.sources import check_readable

    check_options(reading)
    source: Source
    if not isinstance(data, str | os.PathLike):
        refuse_options(reading, "a dataframe")
        module = f"{type(data).__module__}."
        home = next((home for library, home in FRAMES.items() if module.startswith(f"{library}.")), FRAME)
        source = _found(home)(data)
        return source
    if engine in READERS:
        source = _found(READERS[engine])(data, reading, master)
        return source
    path = Path(data)
    elsewhere = _open_elsewhere(data, reading)
    if elsewhere is not None:
        return elsewhere
    refuse_options({"query": reading.get("query")}, path.name)
    known = format_of(path)
    check_readable(path)
    if known is None:
        raise DataError(f"cannot tell the format of {path.name} from its suffix; incrowd reads {SUFFIXES}")
    _check_installed("reading", known, known.libraries[0])
    source = _found(known.reader)(path, reading)
    return source


def open_as_release(data: str | os.PathLike[str], told: Mapping[str, Any], **typed: Any) -> Source:
    """Open a table that may be a release, by what is said of the original.

    A release is written in the dialect of its original where both are CSV files. Its one sheet is not called as that of
    the original, and no query makes it: both are left out where the table has no such sheet, or is named itself.

    Args:
        data: The path of a file, or a table of a database.
        told: What is said of the original, in the words of `open_source`.
        **typed: What is said of this table.
    """
    from incrowd.formats.databases import Address
    from incrowd.formats.reader_options import CSV_OPTIONS

    own: dict[str, tuple[str, ...]] = {"csv": CSV_OPTIONS, "excel": ("sheet",)}
    own |= dict.fromkeys(("stata", "spss"), ("value_labels",))
    path, address = Path(data), Address.of(os.fspath(data))
    if address is not None:
        known: tuple[str, ...] = () if address.table else ("query",)
    else:
        known = next((own.get(name, ()) for name, each in FORMATS.items() if each.matches(path.name)), ())
    tabs = ".tsv" in path.suffixes  # whatever separates the columns of the original
    words = {word: value for word, value in told.items() if word in known and not (tabs and word == "separator")}
    try:
        return open_source(data, **{**words, **typed})
    except UnknownNameError:
        if "sheet" not in words or "sheet" in typed:
            raise
    return open_source(data, **typed)


def _open_elsewhere(data: str | os.PathLike[str], reading: ReaderOptions) -> Source | None:
    """A table of a database, or of several files; None for a single file."""
    from incrowd.formats.databases import Address, DatabaseSource
    from incrowd.formats.parquet_sets import ParquetSet, parquet_files, pattern_home
    from incrowd.formats.reader_options import refuse_options

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
    from incrowd.formats.outputs import Apart
    from incrowd.formats.writers import FileWriter

    known = check_written(path)
    assert known.writer is not None
    return FileWriter(_found(known.writer), path, schema, source, Apart(known.blanks, known.nans))


def open_written(path: Path, options: Mapping[str, Any]) -> Source:
    """Open a file that was just written, wherever it waits, by the reader of its format.

    Args:
        path: The file; its name says the format, also where it has none yet.
        options: What its reader cannot find out.
    """
    opened: Source = _found(check_written(path).reader)(path, options)
    return opened


def _found(home: str) -> Any:
    module, _, name = home.partition(":")
    return getattr(import_module(module), name)
