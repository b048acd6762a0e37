"""Rows recoded batch by batch, in order: values to numbers, numbers to released values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from incrowd.engines.arrow.ahead import ahead
from incrowd.engines.dealing import Dealing, RowHash
from incrowd.errors import DataError
from incrowd.formats.frames import FrameSource, rebuild
from incrowd.formats.sources import Source
from incrowd.recodings.recoding import Recoding
from incrowd.run import Run
from incrowd.table.missing import encoded

Batches = Callable[[], Iterable[pa.RecordBatch]]
Mask = npt.NDArray[np.bool_]


def released(source: Source, recoding: Recoding, run: Run, *, seen: bool = False) -> Iterator[pa.RecordBatch]:
    """The rows of a table, recoded batch by batch; see `Engine.recode`."""
    unread = (*recoding.dropped, *recoding.constant) if seen else ()
    columns = [name for name in source.columns if name not in unread] or list(source.columns)
    recoder = Recoder(recoding, lambda: source.batches(columns, encoded=recoding.names))
    for batch in ahead(source.batches(columns, encoded=recoding.names)):
        yield recoder.batch(batch, source.schema)
        run.rows(len(batch))
    source.check_unchanged()


def recoded(source: Source, recoding: Recoding, run: Run) -> Any:
    """All rows of a table, recoded: the same kind of frame, or an Arrow table for a file."""
    if isinstance(source, FrameSource):
        return _frame(source, recoding, run)
    table = pa.Table.from_batches(list(released(source, recoding, run)))
    for place, name in enumerate(table.column_names):
        if name in recoding.names:
            table = table.set_column(place, name, table.column(name).cast(pa.string()))
    return table


def _frame(source: FrameSource, recoding: Recoding, run: Run) -> Any:
    columns: dict[str, list[pa.Array]] = {name: [] for name in recoding.names}
    keeps = []
    recoder = Recoder(recoding, lambda: source.batches(None, encoded=recoding.names))
    reads = recoding.names if recoding.by_row else None
    for batch in source.batches(reads, encoded=recoding.names):
        found, keep = recoder.recode(batch)
        keeps.append(np.ones(len(batch), bool) if keep is None else keep)
        for name, column in found.items():
            columns[name].append(column)
        run.rows(len(batch))
    keep = np.concatenate(keeps)
    replaced = {name: pa.chunked_array(parts) for name, parts in columns.items()}
    dropped = [name for name in recoding.dropped if name in source.columns]
    return rebuild(source.frame, replaced, dropped, None if keep.all() else keep)


class Recoder:
    """Recodes the rows of one table; knows how many records of each dealt tuple went where.

    Args:
        recoding: The recoding.
        batches: Reads all columns of the table from the start; called if tuples are dealt to several parts.
    """

    def __init__(self, recoding: Recoding, batches: Batches) -> None:
        self.recoding = recoding
        self._hash = RowHash(recoding.key, recoding.dropped)
        first, sizes = recoding.part_sizes()
        self._dealing: Dealing | None = None
        if len(sizes) > len(first) - 1:
            self._dealing = Dealing(first, sizes, self._dealt_rows(batches))
        self._labels = {name: _shown(recoding.all_labels(name)) for name in recoding.names}

    def _dealt_rows(self, batches: Batches) -> Iterator[tuple[Any, Any]]:
        """Tuple and hash of the rows of dealt tuples; rows that do not stay are in none."""
        for batch in batches():
            cells, keep = self._cells(batch)
            tuples = self._split(cells, keep)
            if (chosen := tuples >= 0).any():
                yield tuples[chosen], self._hash(batch.filter(pa.array(chosen)))

    def _split(self, cells: Mapping[str, Any], keep: Mask | None) -> Any:
        tuples = self.recoding.split_tuples(list(cells.values()))
        return tuples if keep is None else np.where(keep, tuples, -1)

    def _cells(self, batch: pa.RecordBatch) -> tuple[dict[str, Any], Mask | None]:
        """The number of each value by column, of those that the batch has, and which rows have no missing value."""
        keep = complete_rows(batch, self.recoding)
        present = [name for name in self.recoding.names if name in batch.schema.names]
        return {name: self._numbers(name, batch.column(name), keep) for name in present}, keep

    def _numbers(self, name: str, values: pa.Array, keep: Mask | None) -> Any:
        column = encoded(values, name)
        cells = np.append(self.recoding.cells(name, column.dictionary), self.recoding.missing_cell(name))
        indices = pc.fill_null(column.indices, len(cells) - 1).to_numpy(zero_copy_only=False)
        if (cells < 0).any():
            lost = cells[indices] < 0
            if (used := np.unique(indices[lost if keep is None else lost & keep])).size:
                raise self._no_cell(name, column.dictionary, used)
            cells = np.maximum(cells, 0)  # of rows that do not stay
        return cells.astype(np.int32).take(indices)

    def _no_cell(self, name: str, values: pa.Array, used: Any) -> Exception:
        missing = np.append(self.recoding.missing_among(name, values), True)
        if missing[used].any():
            return DataError(
                f"column '{name}' has missing values, but had none when the recoding was made; fill them in or drop "
                "those rows"
            )
        return self.recoding.unknown(name, values.take(pa.array(used)).to_pylist())

    def _dealt(self, batch: pa.RecordBatch) -> tuple[dict[str, Any], Any, Mask | None]:
        """The numbers of the values of the next batch, the part that each row is dealt to (or -1), and who stays."""
        cells, keep = self._cells(batch)
        parts = np.full(len(batch), -1)
        if self._dealing is not None:
            tuples = self._split(cells, keep)
            if (chosen := tuples >= 0).any():
                parts[chosen] = self._dealing.parts(tuples[chosen], self._hash(batch.filter(pa.array(chosen))))
        return cells, parts, keep

    def classes(self, batch: pa.RecordBatch) -> tuple[Any, Mask | None]:
        """The released class of each row of the next batch, and which rows stay (None if all do)."""
        cells, parts, keep = self._dealt(batch)
        return self.recoding.class_numbers(list(cells.values()), parts), keep

    def recode(self, batch: pa.RecordBatch) -> tuple[dict[str, pa.DictionaryArray], Mask | None]:
        """The recoded columns of the next batch, for all its rows, and which rows stay (None if all do)."""
        cells, parts, keep = self._dealt(batch)
        columns, stay = self.recoding.release(list(cells.values()), parts)
        if stay is not None:
            keep = stay if keep is None else keep & stay
        found = {name: self._column(name, column) for name, column in zip(cells, columns, strict=True)}
        return found, None if keep is None or keep.all() else keep

    def _column(self, name: str, places: Any) -> pa.DictionaryArray:
        shown, nothing = self._labels[name]
        mask = nothing[places] if nothing is not None else None
        return pa.DictionaryArray.from_arrays(pa.array(places.astype(np.int32, copy=False), mask=mask), shown)

    def batch(self, batch: pa.RecordBatch, schema: pa.Schema | None = None) -> pa.RecordBatch:
        """Recode the next batch: columns in place, dropped columns and rows left out, all else untouched.

        Args:
            batch: The rows; constant columns may be left out.
            schema: The columns of the table, in order; those of the batch if None.
        """
        found, keep = self.recode(batch)
        zeros = np.zeros(len(batch), np.int32)
        constant = {name: self._column(name, zeros) for name in self.recoding.names if name not in found}
        return _with_columns(batch, {**found, **constant}, keep, self.recoding.dropped, schema or batch.schema)


def _shown(labels: Sequence[str | None]) -> tuple[pa.Array, Mask | None]:
    """Labels as an array, and which of them are empty cells; None if none is."""
    nothing = np.array([label is None for label in labels])
    shown = pa.array(["" if label is None else label for label in labels], pa.string())
    return shown, nothing if nothing.any() else None


def complete_rows(batch: pa.RecordBatch, recoding: Recoding) -> Mask | None:
    """Which rows have no missing value, where the policy asks for that; None where it does not."""
    if recoding.missing == "category":
        return None
    keep = np.ones(len(batch), bool)
    for name in recoding.names:
        column = encoded(batch.column(name), name)
        absent = np.append(recoding.missing_among(name, column.dictionary), True)
        keep &= ~absent[pc.fill_null(column.indices, len(absent) - 1).to_numpy(zero_copy_only=False)]
    if recoding.missing == "error" and not keep.all():
        raise DataError(
            f"{int((~keep).sum())} rows lack a value in a quasi-identifier, which the policy does not allow"
        )
    return keep


def _with_columns(
    batch: pa.RecordBatch,
    recoded: Mapping[str, pa.DictionaryArray],
    keep: Mask | None,
    dropped: Sequence[str],
    schema: pa.Schema,
) -> pa.RecordBatch:
    """The columns of a schema, recoded ones in place, dropped columns and rows left out, all else untouched."""
    columns, fields = [], []
    for field in schema:
        if field.name in dropped:
            continue
        column = recoded[field.name] if field.name in recoded else batch.column(field.name)
        if field.name in recoded:
            field = field.with_type(column.type).with_nullable(True)
        columns.append(column)
        fields.append(field)
    released = pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields, metadata=schema.metadata))
    return released if keep is None else released.filter(pa.array(keep))
