"""Reads taxonomy files: CSV with one path per leaf, and nested TOML.

Turns a file into paths or a nested mapping, each with the place it came from, and complains about files that cannot be
read. Whether the paths form a tree is for `taxonomy` to say.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import tomllib
import zlib
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from incrowd.errors import PolicyError, TaxonomyError
from incrowd.schemas.regular_files import open_regular
from incrowd.schemas.toml import parsed_toml

PathText = str | PathLike[str]

# A tab before a comma: labels such as "[15, 20[" hold commas, hardly any label holds a tab.
SEPARATORS = (";", "\t", ",")
MOST_BYTES = 1 << 28  # of a taxonomy file, unpacked
CSV_SUFFIXES = (".csv", ".tsv", ".txt")
TOML_SUFFIXES = (".toml",)


def file_kind(path: PathText) -> str:
    """Says "csv" or "toml", by the suffix of the file, with or without `.gz`."""
    name = Path(path).name
    suffix = Path(name.removesuffix(".gz")).suffix.lower()
    if suffix in CSV_SUFFIXES:
        return "csv"
    if suffix in TOML_SUFFIXES:
        return "toml"
    raise TaxonomyError(
        f"{name}: a taxonomy file ends in .csv, .tsv, .txt or .toml (.gz may follow), got '{suffix}'; rename it"
    )


def read_csv(path: PathText, separator: str | None = None) -> list[tuple[str, Sequence[str]]]:
    """For every line that is not empty its place, such as "education.csv line 7", and its labels from leaf to root."""
    if separator is not None and (len(separator) != 1 or separator in '"\r\n'):
        raise PolicyError(
            f"The 'separator' parameter of from_csv must be one character, not a quote. Got {separator!r}."
        )
    name = Path(path).name
    text = _read_text(path)
    separator = separator or _separator(text)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    paths: list[tuple[str, Sequence[str]]] = []
    try:
        paths.extend((f"{name} line {reader.line_num}", row) for row in reader if row)
    except csv.Error as error:
        raise TaxonomyError(
            f"{name} line {reader.line_num}: not CSV ({error}); close every quote and double those inside a label"
        ) from None
    return paths


def read_toml(path: PathText) -> dict[str, Any]:
    """Reads a TOML file into nested dictionaries."""
    text = _read_text(path)
    try:
        return parsed_toml(text)
    except RecursionError:
        raise TaxonomyError(f"{Path(path).name}: nested too deeply; join some levels") from None
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"\(at line (\d+)", str(error))
        line = found[1] if found else len(text.splitlines())  # without a line the text ended too early
        raise TaxonomyError(
            f"{Path(path).name} line {line}: not TOML ({error}); quote unusual labels, and use each key once"
        ) from None


def _read_text(path: PathText) -> str:
    file = Path(path)
    try:
        with open_regular(file) as opened, gzip.open(opened) if file.suffix == ".gz" else opened as stream:
            data = stream.read(MOST_BYTES + 1)  # not all of it: a small archive can hold any amount of zeros
    except FileNotFoundError:
        raise TaxonomyError(f"no taxonomy file '{file}'; check the path") from None
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise TaxonomyError(f"{file.name}: cannot be read ({reason}); give a readable file") from None
    if len(data) > MOST_BYTES:
        raise TaxonomyError(f"{file.name}: larger than {MOST_BYTES >> 20} megabytes; give a taxonomy")
    data = data.removeprefix(codecs.BOM_UTF8)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        byte = data[error.start]
        raise TaxonomyError(f"{file.name} line {line}: not UTF-8, got byte 0x{byte:02x}; save it as UTF-8") from None


def _separator(text: str) -> str:
    """The first separator that splits every line, or else the one that splits the most lines."""
    best, most = SEPARATORS[0], -1.0
    for separator in SEPARATORS:
        share = _share_split(text, separator)
        if share > most:
            best, most = separator, share
        if share == 1:
            break
    return best


def _share_split(text: str, separator: str) -> float:
    """The share of records with two fields or more; 0 if the text is not CSV with that separator."""
    try:
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True) if row]
    except csv.Error:
        return 0.0
    return sum(len(row) > 1 for row in rows) / len(rows) if rows else 0.0
