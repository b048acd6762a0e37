"""The compressed table: codes of the distinct tuples, how many records each has, and the attributes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from incrowd.table.attributes import Attribute
from incrowd.table.class_counts import ClassCounts, Histogram, Mask, counted
from incrowd.table.grouping import Codes, Counts, changes, count, sort_tuples, summed

_MOST_CELLS = 1 << 16  # of a table of counts that several attributes share


@dataclass(frozen=True)
class CompressedTable:
    """Distinct tuples over all quasi-identifiers in lexicographic order of their codes.

    Args:
        codes: One array per attribute, one code per tuple, of the smallest unsigned type.
        target: How often each label of the target occurs in each tuple; None without a target.
        protected: The same of whatever requirements are fitted with, by name: protected columns, and people outside.
        incomplete: Records of the table that are not here, since they lack a value and the policy drops such.
        absent: Tuples that no record has, but people outside the table: their codes, and what else is counted in them.
    """

    attributes: tuple[Attribute, ...]
    codes: tuple[Codes, ...]
    counts: Counts
    target: Histogram | None = None
    protected: Mapping[str, Histogram] = field(default_factory=dict)
    incomplete: int = 0
    absent: tuple[tuple[Codes, ...], Mapping[str, Histogram]] | None = None

    @cached_property
    def with_absent(self) -> CompressedTable:
        """The table with the absent tuples among its own, without records: their people count, and nothing else."""
        if self.absent is None:
            return self
        codes, outside = self.absent
        columns = [np.concatenate(pair) for pair in zip(self.codes, codes, strict=True)]
        order = np.lexsort(columns[::-1])
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        own, other, size = place[: len(self.counts)], place[len(self.counts) :], len(order)
        protected = {name: histogram.grouped(own, size) for name, histogram in self.protected.items()}
        for name, histogram in outside.items():
            both = [(protected[name].codes, protected[name].tuples, protected[name].counts)]
            both.append((histogram.codes, other[histogram.tuples], histogram.counts))
            values, tuples, counts = (np.concatenate(part) for part in zip(*both, strict=True))
            protected[name] = counted(histogram.values, tuples * histogram.width + values, counts, size)
        return CompressedTable(
            self.attributes,
            tuple(column[order] for column in columns),
            np.concatenate([self.counts, np.zeros(len(other), self.counts.dtype)])[order],
            None if self.target is None else self.target.grouped(own, size),
            protected,
            self.incomplete,
        )

    @property
    def has_target(self) -> bool:
        return self.target is not None

    @property
    def labels(self) -> tuple[str | None, ...]:
        return () if self.target is None else self.target.values

    @cached_property
    def records(self) -> int:
        return int(self.counts.sum())

    def everyone(self) -> ClassCounts:
        """What privacy models ask of all records together."""
        table = self.with_absent
        return table.class_counts(np.zeros(len(table.counts), np.int64), 1)

    def index(self, name: str) -> int:
        return next(i for i, attribute in enumerate(self.attributes) if attribute.name == name)

    @cached_property
    def weights(self) -> npt.NDArray[np.float64] | None:
        """Counts as weights of np.bincount, None where every count is 1."""
        return None if (self.counts == 1).all() else self.counts.astype(np.float64)

    def value_counts(self, attribute: int) -> Counts:
        return count(self.codes[attribute], self.attributes[attribute].size, self.weights)

    def label_counts(self, attribute: int) -> Counts:
        """Records per code of one attribute and label of the target: codes x labels."""
        return self._label_counts[attribute]

    @cached_property
    def _label_counts(self) -> Mapping[int, Counts]:
        """The same of every attribute; several are counted at once, as long as cells are far fewer than tuples."""
        sizes, room = [attribute.size for attribute in self.attributes], min(_MOST_CELLS, len(self.counts) // 4)
        found: dict[int, Counts] = {}
        together: list[int] = []
        for index in sorted(range(len(sizes)), key=sizes.__getitem__):
            if together and math.prod(sizes[i] for i in (*together, index)) > room:
                found |= self._labels_of(together)
                together = []
            together.append(index)
        return found | self._labels_of(together)

    def _labels_of(self, attributes: Sequence[int]) -> dict[int, Counts]:
        sizes = [self.attributes[index].size for index in attributes]
        packed, size = self.codes[attributes[0]], math.prod(sizes)
        for index, width in zip(attributes[1:], sizes[1:], strict=True):
            packed = packed.astype(np.min_scalar_type(size - 1)) * width + self.codes[index]
        counts = self.labels_in(packed, size).reshape(*sizes, -1)
        axes = set(range(len(sizes)))
        return {index: counts.sum(axis=tuple(axes - {axis})) for axis, index in enumerate(attributes)}

    def labels_in(self, groups: Codes, size: int, kept: Mask | None = None) -> Counts:
        """Records per group of tuples and label of the target: size x labels."""
        assert self.target is not None
        return self.target.table(groups, size, kept)

    def class_counts(self, groups: Codes, size: int, kept: Mask | None = None) -> ClassCounts:
        """What privacy models ask of the classes that groups of tuples are."""
        records = count(groups, size, self.weights if kept is None else self.counts * kept)
        if not self.protected:
            return ClassCounts(records)
        return ClassCounts(records, {name: h.grouped(groups, size, kept) for name, h in self.protected.items()})

    @classmethod
    def build(
        cls,
        attributes: Sequence[Attribute],
        codes: Sequence[Codes],
        counts: Counts | None,
        target: tuple[Sequence[str | None], Codes] | None = None,
        protected: Mapping[str, tuple[Sequence[str | None], Codes]] | None = None,
    ) -> CompressedTable:
        """Collapse rows of codes."""
        sizes = [attribute.size for attribute in attributes]
        types = [np.min_scalar_type(size - 1) for size in sizes]
        columns = [column.astype(kind, copy=False) for column, kind in zip(codes, types, strict=True)]
        first = [target] if target else []
        order, starts = sort_tuples([*columns, *(c for _, c in first)], [*sizes, *(len(v) for v, _ in first)])
        if not first and not protected:
            tuples = order[starts]
            return cls(tuple(attributes), tuple(c.take(tuples) for c in columns), summed(counts, order, starts))
        entries = order[starts]
        entry_counts = summed(counts, order, starts)
        columns = [column.take(entries) for column in columns]
        new = changes(columns)
        firsts = np.flatnonzero(new)
        number = np.cumsum(new, dtype=np.int64)  # the tuple of each entry
        number -= 1
        kept = tuple(columns if len(firsts) == len(entries) else (column.take(firsts) for column in columns))
        labels = None
        if target:
            codes_of = target[1].take(entries).astype(np.int64, copy=False)
            labels = Histogram(tuple(target[0]), number, codes_of, entry_counts, len(firsts))
        histograms = {}
        if protected:
            of_row = np.empty(len(order), np.int64)
            of_row[order] = np.repeat(number, np.diff(np.append(starts, len(order))))
            each = np.ones(len(order), np.int64) if counts is None else counts
            for name, (values, column) in protected.items():
                rows = Histogram(tuple(values), np.arange(len(of_row)), column, each, len(of_row))
                histograms[name] = rows.grouped(of_row, len(firsts))
        if len(firsts) < len(entries):
            entry_counts = np.add.reduceat(entry_counts, firsts)
        return cls(tuple(attributes), kept, entry_counts, labels, histograms)


def people_of(people: Counts) -> Histogram:
    """How many people of a population have each tuple, as a protected column has it."""
    size = len(people)
    return Histogram(("people",), np.arange(size), np.zeros(size, np.int64), people, size)
