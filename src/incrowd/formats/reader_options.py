"""What a caller may say of how a table is to be read, declared once for every function that opens one."""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from typing import Any, TypedDict

from incrowd.errors import PolicyError, UnknownNameError, shown

CSV_OPTIONS = ("separator", "quote", "encoding", "header", "strip")
VALUE_LABELS = ("keep", "apply")
_AT_HOME = {"sheet": "Excel files", "value_labels": "Stata and SPSS files"}
_NOT_OF_FILES = ("idna", "punycode", "unicode-escape", "raw-unicode-escape")  # encodings of words and of source code


class ReaderOptions(TypedDict, total=False):
    """How to read a table; what is None or left out is detected.

    Attributes:
        separator: What separates the columns of a CSV file.
        quote: What quotes the values of a CSV file.
        encoding: How the text of a CSV file is encoded: UTF-8, or what its byte order mark says, if not given.
        header: Whether a CSV file starts with the names of its columns.
        strip: Whether to leave out blanks around the values and names of a CSV file; they are kept if not given.
        sheet: The name of the sheet of an Excel file; needed only if there are several.
        value_labels: Whether to "keep" the codes of a Stata or SPSS file (the default), or to "apply" their labels.
        query: What to read of a database, in SQL; only reading is allowed.
    """

    separator: str | None
    quote: str | None
    encoding: str | None
    header: bool | None
    strip: bool | None
    sheet: str | None
    value_labels: str | None
    query: str | None


READER_OPTIONS = tuple(ReaderOptions.__annotations__)


def take_reader_options(options: dict[str, Any]) -> ReaderOptions:
    """The reader options among other options, from which they are removed."""
    found: Any = {name: options.pop(name) for name in READER_OPTIONS if name in options}
    return found  # type: ignore[no-any-return]


def check_options(options: Mapping[str, Any]) -> None:
    """Raise PolicyError for an option that does not exist, or a value that an option cannot have."""
    for name in options:
        if name not in READER_OPTIONS:
            raise UnknownNameError("parameter", name, READER_OPTIONS, "the reader options")
    for name in ("separator", "quote"):
        mark = options.get(name)
        good = isinstance(mark, str) and len(mark) == 1 and (mark == "\t" or " " <= mark <= "~")
        if mark is not None and not good:
            raise PolicyError(f"The '{name}' parameter must be one ASCII character or a tab. Got {shown(mark)}.")
    if options.get("separator") is not None and options["separator"] == options.get("quote"):
        raise PolicyError(f"separator and quote must differ; both are {options['quote']!r}")
    for name in ("header", "strip"):
        if not isinstance(options.get(name), bool | None):
            raise PolicyError(f"The '{name}' parameter must be true or false. Got {shown(options[name])}.")
    encoding, sheet, labels = (options.get(name) for name in ("encoding", "sheet", "value_labels"))
    if encoding is not None and not _is_text_encoding(encoding):
        raise PolicyError(f"no encoding {shown(encoding)}; give one that Python knows, such as utf-8 or cp1252")
    if sheet is not None and not (isinstance(sheet, str) and sheet):
        raise PolicyError(f"The 'sheet' parameter must be the name of a sheet. Got {shown(sheet)}.")
    if labels is not None and not (isinstance(labels, str) and labels in VALUE_LABELS):
        raise PolicyError(f"The 'value_labels' parameter must be 'keep' or 'apply'. Got {shown(labels)}.")


def _is_text_encoding(encoding: Any) -> bool:
    """Whether Python can decode text with it, block by block."""
    try:
        "a".encode(encoding)
        found = codecs.lookup(encoding)
        return found.incrementaldecoder is not None and found.name not in _NOT_OF_FILES
    except (LookupError, TypeError, ValueError):
        return False


def refuse_options(options: ReaderOptions, what: str, *known: str) -> None:
    """Raise PolicyError if an option is given that this kind of table does not have.

    Args:
        options: What the caller says.
        what: What messages call the table.
        *known: The options that such tables have.
    """
    given = [name for name, value in options.items() if value is not None and name not in known]
    if not given:
        return
    if "query" in given:
        raise PolicyError(f"The 'query' parameter is for databases, and {what} is not one. Leave it out.")
    if (home := _AT_HOME.get(given[0])) is not None:
        raise PolicyError(f"{given[0]} is for {home} only; leave it out here")
    raise PolicyError("separator, quote, encoding, header and strip are for CSV files only; leave them out here")
