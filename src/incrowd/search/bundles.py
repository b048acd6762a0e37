"""Attributes whose codes are packed into one, so that one pass over the records counts for all of them.

Counting is most of what a top-down search does. A table of counts over all candidates of three or four attributes
together is still small, and the counts of each are its sums.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from incrowd.search.refiners import FAR, Groups, RangeRefiner, Refiner, take
from incrowd.table import Codes, count

_ROOM = 1 << 16  # packed codes of a bundle: two bytes per record


@dataclass(frozen=True)
class Bundle:
    """Some attributes of one quasi-identifier.

    Args:
        refiners: Their refiners.
        codes: Their codes, packed; the first attribute is the most significant.
        size: Number of packed codes.
    """

    refiners: tuple[Refiner, ...]
    codes: Codes
    size: int

    def observe(self, qid: int, changed: Groups) -> None:
        """Lower the minima of all candidates by the new groups of one quasi-identifier."""
        live = [refiner for refiner in self.refiners if not refiner.idle()]
        widths = [refiner.width for refiner in self.refiners if isinstance(refiner, RangeRefiner)]
        cells, records = changed.size * math.prod(widths), len(changed.numbers)
        if len(live) < 2 or cells > 4 * records + 65536 or self.size > records:
            for refiner in live:
                refiner.observe(qid, changed)
            return
        keys = self._slot_of_code().take(take(self.codes, changed.rows))
        if changed.size > 1:
            keys += changed.numbers * np.int64(math.prod(widths))
        counts = count(keys, cells, changed.weights).reshape(changed.size, *widths)
        for place, refiner in enumerate(self.refiners, 1):
            assert isinstance(refiner, RangeRefiner)
            others = tuple(axis for axis in range(1, len(widths) + 1) if axis != place)
            alone = counts.sum(axis=others)  # groups x slots
            alone[alone == 0] = FAR
            refiner.lower(qid, alone.min(axis=0))

    def _slot_of_code(self) -> Codes:
        """The slots of all attributes, packed, of each packed code."""
        packed = np.zeros(1, np.int64)
        for refiner in self.refiners:
            assert isinstance(refiner, RangeRefiner)
            packed = np.add.outer(packed * refiner.width, refiner.slot_of_code()[:-1]).ravel()
        return packed


def bundles(members: Iterable[tuple[Refiner, Codes, int]]) -> list[Bundle]:
    """Bundle attributes, given with their codes and number of codes, as long as their packed codes fit in two bytes."""
    found: list[Bundle] = []
    waiting: list[tuple[Refiner, Codes, int]] = []
    for refiner, codes, size in sorted(members, key=lambda member: member[2]):
        if not isinstance(refiner, RangeRefiner):
            found.append(Bundle((refiner,), codes, size))
            continue
        if waiting and math.prod(n for _, _, n in waiting) * size > _ROOM:
            found.append(_pack(waiting))
            waiting = []
        waiting.append((refiner, codes, size))
    return [*found, _pack(waiting)] if waiting else found


def _pack(members: Sequence[tuple[Refiner, Codes, int]]) -> Bundle:
    size = math.prod(n for _, _, n in members)
    packed = members[0][1]
    for _, codes, n in members[1:]:
        packed = packed.astype(np.min_scalar_type(size - 1)) * n + codes
    return Bundle(tuple(refiner for refiner, _, _ in members), packed, size)
