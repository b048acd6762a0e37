"""Mondrian (LeFevre, DeWitt, Ramakrishnan, 2006; "Multi" in the KACA paper): cut the table into good boxes.

All records start in one box. A box is cut in its widest attribute that can be cut, and so on with its parts; what
cannot be cut is a class, and is released as the smallest box around its records. Width is the generalized loss of that
box, so attributes compare whatever they hold; of equally wide ones the first by name is cut.

- Numbers and dates are cut in two at the median. A strict cut lies between two values, the one closest to the median of
  those that leave a good class on both sides. A relaxed one gives half of the records to each side, and may part
  records that are equal; so neighbouring boxes may overlap. Missing values are cut off before numbers are cut.
- Categories are cut into the children of the taxonomy node that holds them all, in both ways; without a taxonomy into
  single values. Each part that is not empty must be a good class.

Invariant: every box is a good class (with k-anonymity: of at least k records), and every record lies in one box. It
ends, since parts are smaller than the box that they come from. Strict boxes are minimal, as in the paper: none can be
cut any further. The order of rows plays no part: equal records are parted by number, and which go where is decided as
in every local recoding.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import lcm
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.privacy.model import Requirement, Requirements, counts_records_only
from incrowd.recodings.by_tuple import ByTuple
from incrowd.recodings.hierarchies import Hierarchy, hierarchy_of
from incrowd.recodings.mapping import LocalMapping, nodes_of
from incrowd.recodings.ranges import Ranges
from incrowd.run import Run
from incrowd.search.loss_scale import LossScale
from incrowd.search.method import SearchResult
from incrowd.table.attributes import NumberAttribute
from incrowd.table.class_counts import ClassCounts
from incrowd.table.compressed import CompressedTable

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class _Part:
    """Some records: how many of which tuples; of a box, or by position of those of a box."""

    tuples: Ints
    records: Ints


def mondrian(
    table: CompressedTable,
    requirements: Requirements,
    run: Run,
    *,
    relaxed: bool = False,
) -> SearchResult:
    """Cut the table into boxes.

    Args:
        table: The compressed table.
        requirements: One, over all attributes of the table.
        run: When it is over, boxes stay as they are.
        relaxed: Whether records with equal numbers may be parted.
    """
    (requirement,) = requirements
    counts_records_only(requirement.models)
    dimensions = [
        _NumberDimension(attribute, relaxed) if isinstance(attribute, NumberAttribute) else _TreeDimension(table, index)
        for index, attribute in enumerate(table.attributes)
    ]
    boxes = list(_boxes(table, dimensions, requirement, run))
    facts = {"partitioning": "relaxed" if relaxed else "strict", "boxes": len(boxes)}
    return SearchResult(ByTuple.of(_mapping(table, dimensions, boxes), run.seed), facts=facts)


def _boxes(
    table: CompressedTable, dimensions: Sequence[_Dimension], requirement: Requirement, run: Run
) -> Iterator[_Part]:
    """The boxes that cannot be cut."""
    names = [attribute.name for attribute in table.attributes]
    places = sorted(range(len(names)), key=lambda index: names[index])
    order = np.lexsort([table.codes[index] for index in reversed(places)])  # the same whatever the order of columns
    codes = np.stack([column.astype(np.int64) for column in table.codes], axis=1)
    unit = lcm(*(dimension.widest for dimension in dimensions))  # widths of all attributes are parts of it
    by_name = [(index, dimensions[index], unit // dimensions[index].widest) for index in places]
    waiting = [_Part(order, table.counts[order].astype(np.int64))]
    done = 0
    while waiting:
        box = waiting.pop()
        records = int(box.records.sum())
        could_be_two = records >= 2 * requirement.least_size
        parts = _cut(codes[box.tuples], box.records, by_name, requirement) if could_be_two and run.goes_on() else ()
        waiting += [_Part(box.tuples[part.tuples], part.records) for part in reversed(parts)]
        if not parts:
            done += records
            run.amount(done, table.records, "records in boxes")
            yield box


def _cut(
    codes: Ints, records: Ints, by_name: Sequence[tuple[int, _Dimension, int]], requirement: Requirement
) -> Sequence[_Part]:
    """The parts of a box, by position; none if it cannot be cut.

    Args:
        codes: tuples x attributes.
        records: Records of each tuple.
        by_name: The attributes by name: position, dimension, and what its widths are multiplied by to be compared.
        requirement: What must hold.
    """
    low, high = codes.min(axis=0).tolist(), codes.max(axis=0).tolist()
    widths = [
        (dimension.width(low[index], high[index]) * weight, index, dimension)
        for index, dimension, weight in by_name
        if low[index] < high[index]
    ]
    for _, index, dimension in sorted(widths, key=lambda entry: -entry[0]):  # by name where equal: sorting is stable
        if parts := dimension.cut(codes[:, index], records, requirement):
            return parts
    return ()


def _mapping(table: CompressedTable, dimensions: Sequence[_Dimension], boxes: Sequence[_Part]) -> LocalMapping:
    sizes = [len(box.tuples) for box in boxes]
    tuples = np.concatenate([box.tuples for box in boxes])
    starts = np.cumsum([0, *sizes[:-1]])
    hierarchies, columns = [], []
    for index, dimension in enumerate(dimensions):
        codes = table.codes[index][tuples].astype(np.int64)
        spans = zip(
            np.minimum.reduceat(codes, starts).tolist(), np.maximum.reduceat(codes, starts).tolist(), strict=True
        )
        hierarchy, nodes = dimension.release(list(spans))
        hierarchies.append(hierarchy)
        columns.append(np.repeat(nodes, sizes))
    records = np.concatenate([box.records for box in boxes])
    return LocalMapping.build(hierarchies, nodes_of(table, hierarchies), tuples, np.stack(columns, axis=1), records)


class _NumberDimension:
    """An attribute of numbers or dates."""

    def __init__(self, attribute: NumberAttribute, relaxed: bool) -> None:
        self._attribute = attribute
        self._relaxed = relaxed
        scale = LossScale(attribute)
        self.widest = scale.denominator
        self._places = scale.places

    def width(self, low: int, high: int) -> int:
        """Part of the range of the column; everything with missing values."""
        return self.widest if high == self._attribute.missing else self._places[high] - self._places[low]

    def cut(self, codes: Ints, records: Ints, requirement: Requirement) -> Sequence[_Part]:
        """Cut off missing values, else cut at the median."""
        missing = self._attribute.missing
        if missing is not None and (apart := codes == missing).any():
            return _parts(apart.astype(np.int64), records, requirement)
        cut = self._halve if self._relaxed else self._cut_between
        return cut(codes, records, requirement)

    @staticmethod
    def _cut_between(codes: Ints, records: Ints, requirement: Requirement) -> Sequence[_Part]:
        lowest, total = codes.min(), records.sum()
        below = np.bincount(codes - lowest, records).astype(np.int64).cumsum()[:-1]  # records up to each value
        allowed = _good(requirement, below) & _good(requirement, total - below)
        uneven = np.where(allowed, abs(2 * below - total), total + 1)
        best = int(uneven.argmin())
        return _parts((codes > lowest + best).astype(np.int64), records, requirement) if allowed[best] else ()

    @staticmethod
    def _halve(codes: Ints, records: Ints, requirement: Requirement) -> Sequence[_Part]:
        order = np.argsort(codes, kind="stable")
        ends = np.cumsum(records[order])
        half = int(ends[-1]) // 2
        if not _good(requirement, np.array([half, ends[-1] - half])).all():
            return ()
        place = int(np.searchsorted(ends, half))
        left, right = records[order[: place + 1]].copy(), records[order[place:]].copy()
        left[-1] -= ends[place] - half
        right[0] = ends[place] - half
        whole = int(right[0] == 0)
        return _Part(order[: place + 1], left), _Part(order[place + whole :], right[whole:])

    def release(self, spans: Sequence[tuple[int, int]]) -> tuple[Hierarchy, Ints]:
        """The hierarchy, and the node of each span of codes (first and last); missing values make it everything."""
        size, missing = self._attribute.size, self._attribute.missing
        ends = [(0, size) if high == missing and low != missing else (low, high + 1) for low, high in spans]
        ranges = Ranges.of(self._attribute, ends)
        return ranges, np.array([ranges.node(*span) for span in ends])


class _TreeDimension:
    """An attribute with a taxonomy, or with none: then every value lies right below the root."""

    def __init__(self, table: CompressedTable, index: int) -> None:
        self._hierarchy = hierarchy_of(table.attributes[index])
        tree = self._hierarchy.taxonomy
        scale = LossScale(table.attributes[index])
        self.widest = scale.denominator
        self._widths: list[int] = scale.numerators(tree.start, tree.stop).tolist()
        self._parent: list[int] = tree.parent.tolist()
        self._stop: list[int] = tree.stop.tolist()

    def _node(self, low: int, high: int) -> int:
        """The lowest node above all leaves from one to another."""
        node = self._hierarchy.taxonomy.leaves[low]
        while self._stop[node] <= high:
            node = self._parent[node]
        return node

    def width(self, low: int, high: int) -> int:
        """Loss of the node that holds all values."""
        return self._widths[self._node(low, high)]

    def cut(self, codes: Ints, records: Ints, requirement: Requirement) -> Sequence[_Part]:
        """Cut into the children of the node that holds all values."""
        tree = self._hierarchy.taxonomy
        children = list(tree.children[self._node(int(codes.min()), int(codes.max()))])
        return _parts(np.searchsorted(tree.stop[children], codes, side="right"), records, requirement)

    def release(self, spans: Sequence[tuple[int, int]]) -> tuple[Hierarchy, Ints]:
        """The hierarchy, and the node of each span of codes (first and last)."""
        return self._hierarchy, np.array([self._node(low, high) for low, high in spans])


_Dimension = _NumberDimension | _TreeDimension


def _good(requirement: Requirement, sizes: Ints) -> npt.NDArray[np.bool_]:
    """Which classes of so many records are good."""
    return requirement.good(ClassCounts(sizes))


def _parts(groups: npt.NDArray[Any], records: Ints, requirement: Requirement) -> Sequence[_Part]:
    """The groups of a box as parts, none if one of them is not a good class."""
    sizes = np.bincount(groups, records).astype(np.int64)
    present = np.flatnonzero(sizes)
    if not _good(requirement, sizes[present]).all():
        return ()
    places = (np.flatnonzero(groups == group) for group in present)
    return [_Part(positions, records[positions]) for positions in places]
