"""Dates as text, and the spans that they are in: days, months, quarters, years and decades."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable

ORDERS = ("ymd", "dmy", "mdy")  # in which year, month and day are written
_PARTS = re.compile(r"([0-9]{1,4})([-/.])([0-9]{1,2})\2([0-9]{1,4})(?![0-9])")
_SPAN = re.compile(r"([0-9]{4})(?:-([0-9]{2})|-Q([1-4])|(s))?|\[([0-9]{4})-([0-9]{4})\)")
_COMPACT = re.compile(r"([0-9]{4})([0-9]{2})([0-9]{2})")  # 19840517

# Of year, month and day.
LEVELS: dict[str, Callable[[int, int, int], str]] = {
    "day": lambda year, month, day: f"{year:04}-{month:02}-{day:02}",
    "month": lambda year, month, day: f"{year:04}-{month:02}",
    "quarter": lambda year, month, day: f"{year:04}-Q{(month + 2) // 3}",
    "year": lambda year, month, day: f"{year:04}",
    "decade": lambda year, month, day: f"{year // 10:03}0s",
}


def parts_of(value: str, order: str) -> tuple[int, int, int] | None:
    """Year, month and day of a date with or without a time of day, None where it is none."""
    compact = _COMPACT.fullmatch(value) if order == "ymd" else None
    found = compact or _PARTS.match(value)
    if found is None:
        return None
    texts = dict(zip(order, found.groups() if compact else found.group(1, 3, 4), strict=True))
    year, month, day = int(texts["y"]), int(texts["m"]), int(texts["d"])
    return (year, month, day) if len(texts["y"]) == 4 and 1 <= month <= 12 and 1 <= day <= 31 else None


def days_of(label: str) -> tuple[str, str] | None:
    """The first and the last day of a month, quarter, year or decade; None where a label is none of these."""
    found = _SPAN.fullmatch(label)
    if found is None:
        return None
    year, month, quarter, decade, since, until = found.groups()
    first, last = (int(since), int(until) - 1) if since else (int(year), int(year) + 9 * bool(decade))
    start, end = (3 * int(quarter) - 2, 3 * int(quarter)) if quarter else (int(month or 1), int(month or 12))
    if not (1 <= start <= end <= 12 and 0 < first <= last):
        return None
    return f"{first:04}-{start:02}-01", f"{last:04}-{end:02}-{monthrange(last, end)[1]}"
