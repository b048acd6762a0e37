"""Attributes whose codes are packed into one, so that one pass over the records counts for all of them.

Counting is most of what a top-down search does. A table of counts over all candidates of three or four attributes
together is still small, and the counts of each are its sums.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from incrowd.search.top_down.groups import Grouping, Groups, Weights, is_small, paired, take
from incrowd.search.top_down.promises import Promises
from incrowd.search.top_down.refiners import RangeRefiner, Refiner
from incrowd.table.grouping import Codes, tallied

_ROOM = 1 << 16  # packed codes of a bundle, where there are as many records: two bytes per record


@dataclass(frozen=True)
class Bundle:
    """Some attributes of one quasi-identifier."""

    attributes: tuple[int, ...]
    refiners: tuple[Refiner, ...]
    codes: Codes  # their codes, packed; the first attribute is the most significant
    size: int  # number of packed codes
    promises: Promises

    def observe(self, requirement: int, changed: Groups) -> None:
        live = [refiner for refiner in self.refiners if not refiner.idle()]
        if len(live) < 2 or self.size > len(changed.numbers) or not self.promises.sizes_do(requirement):
            self._one_by_one(live, requirement, changed)
            return
        ranges = [refiner for refiner in self.refiners if isinstance(refiner, RangeRefiner)]
        slots, slot_of_code = zip(*(refiner.slots_in_use() for refiner in ranges), strict=True)
        widths = [len(taken) for taken in slots]
        cells = changed.size * math.prod(widths)
        if not is_small(cells, len(changed.numbers)):
            self._one_by_one(live, requirement, changed)
            return
        packed = _packed(slot_of_code, widths)

        def keys(part: slice) -> tuple[Codes, Weights]:
            some = changed.part(part)
            slots = packed.take(take(self.codes, some.rows))
            return slots if some.size == 1 else paired(some.numbers, math.prod(widths), slots), some.weights

        counts = tallied(len(changed.numbers), cells, keys).reshape(changed.size, *widths)
        for axis, (refiner, taken) in enumerate(zip(ranges, slots, strict=True), 1):
            others = tuple(other for other in range(1, len(widths) + 1) if other != axis)
            refiner.observe_counts(requirement, counts.sum(axis=others), taken)

    @staticmethod
    def _one_by_one(refiners: Iterable[Refiner], requirement: int, changed: Groups) -> None:
        for refiner in refiners:
            refiner.observe(requirement, changed)


def _packed(slot_of_code: Sequence[Codes], widths: Sequence[int]) -> Codes:
    """The slots of all attributes, packed, of each packed code."""
    packed = np.zeros(1, np.int64)
    for slots, width in zip(slot_of_code, widths, strict=True):
        packed = np.add.outer(packed * width, slots).ravel()
    return packed


class Watcher:
    """A bundle that looks at the groups of its quasi-identifier when asked, not whenever they change."""

    def __init__(self, bundle: Bundle, requirement: int, grouping: Grouping) -> None:
        self.bundle = bundle
        self._requirement, self._grouping = requirement, grouping
        self._unseen: list[Groups] = []  # what changed since it looked

    def notify(self, changed: Groups) -> None:
        """Groups have changed; they are looked at later."""
        if changed.size:
            self._unseen.append(changed)
        everyone = self._grouping.everyone()
        if len(self._unseen) > 1 and sum(len(one.numbers) for one in self._unseen) > len(everyone.numbers):
            self._unseen = [everyone]

    def look(self) -> bool:
        """Lower the minima of all candidates by what changed since; whether anything did."""
        unseen, self._unseen = self._unseen, []
        if len(unseen) == 1:  # nothing has changed since
            self.bundle.observe(self._requirement, unseen[0])
        elif unseen:
            self.bundle.observe(self._requirement, self._grouping.of([changed.rows for changed in unseen]))
        return bool(unseen)


Member = tuple[int, Refiner, Codes, int]  # an attribute: its index, its refiner, its codes and how many there are


def bundles(members: Iterable[Member], promises: Promises) -> list[Bundle]:
    """Bundle attributes as long as their packed codes fit in two bytes, and are no more than there are records."""
    found: list[Bundle] = []
    waiting: list[Member] = []
    for member in sorted(members, key=lambda member: member[3]):
        room = min(_ROOM, len(member[2]))
        if not isinstance(member[1], RangeRefiner):
            found.append(_pack([member], promises))
            continue
        if waiting and math.prod(n for *_, n in waiting) * member[3] > room:
            found.append(_pack(waiting, promises))
            waiting = []
        waiting.append(member)
    return [*found, _pack(waiting, promises)] if waiting else found


def _pack(members: Sequence[Member], promises: Promises) -> Bundle:
    indices, refiners, columns, sizes = zip(*members, strict=True)
    size = math.prod(sizes)
    packed = columns[0]
    for codes, n in zip(columns[1:], sizes[1:], strict=True):
        packed = packed.astype(np.min_scalar_type(size - 1)) * n + codes
    return Bundle(indices, refiners, packed, size, promises)
