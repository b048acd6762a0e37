"""Files whose formats can only be read as a whole: their table is held in memory while it is used."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from incrowd.errors import DataError
from incrowd.formats.sources import BATCH_ROWS, WatchedFile, check_names, choose_columns, with_dictionaries

_WHOLE = 2.0**53  # whole numbers up to here are exact in a double


class HeldFile(WatchedFile):
    """A file with its table in memory. An empty text stands for a missing value, as in a CSV file.

    Args:
        path: The file.
    """

    missing_values: tuple[str, ...] = ("",)

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        table = self._table()
        self.check_unchanged()
        self.columns = tuple(table.column_names)
        if not self.columns:
            raise DataError(f"{self.name} has no columns")
        check_names(self.columns, self.name)
        if not table.num_rows:
            raise DataError(f"{self.name} has no rows")
        self.schema = table.schema
        self._batches = table.combine_chunks().to_batches(BATCH_ROWS)

    def _table(self) -> pa.Table:
        """Read the file."""
        raise NotImplementedError

    def batches(self, columns: Sequence[str] | None = None, encoded: Collection[str] = ()) -> Iterator[pa.RecordBatch]:
        """Stream the rows in order; see `Source.batches`."""
        chosen = choose_columns(self, columns)
        for batch in self._batches:
            yield with_dictionaries(batch.select(chosen), encoded)
        self.check_unchanged()


def whole_numbers(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """A column of doubles as integers, where all of them are whole: some formats have no other numbers."""
    if not pa.types.is_float64(column.type) or column.null_count == len(column):
        return column
    whole = pc.and_(pc.equal(pc.floor(column), column), pc.less_equal(pc.abs(column), _WHOLE))
    return column.cast(pa.int64()) if pc.all(whole).as_py() else column


def as_doubles(column: pa.Array) -> pa.Array:
    """A column of shorter fractions as doubles with the same digits: 0.1 is 0.1, and not 0.10000000149."""
    if pa.types.is_dictionary(column.type):
        values = as_doubles(column.dictionary)
        return column if values is column.dictionary else values.take(column.indices)
    if pa.types.is_float32(column.type) or pa.types.is_float16(column.type):
        return column.cast(pa.float32()).cast(pa.string()).cast(pa.float64())
    return column
