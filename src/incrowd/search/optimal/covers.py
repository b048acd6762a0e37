"""The cheapest way to cover positions by disjoint blocks: dynamic programming over what is covered, in slices."""

from __future__ import annotations

import numpy as np

from incrowd.run import Run
from incrowd.search.optimal import innermost_kernels as kernels
from incrowd.search.optimal.slices import DONE, FULL, in_slices
from incrowd.table.grouping import Counts, Floats

FEW_WAYS = 256  # room at first; a power of two
ALL_WAYS = 2**62

Blocks = tuple[Counts, Floats, Counts]
Ways = tuple[Counts, Floats, Counts, Counts, Counts, Counts]


def cheapest_cover(
    blocks: Blocks, begins: Counts, runs: bool, slack: float, limit: int, width: int, run: Run
) -> tuple[Counts, bool]:
    """The cheapest way to cover all positions by disjoint blocks.

    Positions are covered one after the other; of all ways that lead to the same covered positions only those stay that
    no other beats in both cost and loss.

    Args:
        blocks: The positions of each block (as a bit mask; of runs, the position after it), what it costs, and what it
            loses; in the order of their first positions.
        begins: The blocks that begin at a position lie between `begins` of it and of the next.
        runs: Whether all blocks are runs of positions.
        slack: What the sum of costs must be lower than.
        limit: What the sum of losses must not exceed.
        width: How many ways are followed at most.
        run: Asked now and then whether to go on.

    Returns:
        The numbers of the chosen blocks, none if there is no such way; and whether any way was not followed.

    Raises:
        RunOver: The run is over.
    """
    empty = np.empty(FEW_WAYS, np.int64)
    ways: Ways = (empty, np.empty(FEW_WAYS), empty.copy(), empty.copy(), empty.copy(), empty.copy())
    for array, value in zip(ways, (0, 0.0, 0, -1, -1, -1), strict=True):
        array[0] = value
    heads, place = np.full(FEW_WAYS, -1), np.array([0, 0, 1, 0, begins[0], 1, 0])  # see `cover`
    narrowed = False
    while (
        said := in_slices(run, kernels.cover, blocks, begins, runs, slack, limit, width, ways, heads, place)
    ) != DONE:
        start, stop = int(place[2]), int(place[5])
        if said == FULL:
            ways = tuple(np.concatenate([array, np.empty_like(array)]) for array in ways)  # type: ignore[assignment]
            heads = np.full(2 * len(heads), -1)
            kernels.listed(ways, start, stop, heads)
        else:
            _narrow(ways, start, stop, width)
            place[6], narrowed = width, True
    return _way_back(ways, int(place[1]), int(place[2])), narrowed


def _narrow(ways: Ways, start: int, stop: int, width: int) -> None:
    """Beat all but the cheapest ways; of two that cost the same, the first in covered positions stays."""
    covered, spent, lost = (array[start:stop] for array in ways[:3])
    alive = np.flatnonzero(lost >= 0)
    cheap = alive[spent[alive] <= np.partition(spent[alive], width - 1)[width - 1]]
    kept = cheap[np.lexsort((covered[cheap], spent[cheap]))[:width]]
    losses = lost[kept]
    lost[:] = -1
    lost[kept] = losses


def _way_back(ways: Ways, start: int, stop: int) -> Counts:
    """The blocks of the cheapest of some ways."""
    _, spent, lost, parents, taken, _ = ways
    alive = np.flatnonzero(lost[start:stop] >= 0) + start
    chosen = []
    if len(alive):
        way = alive[np.argmin(spent[alive])]
        while way > 0:
            if taken[way] >= 0:
                chosen.append(taken[way])
            way = parents[way]
    return np.array(chosen, np.int64)
