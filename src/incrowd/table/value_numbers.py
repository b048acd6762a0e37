"""Values as numbers: those of a column are numbered as they come."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from incrowd.table.arrays import filled, to_arrow, to_numpy
from incrowd.table.missing import encoded_in_any_order, is_missing, looked_up, places_of, same_values

Codes = npt.NDArray[Any]  # the smallest signed type that holds them

_WIDEST = 1 << 21  # from the least to the most: a table of 8 MB at most
_FARTHEST = 1 << 62  # beyond it, differences might not fit


class ValueNumbers:
    """Numbers the distinct values of one column in order of appearance; a missing value has the number -1."""

    def __init__(self, name: str, missing: Sequence[str]) -> None:
        self.name = name
        self._missing = missing
        self._may_lack = False  # whether the last rows may have missing values
        self.exact = True  # whether every value of the last rows has a number, and only nulls have none
        self._seen = np.zeros(1, bool)  # which numbers occur; the last one is that of missing values
        self._last: pa.Array | None = None  # the dictionary of the last rows,
        self._code_of: Codes = np.empty(0, np.int8)  # and the number of each of its values
        self.values: pa.Array | None = None
        self._whole: WholeNumbers | None = None  # where they are, if they are known,
        self._looked_for_whole = False  # and whether that was looked for since there were new ones

    def codes(self, column: pa.Array) -> Codes:
        if self.values is not None and not self._looked_for_whole:  # not before: there may be no more rows
            self._whole, self._looked_for_whole = WholeNumbers.of(self.values), True
        if self._whole is not None and (found := self._whole.find(column)) is not None:
            self._last, self._may_lack, self.exact = None, False, True
            return found
        column = encoded_in_any_order(column, self.name)
        if self._last is None or not same_values(self._last, column.dictionary):  # batches often have the same ones
            self._last, self._code_of = column.dictionary, self._codes_of(column.dictionary)
        self._may_lack = column.null_count > 0 or not self.exact
        return looked_up(self._code_of, places_of(column, len(self._code_of) - 1))

    def _codes_of(self, dictionary: pa.Array) -> Codes:
        """The number of each value of a dictionary, and last that of null."""
        present = ~is_missing(dictionary, self._missing)
        numbers = self._number(dictionary.filter(to_arrow(present)))
        assert self.values is not None
        self._looked_for_whole = False
        code_of = np.full(len(present) + 1, -1, np.min_scalar_type(-len(self.values) - 1))
        code_of[:-1][present] = numbers
        self.exact = bool(present.all())
        return code_of

    def look_at(self, numbers: Codes) -> None:
        """Note which numbers occur in rows that stay: a dictionary may have values that no row has."""
        assert self.values is not None
        new = len(self.values) + 1 - len(self._seen)
        self._seen = np.concatenate([self._seen[:-1], np.zeros(new, bool), self._seen[-1:]])
        if not self._seen[:-1].all() or (self._may_lack and not self._seen[-1]):
            self._seen[numbers.astype(np.intp)] = True  # missing is -1, the last one; numpy is slow at other types

    def used(self, numbers: Codes | None = None) -> tuple[pa.Array, bool, Any]:
        """The values that do occur, whether missing ones do, and the new number of each old one (missing is last)."""
        assert self.values is not None
        seen = self._seen
        if numbers is not None:
            seen = np.zeros(len(self.values) + 1, bool)
            seen[numbers] = True
        number_of = np.append(seen[:-1].cumsum() - 1, -1)
        return self.values.filter(to_arrow(seen[:-1])), bool(seen[-1]), number_of

    def _number(self, values: pa.Array) -> Any:
        if self.values is None:
            self.values = values
            return np.arange(len(values))
        numbers = pc.index_in(values, self.values)
        new = values.filter(pc.is_null(numbers))
        known = len(self.values)
        numbers = to_numpy(filled(numbers, -1)).copy()
        numbers[numbers < 0] = np.arange(known, known + len(new))
        if len(new):
            self.values = pa.concat_arrays([self.values, new])
        return numbers


@dataclass(frozen=True)
class WholeNumbers:
    """The place of each whole number among those that are known.

    Args:
        least: The least of them.
        places: The place of `least`, of the number after it, and so on; -1 for those that are not known.
    """

    least: int
    places: Codes

    @classmethod
    def of(cls, values: pa.Array) -> WholeNumbers | None:
        """The places of distinct values; None unless they are whole numbers that are not too far apart."""
        if not pa.types.is_integer(values.type) or not len(values):
            return None
        numbers = to_numpy(values)
        least, most = int(numbers.min()), int(numbers.max())
        if most - least >= _WIDEST or not -_FARTHEST < least <= most < _FARTHEST:
            return None
        places = np.full(most - least + 1, -1, np.min_scalar_type(-len(numbers) - 1))
        places[numbers.astype(np.int64) - least] = np.arange(len(numbers))
        return cls(least, places)

    def find(self, column: pa.Array) -> Codes | None:
        """The place of each value of a column; None if one of them is not known."""
        if not pa.types.is_integer(column.type) or column.null_count or not len(column):
            return None
        values = to_numpy(column)
        if int(values.min()) < self.least or int(values.max()) >= self.least + len(self.places):
            return None
        found = looked_up(self.places, to_arrow(values.astype(np.int64, copy=False) - self.least))
        return found if found.min() >= 0 else None
