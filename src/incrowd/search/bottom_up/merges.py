"""What joining two neighbouring intervals of numbers loses, in an order in which equal ones are equal.

A joint is less than another one if it loses less, exactly; of equals if it has fewer records, then if it lies lower.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from incrowd.search.exact import ABSOLUTE, DECIMALS, RELATIVE, comparable, information_lost
from incrowd.search.information import entropy
from incrowd.search.loss_scale import LossScale
from incrowd.table.attributes import NumberAttribute
from incrowd.table.grouping import Counts

Places = tuple[int, int, int]  # of the codes [start, middle) and [middle, stop)


class CellJoint(NamedTuple):
    """Two intervals whose joining loses so much of the cells: a whole number."""

    lost: int
    records: int
    places: Places


class CellJoints:
    """Joints of the values of a number, by the loss of cells.

    Args:
        attribute: The number.
        counts: Records of each code.
    """

    def __init__(self, attribute: NumberAttribute, counts: Counts) -> None:
        self._scale = LossScale(attribute)
        self._below: list[int] = [0, *counts.cumsum().tolist()]

    def of(self, pairs: Sequence[Places]) -> Iterator[CellJoint]:
        """The joints of some pairs of intervals."""
        for start, middle, stop in pairs:
            lost = self._mass(start, stop) - self._mass(start, middle) - self._mass(middle, stop)
            yield CellJoint(lost, self._below[stop] - self._below[start], (start, middle, stop))

    def _mass(self, start: int, stop: int) -> int:
        """Records times their loss; a value alone loses nothing."""
        return 0 if stop - start == 1 else (self._below[stop] - self._below[start]) * self._scale.interval(start, stop)


class InformationJoint:
    """Two intervals whose joining loses so much information: a float, and its exact value where that matters.

    Args:
        lost: Records times bits.
        error: By how much that may be wrong, beside a relative error.
        parts: The label counts of both.
        places: Where they are.
    """

    __slots__ = ("_error", "_exact", "_lost", "_parts", "places")

    def __init__(self, lost: float, error: float, parts: tuple[list[int], list[int]], places: Places) -> None:
        self.places = places
        self._lost = lost
        self._error = error + RELATIVE * abs(lost)
        self._parts = parts
        self._exact: tuple[Fraction, int, Places] | None = None

    def __lt__(self, other: InformationJoint) -> bool:
        difference = self._lost - other._lost
        slack = self._error + other._error
        return difference < 0 if difference > slack or difference < -slack else self._compared() < other._compared()

    def _compared(self) -> tuple[Fraction, int, Places]:
        if self._exact is None:
            left, right = self._parts
            lost = comparable(information_lost(self._parts), DECIMALS)
            self._exact = lost, sum(left) + sum(right), self.places
        return self._exact


class InformationJoints:
    """Joints of the values of a number, by information about labels.

    Args:
        label_counts: codes x labels.
    """

    def __init__(self, label_counts: Counts) -> None:
        self._below = np.concatenate([np.zeros((1, label_counts.shape[1]), np.int64), label_counts.cumsum(axis=0)])
        self._error = ABSOLUTE * float(label_counts.sum())

    def of(self, pairs: Sequence[Places]) -> Iterator[InformationJoint]:
        """The joints of some pairs of intervals."""
        if not pairs:
            return
        start, middle, stop = (self._below[list(places)] for places in zip(*pairs, strict=True))
        labels = np.stack([middle - start, stop - middle, stop - start])  # part x pairs x labels
        left, right, both = labels.sum(axis=2) * entropy(labels)
        columns: Any = ((both - left - right).tolist(), labels[0].tolist(), labels[1].tolist(), pairs)
        for lost, *parts, places in zip(*columns, strict=True):
            yield InformationJoint(lost, self._error, (parts[0], parts[1]), places)


Joints = CellJoints | InformationJoints
