"""DM under sets: a bound that couples what joins cost with whom they keep from being suppressed, for `pairs`.

DM counts pairs of records: those of one class, both ways, and a suppressed record with all. Joining two values puts
together at least the records that differ in these values alone, whatever else is joined; such pairs are different ones
for different joins, so what joins cost adds up. And a class that is too small is suppressed, or one of its values is
joined with another. More precisely: take a *box*, some values of each attribute that include those of the class, with
fewer records in it than a good class has. Whatever keeps the class from being suppressed joins one of its values with
one outside the box. This is a *cut*. What keeps all cuts costs at least what `packing` packs.

Boxes are made as large as they can be, so that cuts name few joins, and there are far too many cuts to list. So they
are made where they are broken: the packing has prices for joins, values with a high price are taken into the box first,
and if the rest costs less than 1, the cut is new. Cuts hold everywhere; those that got something go on to the nodes
below.

A join that costs more than is packed around it, by more than the best leaves, is hopeless at the node and below it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from incrowd.run import Run
from incrowd.search.optimal import cut_kernels
from incrowd.search.optimal.blocks import first
from incrowd.search.optimal.costs import Costs
from incrowd.search.optimal.innermost import MOST_BITS
from incrowd.search.optimal.innermost import fits as can_be_solved
from incrowd.search.optimal.packing import GOLDEN, PARTS, Packing
from incrowd.search.optimal.partitions import TreeSpace
from incrowd.search.optimal.probes import smallest_good
from incrowd.search.optimal.ranges import Range
from incrowd.search.optimal.slices import in_slices
from incrowd.table.grouping import Counts, Floats

MOST_JOINS = 600  # rows of a packing
MOST_ROWS = 20_000
CUTS = 200  # made at a time
ROUNDS = 60  # of making cuts, at most
LITTLE = 0.1  # of what the best leaves; where two rounds add less, no more are made: more nodes are worth more
RANK = 1e-6  # what the order of joins by their costs counts beside their prices


@dataclass(frozen=True)
class Cuts:
    """Cuts in terms of values.

    Args:
        values: Cuts x attributes, values of the class of each.
        boxes: Cuts x attributes, the values in its box as bit masks.
        capped: Classes x attributes, values of classes for which the penalty of suppression counts.
    """

    values: Counts
    boxes: Counts
    capped: Counts


@dataclass(frozen=True)
class Known:
    """What is known of a node.

    Args:
        bound: No cost that beats the best is lower.
        hopeless: Joins x (attribute, two labels): those that nothing makes that beats the best.
        open: Joins x (attribute, two labels): the others.
        prices: Of the others, 0 if a join is of no use to 1 if all that is cheap makes it.
        costs: Of the others, what they cost.
        cuts: For the nodes below.
    """

    bound: int
    hopeless: Counts
    open: Counts
    prices: Floats
    costs: Counts
    cuts: Cuts | None


def fits(costs: Costs, index: int | None) -> bool:
    """Whether bounds can be found this way where an attribute is solved: DM, and any sets of values of all."""
    if costs.cost != "dm" or index is None or not can_be_solved(costs, index) or len(costs.rows) > MOST_ROWS:
        return False
    spaces = [domain.space for domain in costs.domains]
    sizes = [space.size for space in spaces]
    is_free = all(isinstance(s, TreeSpace) and s.mode == "set" and len(s.tree.children[0]) == s.size for s in spaces)
    joins = sum(size * (size - 1) // 2 for size in sizes)
    return is_free and max(sizes) <= MOST_BITS and max(sizes) ** len(sizes) < 2**62 and joins <= MOST_JOINS


class CutBounds:
    """Bounds nodes.

    Args:
        costs: What is to be low.
        limit: Records that may be suppressed.
        run: Asked now and then whether to go on.
    """

    def __init__(self, costs: Costs, limit: int, run: Run) -> None:
        self._costs, self._run, self._may_suppress = costs, run, limit > 0
        self._good = smallest_good(costs)

    def known(self, ranges: Sequence[Range], cuts: Cuts | None, best: float) -> Known:
        """What is known of everything within some ranges.

        Args:
            ranges: Of each attribute.
            cuts: Those from above.
            best: What must be beaten.

        Raises:
            RunOver: The run is over.
        """
        most = self._costs.records**2 + 1  # more than anything costs
        table = _Table(self._costs, ranges, int(min(best, most)))
        if table.room <= 0:
            none = np.empty((0, 3), np.int64)
            return Known(table.base, none, none, np.empty(0), np.empty(0, np.int64), None)
        sizes = table.sizes
        each = max(0, self._costs.records - self._good + 1)
        penalties = sizes * each if self._may_suppress else np.full(len(sizes), table.room)
        packing = Packing(table.costs[tuple(table.rows.T)], penalties, self._run)
        values, boxes = table.carried(cuts, packing)
        small, before = table.mixed(np.flatnonzero(sizes < self._good)), [0.0, 0.0]
        for number in range(ROUNDS):
            packing.solve(table.room + 1.0)
            is_little = number > 1 and packing.total - before[-2] < LITTLE * table.room
            if packing.total > table.room or is_little:
                break
            before.append(packing.total)
            owners, found, looked = table.cut(small, self._good, packing, self._run)
            small = np.roll(small, -looked)
            if not len(owners):
                break
            values.append(table.cells[owners])
            boxes.append(found)
        return table.known(packing, np.concatenate(values), np.concatenate(boxes))


class _Table:
    """The classes of a node and the joins that are open.

    Args:
        costs: What is to be low.
        ranges: Of each attribute.
        best: What must be beaten.
    """

    def __init__(self, costs: Costs, ranges: Sequence[Range], best: int) -> None:
        fine = [of.fine for of in ranges]
        classes, numbers = costs.classes(fine), np.arange(len(ranges))
        self._width = costs.width
        self._labels = np.zeros((len(ranges), costs.width), np.int64)
        self._masks = np.zeros((len(ranges), costs.width), np.int64)
        self._near = np.zeros((len(ranges), costs.width, costs.width), bool)
        self.costs = np.zeros(self._near.shape, np.int64)
        for index, of in enumerate(ranges):
            size = len(of.fine)
            self._labels[index, :size] = of.fine
            self._masks[index, of.fine[[first(block) for block in of.blocks]]] = of.blocks
            self._near[index, :size, :size] = of.near
        self._near &= (self._masks != 0)[:, :, None] & (self._masks != 0)[:, None, :] & ~np.eye(costs.width, dtype=bool)
        self.cells = np.ascontiguousarray(self._labels[numbers, costs.rows[classes.firsts]])
        self._bytes = np.ascontiguousarray(self.cells.T.astype(np.uint8))
        self.sizes = classes.sizes.astype(np.int64)
        for index in range(len(ranges)):
            others = [*fine[:index], np.zeros_like(fine[index]), *fine[index + 1 :]]
            bucket = costs.classes(others, classes).of_row
            order, label = np.argsort(bucket, kind="stable"), np.ascontiguousarray(self.cells[:, index])
            cut_kernels.join_costs(order, bucket, label, self.sizes, self.costs[index])
        self.base = int((self.sizes**2).sum())
        self._best, self.room = best, best - self.base
        self._dear = np.argwhere(np.triu(self._near & (self.costs >= self.room)))
        self._near &= self.costs < self.room
        self.rows = np.argwhere(np.triu(self._near & (self.costs > 0)))
        self._row_of = np.full(self._near.shape, -1)
        attribute, one, other = self.rows.T
        self._row_of[attribute, one, other] = self._row_of[attribute, other, one] = np.arange(len(self.rows))
        self._ranks = self.costs * (RANK / max(1, self.costs.max()))
        self._lists = np.ascontiguousarray(np.argsort(self.cells, axis=0, kind="stable").T)
        counts = np.zeros((len(ranges), costs.width + 1), np.int64)
        np.add.at(counts, (numbers, self.cells + 1), 1)
        self._starts = np.cumsum(counts, axis=1)

    def carried(self, cuts: Cuts | None, packing: Packing) -> tuple[list[Counts], list[Counts]]:
        """Pack cuts from above; their values and boxes."""
        if cuts is None or not len(self.rows):
            nothing = np.empty((0, len(self._labels)), np.int64)
            return [nothing], [nothing]
        count = len(cuts.values)
        kept, begins = np.empty(count, np.int64), np.zeros(count + 1, np.int64)
        entries = np.empty((count + 1) * self._near.shape[0] * self._width, np.int64)
        given = (cuts.values, cuts.boxes, self._labels, self._masks, self._near, self._row_of)
        count = cut_kernels.carried(*given, kept, begins, entries)
        kept, begins = kept[:count], begins[: count + 1]
        packing.cap(self._classes_of(cuts.capped))
        packing.add(self._classes_of(cuts.values[kept]), begins, entries[: begins[-1]])
        return [cuts.values[kept]], [cuts.boxes[kept]]

    def _classes_of(self, values: Counts) -> Counts:
        """The classes that have some values."""
        numbers = np.arange(len(self._labels))
        powers = self._width**numbers
        keys = self.cells @ powers
        order = np.argsort(keys)
        return np.asarray(order[np.searchsorted(keys[order], self._labels[numbers, values] @ powers)])

    @staticmethod
    def mixed(small: Counts) -> Counts:
        """Classes in an order in which those that have much in common are far from each other."""
        return small[np.argsort(np.arange(len(small)) * GOLDEN % 1)]

    def cut(self, small: Counts, good: int, packing: Packing, run: Run) -> tuple[Counts, Counts, int]:
        """Pack more cuts that the prices break; their classes and boxes, and how many classes were looked at."""
        count, attributes = min(len(small), CUTS), len(self._labels)
        owners, boxes = np.empty(count, np.int64), np.empty((count + 1, attributes), np.int64)
        begins = np.zeros(count + 1, np.int64)
        entries = np.empty((count + 1) * attributes * self._width, np.int64)
        place = np.zeros(3, np.int64)
        prices = (packing.prices, packing.class_prices)
        given = (self._bytes, self.sizes, small, self._starts, self._lists, self._near, self._row_of, self._ranks)
        found = (owners, boxes, begins, entries)
        in_slices(run, cut_kernels.cut, *given, *prices, self._masks, good, found, place)
        count = int(place[1])
        packing.add(owners[:count], begins[: count + 1], entries[: begins[count]])
        return owners[:count], boxes[:count], int(place[0])

    def known(self, packing: Packing, values: Counts, boxes: Counts) -> Known:
        """What a packing says."""
        packed = packing.whole()
        paid = self.base * PARTS + packed.total
        too_much = paid + packed.left > (self._best - 1) * PARTS
        free = np.argwhere(np.triu(self._near & (self.costs == 0)))
        got = packed.amounts > 0
        capped = self.cells[packing.capped[packing.class_prices[packing.capped] > 0]]
        joins = self.rows[~too_much]
        return Known(
            self.base - -packed.total // PARTS,
            np.concatenate([self._dear, self.rows[too_much]]),
            np.concatenate([joins, free]),
            np.concatenate([packing.prices[~too_much], np.ones(len(free))]),
            np.concatenate([self.costs[tuple(joins.T)], np.zeros(len(free), np.int64)]),
            Cuts(values[got], boxes[got], capped),
        )
