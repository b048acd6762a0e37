"""The attributes of a table as Mondrian sees them: how wide a box is in one, how it is cut, and what is released.

One class per way of cutting: numbers and dates at the median, categories into the children of a taxonomy node.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm

import numpy as np

from incrowd.recodings.grids import Grid
from incrowd.recodings.hierarchies import Hierarchy
from incrowd.recodings.kinds import hierarchy_of
from incrowd.recodings.ranges import Ranges
from incrowd.search.loss_scale import NARROW, LossScale, Whole
from incrowd.search.mondrian.boxes import Box, Ints, Part
from incrowd.table.attributes import NumberAttribute
from incrowd.table.compressed import CompressedTable
from incrowd.table.exact_numbers import as_fraction


class NumberDimension:
    """An attribute of numbers or dates."""

    def __init__(self, attribute: NumberAttribute, relaxed: bool, grid: Grid | None) -> None:
        self._attribute = attribute
        self._relaxed = relaxed
        scale = LossScale(attribute)
        self.widest = scale.denominator
        self._places = scale.places
        self._low_bounds = self._high_bounds = self._places  # of the range of a code, as places
        if grid is not None and len(self._places) > 1:
            self._round_outward(grid)

    def _round_outward(self, grid: Grid) -> None:
        """Places of the bounds of cells, in whole numbers like those of the numbers themselves."""
        numbers, (lowest, highest) = self._attribute.numbers, map(as_fraction, self._attribute.extent)
        unit = self.widest / (highest - lowest)
        step = 0 if self._attribute.scale.kind == "number" else 1
        cells = grid.cells(numbers).tolist()
        low = {cell: max(Fraction(0), (as_fraction(grid.bound(cell)) - lowest) * unit) for cell in set(cells)}
        high = {cell: (as_fraction(grid.bound(cell + 1)) - step - lowest) * unit for cell in set(cells)}
        low[cells[0]], high[cells[-1]] = (
            Fraction(0),
            Fraction(self.widest),
        )  # these are open, or end at the public range
        finer = lcm(*(place.denominator for place in (*low.values(), *high.values())))
        self.widest *= finer
        self._places = [place * finer for place in self._places]
        self._low_bounds = [int(low[cell] * finer) for cell in cells]
        self._high_bounds = [int(high[cell] * finer) for cell in cells]

    def width(self, low: int, high: int) -> int:
        """Part of the range of the column; everything with missing values."""
        return self.widest if high == self._attribute.missing else self._places[high] - self._places[low]

    def lost(self, low: Ints, high: Ints) -> Whole:
        """What boxes lose that reach from one code to another, at least: were bounds exact."""
        return self._lost(low, high, self._places, self._places)

    def released_loss(self, low: Ints, high: Ints) -> Whole:
        """What they lose as they are released."""
        return self._lost(low, high, self._low_bounds, self._high_bounds)

    def _lost(self, low: Ints, high: Ints, lows: list[int], highs: list[int]) -> Whole:
        kind = object if self.widest >= NARROW else np.int64
        bottoms, tops = np.array([*lows, 0], kind), np.array([*highs, 0], kind)
        top = np.where(high == len(highs) - 1, self.widest, tops[high])
        lost = np.where(high == self._attribute.missing, self.widest, top - np.where(low == 0, 0, bottoms[low]))
        return np.where(low == high, 0, lost)

    def cut(self, codes: Ints, box: Box) -> Sequence[Part]:
        """Cut off missing values, else cut at the median; the parts by position."""
        missing = self._attribute.missing
        if missing is not None and (apart := codes == missing).any():
            return box.parts(apart.astype(np.int64))
        return self._halve(codes, box) if self._relaxed else box.cut_between(codes)

    @staticmethod
    def _halve(codes: Ints, box: Box) -> Sequence[Part]:
        records = box.records
        order = np.argsort(codes, kind="stable")
        ends = np.cumsum(records[order])
        half = int(ends[-1]) // 2
        if not box.good_sizes(np.array([half, ends[-1] - half])).all():
            return ()
        place = int(np.searchsorted(ends, half))
        left, right = records[order[: place + 1]].copy(), records[order[place:]].copy()
        left[-1] -= ends[place] - half
        right[0] = ends[place] - half
        whole = int(right[0] == 0)
        return Part(order[: place + 1], left), Part(order[place + whole :], right[whole:])

    def release(self, spans: Sequence[tuple[int, int]]) -> tuple[Hierarchy, Ints]:
        """The hierarchy, and the node of each span of codes (first and last); missing values make it everything."""
        size, missing = self._attribute.size, self._attribute.missing
        ends = [(0, size) if high == missing and low != missing else (low, high + 1) for low, high in spans]
        ranges = Ranges.of(self._attribute, ends)
        return ranges, np.array([ranges.node(*span) for span in ends])


class TreeDimension:
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

    def lost(self, low: Ints, high: Ints) -> Whole:
        """What boxes lose that reach from one code to another."""
        tree = self._hierarchy.taxonomy
        nodes = self._hierarchy.leaves[low]
        while (apart := tree.stop[nodes] <= high).any():
            nodes[apart] = tree.parent[nodes[apart]]
        return np.array(self._widths, np.int64)[nodes]

    def released_loss(self, low: Ints, high: Ints) -> Whole:
        """The same: that is what they are released as."""
        return self.lost(low, high)

    def cut(self, codes: Ints, box: Box) -> Sequence[Part]:
        """Cut into the children of the node that holds all values; the parts by position."""
        tree = self._hierarchy.taxonomy
        children = list(tree.children[self._node(int(codes.min()), int(codes.max()))])
        return box.parts(np.searchsorted(tree.stop[children], codes, side="right"))

    def release(self, spans: Sequence[tuple[int, int]]) -> tuple[Hierarchy, Ints]:
        """The hierarchy, and the node of each span of codes (first and last)."""
        return self._hierarchy, np.array([self._node(low, high) for low, high in spans])


Dimension = NumberDimension | TreeDimension
