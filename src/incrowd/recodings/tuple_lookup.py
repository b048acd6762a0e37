"""Finds the numbers of tuples of codes, many at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]
_ROOM = 2**62


class TupleLookup:
    """Maps rows of codes to the number of the equal row of a matrix.

    Codes are packed into one integer; where more are left than fit, what was packed is replaced by its rank among
    the packed values that occur.
    """

    def __init__(self, tuples: npt.NDArray[Any], sizes: Sequence[int]) -> None:
        """Index the rows of a matrix, tuples x attributes, all different.

        Args:
            tuples: The matrix.
            sizes: Number of codes of each attribute.
        """
        self._sizes = sizes
        self._stages: dict[int, Numbers] = {}
        key, room = np.zeros(len(tuples), np.int64), 1
        for place, size in enumerate(sizes):
            if room * size >= _ROOM:
                self._stages[place], key = np.unique(key, return_inverse=True)
                room = len(tuples)
            key = key * size + tuples[:, place]
            room *= size
        self._order = np.argsort(key)
        self._keys = key[self._order]

    def __call__(self, rows: npt.NDArray[Any]) -> Numbers:
        """The number of each row, -1 where there is none."""
        key, known = np.zeros(len(rows), np.int64), np.ones(len(rows), bool)
        for place, size in enumerate(self._sizes):
            if place in self._stages:
                key, found = _ranks(self._stages[place], key)
                known &= found
            key = key * size + rows[:, place]
        place_of, found = _ranks(self._keys, key)
        return np.where(known & found, self._order[place_of], -1)


def _ranks(ordered: Numbers, keys: Numbers) -> tuple[Numbers, npt.NDArray[np.bool_]]:
    """Where each key stands, and whether it is there."""
    place = np.minimum(np.searchsorted(ordered, keys), len(ordered) - 1)
    return place, ordered[place] == keys
