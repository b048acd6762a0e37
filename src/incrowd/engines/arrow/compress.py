"""From rows to the compressed table: distinct values are numbered as they come, distinct tuples are counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from incrowd.engines.arrow.ahead import ahead
from incrowd.errors import DataError
from incrowd.formats.sources import Source
from incrowd.policy.policy import Policy
from incrowd.run import Run
from incrowd.table.attributes import Attribute, encode
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import sort_tuples
from incrowd.table.missing import encoded, is_missing
from incrowd.table.scales import text_of
from incrowd.table.target_bins import bins_of, places_in
from incrowd.taxonomies.taxonomy import Taxonomy

_BUFFER_ROWS = 1 << 20  # rows that may wait before they are collapsed
Codes = npt.NDArray[Any]  # the smallest signed type that holds them


def compress(source: Source, policy: Policy, run: Run) -> CompressedTable:
    """Read a table once and keep its distinct tuples; see `Engine.compress`."""
    columns = [ValueNumbers(name, _tokens(source, policy, name)) for name in policy.attributes]
    others = [ValueNumbers(name, ()) for name in policy.counted]
    tuples = _Tuples([*columns, *others])
    wanted = [column.name for column in (*columns, *others)]
    for batch in ahead(source.batches(wanted, encoded=wanted)):
        codes = [column.codes(batch.column(column.name)) for column in columns]
        if policy.missing != "category":
            keep = np.logical_and.reduce([code >= 0 for code in codes])
            _check_missing(policy, keep, source)
            batch, codes = batch.filter(pa.array(keep)), [code[keep] for code in codes]
        tuples.add([*codes, *(column.codes(batch.column(column.name)) for column in others)])
        run.rows(len(batch))
    source.check_unchanged()
    table = _table(policy, columns, others, *tuples.collapsed(source.name))
    if policy.population_table is None:
        return table
    from incrowd.population import with_population

    return with_population(table, policy, compress, run)


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
            f"{source.name} has missing values in a quasi-identifier, which the policy does not allow; set missing to "
            "'category' or 'drop', or fill them in"
        )


class ValueNumbers:
    """Numbers the distinct values of one column in order of appearance; a missing value has the number -1."""

    def __init__(self, name: str, missing: Sequence[str]) -> None:
        self.name = name
        self._missing = missing
        self.values: pa.Array | None = None

    def codes(self, column: pa.Array) -> Codes:
        """The number of each value of a column, in the next rows."""
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

    def __init__(self, columns: Sequence[ValueNumbers]) -> None:
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
    def _size(column: ValueNumbers) -> int:
        return 1 + (0 if column.values is None else len(column.values))


def _table(
    policy: Policy,
    columns: Sequence[ValueNumbers],
    others: Sequence[ValueNumbers],
    codes: list[Codes],
    counts: npt.NDArray[np.int64],
) -> CompressedTable:
    attributes: list[Attribute] = []
    final: list[Any] = []
    for column, numbers in zip(columns, codes, strict=False):
        attribute, code_of = _encode(policy, column.name, *_used(column, numbers))
        attributes.append(attribute)
        final.append(code_of.astype(np.min_scalar_type(attribute.size - 1)).take(numbers))
    found = {c.name: _values(c, numbers) for c, numbers in zip(others, codes[len(columns) :], strict=True)}
    target = _binned(*found[policy.target], counts) if policy.target else None
    protected = {name: _counted_as(policy, name, *found[name]) for name in policy.protected}
    return CompressedTable.build(attributes, final, counts, target, protected)


def _binned(values: tuple[str | None, ...], codes: Any, counts: Any) -> tuple[tuple[str | None, ...], Any]:
    """The labels of a target: its values, or where these are many numbers, a few ranges."""
    bins = bins_of(values, np.bincount(codes, counts, len(values)).astype(np.int64))
    if not bins:
        return values, codes
    labels = (*bins, *[None] * (None in values))
    return labels, places_in(values, labels)[codes]


def _counted_as(
    policy: Policy, name: str, values: tuple[str | None, ...], codes: Any
) -> tuple[tuple[str | None, ...], Any]:
    """The values of a protected column as they count: in groups or bins, where the policy has some."""
    counted = [policy.counted_as(name, value) for value in values]
    if counted == list(values):
        return values, codes
    kept = sorted({value for value in counted if value is not None})
    number = {value: i for i, value in enumerate([*kept, None])}
    has_missing = None in counted
    return (*kept, *[None] * has_missing), np.array([number[value] for value in counted])[codes]


def _values(column: ValueNumbers, numbers: Codes) -> tuple[tuple[str | None, ...], Any]:
    """The values of a column in order, as text, missing ones last, and the value of each row."""
    present, has_missing, number_of = _used(column, numbers)
    texts, ranks = np.unique(np.array(text_of(present).to_pylist(), object), return_inverse=True)
    code_of = np.append(ranks, len(texts))[number_of]
    return (*texts.tolist(), *[None] * has_missing), code_of[numbers]


def _used(column: ValueNumbers, numbers: Codes) -> tuple[pa.Array, bool, Any]:
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
