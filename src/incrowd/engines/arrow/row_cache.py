"""Rows of a file that were encoded once, kept in memory for the next time they are read.

A release reads its file twice: to count tuples, and to recode rows. What was counted is small, a byte or two per value,
so as long as there is room the second time is spared. Which rows come, and in what order, is the same either way.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from incrowd.formats.sources import BATCH_ROWS, Source, WatchedFile, choose_columns
from incrowd.table.arrays import to_arrow

MOST_HELD_BYTES = 1 << 30  # of the rows of one file
HELD_SHARE = 16  # they take at most this fraction (one sixteenth) of the machine's memory

Numbers = npt.NDArray[Any]


@dataclass(frozen=True)
class HeldColumn:
    """A column as numbers of distinct values, in the parts in which it was counted.

    To put them together would take the memory twice.

    Args:
        parts: The numbers; -1 for null.
        starts: The row that each part begins with.
        dtype: Wide enough for all numbers.
        values: The value of each number, as the source gives them.
    """

    parts: Sequence[Numbers]
    starts: npt.NDArray[np.int64]
    dtype: np.dtype[Any]
    values: pa.Array

    def slice(self, start: int, rows: int) -> pa.DictionaryArray:
        place = int(np.searchsorted(self.starts, start, "right")) - 1
        begin = start - int(self.starts[place])
        found: list[Numbers] = []
        while rows or not found:
            found.append(self.parts[place][begin : begin + rows])
            rows, place, begin = rows - len(found[-1]), place + 1, 0
        numbers = (found[0] if len(found) == 1 else np.concatenate(found)).astype(self.dtype, copy=False)
        indices = to_arrow(numbers, numbers < 0)
        return pa.DictionaryArray.from_arrays(indices, self.values, safe=False)


@dataclass(frozen=True)
class RowCache:
    columns: Mapping[str, HeldColumn]
    rows: int

    def batches(self, source: Source, columns: Sequence[str], encoded: Collection[str]) -> Iterator[pa.RecordBatch]:
        """As `Source.batches`; only columns that are not held are read."""
        chosen = choose_columns(source, columns)
        unheld = [name for name in chosen if name not in self.columns]
        if unheld:
            start = 0
            for batch in source.batches(unheld, encoded=encoded):
                yield self._batch(chosen, start, batch, len(batch), encoded)
                start += len(batch)
            return
        source.check_unchanged()
        nothing = pa.RecordBatch.from_arrays([], names=[])
        for start in range(0, self.rows, BATCH_ROWS):
            yield self._batch(chosen, start, nothing, min(BATCH_ROWS, self.rows - start), encoded)
        source.check_unchanged()

    def _batch(
        self, chosen: Sequence[str], start: int, read: pa.RecordBatch, rows: int, encoded: Collection[str]
    ) -> pa.RecordBatch:
        columns = []
        for name in chosen:
            if name in self.columns:
                column = self.columns[name].slice(start, rows)
                columns.append(column if name in encoded else column.dictionary_decode())
            else:
                columns.append(read.column(name))
        return pa.RecordBatch.from_arrays(columns, names=list(chosen))


_HELD: WeakKeyDictionary[Source, RowCache] = WeakKeyDictionary()  # as long as somebody has the source


def batches(source: Source, columns: Sequence[str], encoded: Collection[str]) -> Iterator[pa.RecordBatch]:
    """As `Source.batches`, from memory as far as the rows are held."""
    held = _HELD.get(source) if isinstance(source, WatchedFile) else None
    return source.batches(columns, encoded=encoded) if held is None else held.batches(source, columns, encoded)


def held_bytes() -> int:
    try:
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # a system that does not tell
        memory = 0
    return min(MOST_HELD_BYTES, max(memory // HELD_SHARE, MOST_HELD_BYTES // HELD_SHARE))


class Holding:
    """Rows that are about to be held."""

    def __init__(self, source: Source, names: Sequence[str], plain: Collection[str]) -> None:
        self._source = source
        self._names = names
        as_they_are = [name for name in plain if source.schema.field(name).type != pa.string()]
        self._wanted = [place for place, name in enumerate(names) if name not in as_they_are]
        self._parts: list[list[Numbers]] | None = [] if isinstance(source, WatchedFile) else None
        self._room = held_bytes()

    def add(self, numbers: Sequence[Numbers], *, whole: bool) -> None:
        """Hold more rows; where they are too many, or not what they were, none are held."""
        if self._parts is not None:
            self._parts.append([numbers[place] for place in self._wanted])
            self._room -= sum(part.nbytes for part in self._parts[-1])
            if not whole or self._room < 0:
                self._parts = None

    def done(self, values: Sequence[pa.Array]) -> None:
        """All rows were numbered."""
        if self._parts:
            lengths = [len(parts[0]) for parts in self._parts]
            starts = np.cumsum([0, *lengths[:-1]])
            held = {}
            for place, parts in zip(self._wanted, zip(*self._parts, strict=True), strict=True):
                dtype = np.result_type(*{part.dtype for part in parts})
                held[self._names[place]] = HeldColumn(parts, starts, dtype, values[place])
            self._parts = None
            _HELD[self._source] = RowCache(held, sum(lengths))
