"""From rows to the compressed table: distinct values are numbered as they come, distinct tuples are counted.

Other engines count rows by themselves, and then number the values of what they counted here (`counted`): the compressed
table is the same whoever counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from incrowd.engines.arrow.row_cache import Holding
from incrowd.errors import DataError
from incrowd.formats.csv_dialect import may_have_commas
from incrowd.formats.prefetch import ahead
from incrowd.formats.sources import Source
from incrowd.policy.policy import Policy
from incrowd.run import Run
from incrowd.table.arrays import to_arrow
from incrowd.table.attributes import Attribute, encode
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import Counts, ascending, changes, sort_tuples, summed
from incrowd.table.scales import text_of
from incrowd.table.target_bins import MOST_LABELS, bins_of, places_in
from incrowd.table.value_numbers import Codes, ValueNumbers
from incrowd.taxonomies.taxonomy import Taxonomy

_BUFFER_ROWS = 1 << 20  # rows that may wait before they are collapsed
Waiting = tuple[list[Codes], Counts | None]  # some rows, by column, and how many records each stands for
Counted = Iterable[tuple[pa.RecordBatch, Counts | None]]
Compress = Callable[[Source, Policy, Run], CompressedTable]


def compress(source: Source, policy: Policy, run: Run) -> CompressedTable:
    """Read a table once and keep its distinct tuples; see `Engine.compress`."""
    wanted = counted_columns(policy)
    rows = ((batch, None) for batch in ahead(source.batches(wanted, encoded=wanted)))
    return counted(rows, source, policy, run, compress, hold=True)


def counted_columns(policy: Policy) -> list[str]:
    """The columns that a compressed table is made from: quasi-identifiers, target and protected ones."""
    return [*policy.attributes, *(name for name in policy.counted if name not in policy.attributes)]


def counted(
    rows: Counted, source: Source, policy: Policy, run: Run, compress: Compress, *, hold: bool = False
) -> CompressedTable:
    """The compressed table of rows that an engine may have counted before.

    Args:
        rows: Batches with the columns of `counted_columns`, and how many records each row stands for, None for one.
            Equal rows may come more than once. Values are of the type that `source` gives them.
        source: Where they come from.
        policy: Names the columns, and says what to do with missing values.
        run: Gets the number of records as they pass.
        compress: The engine's own way to compress, for the population, if the policy has one.
        hold: Whether the rows are those of the source, and may be held to be read again.
    """
    numbered = Numbered(source, policy)
    tuples = _Tuples(numbered.columns)
    holding = Holding(source, [column.name for column in numbered.columns], policy.counted) if hold else None
    for batch, counts in rows:
        codes, counts = numbered.codes(batch, counts)
        tuples.add(codes, counts)
        if holding is not None:
            holding.add(codes, whole=len(codes[0]) == len(batch) and all(column.exact for column in numbered.columns))
        run.rows(len(codes[0]) if counts is None else int(counts.sum()))
    source.check_unchanged()
    if holding is not None:
        holding.done([column.values for column in numbered.columns])
    return with_everyone(numbered.table(*tuples.collapsed(source.name)), policy, run, compress)


def with_everyone(table: CompressedTable, policy: Policy, run: Run, compress: Compress) -> CompressedTable:
    """The table, with the people of the population if the policy has one."""
    if policy.population_table is None:
        return table
    from incrowd.population.people import with_population

    return with_population(table, policy, compress, run)


def missing_values(source: Source, policy: Policy) -> tuple[str, ...]:
    """The texts that stand for a missing value: those that the user gave, and in a CSV file the empty cell."""
    return tuple(dict.fromkeys((*policy.missing_values, *source.missing_values)))


def _tokens(source: Source, policy: Policy, name: str) -> tuple[str, ...]:
    """Texts that are missing in one column: a value that its taxonomy knows is none."""
    taxonomy = policy.taxonomies.get(name)
    known = taxonomy.leaf_codes if isinstance(taxonomy, Taxonomy) else {}
    return tuple(text for text in missing_values(source, policy) if text not in known)


def check_missing(policy: Policy, keep: npt.NDArray[np.bool_], source: Source) -> None:
    """Raise DataError if a row is not to be kept, since it lacks a value, and the policy does not allow that."""
    if policy.missing == "error" and not keep.all():
        raise DataError(
            f"{source.name} has missing values in a quasi-identifier, which the policy does not allow; set missing to "
            "'category' or 'drop', or fill them in"
        )


class Numbered:
    """Rows as numbers: every distinct value of every column gets one, in order of appearance.

    Args:
        source: Where the rows come from.
        policy: Names the columns, and says what to do with missing values.
    """

    def __init__(self, source: Source, policy: Policy) -> None:
        self._source, self._policy = source, policy
        self._commas = may_have_commas(source)
        self._attributes = [ValueNumbers(name, _tokens(source, policy, name)) for name in policy.attributes]
        self._others = [ValueNumbers(name, ()) for name in policy.counted]
        self.incomplete = 0  # records that were not numbered

    @property
    def columns(self) -> list[ValueNumbers]:
        """The quasi-identifiers, then the columns that are counted within tuples."""
        return [*self._attributes, *self._others]

    def codes(self, batch: pa.RecordBatch, counts: Counts | None = None) -> tuple[list[Codes], Counts | None]:
        """The numbers of the next rows by column, and their counts; of complete rows only, if the policy says so."""
        policy = self._policy
        codes = [column.codes(batch.column(column.name)) for column in self._attributes]
        if policy.missing != "category":
            keep = np.logical_and.reduce([code >= 0 for code in codes])
            check_missing(policy, keep, self._source)
            self.incomplete += int((~keep).sum() if counts is None else counts[~keep].sum())
            batch, codes = batch.filter(to_arrow(keep)), [code[keep] for code in codes]
            counts = None if counts is None else counts[keep]
        codes += [column.codes(batch.column(column.name)) for column in self._others]
        for column, numbers in zip(self.columns, codes, strict=True):
            column.look_at(numbers)
        return codes, counts

    def meaning(self, used: Sequence[tuple[Codes, Counts]]) -> Meaning:
        """What the numbers mean, where the tuples themselves are elsewhere.

        Args:
            used: The numbers that occur in each column, and how many records have each; quasi-identifiers come first,
                then the target, if there is one.
        """
        attributes, code_of = [], []
        for column, (numbers, _) in zip(self._attributes, used, strict=False):
            attribute, codes = _encode(self._policy, column.name, *column.used(numbers), commas=self._commas)
            attributes.append(attribute)
            code_of.append(np.asarray(codes, np.int64))
        if not self._policy.target:
            return Meaning(tuple(attributes), code_of)
        numbers, counts = used[len(attributes)]
        values, code_of_number = _values(self._others[0], numbers)
        labels, label_of = _binned(self._policy, values, code_of_number[numbers], counts)
        found = np.zeros(int(numbers.max(initial=-1)) + 2, np.int64)
        found[numbers] = label_of
        return Meaning(tuple(attributes), code_of, labels, found)

    def table(self, codes: list[list[Codes]], counts: Counts | None) -> CompressedTable:
        """The compressed table of all rows that were numbered.

        Args:
            codes: The numbers of each column, batch by batch; columns are let go one after the other.
            counts: How many records each row stands for, one if None.
        """
        table = _table(self._policy, self._attributes, self._others, codes, counts, commas=self._commas)
        return replace(table, incomplete=self.incomplete)


@dataclass(frozen=True)
class Meaning:
    """What numbers of values mean.

    Args:
        attributes: The quasi-identifying attributes.
        code_of: The code of each number, by attribute; the last entry is that of a missing value, whose number is -1.
        labels: The labels of the target; none without one.
        label_of: The label of each number of the target, likewise.
    """

    attributes: tuple[Attribute, ...]
    code_of: list[Codes]
    labels: tuple[str | None, ...] = ()
    label_of: Codes | None = None


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


def _table(
    policy: Policy,
    columns: Sequence[ValueNumbers],
    others: Sequence[ValueNumbers],
    codes: list[list[Codes]],
    counts: Counts | None,
    *,
    commas: bool,
) -> CompressedTable:
    attributes: list[Attribute] = []
    final: list[Codes] = []
    for column in columns:
        attribute, code_of = _encode(policy, column.name, *column.used(), commas=commas)
        attributes.append(attribute)
        final.append(_mapped(code_of, attribute.size, codes.pop(0)))
    found = {}
    for column in others:
        values, code_of = _values(column)
        found[column.name] = values, _mapped(code_of, len(values), codes.pop(0))
    target = _binned(policy, *found[policy.target], counts) if policy.target else None
    protected = {name: _counted_as(policy, name, *found[name]) for name in policy.protected}
    return CompressedTable.build(attributes, final, counts, target, protected)


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


def _binned(
    policy: Policy, values: tuple[str | None, ...], codes: Any, counts: Counts | None
) -> tuple[tuple[str | None, ...], Any]:
    """The labels of a target: its values, or where these are many numbers, a few ranges."""
    many = len(values) > MOST_LABELS
    records = np.bincount(codes, counts, len(values)).astype(np.int64) if many else None
    bins = () if records is None else bins_of(values, records, comma=policy.types.get(str(policy.target)) == "comma")
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


def _values(column: ValueNumbers, numbers: Codes | None = None) -> tuple[tuple[str | None, ...], Any]:
    """The values of a column in order, as text, missing ones last, and the place of each number among them."""
    present, has_missing, number_of = column.used(numbers)
    texts, ranks = np.unique(np.array(text_of(present).to_pylist(), object), return_inverse=True)
    return (*texts.tolist(), *[None] * has_missing), np.append(ranks, len(texts))[number_of]


def _encode(
    policy: Policy, name: str, values: pa.Array, has_missing: bool, number_of: Any, *, commas: bool
) -> tuple[Attribute, Any]:
    attribute, codes = encode(
        name,
        values,
        has_missing=has_missing,
        taxonomy=policy.taxonomies.get(name),
        declared=policy.types.get(name),
        domain=policy.ranges.get(name),
        commas=commas,
    )
    return attribute, codes[number_of]
