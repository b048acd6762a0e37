"""The losses (NCP) of the cells of one attribute as whole numbers over one denominator.

What is counted with them is exact: records times losses are whole numbers, and sums of them can be compared.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.table.attributes import Attribute, numeric
from incrowd.table.exact_numbers import as_fraction
from incrowd.table.grouping import Codes

Whole = npt.NDArray[Any]  # int64, or Python's integers where those are too narrow

NARROW = 1 << 31  # times so many records it still fits into 64 bits
_DIGITS = 10**15  # floats distinguish decimal numbers of fewer digits
_DECIMALS = 9


class LossScale:
    def __init__(self, attribute: Attribute) -> None:
        self.attribute = attribute

    @cached_property
    def denominator(self) -> int:
        """What the loss of a cell that could be any value is."""
        return self.attribute.loss_steps or self._places[1] or 1

    def numerators(self, start: Codes, stop: Codes) -> Whole:
        """Losses of cells that stand for the codes [start, stop), as `attribute.loss` has them in floats.

        Without a taxonomy a category loses nothing by itself, and everything together with others.
        """
        start, stop = np.asarray(start, np.int64), np.asarray(stop, np.int64)
        if self.attribute.loss_steps is not None:
            return np.asarray(np.minimum(stop - start - 1, self.attribute.loss_steps))
        places, width, step = self._places
        ranks = len(places)
        edges = np.append(places, np.array([width], places.dtype))
        low = np.where(start == 0, 0 * edges[:1], edges[start])
        high = np.where(stop >= ranks, edges[-1:], edges[np.minimum(stop, ranks)] - step)
        lost = high - low if width else 0 * low
        everything = np.where(start == ranks, 0 * edges[:1], edges[:1] * 0 + self.denominator)
        return np.where(stop > ranks, everything, lost)

    def interval(self, start: int, stop: int) -> int:
        """The same of one interval of numbers, the codes [start, stop)."""
        places, (_, width, step) = self.places, self._places
        if stop > len(places):
            return self.denominator if start < len(places) else 0
        high = width if stop == len(places) else places[stop] - step
        return high - (places[start] if start else 0) if width else 0

    @cached_property
    def places(self) -> list[int]:
        """How far each number lies above the lowest possible one; as far as the denominator at most."""
        found: list[int] = self._places[0].tolist()
        return found

    @cached_property
    def _places(self) -> tuple[Whole, int, int]:
        """How far each number lies above the lowest possible one, the highest one, and a step of the scale."""
        attribute = numeric(self.attribute)
        numbers, extent = attribute.numbers, [_as_written(end) for end in attribute.extent]
        unit, scaled = _whole(numbers)
        unit, before = lcm(unit, *(end.denominator for end in extent)), unit
        lowest, highest = (int(end * unit) for end in extent)
        narrow = max(abs(lowest), abs(highest)) < _DIGITS and highest - lowest < NARROW
        if narrow and scaled.dtype != object:
            places: Whole = scaled.astype(np.int64) * (unit // before) - lowest
        else:
            places = np.array([int(value) * (unit // before) - lowest for value in scaled.tolist()], object)
        return places, highest - lowest, 0 if attribute.scale.kind == "number" else unit


def _whole(numbers: npt.NDArray[Any]) -> tuple[int, Whole]:
    """Numbers as they are written, times a whole number that makes all of them whole."""
    if numbers.dtype.kind in "iu":
        return 1, numbers
    for decimals in range(_DECIMALS + 1 if numbers.dtype != object else 0):
        with np.errstate(over="ignore"):  # what overflows is not below the limit
            scaled = np.rint(numbers * 10.0**decimals)
        if (np.abs(scaled) < _DIGITS).all() and (scaled / 10.0**decimals == numbers).all():
            return 10**decimals, scaled.astype(np.int64)
    fractions = [_as_written(value) for value in numbers]
    unit = lcm(*(fraction.denominator for fraction in fractions))
    return unit, np.array([int(fraction * unit) for fraction in fractions], object)


def _as_written(value: Any) -> Fraction:
    """A number as it is written, as in `search.exact`: 0.1 is a tenth, though no float is."""
    return as_fraction(value.item() if isinstance(value, np.generic) else value)
