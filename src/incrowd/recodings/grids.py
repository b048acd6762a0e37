"""Round numbers and dates: where the bounds of ranges may lie, so that they can be read, and tell nobody's value.

A grid cuts a scale into cells of one width: multiples of 1, 2 or 5 times a power of ten for numbers, of some months
(up to ten years) for dates. A time of day is not rounded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import floor, log10
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.table.attributes import NumberAttribute
from incrowd.table.scales import Scale

Cells = npt.NDArray[np.int64]

MONTHS = (120, 60, 24, 12, 6, 3, 1)
_FINEST = 1e-9  # part of the range of a column below which no cell is tried
_LARGEST = 2**53  # whole numbers up to it are floats too


@dataclass(frozen=True)
class Grid:
    """A grid.

    Args:
        scale: What the numbers mean.
        digit: 1, 2 or 5; of dates the number of months.
        power: The power of ten that it is multiplied by; 0 for dates.
    """

    scale: Scale
    digit: int
    power: int = 0

    @property
    def name(self) -> str:
        """The width of a cell, such as 5, 2e-1 or 12 (months)."""
        return str(self.digit * 10**self.power) if self.power >= 0 else f"{self.digit}e{self.power}"

    @classmethod
    def named(cls, name: str, scale: Scale) -> Grid:
        """The grid of a width that `name` gave."""
        digit, _, power = name.partition("e")
        zeros = len(digit) - len(digit.rstrip("0")) if not power and scale.kind != "date" else 0
        return cls(scale, int(digit[: len(digit) - zeros]), int(power) if power else zeros)

    def cells(self, numbers: npt.NDArray[Any]) -> Cells:
        """The cell that each number lies in; cells are numbered upwards."""
        if self.scale.kind == "date":
            months = numbers.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
            return np.asarray(months // self.digit)
        if self.power >= 0 and numbers.dtype.kind in "iu":
            return np.asarray(numbers.astype(np.int64) // (self.digit * 10**self.power))
        guess = np.floor(numbers / (self.digit * 10.0**self.power)).astype(np.int64)
        guess -= self._bounds(guess) > numbers  # the quotient of floats may be off by one
        return guess + (self._bounds(guess + 1) <= numbers)

    def bound(self, cell: int) -> Any:
        """Where a cell begins."""
        if self.scale.kind == "date":
            return np.array([cell * self.digit], "datetime64[M]").astype("datetime64[D]").astype(np.int64)[0].item()
        if self.scale.kind == "integer":
            return cell * self.digit * 10**self.power
        return self._bounds(np.array([cell]))[0].item()

    def _bounds(self, cells: Cells) -> npt.NDArray[np.float64]:
        """Where cells begin, as the floats closest to those decimal numbers."""
        multiples = cells * self.digit
        return np.asarray(multiples * 10.0**self.power if self.power >= 0 else multiples / 10.0**-self.power)


def grids(attribute: NumberAttribute) -> Iterator[Grid]:
    """The grids that could be of use to a column, from the widest cells to the narrowest."""
    numbers, scale = attribute.numbers, attribute.scale
    if len(numbers) < 2 or scale.kind == "timestamp" or numbers.dtype.kind not in "iuf":
        return
    if scale.kind == "date":
        yield from (Grid(scale, months) for months in MONTHS)
        return
    largest, width = float(np.abs(numbers.astype(np.float64)).max()), float(numbers[-1]) - float(numbers[0])
    if largest >= _LARGEST or not 0 < width < np.inf:
        return
    least = 1.5 if scale.kind == "integer" else max(float(np.diff(numbers).min()), _FINEST * max(width, largest))
    for power in range(floor(log10(width)), floor(log10(least)) - 1, -1):
        for digit in (5, 2, 1):
            if least <= digit * 10.0**power <= width:
                yield Grid(scale, digit, power)
