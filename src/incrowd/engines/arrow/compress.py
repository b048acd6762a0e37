"""From rows to the compressed table: distinct values are numbered as they come, distinct tuples are counted.

Other engines count rows by themselves, and then number the values of what they counted here (`counted`): the compressed
table is the same whoever counts.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from incrowd.engines.arrow.row_cache import Holding
from incrowd.engines.plan import ReadPlan
from incrowd.errors import DataError
from incrowd.formats.csv_dialect import may_have_commas
from incrowd.formats.prefetch import ahead
from incrowd.formats.sources import Source
from incrowd.run import Run
from incrowd.table.arrays import to_arrow
from incrowd.table.attributes import Attribute, encode
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import Counts, ascending, changes, sort_tuples, summed
from incrowd.table.out_of_core import NumberMeanings, OutOfCoreTable
from incrowd.table.scales import text_of
from incrowd.table.target_bins import MOST_LABELS, bins_of, places_in
from incrowd.table.value_numbers import Codes, ValueNumbers
from incrowd.taxonomies.taxonomy import Taxonomy

_BUFFER_ROWS = 1 << 20  # rows that may wait before they are collapsed
Values = tuple[str | None, ...]  # of a column, in order, missing ones last
Waiting = tuple[list[Codes], Counts | None]  # some rows, by column, and how many records each is
Counted = Iterable[tuple[pa.RecordBatch, Counts | None]]


def compress(source: Source, plan: ReadPlan, run: Run) -> CompressedTable:
    rows = ((batch, None) for batch in ahead(source.batches(plan.columns, encoded=plan.columns)))
    return counted(rows, source, plan, run, hold=True)


def counted(rows: Counted, source: Source, plan: ReadPlan, run: Run, *, hold: bool = False) -> CompressedTable:
    """The compressed table of rows that an engine may have counted before.

    Args:
        rows: Batches with the columns of the plan, and how many records each row is, None for one. Equal rows
            may come more than once. Values are of the type that `source` gives them.
        source: Where they come from.
        plan: Which columns they have, and how these are read.
        run: Gets the number of records as they pass.
        hold: Whether the rows are those of the source, and may be held to be read again.
    """
    numbered = Numbered(source, plan)
    tuples = _Tuples(numbered.columns)
    holding = Holding(source, [column.name for column in numbered.columns], plan.counted) if hold else None
    for batch, counts in rows:
        codes, counts = numbered.codes(batch, counts)
        tuples.add(codes, counts)
        if holding is not None:
            holding.add(codes, whole=len(codes[0]) == len(batch) and all(column.exact for column in numbered.columns))
        run.rows(len(codes[0]) if counts is None else int(counts.sum()))
    source.check_unchanged()
    if holding is not None:
        holding.done([column.values for column in numbered.columns])
    return numbered.table(*tuples.collapsed(source.name))


def check_missing(plan: ReadPlan, keep: npt.NDArray[np.bool_], source: Source) -> None:
    """Raise DataError if a row is not to be kept, since it lacks a value, and the plan does not allow that."""
    if plan.missing == "error" and not keep.all():
        raise DataError(
            f"{source.name} has missing values in a quasi-identifier, which the policy does not allow; set missing to "
            "'category' or 'drop', or fill them in"
        )


class Numbered:
    """Rows as numbers: every distinct value of every column gets one, in order of appearance."""

    def __init__(self, source: Source, plan: ReadPlan) -> None:
        self._source, self._plan = source, plan
        self._commas = may_have_commas(source)
        self._attributes = [ValueNumbers(name, self._missing_in(name)) for name in plan.attributes]
        self._others = [ValueNumbers(name, ()) for name in plan.counted]
        self.incomplete = 0  # records that were not numbered

    def _missing_in(self, name: str) -> tuple[str, ...]:
        """Texts that are missing in one column: a value that its taxonomy knows is not."""
        taxonomy = self._plan.taxonomies.get(name)
        known = taxonomy.leaf_codes if isinstance(taxonomy, Taxonomy) else {}
        return tuple(text for text in self._plan.missing_values if text not in known)

    @property
    def columns(self) -> list[ValueNumbers]:
        return [*self._attributes, *self._others]

    def codes(self, batch: pa.RecordBatch, counts: Counts | None = None) -> tuple[list[Codes], Counts | None]:
        """The numbers of the next rows by column, and their counts; of complete rows only, if the plan says so."""
        plan = self._plan
        codes = [column.codes(batch.column(column.name)) for column in self._attributes]
        if plan.missing != "category":
            keep = np.logical_and.reduce([code >= 0 for code in codes])
            check_missing(plan, keep, self._source)
            self.incomplete += int((~keep).sum() if counts is None else counts[~keep].sum())
            batch, codes = batch.filter(to_arrow(keep)), [code[keep] for code in codes]
            counts = None if counts is None else counts[keep]
        codes += [column.codes(batch.column(column.name)) for column in self._others]
        for column, numbers in zip(self.columns, codes, strict=True):
            column.look_at(numbers)
        return codes, counts

    def explain(self, table: OutOfCoreTable) -> None:
        """Tell a table whose tuples are elsewhere what the numbers mean, now that all rows were numbered."""
        used = [table.used(place) for place in range(len(self.columns))]
        attributes, code_of = [], []
        for column, (numbers, _) in zip(self._attributes, used, strict=False):
            attribute, codes = self._encoded(column, numbers)
            attributes.append(attribute)
            code_of.append(np.asarray(codes, np.int64))
        labels: Values = ()
        label_of = None
        if self._plan.target:
            numbers, counts = used[len(attributes)]
            values, code_of_number = _values(self._others[0], numbers)
            labels, found = self._binned(values, code_of_number[numbers], counts)
            label_of = np.zeros(int(numbers.max(initial=-1)) + 2, np.int64)
            label_of[numbers] = found
        table.learn(NumberMeanings(tuple(attributes), code_of, labels, label_of), self.incomplete)

    def table(self, codes: list[list[Codes]], counts: Counts | None) -> CompressedTable:
        """The compressed table of all rows that were numbered.

        Args:
            codes: The numbers of each column, batch by batch; columns are let go one after the other.
            counts: How many records each row is, one if None.
        """
        attributes: list[Attribute] = []
        final: list[Codes] = []
        for column in self._attributes:
            attribute, code_of = self._encoded(column)
            attributes.append(attribute)
            final.append(_mapped(code_of, attribute.size, codes.pop(0)))
        found = {}
        for column in self._others:
            values, code_of = _values(column)
            found[column.name] = values, _mapped(code_of, len(values), codes.pop(0))
        target = self._binned(*found[self._plan.target], counts) if self._plan.target else None
        protected = {name: self._counted_as(name, *found[name]) for name in self._plan.protected}
        table = CompressedTable.build(attributes, final, counts, target, protected)
        return replace(table, incomplete=self.incomplete)

    def _encoded(self, column: ValueNumbers, numbers: Codes | None = None) -> tuple[Attribute, Any]:
        """The attribute of a column, and the code of each number (missing is the last)."""
        plan, name = self._plan, column.name
        values, has_missing, number_of = column.used(numbers)
        attribute, codes = encode(
            name,
            values,
            has_missing=has_missing,
            taxonomy=plan.taxonomies.get(name),
            declared=plan.types.get(name),
            domain=plan.ranges.get(name),
            commas=self._commas,
            reading=plan.reading,
        )
        return attribute, codes[number_of]

    def _binned(self, values: Values, codes: Any, counts: Counts | None) -> tuple[Values, Any]:
        """The labels of a target: its values, or where these are many numbers, a few ranges."""
        if len(values) <= MOST_LABELS:
            return values, codes
        records = np.bincount(codes, counts, len(values)).astype(np.int64)
        bins = bins_of(values, records, comma=self._plan.types.get(str(self._plan.target)) == "comma")
        if not bins:
            return values, codes
        labels = (*bins, *[None] * (None in values))
        return labels, places_in(values, labels)[codes]

    def _counted_as(self, name: str, values: Values, codes: Any) -> tuple[Values, Any]:
        """The values of a protected column as they count: in groups or bins, where the plan has some."""
        counted = [self._plan.counted_as(name, value) for value in values]
        if counted == list(values):
            return values, codes
        kept = sorted({value for value in counted if value is not None})
        number = {value: i for i, value in enumerate([*kept, None])}
        return (*kept, *[None] * (None in counted)), np.array([number[value] for value in counted])[codes]


class _Tuples:
    """Rows of codes with counts, collapsed whenever too many wait."""

    def __init__(self, columns: Sequence[ValueNumbers]) -> None:
        self._columns = columns
        self._waiting: list[Waiting] = []
        self._rows = 0
        self._distinct = 0

    def add(self, codes: list[Codes], counts: Counts | None = None) -> None:
        if len(codes[0]):
            self._waiting.append((codes, counts))
            self._rows += len(codes[0])
        if self._rows > max(_BUFFER_ROWS, 2 * self._distinct):
            sizes = [self._size(column) for column in self._columns]
            self._waiting = self._distinct_ones(sizes)
            columns = [np.concatenate(parts) for parts in self._columns_waiting()]
            order, starts = sort_tuples([column + 1 for column in columns], sizes)
            counts = summed(self._counts_waiting(), order, starts)
            self._waiting = [([column[order[starts]] for column in columns], counts)]
            self._rows, self._distinct = 0, len(counts)

    def _distinct_ones(self, sizes: Sequence[int]) -> list[Waiting]:
        """What waits, with equal rows that were not counted yet counted as one, where a row fits into one integer.

        Sorting numbers alone takes less time than sorting places by them, and nothing else has to be moved.
        """
        new = [codes for codes, counts in self._waiting if counts is None]
        if not new or (room := math.prod(sizes)) >= 1 << 62:
            return self._waiting
        keys: Codes = np.zeros(sum(len(codes[0]) for codes in new), np.int32 if room < 1 << 31 else np.int64)
        for *parts, size in zip(*new, sizes, strict=True):
            keys *= keys.dtype.type(size)
            keys += np.concatenate(parts)
            keys += keys.dtype.type(1)
        keys = ascending(keys, room)
        starts = np.flatnonzero(changes([keys]))
        rest, found = keys[starts], []
        for size, like in zip(reversed(sizes), reversed(new[-1]), strict=True):
            rest, codes = np.divmod(rest, rest.dtype.type(size))
            found.append((codes - 1).astype(like.dtype))
        counted = [(codes, counts) for codes, counts in self._waiting if counts is not None]
        return [*counted, (found[::-1], np.diff(np.append(starts, len(keys))))]

    def collapsed(self, name: str) -> tuple[list[list[Codes]], Counts | None]:
        """All rows, batch by batch for each column, and their counts; they are let go here."""
        if not self._waiting:
            raise DataError(f"{name} has no rows left to release")
        found = self._columns_waiting(), self._counts_waiting()
        self._waiting = []
        return found

    def _columns_waiting(self) -> list[list[Codes]]:
        return [list(parts) for parts in zip(*(codes for codes, _ in self._waiting), strict=True)]

    def _counts_waiting(self) -> Counts | None:
        if all(counts is None for _, counts in self._waiting):
            return None
        return np.concatenate([np.ones(len(codes[0]), np.int64) if n is None else n for codes, n in self._waiting])

    @staticmethod
    def _size(column: ValueNumbers) -> int:
        return 1 + (0 if column.values is None else len(column.values))


def _mapped(code_of: Codes, size: int, parts: list[Codes]) -> Codes:
    """The codes of numbers, batch by batch, in one piece of the smallest type; what was mapped is let go."""
    narrow = code_of.astype(np.min_scalar_type(size - 1))  # the last entry is that of missing values, if there are any
    every = np.empty(sum(map(len, parts)), narrow.dtype)
    start = 0
    while parts:
        numbers = parts.pop(0)
        every[start : start + len(numbers)] = narrow.take(numbers)
        start += len(numbers)
    return every


def _values(column: ValueNumbers, numbers: Codes | None = None) -> tuple[Values, Any]:
    present, has_missing, number_of = column.used(numbers)
    texts, ranks = np.unique(np.array(text_of(present).to_pylist(), object), return_inverse=True)
    return (*texts.tolist(), *[None] * has_missing), np.append(ranks, len(texts))[number_of]
