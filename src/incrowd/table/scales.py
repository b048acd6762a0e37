"""What kind of values a column holds: numbers, dates, timestamps or plain text.

A `Scale` turns cells into ordered machine numbers and those numbers back into text. It works on the distinct values of
a column, never on its rows, and is stored with a recoding so that new rows are read the same way.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from math import nan
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from incrowd.errors import DataError, shown_type
from incrowd.table.arrays import to_numpy
from incrowd.table.exact_numbers import (
    NumberRangeError,
    Numbers,
    array_of,
    as_fractional,
    as_whole,
    is_whole,
    parse,
    text_of_number,
    texts_of_decimals,
    texts_of_floats,
)
from incrowd.taxonomies.calendar import days_of
from incrowd.taxonomies.labels import parse_interval

Kind = Literal["integer", "number", "date", "timestamp"]

_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
# The same with a decimal comma, and then perhaps with points between thousands: 1.234,50.
_COMMA = _NUMBER.replace(r"\.", ",") + r"|^[+-]?[0-9]{1,3}(\.[0-9]{3})+,[0-9]+$"
_THOUSANDS = r"^[+-]?[1-9][0-9]{0,2},[0-9]{3}$"
_INTEGER = r"^[+-]?[0-9]+$"
_PLAIN_INTEGER = r"^-?(0|[1-9][0-9]*)$"
_LEADING_ZERO = r"^[+-]?0[0-9]"
_DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
_TIMESTAMP = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,9})?)?"  # then Z or the end
_FINE_TIMESTAMP = r"\.[0-9]{7}"
_UNITS = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}
_SHOWN = 60  # characters of a value in a message


@dataclass(frozen=True)
class Scale:
    """An ordered domain.

    Args:
        unit: Unit of a timestamp ("s", "ms", "us", "ns").
        timezone: Time zone of a timestamp, if it has one.
        comma: Whether numbers in text have a decimal comma, when they are read and when they are shown.
    """

    kind: Kind
    unit: str = ""
    timezone: str | None = None
    comma: bool = False

    def is_like(self, other: Scale) -> bool:
        """Whether the numbers of two scales mean the same."""
        alike = replace(self, comma=other.comma, timezone=other.timezone) == other
        return alike or {self.kind, other.kind} == {"integer", "number"}

    def numbers(self, values: pa.Array, column: str) -> Numbers:
        """The values (no nulls among them) as int64 or float64, or as Python's numbers where those are too narrow."""
        days = pa.types.is_date(values.type) or pa.types.is_timestamp(values.type)
        temporal = self.kind in ("date", "timestamp")
        if pa.types.is_boolean(values.type) or (days != temporal and not _is_text(values.type)):
            noun = "dates" if temporal and not days else "numbers"
            raise DataError(f"column '{column}' has type {shown_type(values.type)} instead of {noun}; convert it first")
        return self._moments(values, column) if temporal else self._plain_numbers(values, column)

    def _plain_numbers(self, values: pa.Array, column: str) -> Numbers:
        numbers = _parsed(values, column, self.comma) if _is_text(values.type) else _numbers_of(values, column)
        if self.kind == "number":
            return as_fractional(numbers)
        return as_whole(numbers) if is_whole(numbers) else numbers + 0.0 if numbers.dtype.kind == "f" else numbers

    def text(self, number: Any) -> str:
        if self.kind in ("integer", "number"):
            text = text_of_number(number)
            return text.replace(".", ",") if self.comma else text
        if self.kind == "date":
            return str(np.datetime64(int(number), "D"))
        shown = str(np.array(int(number), f"datetime64[{self.unit}]")).replace("T", " ")
        shown = shown.rstrip("0").rstrip(".") if "." in shown else shown  # the same for every unit
        return shown + ("Z" if self.timezone else "")

    def number(self, bound: Any, column: str) -> Any:
        """One bound given by the user as a machine number."""
        if isinstance(bound, datetime) and bound.tzinfo is not None:
            bound = bound.astimezone(UTC).replace(tzinfo=None)
        if self.kind in ("date", "timestamp"):
            midnight = " 00:00" if self.kind == "timestamp" and len(str(bound)) == len("2020-12-31") else ""
            bound = f"{bound}{midnight}"
        elif isinstance(bound, int | float | Decimal) and not isinstance(bound, bool):
            bound = str(bound)  # of any size
        if self.comma and isinstance(bound, str):
            bound = bound.replace(".", ",")
        return self.numbers(pa.array([bound]), column).tolist()[0]

    def middle(self, label: str) -> float:
        """The number in the middle of a released interval; an open one counts as its bound, `*` as missing."""
        known = [bound for bound in self.ends(label) if bound == bound]
        return sum(known) / len(known) if known else float("nan")

    def ends(self, label: str) -> tuple[float, float]:
        """The lowest and the highest number of a released value; not a number where it is open."""
        if self.kind in ("date", "timestamp") and (days := days_of(label)) is not None:
            return float(self.number(days[0], "")), float(self.number(days[1], ""))
        interval = parse_interval(label)
        if interval is None:
            return float(self.number(label, "")), float(self.number(label, ""))
        step = 1 if self.kind in ("integer", "date") and not interval.closed else 0  # [30-40) ends at 39
        low = nan if interval.low is None else float(self.number(interval.low, ""))
        return low, nan if interval.high is None else float(self.number(interval.high, "")) - step

    def to_json(self) -> dict[str, Any]:
        data = asdict(self)
        return data if self.comma else {word: value for word, value in data.items() if word != "comma"}

    def _moments(self, values: pa.Array, column: str) -> Numbers:
        kind = pa.date32() if self.kind == "date" else pa.timestamp(self.unit or "us", self.timezone)
        if _is_text(values.type):
            values = self._checked(values, column)
        try:
            moments = values.cast(kind)
        except pa.ArrowInvalid:
            misfits = values.slice(_first_misfit(values, kind), 1)
            if _is_text(values.type):
                raise misfit_error(misfits, self.kind, column) from None
            raise DataError(
                f"column '{column}' holds '{misfits.cast(pa.string())[0]}', which is not a whole number of "
                f"{_UNITS.get(self.unit, 'days')}, or too far away to be counted in them; convert it first"
            ) from None
        return to_numpy(moments.cast(pa.int32() if self.kind == "date" else pa.int64())).astype(np.int64)

    def _checked(self, values: pa.Array, column: str) -> pa.Array:
        moment = _TIMESTAMP + ("Z?$" if self.timezone else "$")
        misfit = pc.invert(pc.match_substring_regex(values, _DATE if self.kind == "date" else moment))
        if pc.any(misfit).as_py():
            raise misfit_error(values.filter(misfit), self.kind, column)
        return pc.binary_join_element_wise(pc.utf8_rtrim(values, "Z"), "Z", "") if self.timezone else values


def misfit_error(misfits: pa.Array, kind: str, column: str) -> DataError:
    """The error for text where a number or date should be; shows one value only."""
    noun = "date" if kind in ("date", "timestamp") else "number"
    shown = misfits[0].as_py()
    shown = shown if len(shown) <= _SHOWN else shown[:_SHOWN] + "..."
    more = f" ({len(misfits)} such values)" if len(misfits) > 1 else ""
    fix, other = "fix it", ""
    if noun == "number" and "," in shown and re.search(_COMMA, shown):
        fix, other = "write it with a decimal point", "comma or "
    return DataError(
        f"column '{column}' holds '{shown}', which is not a {noun}{more}; {fix}, "
        f"name it as a missing value, or declare the type of '{column}' as {other}text"
    )


def _first_misfit(values: pa.Array, kind: pa.DataType) -> int:
    """The place of the first value that cannot be cast, where one cannot."""
    start, stop = 0, len(values)  # one of these cannot, none before them
    while stop - start > 1:
        middle = (start + stop) // 2
        try:
            values.slice(start, middle - start).cast(kind)
            start = middle
        except pa.ArrowInvalid:
            stop = middle
    return start


def _parsed(values: pa.Array, column: str, comma: bool = False) -> Numbers:
    if _share(values, _INTEGER) < 1:
        misfit = pc.invert(pc.match_substring_regex(values, _COMMA if comma else _NUMBER))
        if pc.any(misfit).as_py():
            raise misfit_error(values.filter(misfit), "number", column)
    try:
        return parse(with_points(values) if comma else values)
    except NumberRangeError as error:
        raise misfit_error(values.slice(error.args[0], 1), "number", column) from None


def with_points(values: pa.Array) -> pa.Array:
    return pc.replace_substring(pc.replace_substring(values, ".", ""), ",", ".")


def with_commas(values: pa.Array) -> pa.Array:
    return pc.replace_substring(values, ".", ",")


def _numbers_of(values: pa.Array, column: str) -> Numbers:
    if pa.types.is_decimal(values.type):
        return _parsed(values.cast(pa.string()), column)
    if pa.types.is_uint64(values.type):
        numbers = to_numpy(values)
        return array_of(numbers.tolist()) if len(numbers) and numbers.max() >= 1 << 63 else numbers.astype(np.int64)
    if not pa.types.is_floating(values.type):
        return to_numpy(values).astype(np.int64)
    short = pa.types.is_float32(values.type)  # as it is written: 0.1, and not 0.10000000149011612
    numbers = to_numpy((values.cast(pa.string()) if short else values).cast(pa.float64()))
    if not np.isfinite(numbers).all():
        raise DataError(f"column '{column}' holds a number that is not finite; remove it or treat it as missing")
    return numbers


def may_be_comma(values: pa.Array) -> bool:
    """Whether all of some values could be numbers with a decimal comma, or without a fraction."""
    return _is_text(values.type) and _matching(values, _COMMA) == len(values) and not _matching(values, _LEADING_ZERO)


def has_commas(values: pa.Array, declared: str | None, expected: bool, *, surely: bool = True) -> bool:
    """Whether text is numbers with a decimal comma.

    It is where that was declared. Else all values must be such numbers, in a table that may have them (`expected`), and
    it must be plain (`surely`) that the comma does not stand between thousands, as it could in 950 and 1,234.
    """
    if declared == "comma":
        return _is_text(values.type)
    if not expected or declared not in (None, "number") or not _is_text(values.type):
        return False
    commas = _matching(values, ",")
    if not commas or not may_be_comma(values):
        return False
    return not surely or commas == len(values) or _matching(values, _THOUSANDS) < commas


def scale_of(values: pa.Array, column: str, declared: str | None = None, *, commas: bool = False) -> Scale | None:
    """The scale of a column from its distinct values, or None where it is plain text.

    Raises:
        DataError: The type cannot be used, or text stands in a column of numbers.
    """
    kind = values.type
    if declared == "text" or pa.types.is_boolean(kind):
        return None
    if pa.types.is_date(kind):
        return Scale("date")
    if pa.types.is_timestamp(kind):
        return Scale("timestamp", kind.unit, kind.tz)
    if pa.types.is_integer(kind):
        return Scale("integer")
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return Scale("integer" if is_whole(_numbers_of(values, column)) else "number")
    if _is_text(kind):
        return _scale_of_text(values, column, declared, has_commas(values, declared, commas))
    raise DataError(
        f"column '{column}' has type {shown_type(kind)}, which cannot be in a quasi-identifier; convert it to text"
    )


def _scale_of_text(values: pa.Array, column: str, declared: str | None, comma: bool) -> Scale | None:
    if len(values) == 0:
        return None
    if declared != "date" and _share(values, _PLAIN_INTEGER) == 1:  # first, since it is asked most often
        return Scale("integer", comma=comma)
    if declared == "date" or (declared is None and _share(values, _DATE) == 1):
        return _timestamps(values) or Scale("date")
    if declared is None and (timestamps := _timestamps(values)):
        return timestamps
    if declared is None and _share(values, _LEADING_ZERO) > 0:
        return None  # codes such as zip codes: 01234 is not the number 1234
    form = _COMMA if comma else _NUMBER
    share = _share(values, form)
    if declared is None and share <= 0.5:
        return None
    if share < 1:
        raise misfit_error(values.filter(pc.invert(pc.match_substring_regex(values, form))), "number", column)
    return Scale("integer" if _share(values, _INTEGER) == 1 else "number", comma=comma)


def _timestamps(values: pa.Array) -> Scale | None:
    """The scale of text that is timestamps throughout, with or without a zone."""
    for zone, end in ((None, "$"), ("UTC", "Z$")):
        if _share(values, _TIMESTAMP + end) == 1:
            return Scale("timestamp", "ns" if _share(values, _FINE_TIMESTAMP) > 0 else "us", zone)
    return None


def text_of(values: pa.Array) -> pa.Array:
    """Values of any type as the text that taxonomies and releases use, each for itself; 3.0 is written as 3."""
    if pa.types.is_floating(values.type):
        return texts_of_floats(values)
    if pa.types.is_decimal(values.type):
        return texts_of_decimals(values)
    if pa.types.is_timestamp(values.type):
        return _texts_of_moments(values)
    try:
        return values if values.type == pa.string() else values.cast(pa.string())
    except pa.ArrowNotImplementedError:
        raise DataError(f"values of type {shown_type(values.type)} have no text; convert that column to text") from None


def _texts_of_moments(values: pa.Array) -> pa.Array:
    """Timestamps as a scale shows them: the same for every unit, those with a time zone in UTC."""
    if values.type.tz is not None:
        values = values.cast(pa.timestamp(values.type.unit, "UTC"))
    texts = pc.replace_substring_regex(values.cast(pa.string()), r"(\.[0-9]*?)0+(Z?)$", r"\1\2")
    return pc.replace_substring_regex(texts, r"\.(Z?)$", r"\1")


def _share(values: pa.Array, pattern: str) -> float:
    return _matching(values, pattern) / max(1, len(values))


def _matching(values: pa.Array, pattern: str) -> int:
    return int(pc.sum(pc.match_substring_regex(values, pattern)).as_py() or 0)


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))
