"""Rows recoded batch by batch: values to numbers, numbers to released values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from incrowd.engines.allocation import Allocation, Hashes, RowHash
from incrowd.engines.arrow import row_cache
from incrowd.engines.arrow.shuffle import shuffled
from incrowd.engines.engine import AS_RELEASED, Observer
from incrowd.engines.kept_types import KeptTypes
from incrowd.engines.plan import ReleasePlan
from incrowd.engines.row_order import Places, order_of, row_hashes
from incrowd.errors import DataError, many
from incrowd.formats.containers import bare, without_unused
from incrowd.formats.frames import FrameSource, rebuild
from incrowd.formats.prefetch import ahead
from incrowd.formats.read_back import handed_out
from incrowd.formats.sources import Source, as_array
from incrowd.formats.usual_types import as_stored, stored_schema
from incrowd.recodings.recoding import Recoding
from incrowd.run import Run
from incrowd.table.arrays import filled, text_array, to_arrow, to_numpy
from incrowd.table.grouping import Counts
from incrowd.table.missing import encoded, encoded_in_any_order, listed, looked_up, places_of, same_values
from incrowd.table.scales import text_of
from incrowd.table.target_bins import lower_bounds, places_in
from incrowd.table.value_numbers import ValueNumbers

Batches = Callable[[], Iterable[pa.RecordBatch]]
Mask = npt.NDArray[np.bool_]


def recode(source: Source, recoding: Recoding, run: Run, plan: ReleasePlan = AS_RELEASED) -> Iterator[pa.RecordBatch]:
    kept = KeptTypes.of(recoding, source.schema)
    return map(kept.batch, labelled(source, recoding, run, plan))


def labelled(source: Source, recoding: Recoding, run: Run, plan: ReleasePlan = AS_RELEASED) -> Iterator[pa.RecordBatch]:
    """The recoded rows with labels in all recoded columns, also in those that keep their type."""
    unread = {*recoding.dropped, *recoding.constant} if plan.is_training_data else set[str]()
    unread = unread.difference(plan.hidden_columns)
    columns = [name for name in source.columns if name not in unread] or list(source.columns)
    recoder = Recoder(recoding, lambda: source.batches(columns, encoded=recoding.names))
    by_value = row_cache.batches(source, columns, recoding.names)
    for batch in ahead(by_value if recoding.by_row else source.batches(columns, encoded=recoding.names)):
        yield recoder.batch(batch, source.schema, plan.hidden_columns)
        run.rows(len(batch))
    source.check_unchanged()


def recoded(
    source: Source,
    recoding: Recoding,
    run: Run,
    plan: ReleasePlan = AS_RELEASED,
    observer: Observer | None = None,
) -> Any:
    hidden = plan.hidden_columns
    if isinstance(source, FrameSource):
        rows, places, replaced = _frame(source, recoding, run, keep_order=plan.keep_order)
        if observer is not None:
            meant, original = _meant(source, recoding, replaced, places, hidden)
            handed_out(meant, rows, original, observer)
        return rows
    batches, kept = labelled(source, recoding, run, plan), KeptTypes.of(recoding, source.schema)
    ordered = batches if plan.keep_order else shuffled(batches, hidden, fixed=recoding.names)
    table = pa.Table.from_batches([kept.batch(batch) for batch in ordered])
    released = table.select(table.column_names[: table.num_columns - len(hidden)])
    columns = [
        column.cast(pa.string()) if name in recoding.names and name not in kept.values else without_unused(column)
        for name, column in zip(released.column_names, released.columns, strict=True)
    ]
    made = pa.table(columns, names=released.column_names)
    fields = stored_schema(made.schema, source)
    rows = pa.table([as_stored(column, field.type) for column, field in zip(made.columns, fields, strict=True)], fields)
    if observer is not None:
        handed_out(released, rows, table.select(list(hidden)), observer)
    return rows


def preview(source: Source, recoding: Recoding, rows: int) -> tuple[pa.RecordBatch, pa.RecordBatch]:
    recoder = Recoder(recoding, lambda: source.batches(None, encoded=recoding.names))
    for batch in source.batches(None, encoded=recoding.names):
        found, keep = recoder.recode(batch)
        places = np.arange(len(batch)) if keep is None else np.flatnonzero(keep)
        if not len(places):
            continue
        shown = pa.array(places[:rows])
        kept = [name for name in batch.schema.names if name not in recoding.dropped]
        columns = [found.get(name, batch.column(name)).take(shown) for name in kept]
        return batch.take(shown), pa.RecordBatch.from_arrays(columns, names=kept)
    nothing = pa.RecordBatch.from_pydict({name: pa.array([], pa.string()) for name in source.columns})
    return nothing, nothing.select([name for name in source.columns if name not in recoding.dropped])


def label_counts(
    source: Source, recoding: Recoding, target: str, labels: tuple[str | None, ...], classes: int, run: Run
) -> Counts:
    columns = [name for name in source.columns if name not in recoding.dropped]
    recoder = Recoder(recoding, lambda: source.batches(columns, encoded=recoding.names))
    numbered, shape = ValueNumbers(target, ()), (classes, len(labels))
    counts = np.zeros(shape, np.int64)
    for batch in ahead(source.batches(columns, encoded=recoding.names)):
        found, keep = recoder.classes(batch)
        numbers = numbered.codes(batch.column(target))
        ranked = np.append(ranks(text_of(numbered.values), labels), shape[1] - 1)[numbers]
        stay = found < classes if keep is None else keep & (found < classes)  # others are left out
        found, ranked = found[stay], ranked[stay]
        if (np.minimum(found, ranked) < 0).any():
            raise DataError(f"{source.name} changed while it was being measured; run the command again")
        counts += np.bincount(found * shape[1] + ranked, minlength=counts.size).reshape(shape)
        run.rows(len(batch))
    source.check_unchanged()
    return counts


def ranks(values: pa.Array, labels: tuple[str | None, ...]) -> Counts:
    """The place of each value among the labels, -1 for none."""
    if len(lower_bounds(labels)):
        return places_in(values.to_pylist(), labels)
    return to_numpy(filled(pc.index_in(values, text_array(labels), skip_nulls=True), -1))


def _meant(
    source: FrameSource,
    recoding: Recoding,
    replaced: Mapping[str, pa.ChunkedArray],
    places: Places,
    hidden: Sequence[str],
) -> tuple[pa.Table, pa.Table]:
    """The rows that a frame should hold, made without it, and the original values of columns that it does not have."""
    rows = pa.Table.from_batches(list(FrameSource(source.frame, lenient=True).batches()))
    for name, column in replaced.items():
        rows = rows.set_column(rows.column_names.index(name), name, column)
    these = to_arrow(places)
    columns = {name: as_array(rows.column(name)).take(these) for name in rows.column_names}
    released = {name: column for name, column in columns.items() if name not in recoding.dropped}
    return pa.table(released), pa.table({name: columns[name] for name in hidden})


def _frame(
    source: FrameSource, recoding: Recoding, run: Run, *, keep_order: bool
) -> tuple[Any, Places, dict[str, pa.ChunkedArray]]:
    """The recoded frame, where its rows were in the original one, and the columns that were recoded, for all rows."""
    columns: dict[str, list[pa.Array]] = {name: [] for name in recoding.names}
    keeps: list[Mask] = []
    hashes: list[Hashes] = []
    shown = FrameSource(source.frame, lenient=True)
    recoder = Recoder(recoding, lambda: shown.batches(None, encoded=recoding.names))
    reads = recoding.names if recoding.by_row and keep_order else None
    for batch in shown.batches(reads, encoded=recoding.names):
        found, keep = recoder.recode(batch)
        keeps.append(np.ones(len(batch), bool) if keep is None else keep)
        for name, column in found.items():
            columns[name].append(column)
        if not keep_order:
            hashes.append(row_hashes(_with_columns(batch, found, keep, recoder.fields(batch.schema))))
        run.rows(len(batch))
    source.check_unchanged()
    places = np.flatnonzero(np.concatenate(keeps))
    if not keep_order:
        places = places[order_of(np.concatenate(hashes))]
    kept = KeptTypes.of(recoding, shown.schema)
    replaced = {name: kept.typed(name, pa.chunked_array(parts)) for name, parts in columns.items()}
    dropped = [name for name in recoding.dropped if name in source.columns]
    same = keep_order and len(places) == sum(map(len, keeps))
    return rebuild(source.frame, replaced, dropped, None if same else places), places, replaced


class Recoder:
    """Recodes the rows of one table; knows how many records of each split tuple went where."""

    def __init__(self, recoding: Recoding, batches: Batches) -> None:
        self.recoding = recoding
        self._hash = RowHash(recoding.key, recoding.dropped)
        self._last: dict[str, tuple[pa.Array, Any]] = {}  # the dictionary of each column, and the numbers of its values
        first, sizes = recoding.part_sizes()
        self._allocation: Allocation | None = None
        if len(sizes) > len(first) - 1:
            self._allocation = Allocation(first, sizes, self._rows_to_allocate(batches))
        self._labels = {name: _shown(recoding.all_labels(name)) for name in recoding.names}

    def _rows_to_allocate(self, batches: Batches) -> Iterator[tuple[Any, Any]]:
        """Tuple and hash of the rows of split tuples; rows that do not stay are in none."""
        for batch in batches():
            cells, keep = self._cells(batch)
            tuples = self._split(cells, keep)
            if (chosen := tuples >= 0).any():
                yield tuples[chosen], self._hash(batch.filter(to_arrow(chosen)))

    def _split(self, cells: Mapping[str, Any], keep: Mask | None) -> Any:
        tuples = self.recoding.split_tuples(list(cells.values()))
        return tuples if keep is None else np.where(keep, tuples, -1)

    def _cells(self, batch: pa.RecordBatch) -> tuple[dict[str, Any], Mask | None]:
        """The number of each value by column, of those that the batch has, and which rows have no missing value."""
        keep = complete_rows(batch, self.recoding)
        present = [name for name in self.recoding.names if name in batch.schema.names]
        return {name: self._numbers(name, batch.column(name), keep) for name in present}, keep

    def _numbers(self, name: str, values: pa.Array, keep: Mask | None) -> Any:
        column = encoded_in_any_order(values, name)
        cells = self._cells_of(name, column.dictionary)
        indices = places_of(column, len(cells) - 1)
        if (cells < 0)[: None if column.null_count else -1].any():  # most columns have no cell for null, and no null
            lost = cells[to_numpy(indices)] < 0
            if (used := np.unique(to_numpy(indices)[lost if keep is None else lost & keep])).size:
                raise self._no_cell(name, column.dictionary, used)
            cells = np.maximum(cells, 0)  # of rows that do not stay
        return looked_up(cells.astype(np.int32), indices)

    def _cells_of(self, name: str, dictionary: pa.Array) -> Any:
        """The number of each value of a dictionary, and last that of null."""
        if name not in self._last or not same_values(self._last[name][0], dictionary):  # batches often have the same
            cells = np.append(self.recoding.cells(name, dictionary), self.recoding.missing_cell(name))
            self._last[name] = dictionary, cells
        return self._last[name][1]

    def _no_cell(self, name: str, values: pa.Array, used: Any) -> Exception:
        missing = np.append(self.recoding.missing_among(name, values), True)
        if missing[used].any():
            return DataError(
                f"column '{name}' has missing values, but had none when the recoding was made; fill them in or drop "
                "those rows"
            )
        return self.recoding.unknown(name, listed(values.take(to_arrow(used))))

    def _allocated(self, batch: pa.RecordBatch) -> tuple[dict[str, Any], Any, Mask | None]:
        """The numbers of the values of the next batch, the part that each row goes to (or -1), and who stays."""
        cells, keep = self._cells(batch)
        parts = np.full(len(batch), -1)
        if self._allocation is not None:
            tuples = self._split(cells, keep)
            if (chosen := tuples >= 0).any():
                parts[chosen] = self._allocation.parts(tuples[chosen], self._hash(batch.filter(to_arrow(chosen))))
        return cells, parts, keep

    def classes(self, batch: pa.RecordBatch) -> tuple[Any, Mask | None]:
        """The released class of each row of the next batch, and which rows stay (None if all do)."""
        cells, parts, keep = self._allocated(batch)
        return self.recoding.class_numbers(list(cells.values()), parts), keep

    def recode(self, batch: pa.RecordBatch) -> tuple[dict[str, pa.DictionaryArray], Mask | None]:
        """The recoded columns of the next batch, for all its rows, and which rows stay (None if all do)."""
        cells, parts, keep = self._allocated(batch)
        columns, stay = self.recoding.release(list(cells.values()), parts)
        if stay is not None:
            keep = stay if keep is None else keep & stay
        found = {name: self._column(name, column) for name, column in zip(cells, columns, strict=True)}
        return found, None if keep is None or keep.all() else keep

    def _column(self, name: str, places: Any) -> pa.DictionaryArray:
        shown, nothing = self._labels[name]
        mask = nothing[places] if nothing is not None else None
        return pa.DictionaryArray.from_arrays(to_arrow(places.astype(np.int32, copy=False), mask), shown)

    def batch(
        self, batch: pa.RecordBatch, schema: pa.Schema | None = None, hidden: Sequence[str] = ()
    ) -> pa.RecordBatch:
        """Recode the next batch: columns in place, dropped columns and rows left out, all else untouched.

        Args:
            batch: The rows; constant columns may be left out.
            schema: The columns of the table, in order; those of the batch if None.
            hidden: Dropped columns that come along with their original values, after all others.
        """
        found, keep = self.recode(batch)
        zeros = np.zeros(len(batch), np.int32)
        constant = {name: self._column(name, zeros) for name in self.recoding.names if name not in found}
        return _with_columns(batch, {**found, **constant}, keep, self.fields(schema or batch.schema, hidden))

    def fields(self, schema: pa.Schema, hidden: Sequence[str] = ()) -> list[pa.Field]:
        released = [field for field in schema if field.name not in self.recoding.dropped]
        return released + [schema.field(name) for name in hidden]


def _shown(labels: Sequence[str | None]) -> tuple[pa.Array, Mask | None]:
    nothing = np.array([label is None for label in labels])
    shown = text_array("" if label is None else label for label in labels)
    return shown, nothing if nothing.any() else None


def complete_rows(batch: pa.RecordBatch, recoding: Recoding) -> Mask | None:
    """Which rows have no missing value, where the policy asks for that; None where it does not."""
    if recoding.missing == "category":
        return None
    keep = np.ones(len(batch), bool)
    for name in recoding.names:
        column = encoded(batch.column(name), name)
        absent = np.append(recoding.missing_among(name, column.dictionary), True)
        keep &= ~absent[to_numpy(filled(column.indices, len(absent) - 1))]
    if recoding.missing == "error" and not keep.all():
        rows = many(int((~keep).sum()), "row lacks", "rows lack")
        raise DataError(f"{rows} a value in a quasi-identifier, which the policy does not allow")
    return keep


def _with_columns(
    batch: pa.RecordBatch,
    recoded: Mapping[str, pa.DictionaryArray],
    keep: Mask | None,
    chosen: Sequence[pa.Field],
) -> pa.RecordBatch:
    """The chosen columns, recoded ones in place, some rows left out, all else untouched; without metadata."""
    columns, fields = [], []
    for field in chosen:
        column = recoded[field.name] if field.name in recoded else batch.column(field.name)
        if field.name in recoded:
            field = field.with_type(column.type).with_nullable(True)
        columns.append(column)
        fields.append(field)
    released = pa.RecordBatch.from_arrays(columns, schema=bare(pa.schema(fields)))
    return released if keep is None else released.filter(to_arrow(keep))
