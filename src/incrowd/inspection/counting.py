"""One pass over a table that counts the distinct values of every column, and keeps codes of its first records.

Rows wait as dictionary arrays until there are enough of them; Arrow then numbers the distinct values of each column.
Memory holds the distinct values of a column, no more than `MOST_DISTINCT`, and `KEPT_ROWS` codes per column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from incrowd.errors import DataError
from incrowd.formats.csv_dialect import may_have_commas
from incrowd.formats.prefetch import ahead
from incrowd.formats.sources import Source, as_array
from incrowd.run import Run
from incrowd.table.arrays import filled, text_array, to_arrow, to_numpy
from incrowd.table.grouping import group

KEPT_ROWS = 1 << 20  # records on which combinations of columns are counted
MOST_DISTINCT = 1 << 21  # above this, a column is described by the records read so far; never below KEPT_ROWS
_WAITING_ROWS = 1 << 18  # rows whose values are numbered together

Codes = npt.NDArray[np.int32]
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class CountedColumn:
    """The distinct values of a column.

    Args:
        name: Of the column.
        kind: Its type in Arrow.
        values: The distinct values in order of appearance, without nulls.
        counts: How many records have each value.
        nulls: How many records have none.
        codes: The number of the value of each of the first records, -1 for null.
        readable: Whether it has single values at all; lists and structures do not.
        commas: Whether decimal commas are to be expected in it.
        people: How many people have each value, None where every record is a person of its own.
    """

    name: str
    kind: pa.DataType
    values: pa.Array
    counts: Counts
    nulls: int
    codes: Codes
    readable: bool = True
    commas: bool = False
    people: Counts | None = None

    @property
    def records(self) -> int:
        return int(self.counts.sum()) + self.nulls

    def by_people(self, unit: CountedColumn) -> CountedColumn:
        """The same with its people counted, where whose record each is was kept for all of them.

        Args:
            unit: The column that says it; records without a value there are one person's.
        """
        if not len(self.codes) == len(unit.codes) == self.records:
            return self
        _, firsts = group([self.codes + 1, unit.codes + 1], [len(self.values) + 1, len(unit.values) + 1])
        return replace(self, people=np.bincount(self.codes[firsts] + 1, minlength=len(self.values) + 1)[1:])


def count_values(
    source: Source,
    run: Run,
    columns: Sequence[str] | None = None,
    *,
    most: int | None = None,
    most_bytes: int | None = None,
    empty: bool = False,
) -> tuple[int, list[CountedColumn]]:
    """The number of records, and the values of the columns, all of them if None.

    Only the first `most` records are counted, and no more once `most_bytes` were read.
    """
    names = list(source.columns if columns is None else columns)
    counters = [_Counter(name, source.schema.field(name).type) for name in names]
    readable = [counter for counter in counters if counter.readable]
    records = waiting = size = 0
    for batch in ahead(source.batches(names, encoded=names)):
        if most is not None and records + len(batch) > most:
            batch = batch.slice(0, most - records)
        size += batch.nbytes if most_bytes is not None else 0
        for counter in readable:
            counter.wait(batch.column(counter.name))
        records, waiting = records + len(batch), waiting + len(batch)
        if waiting >= _WAITING_ROWS:
            for counter in readable:
                counter.count(run)
            waiting = 0
        run.rows(len(batch))
        if (most is not None and records >= most) or (most_bytes is not None and size >= most_bytes):
            break
    for counter in readable:
        counter.count(run)
    if records == 0 and not empty:
        raise DataError(f"{source.name} has no rows to inspect")
    source.check_unchanged()
    commas = may_have_commas(source)
    return records, [replace(counter.counted(records), commas=commas) for counter in counters]


class _Counter:
    def __init__(self, name: str, kind: pa.DataType) -> None:
        self.name = name
        self.kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        self.readable = not (pa.types.is_nested(kind) or pa.types.is_null(kind) or _is_opaque(self.kind))
        self._waiting: list[pa.Array] = []
        self._values: pa.Array | None = None
        self._counts = np.zeros(0, np.int64)
        self._nulls = 0
        self._codes: list[Codes] = []
        self._kept = 0
        self._full = False

    def wait(self, column: pa.Array) -> None:
        if not self._full:
            self._waiting.append(column if pa.types.is_dictionary(column.type) else column.dictionary_encode())

    def count(self, run: Run) -> None:
        run.check()
        if not self._waiting:
            return
        column = as_array(pa.chunked_array(self._waiting))
        self._waiting = []
        number_of = np.append(self._number(column.dictionary), -1).astype(np.int32)  # the last one for null
        codes = number_of[to_numpy(filled(column.indices, len(column.dictionary)))]
        assert self._values is not None
        found = np.bincount(codes + 1, minlength=len(self._values) + 1)
        self._nulls += int(found[0])
        found[1 : len(self._counts) + 1] += self._counts
        self._counts = found[1:]
        if self._kept < KEPT_ROWS:
            self._codes.append(codes[: KEPT_ROWS - self._kept])
            self._kept += len(self._codes[-1])
        self._full = len(self._values) > MOST_DISTINCT

    def _number(self, values: pa.Array) -> npt.NDArray[Any]:
        """The numbers of distinct values; new ones are added to those that are known."""
        if self._values is None:
            self._values = values
            return np.arange(len(values))
        numbers = pc.index_in(values, self._values)
        new = values.filter(pc.is_null(numbers))
        known = len(self._values)
        found = to_numpy(filled(numbers, -1)).copy()
        found[found < 0] = np.arange(known, known + len(new))
        if len(new):
            self._values = pa.concat_arrays([self._values, new])
        return found

    def counted(self, records: int) -> CountedColumn:
        """What was counted; values that do not occur, as those of an unused category, are left out."""
        if self._values is None:
            nothing = np.full(min(records, KEPT_ROWS), -1, np.int32)
            return CountedColumn(self.name, self.kind, text_array([]), self._counts, records, nothing, self.readable)
        codes = np.concatenate(self._codes)
        values, counts, nulls = self._values, self._counts, self._nulls
        gone = (counts == 0) | to_numpy(pc.is_null(values, nan_is_null=True))
        if gone.any():
            nulls += int(counts[gone].sum())
            number_of = np.where(gone, -1, (~gone).cumsum() - 1)
            codes = np.append(number_of, -1)[codes].astype(np.int32)
            values, counts = values.filter(to_arrow(~gone)), counts[~gone]
        return CountedColumn(self.name, self.kind, values, counts, nulls, codes)


def _is_opaque(kind: pa.DataType) -> bool:
    """Whether values have no text: bytes, months and days, and types that others have made."""
    binary = pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind)
    return bool(binary or pa.types.is_interval(kind) or isinstance(kind, pa.BaseExtensionType))
