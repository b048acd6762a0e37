"""The compressed table, the only thing a search sees: codes of the distinct tuples, their counts, the attributes.

Attributes are encoded once, from their distinct values. A categorical value is the number of its leaf, a number or a
date is the rank of its value, a missing value is a code of its own, always the last one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from incrowd.errors import DataError, TaxonomyError, did_you_mean, shorten
from incrowd.scales import Numbers, Scale, scale_of, text_of
from incrowd.taxonomies.rules import Rule
from incrowd.taxonomies.taxonomy import Taxonomy

Codes = npt.NDArray[Any]
Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class TaxonomyAttribute:
    """A categorical attribute with a taxonomy; code = leaf of the taxonomy."""

    name: str
    taxonomy: Taxonomy
    rule: Rule | None = None  # what built the taxonomy out of the values, if a rule did

    @property
    def size(self) -> int:
        """Number of codes, that of missing values included."""
        return len(self.taxonomy.leaves)

    @property
    def missing(self) -> int | None:
        """Code of missing values, None where there are none."""
        return self.taxonomy.missing

    def values(self) -> pa.Array:
        """The value of each code."""
        return pa.array([self.taxonomy.labels[node] for node in self.taxonomy.leaves], pa.string())

    def loss(self, start: Codes, stop: Codes) -> Floats:
        """Loss of a cell that stands for the codes [start, stop): 0 for one leaf, 1 for all."""
        return np.asarray((np.asarray(stop) - np.asarray(start) - 1) / max(1, self.size - 1))


@dataclass(frozen=True)
class NumberAttribute:
    """A number, date or timestamp; code = rank of the value among those that occur.

    Args:
        name: Column name.
        scale: What the numbers mean.
        numbers: The distinct values, ascending.
        missing: Code of missing values, None where there are none.
        domain: Lowest and highest possible value, where the user made them public.
    """

    name: str
    scale: Scale
    numbers: Numbers
    missing: int | None = None
    domain: tuple[Any, Any] | None = None

    @property
    def size(self) -> int:
        """Number of codes, that of missing values included."""
        return len(self.numbers) + (self.missing is not None)

    @property
    def extent(self) -> tuple[Any, Any]:
        """Lowest and highest value: the public domain, else what occurs."""
        if self.domain is not None:
            return self.domain
        return (self.numbers[0].item(), self.numbers[-1].item()) if len(self.numbers) else (0, 0)

    def values(self) -> pa.Array:
        """The value of each code, as text that the scale reads back."""
        nothing: list[str | None] = [None] * (self.missing is not None)
        if self.numbers.dtype.kind in "iu" and self.scale.kind == "integer":  # the same texts, many times faster
            return pa.concat_arrays([pa.array(self.numbers).cast(pa.string()), pa.array(nothing, pa.string())])
        return pa.array([*map(self.scale.text, self.numbers), *nothing], pa.string())

    def loss(self, start: Codes, stop: Codes) -> Floats:
        """Loss of a cell that stands for the codes [start, stop): width of the published interval over the range.

        An interval reaches up to the next one; on scales with whole steps its last value lies one step below. The
        missing code alone loses nothing, together with numbers everything.
        """
        start, stop, ranks = np.asarray(start), np.asarray(stop), len(self.numbers)
        lowest, highest = self.extent
        edges = np.append(self.numbers, highest).astype(np.float64)
        low = np.where(start == 0, lowest, edges[start])
        step = 0.0 if self.scale.kind == "number" else 1.0
        high = np.where(stop >= ranks, highest, edges[np.minimum(stop, ranks)] - step)
        lost = (high - low) / (highest - lowest) if highest > lowest else np.zeros(len(low))
        return np.where(stop > ranks, np.where(start == ranks, 0.0, 1.0), lost)


@dataclass(frozen=True)
class FlatAttribute:
    """A categorical attribute without a taxonomy: a value is either shown or suppressed."""

    name: str
    texts: tuple[str, ...]
    missing: int | None = None

    @property
    def size(self) -> int:
        """Number of codes, that of missing values included."""
        return len(self.texts) + (self.missing is not None)

    def values(self) -> pa.Array:
        """The value of each code."""
        return pa.array([*self.texts, *[None] * (self.missing is not None)], pa.string())


Attribute = TaxonomyAttribute | NumberAttribute | FlatAttribute


def encode(
    name: str,
    values: pa.Array,
    *,
    has_missing: bool,
    taxonomy: Taxonomy | Rule | None = None,
    declared: str | None = None,
    domain: tuple[Any, Any] | None = None,
) -> tuple[Attribute, Codes]:
    """Make an attribute out of the distinct values of a column.

    Args:
        name: Column name.
        values: Its distinct values in any order, without nulls.
        has_missing: Whether missing values occur.
        taxonomy: Its taxonomy, or a rule that builds one out of the values, if it has one.
        declared: The declared type, if there is one.
        domain: The public range of a number or date, if there is one.

    Returns:
        The attribute, and the code of each of the values, followed by the code of missing values if they occur.
    """
    if taxonomy is not None:
        return _encode_taxonomy(name, values, taxonomy, has_missing)
    scale = scale_of(values, name, declared)
    if scale is None:
        if domain is not None:
            raise DataError(f"column '{name}' has a public range but holds text; leave the range out")
        texts, codes = _factorize(text_of(values))
        if "*" in texts:
            raise DataError(
                f"column '{name}' holds the value '*', which stands for suppressed values; name it as a missing value"
            )
        attribute: Attribute = FlatAttribute(name, tuple(texts.tolist()), len(texts) if has_missing else None)
    else:
        numbers, codes = np.unique(scale.numbers(values, name), return_inverse=True)
        if domain is not None:
            domain = (scale.number(domain[0], name), scale.number(domain[1], name))
            if len(numbers) and not domain[0] <= numbers[0] <= numbers[-1] <= domain[1]:
                raise DataError(
                    f"column '{name}' holds values outside its public range, {scale.text(domain[0])} to "
                    f"{scale.text(domain[1])}; widen the range, or mend the values"
                )
        attribute = NumberAttribute(name, scale, numbers, len(numbers) if has_missing else None, domain)
    return attribute, np.append(codes, attribute.size - 1) if has_missing else codes


def _encode_taxonomy(name: str, values: pa.Array, given: Taxonomy | Rule, has_missing: bool) -> tuple[Attribute, Codes]:
    rule = None if isinstance(given, Taxonomy) else given
    taxonomy = given if isinstance(given, Taxonomy) else given.build(text_of(values).to_pylist())
    taxonomy = taxonomy.with_missing() if has_missing else taxonomy
    attribute = TaxonomyAttribute(name, taxonomy, rule)
    codes = pc.index_in(text_of(values), attribute.values()).to_numpy(zero_copy_only=False)
    if len(unknown := text_of(values).filter(pa.array(np.isnan(codes)))):
        raise unknown_values_error(name, unknown.to_pylist(), taxonomy)
    return attribute, np.append(codes, taxonomy.missing).astype(np.int64) if taxonomy.missing is not None else codes


def unknown_values_error(name: str, unknown: Sequence[str], taxonomy: Taxonomy) -> TaxonomyError:
    """The error for values that a taxonomy does not know; lists at most five of them."""
    leaves = [label for label in (taxonomy.labels[node] for node in taxonomy.leaves) if label is not None]
    hint = did_you_mean(unknown[0], leaves)
    return TaxonomyError(
        f"{len(unknown)} value(s) of column '{name}' are no leaves of its taxonomy: {shorten(sorted(unknown))}{hint}; "
        "add them to the taxonomy, or name them as missing values"
    )


def _factorize(texts: pa.Array) -> tuple[npt.NDArray[Any], Codes]:
    """Distinct texts in order, and the rank of each text."""
    return np.unique(np.array(texts.to_pylist(), dtype=object), return_inverse=True)


@dataclass(frozen=True)
class CompressedTable:
    """Distinct tuples over all quasi-identifiers in lexicographic order of their codes, with class frequencies.

    Frequencies are kept sparsely: entry e says that `class_counts[e]` records of tuple `class_tuples[e]` have class
    `class_codes[e]`; entries are sorted by tuple, then class. Without a target there is one class.
    """

    attributes: tuple[Attribute, ...]
    codes: tuple[Codes, ...]  # one array per attribute, one code per tuple, smallest unsigned type
    counts: Counts  # records per tuple
    classes: tuple[str | None, ...] = ()
    class_tuples: Codes = field(default_factory=lambda: np.empty(0, np.int64))
    class_codes: Codes = field(default_factory=lambda: np.empty(0, np.int64))
    class_counts: Counts = field(default_factory=lambda: np.empty(0, np.int64))

    @property
    def has_target(self) -> bool:
        """Whether class frequencies are known."""
        return bool(self.classes)

    @cached_property
    def records(self) -> int:
        """Number of records."""
        return int(self.counts.sum())

    def index(self, name: str) -> int:
        """Position of an attribute."""
        return next(i for i, attribute in enumerate(self.attributes) if attribute.name == name)

    @cached_property
    def weights(self) -> npt.NDArray[np.float64] | None:
        """Counts as weights of np.bincount, None where every count is 1."""
        return None if len(self.counts) == self.records else self.counts.astype(np.float64)

    def value_counts(self, attribute: int) -> Counts:
        """Records per code of one attribute."""
        return count(self.codes[attribute], self.attributes[attribute].size, self.weights)

    def class_histogram(self, attribute: int) -> Counts:
        """Records per code of one attribute and class: codes x classes."""
        return self.class_counts_of(self.codes[attribute], self.attributes[attribute].size)

    def class_counts_of(self, groups: Codes, size: int, kept: npt.NDArray[np.bool_] | None = None) -> Counts:
        """Records per group and class: size x classes.

        Args:
            groups: The group of each tuple.
            size: Number of groups.
            kept: The tuples that count; all if None.
        """
        classes = len(self.classes)
        one_each = len(self.class_tuples) == len(self.counts)  # entry e belongs to tuple e
        key = (groups if one_each else groups[self.class_tuples]) * np.int64(classes) + self.class_codes
        weights: npt.NDArray[Any] | None = self.class_counts
        if kept is not None:
            weights = self.class_counts * (kept if one_each else kept[self.class_tuples])
        elif self.records == len(self.class_counts):
            weights = None
        return count(key, size * classes, weights).reshape(size, classes)

    @classmethod
    def build(
        cls,
        attributes: Sequence[Attribute],
        codes: Sequence[Codes],
        counts: Counts,
        classes: Sequence[str | None] = (),
        class_codes: Codes | None = None,
    ) -> CompressedTable:
        """Collapse rows of codes (with counts, and with the class of each row where there is a target)."""
        sizes = [attribute.size for attribute in attributes]
        types = [np.min_scalar_type(size - 1) for size in sizes]
        columns = [column.astype(kind, copy=False) for column, kind in zip(codes, types, strict=True)]
        if class_codes is None:
            order, starts = sort_tuples(columns, sizes)
            tuples = order[starts]
            return cls(tuple(attributes), tuple(c[tuples] for c in columns), np.add.reduceat(counts[order], starts))
        order, starts = sort_tuples([*columns, class_codes], [*sizes, len(classes)])
        entries = order[starts]
        class_counts = np.add.reduceat(counts[order], starts)
        columns = [column.take(entries) for column in columns]
        new_tuple = _changes(columns)
        firsts = np.flatnonzero(new_tuple)
        return cls(
            tuple(attributes),
            tuple(columns if len(firsts) == len(entries) else (column.take(firsts) for column in columns)),
            np.add.reduceat(class_counts, firsts),
            tuple(classes),
            np.cumsum(new_tuple) - 1,
            class_codes[entries],
            class_counts,
        )


def count(keys: Codes, size: int, weights: npt.NDArray[Any] | None) -> Counts:
    """How many records (or how much weight) each key below `size` has."""
    counted = np.bincount(keys, weights, minlength=size)
    return counted if weights is None else counted.astype(np.int64)


def sort_tuples(columns: Sequence[Codes], sizes: Sequence[int]) -> tuple[Codes, Codes]:
    """Sort rows of codes lexicographically.

    As many columns as fit are packed into one integer; where more are left, they are packed in turn, and sorted only
    among rows that are equal so far, which are few where there are many columns.

    Args:
        columns: One array per attribute.
        sizes: Number of codes of each attribute.

    Returns:
        The order of the rows, and where in that order each distinct tuple starts.
    """
    key, packed = _pack(columns, sizes, 1 << 62)
    order = np.argsort(key)
    new = _changes([key.take(order)])
    while packed < len(columns):
        tied = ~new
        tied[:-1] |= tied[1:]
        places = np.flatnonzero(tied)
        rows = order[places]
        key, more = _pack([column.take(rows) for column in columns[packed:]], sizes[packed:], (1 << 62) // len(order))
        if len(rows):
            key += np.cumsum(new)[places] * np.int64(math.prod(sizes[packed : packed + more]))
            inner = np.argsort(key)
            order[places], new[places] = rows[inner], _changes([key[inner]])
        packed += more
    return order, np.flatnonzero(new)


def _pack(columns: Sequence[Codes], sizes: Sequence[int], room: int) -> tuple[Codes, int]:
    """The first columns as one integer per row, below `room` if one column is; and how many columns those are."""
    key, used = columns[0].astype(np.int64), sizes[0]
    for packed, (column, size) in enumerate(zip(columns[1:], sizes[1:], strict=True), 1):
        used *= size
        if used > room:
            return key, packed
        key *= size
        key += column
    return key, len(columns)


def _changes(columns: Sequence[Codes]) -> npt.NDArray[np.bool_]:
    """Where a row differs from the one before; the first row does."""
    changed = np.ones(len(columns[0]), bool)
    changed[1:] = False
    for column in columns:
        changed[1:] |= column[1:] != column[:-1]
    return changed
