"""What kind of values a column holds: numbers, dates, timestamps or plain text.

A `Scale` turns cells into ordered machine numbers and those numbers back into text. It works on the distinct values of
a column, never on its rows, and is stored with a recoding so that new rows are read the same way.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from incrowd.errors import DataError

Numbers = npt.NDArray[Any]
Kind = Literal["integer", "number", "date", "timestamp"]

DECLARED = ("number", "date", "text")
_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_LEADING_ZERO = r"^[+-]?0[0-9]"
_DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
_TIMESTAMP = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?"  # then Z or the end


@dataclass(frozen=True)
class Scale:
    """An ordered domain.

    Args:
        kind: What the numbers mean.
        unit: Unit of a timestamp ("s", "ms", "us", "ns").
        timezone: Time zone of a timestamp, if it has one.
    """

    kind: Kind
    unit: str = ""
    timezone: str | None = None

    def numbers(self, values: pa.Array, column: str) -> Numbers:
        """The values (no nulls among them) as int64, uint64 or float64.

        Raises:
            DataError: A value does not belong to this scale, such as text in a number column.
        """
        if _is_text(values.type):
            values = self._parse(values, column)
        days = pa.types.is_date(values.type) or pa.types.is_timestamp(values.type)
        if days != (self.kind in ("date", "timestamp")) or pa.types.is_boolean(values.type):
            noun = "numbers" if days or self.kind in ("integer", "number") else "dates"
            raise DataError(f"column '{column}' has type {values.type} instead of {noun}; convert it first")
        if self.kind == "date":
            return np.asarray(values.cast(pa.date32()).cast(pa.int32()), np.int64)
        if self.kind == "timestamp":
            return np.asarray(values.cast(pa.timestamp(self.unit, self.timezone)).cast(pa.int64()))
        if pa.types.is_decimal(values.type) or pa.types.is_float16(values.type):
            values = values.cast(pa.float64())
        numbers = np.asarray(values)
        if numbers.dtype.kind == "f":
            if not np.isfinite(numbers).all():
                raise DataError(
                    f"column '{column}' holds a number that is not finite; remove it or treat it as missing"
                )
            whole = self.kind == "integer" and bool(((numbers == np.floor(numbers)) & (abs(numbers) < 2**53)).all())
            return numbers.astype(np.int64) if whole else numbers.astype(np.float64) + 0.0  # no negative zero
        wide = np.uint64 if numbers.dtype == np.uint64 else np.int64
        return numbers.astype(np.float64 if self.kind == "number" else wide)

    def text(self, number: Any) -> str:
        """One number as it is shown in a release."""
        if self.kind in ("integer", "number"):
            whole = isinstance(number, int | np.integer) or (abs(number) < 1e15 and number == int(number))
            return str(int(number)) if whole else repr(float(number))
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
        return self.numbers(pa.array([bound]), column)[0].item()

    def _parse(self, values: pa.Array, column: str) -> pa.Array:
        moment = _TIMESTAMP + ("Z?$" if self.timezone else "$")
        pattern = {"date": _DATE, "timestamp": moment}.get(self.kind, _NUMBER)
        misfit = pc.invert(pc.match_substring_regex(values, pattern))
        if pc.any(misfit).as_py():
            raise misfit_error(values.filter(misfit), self.kind, column)
        if self.timezone:
            values = pc.binary_join_element_wise(pc.utf8_rtrim(values, "Z"), "Z", "")
        kinds = {"date": pa.date32(), "timestamp": pa.timestamp(self.unit or "us", self.timezone)}
        try:
            return values.cast(kinds[self.kind]) if self.kind in kinds else _parse_numbers(values)
        except pa.ArrowInvalid:
            raise misfit_error(values, self.kind, column) from None


def misfit_error(misfits: pa.Array, kind: str, column: str) -> DataError:
    """The error for text where a number or date should be; shows one value only."""
    noun = "date" if kind in ("date", "timestamp") else "number"
    return DataError(
        f"column '{column}' holds '{misfits[0].as_py()}', which is not a {noun} ({len(misfits)} such values); fix it, "
        f"name it as a missing value, or declare the type of '{column}' as text"
    )


def scale_of(values: pa.Array, column: str, declared: str | None = None) -> Scale | None:
    """The scale of a column from its distinct values, or None where it is plain text.

    Args:
        values: The distinct values, without nulls.
        column: Its name, for messages.
        declared: "number", "date" or "text" where the user said so.

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
        floats = values.cast(pa.float64()).to_numpy(zero_copy_only=False)
        whole = bool(np.isfinite(floats).all() and (floats == np.floor(floats)).all() and (abs(floats) < 2**53).all())
        return Scale("integer" if whole else "number")
    if _is_text(kind):
        return _scale_of_text(values, column, declared)
    raise DataError(f"column '{column}' has type {kind}, which cannot be in a quasi-identifier; convert it to text")


def _scale_of_text(values: pa.Array, column: str, declared: str | None) -> Scale | None:
    if len(values) == 0:
        return None
    if declared == "date" or (declared is None and _share(values, _DATE) == 1):
        return _timestamps(values) or Scale("date")
    if declared is None and (timestamps := _timestamps(values)):
        return timestamps
    if declared is None and _share(values, _LEADING_ZERO) > 0:
        return None  # codes such as zip codes: 01234 is not the number 1234
    share = _share(values, _NUMBER)
    if declared is None and share <= 0.5:
        return None
    if share < 1:
        raise misfit_error(values.filter(pc.invert(pc.match_substring_regex(values, _NUMBER))), "number", column)
    return Scale("integer" if pa.types.is_integer(_parse_numbers(values).type) else "number")


def _timestamps(values: pa.Array) -> Scale | None:
    """The scale of text that is timestamps throughout, with or without a zone."""
    if _share(values, _TIMESTAMP + "$") == 1:
        return Scale("timestamp", "us")
    return Scale("timestamp", "us", "UTC") if _share(values, _TIMESTAMP + "Z$") == 1 else None


def _parse_numbers(values: pa.Array) -> pa.Array:
    for whole in (pa.int64(), pa.uint64()):
        try:
            return values.cast(whole)
        except pa.ArrowInvalid:
            continue
    return values.cast(pa.float64())


def text_of(values: pa.Array) -> pa.Array:
    """Values of any type as the text that taxonomies and releases use; whole floats lose their '.0'."""
    if pa.types.is_floating(values.type):
        floats = pc.drop_null(values).to_numpy(zero_copy_only=False)
        if (np.isfinite(floats) & (floats == np.floor(floats)) & (abs(floats) < 2**53)).all():
            values = values.cast(pa.int64())
    return values if values.type == pa.string() else values.cast(pa.string())


def _share(values: pa.Array, pattern: str) -> float:
    return float(pc.sum(pc.match_substring_regex(values, pattern)).as_py() or 0) / max(1, len(values))


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))
