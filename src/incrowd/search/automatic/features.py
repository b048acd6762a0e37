"""What a classifier is told of values, original or released: numbers, as a recipient would read them.

A number or a date is itself, and a released interval the number in its middle (`Scale.middle`): an open one its bound,
and `*` is missing. A category is a number too, its place in the order of values, and a share of 1 of itself; a label
that covers several is in the middle of their places, and has an equal share of each. So a classifier that learned from
released values can be asked about original ones.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from incrowd.recodings.recoding import Recoding
from incrowd.table.attributes import Attribute, NumberAttribute
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import Codes, Counts, Floats

SHARES = 24  # the most frequent values of a column that have a share; others have their place only


class Meanings:
    """What the values of a table mean to a classifier; matrices are records x columns, missing is not-a-number."""

    def __init__(self, table: CompressedTable) -> None:
        self._table = table
        self._numbers = [_numbers(attribute) for attribute in table.attributes]
        self._shares = [_shares(each, table.value_counts(place)) for place, each in enumerate(table.attributes)]
        scales = (each.scale if isinstance(each, NumberAttribute) else None for each in table.attributes)
        self._middles = [cache(scale.middle) if scale else None for scale in scales]  # labels come again and again

    def original(self, tuples: Codes) -> Floats:
        """Records as they are, each given by its tuple."""
        columns = zip(self._numbers, self._shares, self._table.codes, strict=True)
        return np.hstack([np.column_stack([numbers, shares])[codes[tuples]] for numbers, shares, codes in columns])

    def released(self, table: CompressedTable, recoding: Recoding) -> tuple[Floats, Codes]:
        """The released records of a part of the table, tuple by tuple, and which record of the part each of them is."""
        pieces = recoding.pieces(table)
        piece = np.repeat(np.arange(len(pieces.records)), pieces.records)
        kept = np.flatnonzero(pieces.kept[piece])
        columns = []
        for place, attribute in enumerate(table.attributes):
            cells, of_row = np.unique(pieces.cells[attribute.name][piece[kept]], return_inverse=True)
            shares = recoding.means(attribute, self._shares[place])[cells]
            columns.append(np.column_stack([self._middle(place, attribute, recoding, cells), shares])[of_row])
        return np.hstack(columns), kept

    def _middle(self, place: int, attribute: Attribute, recoding: Recoding, cells: Codes) -> Floats:
        """The number that each of some released values counts as."""
        first, last = (ends[cells] for ends in recoding.ends(attribute))
        middle = (self._numbers[place][first] + self._numbers[place][last]) / 2
        if (middle_of := self._middles[place]) is not None:
            ranges = np.flatnonzero(first < last)
            labels = recoding.labels_of(attribute.name, cells[ranges].tolist())
            middle[ranges] = [middle_of(str(label)) for label in labels]
        return middle


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
