"""Leaving out records of boxes that cannot be cut, where that pays.

A box is as wide as its outermost records. Each box offers to leave out all who have its lowest, or its highest, value
in one attribute, if what is left of it is a good class, and if those who stay gain more than those who leave lose: a
record that is left out loses everything. Offers are taken, those that gain most for each record left out first, as long
as the budget allows; boxes that have become smaller are cut further where they can be, and make new offers.

So the loss of the table, with left-out records counted as lost, is never higher than without leaving out anyone, and a
budget is not used up for its own sake. It ends, since every round leaves out records.

Where a model is not upward closed, boxes that are bad beside the records that stay are left out after every round as
well; if that is too much or does not pay, the round is made again with half of what may still be left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from incrowd.privacy.model import Requirement
from incrowd.run import Run
from incrowd.search.leaving_out import settled
from incrowd.search.loss_scale import Whole
from incrowd.search.mondrian.boxes import Ints, Mask, Part
from incrowd.search.mondrian.dimensions import Dimension
from incrowd.table.class_counts import ClassCounts
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import count

ROOM = 1 << 62  # sums below it fit into 64 bits


@dataclass(frozen=True)
class _Offer:
    """Some records of a box that could be left out.

    Args:
        gain: By how much the loss of the table would fall, for each of them.
        records: How many they are.
        box: The place of the box.
        stay: Which entries of the box would stay.
    """

    gain: Fraction
    records: int
    box: int
    stay: Mask


class _Boxes(NamedTuple):
    """Some boxes one after the other.

    Args:
        sizes: The entries of each box.
        starts: Where they begin.
        tuples: The tuple of each entry.
        records: Its records.
        of_box: Its box.
        codes: Its code, by attribute.
        low: The lowest code of each box, by attribute.
        high: The highest.
        total: The records of each box.
    """

    sizes: Ints
    starts: Ints
    tuples: Ints
    records: Ints
    of_box: Ints
    codes: dict[int, Ints]
    low: dict[int, Ints]
    high: dict[int, Ints]
    total: Ints

    @classmethod
    def of(cls, table: CompressedTable, by_name: Sequence[tuple[int, Dimension, int]], boxes: Sequence[Part]) -> _Boxes:
        sizes = np.array([len(box.tuples) for box in boxes])
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        tuples = np.concatenate([box.tuples for box in boxes])
        records = np.concatenate([box.records for box in boxes])
        of_box = np.repeat(np.arange(len(boxes)), sizes)
        codes = {index: table.codes[index][tuples].astype(np.int64) for index, _, _ in by_name}
        low = {index: np.minimum.reduceat(column, starts) for index, column in codes.items()}
        high = {index: np.maximum.reduceat(column, starts) for index, column in codes.items()}
        return cls(sizes, starts, tuples, records, of_box, codes, low, high, count(of_box, len(boxes), records))


class Trimming:
    """Leaves out records of boxes.

    Args:
        table: The table.
        requirement: What must hold.
        by_name: The attributes by name: position, dimension, and what its losses are multiplied by to be compared.
        cut: Cuts a box, and what comes of it, as far as possible.
    """

    def __init__(
        self,
        table: CompressedTable,
        requirement: Requirement,
        by_name: Sequence[tuple[int, Dimension, int]],
        cut: Callable[[Part], Iterator[Part]],
    ) -> None:
        self._table, self._requirement, self._by_name, self._cut = table, requirement, by_name, cut
        self._everything = sum(dimension.widest * weight for _, dimension, weight in by_name)
        narrow = self._everything * table.records < ROOM
        self._whole = np.int64 if narrow else np.object_

    def trimmed(self, boxes: Sequence[Part], budget: int, run: Run) -> tuple[list[Part], list[Part]]:
        """Leave out up to this many records; returns the boxes that are left, and the parts that are left out."""
        kept, waiting, out = list[Part](), list(boxes), list[Part]()
        while waiting and _records(out) < budget and run.should_continue():
            offers = sorted(self._offers(waiting), key=lambda offer: (-offer.gain, offer.box))
            left = budget - _records(out)
            while True:
                same, cut, gone = self._taken(waiting, offers, left)
                done = [*kept, *same], cut, [*out, *gone]
                if self._requirement.upward_closed or not gone:
                    break
                if (good := self._settled(*done, budget)) and self._lost_in(*good) < self._lost_in(kept, waiting, out):
                    done = good
                    break
                left //= 2
            kept, waiting, out = done
        return kept + waiting, out

    def _taken(
        self, waiting: Sequence[Part], offers: Sequence[_Offer], left: int
    ) -> tuple[list[Part], list[Part], list[Part]]:
        """Boxes that stay as they are, what others are cut into, and the parts of them that are left out."""
        out: list[Part] = []
        changed: dict[int, list[Part]] = {}
        for offer in offers:
            if offer.records > left:
                continue
            box = waiting[offer.box]
            left -= offer.records
            out.append(Part(box.tuples[~offer.stay], box.records[~offer.stay]))
            changed[offer.box] = list(self._cut(Part(box.tuples[offer.stay], box.records[offer.stay])))
        same = [box for place, box in enumerate(waiting) if place not in changed]
        return same, [part for place in sorted(changed) for part in changed[place]], out

    def _settled(
        self, kept: Sequence[Part], waiting: Sequence[Part], out: Sequence[Part], budget: int
    ) -> tuple[list[Part], list[Part], list[Part]] | None:
        """The same without bad boxes; None where more than the budget would be left out."""
        groups = np.full(len(self._table.counts), -1)
        for number, box in enumerate((*kept, *waiting)):
            groups[box.tuples] = number
        after = settled(self._table, self._requirement, groups, budget)
        if after is None:
            return None
        kept_good, waiting_good = ([box for box in some if after[box.tuples[0]] >= 0] for some in (kept, waiting))
        bad = [box for box in (*kept, *waiting) if after[box.tuples[0]] < 0]
        return kept_good, waiting_good, [*out, *bad]

    def _lost_in(self, kept: Sequence[Part], waiting: Sequence[Part], out: Sequence[Part]) -> int:
        """What all records lose together."""
        boxes = _Boxes.of(self._table, self._by_name, [*kept, *waiting])
        lost = self._lost(boxes.low, boxes.high).astype(object)
        return int(lost @ boxes.total) + _records(out) * self._everything

    def _offers(self, boxes: Sequence[Part]) -> Iterator[_Offer]:
        """The best offer of each box that has one."""
        sizes, starts, tuples, records, of_box, codes, low, high, total = _Boxes.of(self._table, self._by_name, boxes)
        before = self._lost(low, high) * total
        best: dict[int, tuple[Fraction, int, Mask]] = {}
        for index, _, _ in self._by_name:
            for end in (low, high):
                leave = codes[index] == end[index][of_box]
                stay = count(of_box, len(boxes), records * ~leave)
                possible = self._good(of_box, len(boxes), tuples, records, ~leave) & (stay > 0) & (stay < total)
                lost: Any = (total - stay).astype(self._whole) * self._everything
                after = self._without(codes, starts, leave) * stay + lost
                for box in np.flatnonzero(possible & (before - after > 0)).tolist():
                    gain = Fraction(int(before[box] - after[box]), int(total[box] - stay[box]))
                    if box not in best or gain > best[box][0]:
                        mask = ~leave[starts[box] : starts[box] + sizes[box]]
                        best[box] = gain, int(total[box] - stay[box]), mask
        for box, (gain, number, mask) in best.items():
            yield _Offer(gain, number, box, mask)

    def _lost(self, low: dict[int, Ints], high: dict[int, Ints]) -> Whole:
        """What each record of some boxes loses, in all attributes."""
        lost: Whole = np.zeros(len(low[self._by_name[0][0]]), self._whole)
        for index, dimension, weight in self._by_name:
            lost += dimension.released_loss(low[index], high[index]).astype(self._whole) * weight
        return lost

    def _without(self, codes: dict[int, Ints], starts: Ints, leave: Mask) -> Whole:
        """What each record of the boxes would lose if some entries left; of a box that all leave it does not matter."""
        low, high = {}, {}
        for index in codes:
            far = int(codes[index].max())
            low[index] = np.minimum.reduceat(np.where(leave, far, codes[index]), starts)
            high[index] = np.maximum(low[index], np.maximum.reduceat(np.where(leave, -1, codes[index]), starts))
        return self._lost(low, high)

    def _good(self, of_box: Ints, size: int, tuples: Ints, records: Ints, stay: Mask) -> Mask:
        """Which boxes would be good classes with the entries that stay."""
        sizes = count(of_box, size, records * stay)
        values = {}
        for name in self._requirement.columns:  # boxes then have all records of their tuples
            box_of = np.zeros(len(self._table.counts), np.int64)
            kept = np.zeros(len(self._table.counts), bool)
            box_of[tuples], kept[tuples] = of_box, stay
            values[name] = self._table.protected[name].grouped(box_of, size, kept)
        return self._requirement.good(ClassCounts(sizes, values))


def _records(parts: Sequence[Part]) -> int:
    return sum(int(part.records.sum()) for part in parts)
