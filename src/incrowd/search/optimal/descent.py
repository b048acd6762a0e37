"""Descent: the cheapest partition of one attribute given those of the others, attribute after attribute.

Given the partitions of all other attributes, the cheapest one of an attribute is found exactly: by `innermost`, or by
looking at all of them where they are few. So from any start each attribute in turn gets its cheapest partition, until
no attribute alone can be changed for the better. An attribute for which neither can be done (`left_out`) is changed
by single merges, or by dissolving a block.

Where that ends, one attribute is made as coarse or as fine as can be, or changed in one of these ways, the others get
the cheapest partitions for that, and then all go on (restarts). What is better is kept.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from incrowd.run import Run
from incrowd.search.optimal.blocks import Blocks, Labels, blocks_of, join, labels_of
from incrowd.search.optimal.costs import Costs
from incrowd.search.optimal.innermost import MOST_CELLS, Innermost, RunOver, fits, most_blocks
from incrowd.search.optimal.partitions import Space, TreeSpace, partitions

WORK = 70_000_000  # rows that may be looked at
BLOCK = 30  # rows that take as long as a block
FEW = 30  # partitions of an attribute that are all looked at where it cannot be solved
Seed = tuple[float, list[Labels]]  # what partitions cost, and themselves
NOTHING: Seed = np.inf, []  # never better


class Descent:
    """Lowers what partitions cost."""

    def __init__(self, costs: Costs, limit: int, run: Run) -> None:
        self._costs, self._limit, self._run = costs, limit, run
        self._solvers: dict[int, Innermost] = {}
        self._few: dict[int, list[Labels]] = {}
        self._work = WORK
        spaces = [domain.space for domain in costs.domains]
        self._solvable = [fits(costs, index) for index in range(len(spaces))]
        self.left_out = [i for i, s in enumerate(spaces) if not self._solvable[i] and s.partitions > FEW]

    def best(self, starts: Sequence[list[Labels]]) -> Seed:
        """The best that some starts lead to, the cheapest of them first, with restarts; infinite if nothing is."""
        distinct = {b"".join(labels.tobytes() for labels in start): start for start in starts}
        seeds = sorted(map(self.of, distinct.values()), key=lambda seed: seed[0])
        found = min(map(self.lowered, seeds), key=lambda seed: seed[0], default=NOTHING)
        return self.restarted(found)

    def of(self, partitions: list[Labels]) -> Seed:
        """What partitions cost, infinitely much if they suppress too much, and themselves."""
        cost, suppressed = self._costs.of(partitions)
        self._work -= len(self._costs.rows)
        return cost if suppressed <= self._limit else np.inf, partitions

    def lowered(self, seed: Seed, fixed: Collection[int] = ()) -> Seed:
        """What a seed leads to while attribute after attribute gets its cheapest partition, except some."""
        free = [index for index in range(len(seed[1])) if index not in fixed]
        place, settled = 0, 0
        while settled < len(free) and not self._is_over():
            index = free[place]
            found = self.solved(seed, index)
            again = found is not seed and index in self.left_out  # one change may make another one worth it
            settled = settled + 1 if found is seed else 0 if again else 1
            seed, place = found, (place + 1) % len(free)
        return seed

    def solved(self, seed: Seed, index: int) -> Seed:
        """A seed with the cheapest partition of an attribute; itself if that is not better or cannot be found."""
        best = seed
        try:
            for labels in self._candidates(seed, index):
                other = self.of(_replaced(seed[1], index, labels))
                if self._costs.better(other[0], best[0]):
                    best = other
        except RunOver:
            pass
        return best

    def restarted(self, seed: Seed) -> Seed:
        """What a seed leads to with restarts."""
        better = True
        while better:
            better = False
            for index, labels in self._changes(seed[1]):
                if self._is_over():
                    break
                found = self.lowered(self.lowered(self.of(_replaced(seed[1], index, labels)), (index,)))
                if self._costs.better(found[0], seed[0]):
                    seed, better = found, True
                    break
        return seed

    def _is_over(self) -> bool:
        return self._work <= 0 or not self._run.should_continue()

    def _candidates(self, seed: Seed, index: int) -> Iterator[Labels]:
        """Partitions of an attribute of which one is the cheapest, or, where that is not known, is near by."""
        space = self._costs.domains[index].space
        if self._solvable[index]:
            assert isinstance(space, TreeSpace)
            if index not in self._solvers:
                held = sum(self._costs.domains[other].space.size for other in (index, *self._solvers))
                if held * len(self._costs.rows) > MOST_CELLS:  # for the sake of memory
                    self._solvers.clear()
                self._solvers[index] = Innermost(self._costs, index, self._limit, self._run)
            self._work -= len(self._costs.rows) + BLOCK * most_blocks(space)
            found = self._solvers[index].cheapest(seed[1], (0,) * space.size, seed[0])
            if found is not None:
                yield found
        elif index in self.left_out:
            for labels in _near(space, seed[1][index]):
                if self._is_over():
                    return
                yield labels
        else:
            if index not in self._few:
                self._few[index] = [labels_of(blocks, space.size) for blocks in partitions(space)]
            yield from self._few[index]

    def _changes(self, partitions: Sequence[Labels]) -> Iterator[tuple[int, Labels]]:
        """Other partitions of one attribute: first the coarsest and the finest, then those near by."""
        for index, labels in enumerate(partitions):
            for other in np.zeros_like(labels), np.arange(len(labels)):
                if not np.array_equal(labels, other):
                    yield index, other
        for index, domain in enumerate(self._costs.domains):
            yield from ((index, other) for other in _near(domain.space, partitions[index]))


def _replaced(partitions: Sequence[Labels], index: int, labels: Labels) -> list[Labels]:
    return [*partitions[:index], labels, *partitions[index + 1 :]]


def _near(space: Space, labels: Labels) -> Iterator[Labels]:
    """What one change makes of a partition: a merge, or a block dissolved."""
    blocks, met = blocks_of(labels.tolist()), set[Blocks]()
    for mask in space.smallest_joins():
        made = space.made(blocks, mask)
        if made not in met and set(made).difference(blocks):
            met.add(made)
            yield labels_of(space.closure(join((*blocks, *made))), space.size)
    for block in blocks if isinstance(space, TreeSpace) else ():
        if block & (block - 1):
            yield labels_of([other for other in blocks if other != block], space.size)
