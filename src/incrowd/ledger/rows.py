"""A table of people held in memory: the rows of a source, or some of them, with columns that nobody else sees."""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from incrowd.formats.frames import FrameSource
from incrowd.formats.sources import BATCH_ROWS, Source, with_dictionaries


def held(source: Source) -> pa.Table:
    """All rows of a source."""
    return pa.Table.from_batches(list(source.batches()), source.schema)


def with_rows(source: Source, table: pa.Table) -> Source:
    """The same kind of source, so that a release is written in its dialect, with other rows and columns."""
    if isinstance(source, FrameSource):
        return FrameSource(table)
    made: Any = copy.copy(source)
    if (stored := getattr(source, "stored", None)) is not None:  # the types of a file, of columns that stay as they are
        same = {field.name for field in source.schema if field in list(table.schema)}
        made.stored = pa.schema([stored.field(each.name) if each.name in same else each for each in table.schema])
    made.columns, made.schema, made.batches = tuple(table.column_names), table.schema, _Batches(table)
    return made  # type: ignore[no-any-return]


@dataclass(frozen=True)
class _Batches:
    table: pa.Table

    def __call__(self, columns: Sequence[str] | None = None, encoded: Collection[str] = ()) -> Iterator[pa.RecordBatch]:
        chosen = self.table if columns is None else self.table.select(list(columns))
        for batch in chosen.combine_chunks().to_batches(BATCH_ROWS):
            yield with_dictionaries(batch, encoded)
