"""What a classifier is told of values, original or released: numbers of what a value covers.

A number or a date is itself, an interval lies in the middle of the values that it covers, and is known to reach from
the lowest to the highest. A category is a number too, its place in the order of values, and a share of 1 of itself; a
label that covers several has an equal share of each. So a classifier that learned from released values can be asked
about original ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from incrowd.recodings.recoding import Recoding
from incrowd.table.attributes import Attribute, NumberAttribute
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import Codes, Counts, Floats

SHARES = 24  # the most frequent values of a column that have a share; others have their place only


@dataclass(frozen=True)
class Features:
    """Records as a classifier gets them, each array records x columns; not-a-number where nothing is known.

    Args:
        middle: The number that each cell counts as.
        low: The lowest number that it covers.
        high: The highest.
    """

    middle: Floats
    low: Floats
    high: Floats


class Meanings:
    """What the values of a table mean to a classifier."""

    def __init__(self, table: CompressedTable) -> None:
        self._table = table
        self._numbers = [_numbers(attribute) for attribute in table.attributes]
        self._shares = [_shares(each, table.value_counts(place)) for place, each in enumerate(table.attributes)]

    def original(self, tuples: Codes) -> Floats:
        """Records as they are, each given by its tuple."""
        columns = zip(self._numbers, self._shares, self._table.codes, strict=True)
        return np.hstack([np.column_stack([numbers, shares])[codes[tuples]] for numbers, shares, codes in columns])

    def released(self, table: CompressedTable, recoding: Recoding) -> tuple[Features, Codes]:
        """The released records of a part of the table, tuple by tuple, and which record of the part each of them is."""
        pieces = recoding.pieces(table)
        piece = np.repeat(np.arange(len(pieces.records)), pieces.records)
        kept = np.flatnonzero(pieces.kept[piece])
        columns: list[list[Floats]] = [[], [], []]
        for attribute, numbers, of_code in zip(table.attributes, self._numbers, self._shares, strict=True):
            cells = pieces.cells[attribute.name][piece[kept]]
            first, last = recoding.ends(attribute)
            known = len(numbers) - 1 - (isinstance(attribute, NumberAttribute) and attribute.missing is not None)
            low, high = numbers[first], numbers[np.maximum(first, np.minimum(last, known))]
            shares = recoding.means(attribute, of_code)
            for place, figures in enumerate(((low + high) / 2, low, high)):
                columns[place].append(np.column_stack([figures, shares])[cells])
        return Features(*(np.hstack(part) for part in columns)), kept


def _numbers(attribute: Attribute) -> Floats:
    """The number of each code: its place where it is a category."""
    numbers = np.arange(attribute.size, dtype=np.float64)
    if isinstance(attribute, NumberAttribute):
        numbers[: len(attribute.numbers)] = attribute.numbers.astype(np.float64)
        numbers[len(attribute.numbers) :] = np.nan
    return numbers


def _shares(attribute: Attribute, counts: Counts) -> Floats:
    """The shares that each code has of the most frequent ones, where it is a category: codes x shares."""
    if isinstance(attribute, NumberAttribute) or attribute.size <= 2:
        return np.zeros((attribute.size, 0))
    frequent = np.sort(np.argsort(-counts, kind="stable")[:SHARES])
    return np.asarray(np.arange(attribute.size)[:, None] == frequent, np.float64)
