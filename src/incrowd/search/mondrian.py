"""Mondrian (LeFevre, DeWitt, Ramakrishnan, 2006; "Multi" in the KACA paper): cut the table into boxes of at least k.

All records start in one box. A box is cut in its widest attribute that can be cut, and so on with its parts; what
cannot be cut is a class, and is released as the smallest box around its records. Width is the generalized loss of that
box, so attributes compare whatever they hold; of equally wide ones the first by name is cut.

- Numbers and dates are cut in two at the median. A strict cut lies between two values, the one closest to the median of
  those that leave k records on both sides. A relaxed one gives half of the records to each side, and may part records
  that are equal; so neighbouring boxes may overlap. Missing values are cut off before numbers are cut.
- Categories are cut into the children of the taxonomy node that holds them all, in both ways; without a taxonomy into
  single values. Each part that is not empty must have k records.

Invariant: every box has at least k records, and every record lies in one box. It ends, since parts are smaller than the
box that they come from. Strict boxes are minimal, as in the paper: none can be cut any further. The order of rows plays
no part: equal records are parted by number, and which go where is decided as in every local recoding (`row_shares`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.policy import QuasiIdentifier
from incrowd.recodings.local.hierarchies import Hierarchy, hierarchy_of
from incrowd.recodings.local.mapping import LocalMapping, nodes_of
from incrowd.recodings.local.ranges import Ranges
from incrowd.search import Found
from incrowd.steps import Step
from incrowd.table import CompressedTable, Floats, NumberAttribute

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class _Part:
    """Some records: how many of which tuples; of a box, or by position of those of a box."""

    tuples: Ints
    records: Ints


def mondrian(
    table: CompressedTable,
    quasi_identifiers: Sequence[QuasiIdentifier],
    *,
    relaxed: bool = False,
    on_step: Callable[[Step], object] | None = None,
) -> Found:
    """Cut the table into boxes.

    Args:
        table: The compressed table.
        quasi_identifiers: One, over all attributes of the table.
        relaxed: Whether records with equal numbers may be parted.
        on_step: Not called: there are no steps to take back.
    """
    dimensions = [
        _NumberDimension(attribute, relaxed) if isinstance(attribute, NumberAttribute) else _TreeDimension(table, index)
        for index, attribute in enumerate(table.attributes)
    ]
    boxes = list(_boxes(table, dimensions, quasi_identifiers[0].k))
    return Found(
        (),
        facts={"partitioning": "relaxed" if relaxed else "strict", "boxes": len(boxes)},
        local=_mapping(table, dimensions, boxes),
    )


def _boxes(table: CompressedTable, dimensions: Sequence[_Dimension], k: int) -> Iterator[_Part]:
    """The boxes that cannot be cut."""
    names = [attribute.name for attribute in table.attributes]
    by_name = sorted(range(len(names)), key=lambda index: names[index])
    order = np.lexsort([table.codes[index] for index in reversed(by_name)])  # the same whatever the order of columns
    codes = np.stack([column.astype(np.int64) for column in table.codes], axis=1)
    waiting = [_Part(order, table.counts[order].astype(np.int64))]
    while waiting:
        box = waiting.pop()
        parts = _cut(codes[box.tuples], box.records, dimensions, by_name, k) if box.records.sum() >= 2 * k else []
        waiting += [_Part(box.tuples[part.tuples], part.records) for part in reversed(parts)]
        if not parts:
            yield box


def _cut(
    codes: Ints, records: Ints, dimensions: Sequence[_Dimension], by_name: Sequence[int], k: int
) -> Sequence[_Part]:
    """The parts of a box, by position; none if it cannot be cut. codes: tuples x attributes."""
    low, high = codes.min(axis=0).tolist(), codes.max(axis=0).tolist()
    widths = {index: dimensions[index].width(low[index], high[index]) for index in by_name if low[index] < high[index]}
    for index in sorted(widths, key=lambda index: -widths[index]):  # by name where equal: sorting is stable
        if parts := dimensions[index].cut(codes[:, index], records, k):
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
        lowest, highest = attribute.extent
        span = float(highest) - float(lowest)
        self._places: list[float] = ((attribute.numbers.astype(np.float64) - lowest) / (span or 1.0)).tolist()

    def width(self, low: int, high: int) -> float:
        """Share of the range of the column; everything with missing values."""
        return 1.0 if high == self._attribute.missing else round(self._places[high] - self._places[low], 12)

    def cut(self, codes: Ints, records: Ints, k: int) -> Sequence[_Part]:
        """Cut off missing values, else cut at the median."""
        missing = self._attribute.missing
        if missing is not None and (apart := codes == missing).any():
            return _parts(apart.astype(np.int64), records, k)
        return self._halve(codes, records, k) if self._relaxed else self._cut_between(codes, records, k)

    @staticmethod
    def _cut_between(codes: Ints, records: Ints, k: int) -> Sequence[_Part]:
        lowest, total = codes.min(), records.sum()
        below = np.bincount(codes - lowest, records).astype(np.int64).cumsum()[:-1]  # records up to each value
        uneven = np.where((below >= k) & (total - below >= k), abs(2 * below - total), total + 1)
        best = int(uneven.argmin())
        return _parts((codes > lowest + best).astype(np.int64), records, k) if uneven[best] <= total else ()

    @staticmethod
    def _halve(codes: Ints, records: Ints, k: int) -> Sequence[_Part]:
        order = np.argsort(codes, kind="stable")
        ends = np.cumsum(records[order])
        half = int(ends[-1]) // 2
        if half < k:
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
        self._losses: Floats = np.round(self._hierarchy.losses(table.attributes[index]), 12)
        self._parent: list[int] = tree.parent.tolist()
        self._stop: list[int] = tree.stop.tolist()

    def _node(self, low: int, high: int) -> int:
        """The lowest node above all leaves from one to another."""
        node = self._hierarchy.taxonomy.leaves[low]
        while self._stop[node] <= high:
            node = self._parent[node]
        return node

    def width(self, low: int, high: int) -> float:
        """Loss of the node that holds all values."""
        return float(self._losses[self._node(low, high)])

    def cut(self, codes: Ints, records: Ints, k: int) -> Sequence[_Part]:
        """Cut into the children of the node that holds all values."""
        tree = self._hierarchy.taxonomy
        children = list(tree.children[self._node(int(codes.min()), int(codes.max()))])
        return _parts(np.searchsorted(tree.stop[children], codes, side="right"), records, k)

    def release(self, spans: Sequence[tuple[int, int]]) -> tuple[Hierarchy, Ints]:
        """The hierarchy, and the node of each span of codes (first and last)."""
        return self._hierarchy, np.array([self._node(low, high) for low, high in spans])


_Dimension = _NumberDimension | _TreeDimension


def _parts(groups: npt.NDArray[Any], records: Ints, k: int) -> Sequence[_Part]:
    """The groups of a box as parts, none if one of them is too small."""
    sizes = np.bincount(groups, records)
    present = np.flatnonzero(sizes)
    if (sizes[present] < k).any():
        return ()
    places = (np.flatnonzero(groups == group) for group in present)
    return [_Part(positions, records[positions]) for positions in places]
