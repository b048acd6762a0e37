"""The default engine: streams Arrow batches, so that memory grows with the distinct tuples, not with the rows."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from incrowd.engines.ahead import ahead
from incrowd.engines.frames import FrameSource, rebuild
from incrowd.engines.output import open_writer
from incrowd.engines.sources import Source
from incrowd.errors import DataError
from incrowd.policy import Policy
from incrowd.recodings.local.recoding import AnyRecoding, LocalRecoding
from incrowd.recodings.recoding import encoded, is_missing
from incrowd.scales import text_of
from incrowd.table import Attribute, CompressedTable, encode, sort_tuples
from incrowd.taxonomies.taxonomy import Taxonomy

_BUFFER_ROWS = 1 << 20  # rows that may wait before they are collapsed
Codes = npt.NDArray[Any]  # the smallest signed type that holds them
Progress = Callable[[int], object]


def compress(source: Source, policy: Policy, progress: Progress | None = None) -> CompressedTable:
    """Read a table once and keep its distinct tuples.

    Args:
        source: The rows.
        policy: Names the columns, and says what to do with missing values.
        progress: Called with the number of rows of each batch.

    Raises:
        DataError: No rows are left, or missing values are not allowed.
        TaxonomyError: A value is not in its taxonomy.
    """
    names = policy.attributes
    columns = [_Column(name, _tokens(source, policy, name)) for name in names]
    target = _Column(policy.target, ()) if policy.target else None
    tuples = _Tuples([*columns, target] if target else columns)
    wanted = [*names, policy.target] if policy.target else list(names)
    for batch in ahead(source.batches(wanted, encoded=wanted)):
        codes = [column.codes(batch.column(column.name)) for column in columns]
        if policy.missing != "category":
            keep = np.logical_and.reduce([code >= 0 for code in codes])
            _check_missing(policy, keep, source)
            batch, codes = batch.filter(pa.array(keep)), [code[keep] for code in codes]
        tuples.add([*codes, target.codes(batch.column(target.name))] if target else codes)
        if progress is not None:
            progress(len(batch))
    source.check_unchanged()
    return _table(policy, columns, target, *tuples.collapsed(source.name))


def released(
    source: Source, recoding: AnyRecoding, progress: Progress | None = None, *, seen: bool = False
) -> Iterator[pa.RecordBatch]:
    """The rows of a table, recoded batch by batch.

    Args:
        source: The rows.
        recoding: The recoding.
        progress: Called with the number of rows of each batch.
        seen: Whether the recoding was made from these very rows; then columns that it silences are not even read.
    """
    unread = (*recoding.dropped, *recoding.silent) if seen else ()
    columns = [name for name in source.columns if name not in unread] or list(source.columns)
    session = recoding.session(lambda: source.batches(columns, encoded=recoding.names))
    for batch in ahead(source.batches(columns, encoded=recoding.names)):
        yield session.batch(batch, source.schema)
        if progress is not None:
            progress(len(batch))
    source.check_unchanged()


def write(
    source: Source,
    recoding: AnyRecoding,
    path: Path,
    see: Callable[[pa.RecordBatch], object],
    progress: Progress | None = None,
    *,
    seen: bool = False,
) -> str:
    """Write the recoded rows to a file, showing every batch to `see` on the way; gives the file's fingerprint."""
    batches = ahead(released(source, recoding, progress, seen=seen))
    first = next(batches)
    with open_writer(path, first.schema, source) as writer:
        for batch in itertools.chain([first], batches):
            see(batch)
            writer.write(batch)
    return writer.fingerprint


def frame(source: FrameSource, recoding: AnyRecoding) -> Any:
    """A frame recoded, as the same kind of frame."""
    columns: dict[str, list[pa.Array]] = {name: [] for name in recoding.names}
    keeps = []
    session = recoding.session(lambda: source.batches(None, encoded=recoding.names))
    for batch in source.batches(recoding.reads, encoded=recoding.names):
        recoded, keep = session.recode(batch)
        keeps.append(np.ones(len(batch), bool) if keep is None else keep)
        for name, column in recoded.items():
            columns[name].append(column)
    keep = np.concatenate(keeps)
    replaced = {name: pa.chunked_array(parts) for name, parts in columns.items()}
    dropped = [name for name in recoding.dropped if name in source.columns]
    return rebuild(source.frame, replaced, dropped, None if keep.all() else keep)


def label_counts(
    source: Source, recoding: AnyRecoding, table: CompressedTable, target: str | None
) -> npt.NDArray[np.int64] | None:
    """Records per released class and target class, where only the rows tell them: where a tuple is split.

    Args:
        source: The rows that the recoding was made from.
        recoding: The recoding.
        table: The same rows, compressed.
        target: The column of target classes, None if there is none.

    Returns:
        Released classes x target classes, as they are numbered in the recoding and in the table; None where the
        compressed table tells them.
    """
    if target is None or not isinstance(recoding, LocalRecoding) or not recoding.mapping.split.any():
        return None
    columns = [name for name in source.columns if name not in recoding.dropped]
    session = recoding.session(lambda: source.batches(columns, encoded=recoding.names))
    labels, shape = _Column(target, ()), (len(recoding.mapping.classes), len(table.classes))
    counts = np.zeros(shape, np.int64)
    for batch in ahead(source.batches(columns, encoded=recoding.names)):
        classes, keep = session.classes(batch)
        numbers = labels.codes(batch.column(target))
        ranks = pc.index_in(text_of(labels.values), pa.array(table.classes, pa.string()), skip_nulls=True)
        ranked = np.append(ranks.fill_null(-1).to_numpy(zero_copy_only=False), shape[1] - 1)[numbers]
        if keep is not None:
            classes, ranked = classes[keep], ranked[keep]
        if (np.minimum(classes, ranked) < 0).any():
            raise DataError(f"{source.name} changed while it was measured; run it again")
        counts += np.bincount(classes * shape[1] + ranked, minlength=counts.size).reshape(shape)
    source.check_unchanged()
    return counts


def missing_values(source: Source, policy: Policy) -> tuple[str, ...]:
    """The texts that stand for a missing value: those that the user gave, and in a CSV file the empty cell."""
    return tuple(dict.fromkeys((*policy.missing_values, *source.missing_values)))


def _tokens(source: Source, policy: Policy, name: str) -> tuple[str, ...]:
    """Texts that are missing in one column: a value that its taxonomy knows is none."""
    taxonomy = policy.taxonomies.get(name)
    known = taxonomy.leaf_codes if isinstance(taxonomy, Taxonomy) else {}
    return tuple(text for text in missing_values(source, policy) if text not in known)


def _check_missing(policy: Policy, keep: npt.NDArray[np.bool_], source: Source) -> None:
    if policy.missing == "error" and not keep.all():
        raise DataError(
            f"{source.name} has missing values in a quasi-identifier, and the policy allows none; set missing to "
            "'category' or 'drop', or fill them"
        )


class _Column:
    """Numbers the distinct values of one column in order of appearance; a missing value has the number -1."""

    def __init__(self, name: str, missing: Sequence[str]) -> None:
        self.name = name
        self._missing = missing
        self.values: pa.Array | None = None

    def codes(self, column: pa.Array) -> Codes:
        column = encoded(column, self.name)
        present = ~is_missing(column.dictionary, self._missing)
        numbers = self._number(column.dictionary.filter(pa.array(present)))
        assert self.values is not None
        code_of = np.full(len(present) + 1, -1, np.min_scalar_type(-len(self.values) - 1))  # the last one for null
        code_of[:-1][present] = numbers
        return np.asarray(code_of.take(np.asarray(pc.fill_null(column.indices, len(present)))))

    def _number(self, values: pa.Array) -> Any:
        if self.values is None:
            self.values = values
            return np.arange(len(values))
        numbers = pc.index_in(values, self.values)
        new = values.filter(pc.is_null(numbers))
        known = len(self.values)
        numbers = pc.fill_null(numbers, -1).to_numpy(zero_copy_only=False).copy()
        numbers[numbers < 0] = np.arange(known, known + len(new))
        if len(new):
            self.values = pa.concat_arrays([self.values, new])
        return numbers


class _Tuples:
    """Rows of codes with counts, collapsed whenever too many wait."""

    def __init__(self, columns: Sequence[_Column]) -> None:
        self._columns = columns
        self._waiting: list[tuple[list[Codes], npt.NDArray[np.int64] | None]] = []
        self._rows = 0
        self._distinct = 0

    def add(self, codes: list[Codes]) -> None:
        if len(codes[0]):
            self._waiting.append((codes, None))
            self._rows += len(codes[0])
        if self._rows > max(_BUFFER_ROWS, 2 * self._distinct):
            columns, counts = self._joined()
            order, starts = sort_tuples([column + 1 for column in columns], [self._size(c) for c in self._columns])
            counts = np.add.reduceat(counts[order], starts)
            self._waiting = [([column[order[starts]] for column in columns], counts)]
            self._rows, self._distinct = 0, len(counts)

    def collapsed(self, name: str) -> tuple[list[Codes], npt.NDArray[np.int64]]:
        if not self._waiting:
            raise DataError(f"{name} has no rows left to release")
        return self._joined()

    def _joined(self) -> tuple[list[Codes], npt.NDArray[np.int64]]:
        columns = [np.concatenate(parts) for parts in zip(*(codes for codes, _ in self._waiting), strict=True)]
        counts = [np.ones(len(codes[0]), np.int64) if n is None else n for codes, n in self._waiting]
        self._waiting = []
        return columns, np.concatenate(counts)

    @staticmethod
    def _size(column: _Column) -> int:
        return 1 + (0 if column.values is None else len(column.values))


def _table(
    policy: Policy,
    columns: Sequence[_Column],
    target: _Column | None,
    codes: list[Codes],
    counts: npt.NDArray[np.int64],
) -> CompressedTable:
    attributes: list[Attribute] = []
    final: list[Any] = []
    for column, numbers in zip(columns, codes, strict=False):
        attribute, code_of = _encode(policy, column.name, *_used(column, numbers))
        attributes.append(attribute)
        final.append(code_of.astype(np.min_scalar_type(attribute.size - 1)).take(numbers))
    if target is None:
        return CompressedTable.build(attributes, final, counts)
    values, has_missing, number_of = _used(target, codes[-1])
    classes, ranks = np.unique(np.array(text_of(values).to_pylist(), object), return_inverse=True)
    class_of = np.append(ranks, len(classes))[number_of]
    labels = (*classes.tolist(), *[None] * has_missing)
    return CompressedTable.build(attributes, final, counts, labels, class_of[codes[-1]])


def _used(column: _Column, numbers: Codes) -> tuple[pa.Array, bool, Any]:
    """The values that do occur, whether missing ones do, and the new number of each old one (missing is the last)."""
    assert column.values is not None
    present = np.zeros(len(column.values) + 1, bool)
    present[numbers] = True  # missing is -1, the last one
    number_of = np.append(present[:-1].cumsum() - 1, -1)
    return column.values.filter(pa.array(present[:-1])), bool(present[-1]), number_of


def _encode(policy: Policy, name: str, values: pa.Array, has_missing: bool, number_of: Any) -> tuple[Attribute, Any]:
    attribute, codes = encode(
        name,
        values,
        has_missing=has_missing,
        taxonomy=policy.taxonomies.get(name),
        declared=policy.types.get(name),
        domain=policy.ranges.get(name),
    )
    return attribute, codes[number_of]
