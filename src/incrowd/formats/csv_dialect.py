"""What a CSV file looks like: its separator, quote, encoding, header and line ends, detected from its first megabyte.

Nothing is guessed that could silently change a value: bytes that are not UTF-8 are an error unless the encoding is
given.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from incrowd.errors import DataError, PolicyError
from incrowd.formats.reader_options import ReaderOptions, check_options
from incrowd.formats.sources import check_names

GIVE_ENCODING = "give its encoding, such as --encoding cp1252 (in Python encoding='cp1252')"
SAMPLE_BYTES = 1 << 20
SAMPLE_LINES = 2_000  # of these bytes; taking lines apart takes longer than reading them
SEPARATORS = (",", ";", "\t", "|")
_NUMBER = re.compile(r"\s*[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?\s*")
_BYTE_ORDER_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


@dataclass(frozen=True)
class Dialect:
    """How a CSV file is written; encodings as Python spells them ("utf-8-sig" starts with a byte order mark)."""

    separator: str = ","
    quote: str = '"'
    encoding: str = "utf-8"
    header: bool = True
    newline: str = "\n"


@dataclass(frozen=True)
class _Sample:
    """The start of a file: its text, its first lines, and whether the text is all of it."""

    text: str
    lines: list[str]
    whole: bool
    parsed: dict[tuple[str, str], tuple[list[list[str]], bool]] = field(default_factory=dict)

    def records(self, separator: str, quote: str) -> tuple[list[list[str]], bool]:
        """The complete records of the sample without blank lines, and whether they are all of the file."""
        if (separator, quote) not in self.parsed:
            self.parsed[separator, quote] = self._parse(separator, quote)
        return self.parsed[separator, quote]

    def _parse(self, separator: str, quote: str) -> tuple[list[list[str]], bool]:
        found: list[list[str]] = []
        whole = self.whole and len(self.lines) < SAMPLE_LINES
        try:
            found.extend(csv.reader(self.lines, delimiter=separator, quotechar=quote))
        except csv.Error:  # a value of more than 128 KiB, perhaps an open quote: what comes before it must do
            whole = False
        else:
            if not whole and len(found) > 1:
                found.pop()
        return [record for record in found if record], whole


def detect(head: bytes, whole: bool, name: str, options: ReaderOptions) -> tuple[Dialect, tuple[str, ...]]:
    """Find out how a CSV file is written: its dialect, and the names of its columns.

    Args:
        head: The first bytes of the file.
        whole: Whether these are all of its bytes.
        name: What messages call the file.
        options: What the caller says, which is not questioned.
    """
    check_options(options)
    encoding = _encoding(head, options.get("encoding"))
    text = _decode(head, whole, encoding, name).removeprefix("\ufeff")
    if not text.strip("\r\n"):
        raise DataError(f"{name} is empty; it needs a header and rows")
    sample = _Sample(text, _first_lines(text), whole)
    quote = options.get("quote") or _quote(text, sample, options.get("separator"))
    separator = options.get("separator") or _separator(sample, quote)
    if separator == quote:
        raise PolicyError(f"separator and quote must differ; both are {quote!r}")
    records, whole = sample.records(separator, quote)
    if not records:
        raise DataError(f"the first record of {name} does not end; is a quote ({quote}) left open?")
    header = options.get("header")
    header = _has_header(records) if header is None else header
    columns = _named(records[0] if header else [""] * len(records[0]))
    dialect = Dialect(separator, quote, encoding, header, _newline(sample, separator, quote))
    _check_header(dialect, columns, sample, name)
    blank_rows = len(columns) == 1 and len(sample.lines) > 1
    if whole and len(records) == header and not blank_rows:
        raise DataError(f"{name} has a header but no rows")
    return dialect, columns


def _first_lines(text: str) -> list[str]:
    """The first lines of a text with their ends, which may be of any kind; what follows them is not touched."""
    end = 0
    for _ in range(SAMPLE_LINES):
        end = text.find("\n", end) + 1
        if not end:  # fewer lines, or other ends
            end = len(text)
            break
    return list(islice(io.StringIO(text[:end], newline=""), SAMPLE_LINES))


def _encoding(head: bytes, given: str | None) -> str:
    marked = next((encoding for mark, encoding in _BYTE_ORDER_MARKS if head.startswith(mark)), None)
    if given is None:
        return marked or "utf-8"
    encoding = codecs.lookup(given).name
    return "utf-8-sig" if encoding == "utf-8" and marked == "utf-8-sig" else encoding


def _decode(head: bytes, whole: bool, encoding: str, name: str) -> str:
    """The text of the sample, of which the last character may be cut."""
    try:
        return codecs.getincrementaldecoder(encoding)().decode(head, whole)
    except UnicodeDecodeError as error:
        if b"\0" in head and "16" not in encoding and "32" not in encoding:
            raise DataError(f"{name} is not text: it has zero bytes; give a table, or its encoding") from None
        raise undecodable(name, encoding, head[error.start], error.start) from None
    except UnicodeError:
        raise DataError(f"{name} is not {encoding}; {GIVE_ENCODING}") from None


def undecodable(name: str, encoding: str, byte: int, offset: int) -> DataError:
    """The error for a byte that is not text in the file's encoding."""
    encoding = encoding.removesuffix("-sig")
    return DataError(f"{name} is not {encoding}: byte 0x{byte:02X} at offset {offset}; {GIVE_ENCODING}")


def _quote(text: str, sample: _Sample, separator: str | None) -> str:
    """The double quote, unless values are plainly in single quotes and none in double quotes."""
    ends = re.escape(separator or "".join(SEPARATORS)) + r"\r\n"
    if separator == "'" or "'" not in text or re.search(rf'(?:^|[{ends}])"', text):
        return '"'
    if not _in_single_quotes(text, ends, 0 if sample.whole else 1):
        return '"'
    records, _ = sample.records(separator or _separator(sample, "'"), "'")
    return "'" if len({len(record) for record in records}) == 1 else '"'


def _in_single_quotes(text: str, ends: str, open_ones: int) -> bool:
    """Whether there are values in single quotes, and all of them end as they should, except for `open_ones`.

    Looks at every character once, and at most once more for each of those that may be left open.
    """
    opening = re.compile(rf"(?:^|(?<=[{ends}]))'")
    quoted = re.compile(rf"'[^']*+(?:''[^']*+)*+'(?=[{ends}]|$)")
    found, upto = False, 0
    for mark in opening.finditer(text):
        found = True
        value = quoted.match(text, mark.start()) if mark.start() >= upto else None  # else within a quoted value
        open_ones -= value is None
        if open_ones < 0:
            return False
        upto = value.end() if value else upto
    return found


def _separator(sample: _Sample, quote: str) -> str:
    """The candidate that cuts all records into the same number of columns, and into the most of them.

    Where none gives more than one column, a candidate that cuts the first record and leaves others ragged comes before
    reading the file as a single column: the ragged record is then an error and not a strange value.
    """
    widths: dict[str, list[int]] = {}
    for candidate in (mark for mark in SEPARATORS if mark != quote):
        present = candidate in sample.text
        widths[candidate] = list(map(len, sample.records(candidate, quote)[0])) if present else [1]
    even = [candidate for candidate, found in widths.items() if len(set(found)) == 1]
    best = max(even, key=lambda candidate: widths[candidate][0], default=",")
    if even and widths[best][0] > 1:
        return best
    ragged = [candidate for candidate, found in widths.items() if found and found[0] > 1]
    return max(ragged, key=lambda candidate: _agreement(widths[candidate]), default=best)


def _agreement(widths: Sequence[int]) -> float:
    return sum(width == widths[0] for width in widths) / len(widths)


def _has_header(records: Sequence[Sequence[str]]) -> bool:
    """False only if some cell of the first record is a number and so are all cells below it."""
    for place, cell in enumerate(records[0]):
        if _NUMBER.fullmatch(cell):
            below = [record[place] for record in records[1:] if len(record) > place and record[place].strip()]
            if below and all(_NUMBER.fullmatch(value) for value in below):
                return False
    return True


def _newline(sample: _Sample, separator: str, quote: str) -> str:
    """What ends the first record; line ends inside its quotes do not count."""
    reader = csv.reader(sample.lines, delimiter=separator, quotechar=quote)
    while not next(reader):
        pass
    last = sample.lines[reader.line_num - 1]
    return next((end for end in ("\r\n", "\n", "\r") if last.endswith(end)), "\n")


def _named(header: Sequence[str]) -> tuple[str, ...]:
    """The names of columns, numbered where one is blank: R and pandas write row labels without a name."""
    return tuple(column if column.strip() else f"column{place}" for place, column in enumerate(header, 1))


def _check_header(dialect: Dialect, columns: Sequence[str], sample: _Sample, name: str) -> None:
    if "\0" in sample.lines[0]:
        raise DataError(f"{name} starts with zero bytes, so it is not {dialect.encoding} text; give its encoding")
    if len(columns) == 1 and not sample.lines[0].strip("\r\n"):
        columns = ("",)  # in a file of one column a blank line is a row, and so the first one is the header
    if dialect.header:
        check_names(columns, name)


def may_have_commas(source: object) -> bool:
    """Whether a source is a CSV file in which numbers may have a decimal comma: one with semicolons between columns."""
    dialect = getattr(source, "dialect", None)
    return isinstance(dialect, Dialect) and dialect.separator == ";"


def output_dialect(source: Dialect | None, suffix: str) -> Dialect:
    """How a release is written: as the file it came from, and with tabs where its own name says so."""
    dialect = source or Dialect()
    return replace(dialect, separator="\t") if suffix == ".tsv" else dialect
