"""Attributes whose codes are packed into one, so that one pass over the records counts for all of them.

Counting is most of what a top-down search does. A table of counts over all candidates of three or four attributes
together is still small, and the counts of each are its sums.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from incrowd.search.top_down.groups import Groups, is_small, take
from incrowd.search.top_down.promises import Promises
from incrowd.search.top_down.refiners import RangeRefiner, Refiner
from incrowd.table.grouping import Codes, count

_ROOM = 1 << 16  # packed codes of a bundle: two bytes per record


@dataclass(frozen=True)
class Bundle:
    """Some attributes of one quasi-identifier.

    Args:
        refiners: Their refiners.
        codes: Their codes, packed; the first attribute is the most significant.
        size: Number of packed codes.
        promises: What says whether counting records is enough.
    """

    refiners: tuple[Refiner, ...]
    codes: Codes
    size: int
    promises: Promises

    def observe(self, requirement: int, changed: Groups) -> None:
        """Lower the minima of all candidates by the new groups of one quasi-identifier."""
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
        keys = _packed(slot_of_code, widths).take(take(self.codes, changed.rows))
        if changed.size > 1:
            keys += changed.numbers * np.int64(math.prod(widths))
        counts = count(keys, cells, changed.weights).reshape(changed.size, *widths)
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


def bundles(members: Iterable[tuple[Refiner, Codes, int]], promises: Promises) -> list[Bundle]:
    """Bundle attributes, given with their codes and number of codes, as long as their packed codes fit in two bytes."""
    found: list[Bundle] = []
    waiting: list[tuple[Refiner, Codes, int]] = []
    for refiner, codes, size in sorted(members, key=lambda member: member[2]):
        if not isinstance(refiner, RangeRefiner):
            found.append(Bundle((refiner,), codes, size, promises))
            continue
        if waiting and math.prod(n for _, _, n in waiting) * size > _ROOM:
            found.append(_pack(waiting, promises))
            waiting = []
        waiting.append((refiner, codes, size))
    return [*found, _pack(waiting, promises)] if waiting else found


def _pack(members: Sequence[tuple[Refiner, Codes, int]], promises: Promises) -> Bundle:
    size = math.prod(n for _, _, n in members)
    packed = members[0][1]
    for _, codes, n in members[1:]:
        packed = packed.astype(np.min_scalar_type(size - 1)) * n + codes
    return Bundle(tuple(refiner for refiner, _, _ in members), packed, size, promises)
