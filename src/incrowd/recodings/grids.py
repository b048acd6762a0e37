"""Round numbers and dates: where the bounds of ranges lie, so that they can be read, and are nobody's value.

A grid cuts a scale into cells of one width: multiples of 1, 2 or 5 times a power of ten for numbers, of some days or
months (up to a hundred years) for dates, of seconds up to years for timestamps. No cell is as narrow as what the scale
can tell apart: a cell of one whole number, or of one day, would be a value.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import floor, log10
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from incrowd.table.attributes import NumberAttribute
from incrowd.table.exact_numbers import as_fraction
from incrowd.table.grouping import Counts
from incrowd.table.scales import Scale

Cells = npt.NDArray[Any]
Unit = Literal["", "d", "s"]

DAY = 86_400
MONDAY = 3  # days from the Monday before 1970 to its first day
MONTHS = (1200, 600, 240, 120, 60, 24, 12, 6, 3, 1)
DAYS = (7, 2)
SECONDS = (DAY, 6 * 3600, 3600, 900, 300, 60, 10)
FEWEST_CELLS = 10  # in the range of a column
PARTS = 4  # of a range that a class might have
MIDDLE = 0.9  # part of the records in the range that counts where none is public: a few may lie far away

_MONTH = 30.4  # days, to compare widths
_TICKS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_LARGEST = 2**53  # whole numbers up to it are floats too
_EXACT_POWER = 22  # of ten, that is a float too
_FAR = 2.0**62


@dataclass(frozen=True)
class Grid:
    """A grid.

    Args:
        scale: What the numbers mean.
        digit: 1, 2 or 5; of dates and timestamps how many units.
        power: The power of ten that it is multiplied by; 0 for dates.
        unit: "d" for days, "s" for seconds; else months, where the scale is one of dates.
    """

    scale: Scale
    digit: int
    power: int = 0
    unit: Unit = ""

    @property
    def name(self) -> str:
        """The width of a cell, such as 5, 2e-1, 12 (months) or 7d."""
        return (str(self.digit * 10**self.power) if self.power >= 0 else f"{self.digit}e{self.power}") + self.unit

    @classmethod
    def named(cls, name: str, scale: Scale) -> Grid:
        """The grid of a width that `name` gave."""
        if scale.kind in ("date", "timestamp"):
            unit: Unit = "d" if name.endswith("d") else "s" if name.endswith("s") else ""
            return cls(scale, int(name.removesuffix(unit)), 0, unit)
        digit, _, power = name.partition("e")
        zeros = len(digit) - len(digit.rstrip("0")) if not power else 0
        return cls(scale, int(digit[: len(digit) - zeros]), int(power) if power else zeros)

    @property
    def day(self) -> int:
        return DAY * _TICKS[self.scale.unit or "us"] if self.scale.kind == "timestamp" else 1

    @property
    def _width_and_start(self) -> tuple[int, int]:
        """How wide a cell of days or seconds is, and where one of them begins."""
        width = self.day * self.digit if self.unit == "d" else self.day // DAY * self.digit
        return width, -MONDAY * self.day if self.unit == "d" and self.digit == DAYS[0] else 0

    def cells(self, numbers: npt.NDArray[Any]) -> Cells:
        """The cell that each number lies in; cells are numbered upwards."""
        if self.scale.kind in ("date", "timestamp"):
            if self.unit:
                width, start = self._width_and_start
                return np.asarray((_roomy(numbers) - start) // width)
            days = numbers.astype(np.int64) // self.day
            return np.asarray(days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64) // self.digit)
        if self.power >= 0 and numbers.dtype.kind in "iu":
            width = self.digit * 10**self.power
            return np.asarray((numbers if width < _LARGEST else numbers.astype(object)) // width)
        if numbers.dtype.kind == "f" and self._in_floats(numbers):
            guess = np.floor(numbers / (self.digit * 10.0**self.power)).astype(np.int64)
            guess -= self._bounds(guess) > numbers  # the quotient of floats may be off by one
            return guess + (self._bounds(guess + 1) <= numbers)
        fine = self.digit * Fraction(10) ** self.power
        return np.array([as_fraction(number) // fine for number in numbers.tolist()], object)

    def bound(self, cell: int) -> Any:
        if self.scale.kind in ("date", "timestamp"):
            if self.unit:
                width, start = self._width_and_start
                return cell * width + start
            day = np.array([cell * self.digit], "datetime64[M]").astype("datetime64[D]").astype(np.int64)[0].item()
            return day * self.day
        if self.scale.kind == "integer":
            return cell * self.digit * 10**self.power
        bound = Decimal(f"{cell * self.digit}e{self.power}")
        return float(bound) if self._in_floats(np.array([float(bound)])) else bound

    def _in_floats(self, numbers: npt.NDArray[np.float64]) -> bool:
        """Whether bounds near some numbers can be computed in floats, each the closest to its decimal number."""
        return abs(self.power) <= _EXACT_POWER and np.abs(numbers).max(initial=0) / 10.0**self.power < _LARGEST

    def _bounds(self, cells: Cells) -> npt.NDArray[np.float64]:
        """Where cells begin, as the floats closest to those decimal numbers."""
        multiples = (cells * self.digit).astype(np.float64)
        return np.asarray(multiples * 10.0**self.power if self.power >= 0 else multiples / 10.0**-self.power)


def cells_of(records: int, columns: int, least_size: int) -> int:
    """Into how many cells the range of each column is cut, about: a quarter of a range that a class might have.

    Were all columns cut alike into classes of k records, each would be cut into as many pieces as the root, of degree
    `columns`, of records / k. Decided with whole numbers, so that every machine finds the same.
    """
    low, high = FEWEST_CELLS, PARTS * max(1, records)  # from here on it is always enough
    while low < high:
        middle = (low + high + 1) // 2
        if middle**columns * max(1, least_size) <= PARTS**columns * records:
            low = middle
        else:
            high = middle - 1
    return low


def grid_of(attribute: NumberAttribute, counts: Counts, cells: int) -> Grid:
    """The grid of a column: what is public decides, or data so coarsely that no bound depends on one person."""
    most = _range(attribute, counts) / cells
    return next((grid for width, grid in _grids(attribute.scale, most) if width <= most), _narrowest(attribute.scale))


def _range(attribute: NumberAttribute, counts: Counts) -> Fraction:
    low, high = attribute.extent
    if attribute.domain is None and len(attribute.numbers):
        reached = np.cumsum(counts[: len(attribute.numbers)])
        first = int(np.searchsorted(reached, reached[-1] * (1 - MIDDLE) / 2, side="right"))
        last = int(np.searchsorted(reached, reached[-1] * (1 + MIDDLE) / 2))
        if first < last < len(reached):
            low, high = attribute.number(first), attribute.number(last)
    return as_fraction(high) - as_fraction(low)


def _grids(scale: Scale, most: Fraction) -> Iterator[tuple[Fraction, Grid]]:
    """Grids and the widths of their cells, as the scale counts them, from wide to narrow; some are below a width."""
    if scale.kind in ("date", "timestamp"):
        day = Grid(scale, 1).day
        yield from ((Fraction(_MONTH * months) * day, Grid(scale, months)) for months in MONTHS)
        yield from ((Fraction(days) * day, Grid(scale, days, 0, "d")) for days in DAYS)
        if scale.kind == "timestamp":
            yield from ((Fraction(seconds * day, DAY), Grid(scale, seconds, 0, "s")) for seconds in SECONDS)
    elif most > 0 and (scale.kind == "number" or most >= 2):
        power = floor(log10(most.numerator) - log10(most.denominator))
        for exponent in (power + 1, power, power - 1):  # logarithms are rounded
            yield from ((digit * Fraction(10) ** exponent, Grid(scale, digit, exponent)) for digit in (5, 2, 1))


def _narrowest(scale: Scale) -> Grid:
    if scale.kind in ("date", "timestamp"):
        return Grid(scale, DAYS[-1], 0, "d") if scale.kind == "date" else Grid(scale, SECONDS[-1], 0, "s")
    return Grid(scale, 2 if scale.kind == "integer" else 1)


def _roomy(numbers: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Whole numbers, as Python has them where little could be added to them otherwise."""
    return numbers if np.abs(numbers.astype(np.float64)).max(initial=0) < _FAR else numbers.astype(object)
