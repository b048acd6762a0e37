"""A rule for dates: days in months, quarters, years and decades."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from incrowd.errors import TaxonomyError
from incrowd.taxonomies.labels import ANY
from incrowd.taxonomies.rules import build, refuse
from incrowd.taxonomies.taxonomy import Taxonomy

__all__ = ["LEVELS", "ORDERS", "Calendar", "parts_of"]

ORDERS = ("ymd", "dmy", "mdy")  # in which year, month and day are written
_PARTS = re.compile(r"([0-9]{1,4})([-/.])([0-9]{1,2})\2([0-9]{1,4})(?![0-9])")
_COMPACT = re.compile(r"([0-9]{4})([0-9]{2})([0-9]{2})")  # 19840517

# Of year, month and day.
LEVELS: dict[str, Callable[[int, int, int], str]] = {
    "day": lambda year, month, day: f"{year:04}-{month:02}-{day:02}",
    "month": lambda year, month, day: f"{year:04}-{month:02}",
    "quarter": lambda year, month, day: f"{year:04}-Q{(month + 2) // 3}",
    "year": lambda year, month, day: f"{year:04}",
    "decade": lambda year, month, day: f"{year // 10:03}0s",
}


@dataclass(frozen=True)
class Calendar:
    """Groups dates: with levels (month, quarter, year), 1984-05-17 -> 1984-05 -> 1984-Q2 -> 1984 -> *.

    Times of day are grouped by their day first, if that is asked for.

    Attributes:
        levels: Some of day, month, quarter, year and decade, in this order.
        order: How dates are written: "ymd" (1984-05-17, 19840517), "dmy" (17.05.1984) or "mdy" (05/17/1984), years in
            four digits.
    """

    levels: tuple[str, ...]
    order: str = "ymd"

    def __post_init__(self) -> None:
        known = list(LEVELS)
        if (
            not isinstance(self.levels, list | tuple)
            or not self.levels
            or any(each not in known for each in self.levels)
        ):
            refuse(self, "levels", f"be some of {', '.join(known)}", self.levels)
        object.__setattr__(self, "levels", tuple(self.levels))
        if any(known.index(fine) >= known.index(coarse) for fine, coarse in pairwise(self.levels)):
            refuse(self, "levels", f"go from fine to coarse: {', '.join(known)}", self.levels)
        if self.order not in ORDERS:
            refuse(self, "order", f"be one of {', '.join(ORDERS)}", self.order)

    def ancestors(self, value: str) -> tuple[str, ...]:
        """The spans of a date from the shortest to the root.

        Raises:
            TaxonomyError: The value is no date.
        """
        parts = self._parts(value)
        spans = [LEVELS[level](*parts) for level in self.levels]
        return (*(span for span in spans if span != value), ANY)

    def _parts(self, value: str) -> tuple[int, int, int]:
        parts = parts_of(value, self.order)
        if parts is None:
            raise TaxonomyError(
                f"Calendar groups dates written {self.order}, got '{value}'; correct the value, change the order, or "
                "give the column a taxonomy file"
            )
        return parts

    def build(self, values: Sequence[str]) -> Taxonomy:
        """The taxonomy of the values, in order of time.

        Raises:
            TaxonomyError: There is no value, or one is no date.
        """
        return build(self, sorted(set(values), key=lambda value: (self._parts(value), value)))


def parts_of(value: str, order: str) -> tuple[int, int, int] | None:
    """Year, month and day of a date with or without a time of day, None where it is none."""
    compact = _COMPACT.fullmatch(value) if order == "ymd" else None
    found = compact or _PARTS.match(value)
    if found is None:
        return None
    texts = dict(zip(order, found.groups() if compact else found.group(1, 3, 4), strict=True))
    year, month, day = int(texts["y"]), int(texts["m"]), int(texts["d"])
    return (year, month, day) if len(texts["y"]) == 4 and 1 <= month <= 12 and 1 <= day <= 31 else None
