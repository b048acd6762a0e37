"""Released rows in an order of their own, as a stream: see `engines/row_order.py` for which order that is.

Rows are held in memory up to a bound. What is more goes to a file, in 256 parts by the first byte of each row's hash,
and comes back part by part. The file has no name: nobody else can open it, and whatever ends the process ends it too.
"""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import IO, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from incrowd.engines import row_order
from incrowd.engines.allocation import Hashes
from incrowd.engines.row_order import LEVELS, PARTS, Numbering, Places, ascending, order_of, row_hashes, split
from incrowd.formats.atomic_files import output_errors
from incrowd.formats.frames import VIEWS
from incrowd.formats.sources import BATCH_ROWS
from incrowd.table.arrays import to_arrow, to_numpy

HELD_BYTES = 1 << 25
_KEY = "\0key"  # no column has that name: it could not be typed

Batches = Iterator[pa.RecordBatch]


def shuffled(
    batches: Batches, unreleased: Collection[str] = (), folder: Path | None = None, fixed: Collection[str] = ()
) -> Batches:
    """The rows of all batches, in an order that does not depend on theirs.

    Args:
        batches: The rows.
        unreleased: Columns that come along and have no say in the order.
        folder: Where rows may go that are too many for memory; None to hold all of them.
        fixed: Columns that are dictionary arrays with the same dictionary in every batch.
    """
    form = _PlainForm(fixed)
    plain = (form.plain(batch, unreleased) for batch in batches)
    for batch in _enough(_ordered(plain, folder, 0, spread=True)):
        yield form.restored(batch)


def _enough(batches: Batches) -> Batches:
    """The same rows in batches of about the usual size: parts may be small, and every batch costs something."""
    few: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        few.append(batch)
        rows += len(batch)
        if rows >= BATCH_ROWS // 2:
            yield _joined(few) if len(few) > 1 else batch
            few, rows = [], 0
    if few:
        yield _joined(few)


class _PlainForm:
    """Batches as they wait: a key next to each row, and no dictionaries, which could not be read back by themselves."""

    def __init__(self, fixed: Collection[str]) -> None:
        self._fixed = fixed
        self._schema: pa.Schema | None = None
        self._dictionaries: dict[str, pa.Array] = {}
        self._ordered: dict[str, pa.Array] = {}
        self._alike: dict[str, pa.Array] = {}  # some rows of each column that is the same in all rows

    def plain(self, batch: pa.RecordBatch, unreleased: Collection[str]) -> pa.RecordBatch:
        if self._schema is None:
            self._schema = batch.schema
            self._dictionaries = {name: batch.column(name).dictionary for name in self._fixed}
            ordered = [field.name for field in batch.schema if getattr(field.type, "ordered", False)]
            self._ordered = {name: batch.column(name).dictionary for name in ordered}
            alike = [name for name, values in self._dictionaries.items() if len(values) == 1]
            self._alike = {name: batch.column(name) for name in alike}
        if len(batch):
            self._alike = {name: batch.column(name) for name in self._alike}
        names = [name for name in batch.schema.names if name not in self._alike]
        keys = row_hashes(batch.drop_columns(list(unreleased)))
        columns = [self._undone(name, batch.column(name)) for name in names]
        return pa.RecordBatch.from_arrays([*columns, to_arrow(keys)], names=[*names, _KEY])

    def _undone(self, name: str, column: pa.Array) -> pa.Array:
        if not pa.types.is_dictionary(column.type):
            return column if str(column.type) not in VIEWS else column.cast(VIEWS[str(column.type)])
        if name in self._ordered:
            known = self._ordered[name]
            new = column.dictionary.filter(pc.invert(pc.is_in(column.dictionary, known)))
            self._ordered[name] = pa.concat_arrays([known, new]) if len(new) else known
        if name not in self._fixed:
            return column.dictionary_decode()
        last = len(self._dictionaries[name]) - 1
        return column.indices.cast(pa.int8() if last < 1 << 7 else pa.int16() if last < 1 << 15 else pa.int32())

    def restored(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The batch as it was, but for dictionaries, which have values in the order in which they leave."""
        assert self._schema is not None
        return pa.RecordBatch.from_arrays([self._redone(field, batch) for field in self._schema], schema=self._schema)

    def _redone(self, field: pa.Field, batch: pa.RecordBatch) -> pa.Array:
        if field.name in self._alike:
            return self._repeated(self._alike[field.name], len(batch))
        column = batch.column(field.name)
        if not pa.types.is_dictionary(field.type):
            return column if column.type == field.type else column.cast(field.type)
        if field.name in self._ordered:
            indices = pc.index_in(column, self._ordered[field.name], skip_nulls=True).cast(field.type.index_type)
            return pa.DictionaryArray.from_arrays(indices, self._ordered[field.name], ordered=True)
        if field.name not in self._fixed:
            return column.dictionary_encode().cast(field.type)
        indices, dictionary = column.cast(field.type.index_type), self._dictionaries[field.name]
        return pa.DictionaryArray.from_arrays(indices, dictionary, ordered=field.type.ordered, safe=False)

    @staticmethod
    def _repeated(some: pa.DictionaryArray, rows: int) -> pa.DictionaryArray:
        nothing = some.null_count > 0
        indices = pa.nulls(rows, pa.int32()) if nothing else to_arrow(np.zeros(rows, np.int32))
        return pa.DictionaryArray.from_arrays(indices, some.dictionary, ordered=some.type.ordered, safe=False)


def _ordered(batches: Batches, folder: Path | None, level: int, *, spread: bool) -> Batches:
    """The rows as `order_of` has them, or by their keys alone; these have the first `level` bytes in common."""
    few, all_of_them = _first(batches, folder)
    if all_of_them:
        keys = _keys(few)
        yield from _taken(few, order_of(keys, level) if spread else ascending(keys))
    elif level == LEVELS:  # rows that are all equal
        yield from itertools.chain(few, batches)
    else:
        assert folder is not None
        with _Parts(folder, level) as parts:
            distinct = _Distinct()
            for batch in itertools.chain(few, batches):
                if spread:
                    distinct.add(_keys([batch]))
                parts.add(batch)
            few.clear()
            if spread and distinct.few:
                renumbered = _renumbered(parts.all(), Numbering(distinct.hashes))
                yield from _ordered(renumbered, folder, 0, spread=False)
            else:
                for part in range(PARTS):
                    yield from _ordered(parts.part(part), folder, level + 1, spread=spread)


def _first(batches: Batches, folder: Path | None) -> tuple[list[pa.RecordBatch], bool]:
    """As many rows as may be held, and whether these are all."""
    few, size = [], 0
    for batch in batches:
        few.append(batch)
        size += batch.nbytes
        if folder is not None and size > HELD_BYTES:
            return few, False
    return few, True


class _Distinct:
    """The distinct hashes of rows, as long as they are few."""

    def __init__(self) -> None:
        self.hashes: Hashes = np.empty(0, np.uint64)
        self.few = True

    def add(self, hashes: Hashes) -> None:
        if self.few:
            self.hashes = row_order.distinct(np.concatenate([self.hashes, hashes]))
            self.few = len(self.hashes) <= row_order.MOST_DISTINCT


class _Parts:
    """Rows in a file without a name, cut into parts by one byte of their keys."""

    def __init__(self, folder: Path, level: int) -> None:
        self._folder = folder
        self._level = level
        self._waiting: list[pa.RecordBatch] = []
        self._size = 0
        self._schema: pa.Schema | None = None
        self._places: list[list[tuple[int, int]]] = [[] for _ in range(PARTS)]  # where the batches of each part are

    def __enter__(self) -> Self:
        with output_errors(self._folder):
            self._file: IO[bytes] = tempfile.TemporaryFile(dir=self._folder)  # owner-only, and gone with the process
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def add(self, batch: pa.RecordBatch) -> None:
        self._waiting.append(batch)
        self._size += batch.nbytes
        if self._size > HELD_BYTES:
            self._flush()

    def _flush(self) -> None:
        rows = _joined(self._waiting)
        self._schema = rows.schema
        self._waiting, self._size = [], 0
        parts = split(_keys([rows]), self._level)
        rows = rows.take(to_arrow(np.concatenate(parts)))
        start = 0
        with output_errors(self._folder):
            for places, chosen in zip(self._places, parts, strict=True):
                if size := len(chosen):
                    places.append((self._file.tell(), self._file.write(rows.slice(start, size).serialize())))
                    start += size

    def part(self, number: int) -> Batches:
        if self._waiting:
            self._flush()
        for start, size in self._places[number]:
            with output_errors(self._folder):
                self._file.seek(start)
                data = self._file.read(size)
            yield pa.ipc.read_record_batch(pa.py_buffer(data), self._schema)

    def all(self) -> Batches:
        return itertools.chain.from_iterable(self.part(number) for number in range(PARTS))


def _keys(batches: Sequence[pa.RecordBatch]) -> Hashes:
    found = [to_numpy(batch.column(_KEY)) for batch in batches]
    return found[0] if len(found) == 1 else np.concatenate([np.empty(0, np.uint64), *found])


def _renumbered(batches: Batches, numbering: Numbering) -> Batches:
    for batch in batches:
        place = batch.num_columns - 1
        yield batch.set_column(place, _KEY, to_arrow(numbering.spread(_keys([batch]))))


def _joined(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """Batches in one piece, with room for two gigabytes of text and more."""
    try:
        return pa.concat_batches(batches)
    except pa.ArrowInvalid:
        large = {pa.string(): pa.large_string(), pa.binary(): pa.large_binary()}
        fields = [field.with_type(large.get(field.type, field.type)) for field in batches[0].schema]
        return pa.concat_batches([batch.cast(pa.schema(fields)) for batch in batches])


def _taken(batches: list[pa.RecordBatch], order: Places) -> Batches:
    if batches:
        rows = _joined(batches)
        batches.clear()
        for start in range(0, len(order) or 1, BATCH_ROWS):
            yield rows.take(to_arrow(order[start : start + BATCH_ROWS]))
