"""A recoding by class: what new rows become after a release of a local method, from its released classes alone.

A row takes the released class that covers it in the most columns: one that covers all of it, if there is one. Of
several it takes the most specific one, and of those the first. In a column in which the class does not cover it, it
takes the least general released value that covers both, at most the root.

How specific a class is follows from what was released: in each column the share of what there is to distinguish that
its value leaves open, summed over the columns, as fractions. There are the leaves of a given taxonomy; else the pieces
into which the released values cut the column.

Nothing of it needs the original table, so it goes out with the release, and what it says of a row says no more of
anyone in the table than the release does. The rows of the table itself become what new rows would, which need not be
what they were released as: that would reveal who is in the table. New rows are not k-anonymous by that alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import lcm
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from incrowd.recodings.mapping import LocalMapping, TupleLookup, distinct
from incrowd.recodings.recoding import Mask, Recoding, policy_fields, policy_fields_from
from incrowd.recodings.released_values import ReleasedValues, released_values, released_values_from
from incrowd.recodings.schema import DOCUMENT
from incrowd.schemas.shapes import SchemaError
from incrowd.table.arrays import filled, text_array, to_numpy
from incrowd.table.grouping import Codes, Counts
from incrowd.table.missing import encoded
from incrowd.table.scales import text_of

Bits = npt.NDArray[np.uint64]
_WORD = 64
_ROOM = 2**22  # words that are worked on at a time


@dataclass(frozen=True, repr=False)
class ByClass(Recoding):
    """Released classes, as tuples of released values.

    Args:
        columns: The released values of each column.
        classes: The places of the values of each class, in order.
    """

    columns: tuple[ReleasedValues, ...]
    classes: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, mapping: LocalMapping, used: Sequence[Any], policy: Recoding) -> ByClass:
        """What is released of a mapping, with what a policy says; `used` are the nodes that are, and the root."""
        columns = tuple(released_values(h, nodes) for h, nodes in zip(mapping.hierarchies, used, strict=True))
        places = [np.searchsorted(nodes, column) for nodes, column in zip(used, mapping.classes.T, strict=True)]
        classes = tuple(zip(*(column.tolist() for column in places), strict=True))
        return cls(columns, classes, **policy_fields_from(policy_fields(policy)))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    @property
    def is_confidential(self) -> bool:
        return False

    @property
    def by_row(self) -> bool:
        return True

    def __getitem__(self, name: str) -> ReleasedValues:
        return self.columns[self.names.index(name)]

    # Rows

    def split_tuples(self, cells: Sequence[Codes]) -> Codes:
        return np.full(len(cells[0]), -1)

    @property
    def key(self) -> bytes:
        return b""

    def part_sizes(self) -> tuple[Codes, Counts]:
        return np.zeros(1, np.int64), np.empty(0, np.int64)

    def release(self, cells: Sequence[Codes], parts: Codes) -> tuple[Sequence[Codes], Mask | None]:
        rows, number = distinct(np.stack(cells, axis=1)) if len(cells[0]) else (np.empty((0, len(cells)), int), parts)
        taken = self._classes[self._closest(rows)]
        columns = []
        for place, column in enumerate(self.columns):
            (start, stop), labels, pieces = column.spans, taken[:, place].copy(), rows[:, place].astype(np.int64)
            outside = (pieces < start[labels]) | (pieces >= stop[labels])
            labels[outside] = column.covering(pieces[outside], labels[outside])
            columns.append(labels[number])
        return columns, None

    def class_numbers(self, cells: Sequence[Codes], parts: Codes) -> Codes:
        columns, _ = self.release(cells, parts)
        return self._lookup(np.stack(columns, axis=1))

    @cached_property
    def _classes(self) -> Codes:
        return np.array(self.classes, np.int64).reshape(-1, len(self.columns))

    @cached_property
    def _lookup(self) -> TupleLookup:
        return TupleLookup(self._classes, [len(column.labels) for column in self.columns])

    @cached_property
    def _order(self) -> Codes:
        """The classes from the most specific one, by exact sums of fractions with a common denominator."""
        most = [max(1, int(column.sizes[0]) - 1) for column in self.columns]
        common, loss = lcm(*most), np.zeros(len(self._classes), object)
        for column, labels, whole in zip(self.columns, self._classes.T, most, strict=True):
            loss += np.array([(size - 1) * (common // whole) for size in column.sizes.tolist()], object)[labels]
        return np.argsort(loss, kind="stable")

    @cached_property
    def _bits(self) -> list[Bits]:
        """By column, pieces x words: which classes, in their order, cover each piece."""
        words, found = -(-len(self._order) // _WORD), []
        place, bit = np.divmod(np.arange(len(self._order)), _WORD)
        for number, column in enumerate(self.columns):
            (start, stop), labels = column.spans, self._classes[self._order, number]
            of_label = np.zeros((len(start), words), np.uint64)
            np.bitwise_or.at(of_label, (labels, place), np.uint64(1) << bit.astype(np.uint64))
            pieces = np.zeros((int(stop.max()) + 1, words), np.uint64)  # missing values may have one of their own
            for label, (first, last) in enumerate(zip(start.tolist(), stop.tolist(), strict=True)):
                pieces[first:last] |= of_label[label]
            found.append(pieces)
        return found

    def _closest(self, rows: npt.NDArray[Any]) -> Codes:
        """The class that each row of pieces takes."""
        found, room = np.empty(len(rows), np.int64), max(1, _ROOM // self._bits[0].shape[1])
        for begin in range(0, len(rows), room):
            some = rows[begin : begin + room]
            covers = self._bits[0][some[:, 0]]
            for bits, pieces in zip(self._bits[1:], some.T[1:], strict=True):
                covers &= bits[pieces]
            lacks = ~covers.any(axis=1)
            covers[lacks] = self._nearly(some[lacks])
            found[begin : begin + room] = self._order[_first_bit(covers)]
        return found

    def _nearly(self, rows: npt.NDArray[Any]) -> Bits:
        """For each row, which classes cover it in the most columns, counted in binary, a plane of bits per digit."""
        planes: list[Bits] = []
        for bits, pieces in zip(self._bits, rows.T, strict=True):
            carry = bits[pieces]
            for digit, plane in enumerate(planes):
                planes[digit], carry = plane ^ carry, plane & carry
            planes.append(carry)
        best = np.full((len(rows), self._bits[0].shape[1]), ~np.uint64(0))
        best[:, -1] >>= np.uint64(-len(self._order) % _WORD)
        for plane in reversed(planes):
            higher = best & plane
            has = higher.any(axis=1)
            best[has] = higher[has]
        return best

    def covered(self, name: str) -> tuple[Codes, Codes]:
        return self[name].spans

    def in_released_class(self, batch: pa.RecordBatch) -> Mask:
        cells = []
        for name in self.names:
            column = encoded(batch.column(name), name)
            found = pc.index_in(text_of(column.dictionary), text_array(self.all_labels(name)), skip_nulls=True)
            nothing = self.all_labels(name).index(None) if None in self.all_labels(name) else -1
            cells.append(np.append(to_numpy(filled(found, -1)), nothing)[_places(column)])
        known = np.min(cells, axis=0) >= 0
        known[known] = self._lookup(np.stack(cells, axis=1)[known]) >= 0
        return np.asarray(known)

    # What is shown

    def _released(self, name: str) -> list[int]:
        place = self.names.index(name)
        return sorted({cells[place] for cells in self.classes})

    def labels(self, name: str) -> tuple[str | None, ...]:
        return self.labels_of(name, self._released(name))

    def labels_of(self, name: str, cells: Sequence[int]) -> tuple[str | None, ...]:
        labels = self.all_labels(name)
        return tuple(labels[cell] for cell in cells)

    def all_labels(self, name: str) -> tuple[str | None, ...]:
        return tuple(self.missing_label if label is None else label for label in self[name].labels)

    def unchanged(self, name: str) -> tuple[str | None, ...] | None:
        column, released = self[name], self._released(name)
        missing = self.missing_label is not None and None in column.labels
        if missing or not all(map(column.as_it_is, released)):
            return None
        return tuple(label if place in released else None for place, label in enumerate(column.labels))

    def meanings(self, name: str) -> list[str]:
        return [self[name].meaning(place) for place in self._released(name)]

    # It has no table

    def parts(self, table: Any) -> NoReturn:
        raise TypeError("released classes do not say what they were made from")

    without = carried_back = in_hierarchy = pieces = ends = sums = parts  # type: ignore[assignment]

    # JSON

    def to_json(self) -> dict[str, Any]:
        fields = {
            "kind": "by class",
            "columns": [*self.names, *self.dropped],
            **policy_fields(self),
            "attributes": [column.to_json() for column in self.columns],
            "classes": [" ".join(map(str, places)) for places in self.classes],
        }
        return DOCUMENT.sealed(fields)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ByClass:
        columns = tuple(map(released_values_from, data["attributes"]))
        classes = tuple(tuple(map(int, line.split())) for line in data["classes"])
        sizes = [len(column.labels) for column in columns]
        if any(len(c) != len(sizes) or any(p >= n for p, n in zip(c, sizes, strict=True)) for c in classes):
            raise SchemaError("classes", "have a place among the labels of each attribute")
        if list(classes) != sorted(set(classes)):
            raise SchemaError("classes", "ascend")
        for place, column in enumerate(columns):
            if {0, *(cells[place] for cells in classes)} != set(range(sizes[place])):
                raise SchemaError(f"labels of '{column.name}'", "all be in classes, except for the first")
        return cls(columns, classes, **policy_fields_from(data))


def _first_bit(words: Bits) -> Codes:
    """The place of the first bit that is set in each row."""
    place = (words != 0).argmax(axis=1)
    word = words[np.arange(len(words)), place]
    lowest = word & (~word + np.uint64(1))
    return np.asarray(place * _WORD + np.frexp(lowest.astype(np.float64))[1] - 1)


def _places(column: pa.DictionaryArray) -> Codes:
    return to_numpy(column.indices.fill_null(len(column.dictionary)))
