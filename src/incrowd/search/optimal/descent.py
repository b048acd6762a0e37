"""Descent: the cheapest partition of one attribute given those of the others, attribute after attribute.

Given the partitions of all other attributes, the cheapest one of an attribute is found exactly: by `innermost`, or by
looking at all of them where they are few. So from any start each attribute in turn gets its cheapest partition, until
no attribute alone can be changed for the better. Attributes of which neither can be done stay as they are.

Where that ends, one attribute is made as coarse or as fine as can be, or a block of it is merged or dissolved, the
others get the cheapest partitions for that, and then all go on (restarts). What is better is kept.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from incrowd.run import Run
from incrowd.search.optimal.blocks import Labels, blocks_of, join, labels_of
from incrowd.search.optimal.costs import Costs
from incrowd.search.optimal.innermost import MOST_CELLS, Innermost, fits, most_blocks
from incrowd.search.optimal.partitions import TreeSpace, partitions
from incrowd.search.optimal.slices import RunOver

WORK = 70_000_000  # rows that may be looked at
BLOCK = 30  # rows that take as long as a block
FEW = 30  # partitions of an attribute that are all looked at where it cannot be solved
Seed = tuple[float, list[Labels]]  # what partitions cost, and themselves
NOTHING: Seed = np.inf, []  # never better


class Descent:
    """Lowers what partitions cost.

    Args:
        costs: What is to be low.
        limit: Records that may be suppressed.
        run: When it is over, what there is will do.
    """

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
        """What a seed leads to while attribute after attribute gets its cheapest partition, but for some."""
        free = [index for index in range(len(seed[1])) if index not in fixed]
        place, settled = 0, 0
        while settled < len(free) and not self._is_over():
            index = free[place]
            found = self.solved(seed, index)
            settled = settled + 1 if found is seed else 1
            seed, place = found, (place + 1) % len(free)
        return seed

    def solved(self, seed: Seed, index: int) -> Seed:
        """A seed with the cheapest partition of an attribute; itself if that is not better or cannot be found."""
        try:
            for labels in self._candidates(seed, index):
                other = self.of([*seed[1][:index], labels, *seed[1][index + 1 :]])
                if self._costs.better(other[0], seed[0]):
                    seed = other
        except RunOver:
            pass
        return seed

    def restarted(self, seed: Seed) -> Seed:
        """What a seed leads to with restarts."""
        better = True
        while better:
            better = False
            for index, labels in self._changes(seed[1]):
                if self._is_over():
                    break
                changed = self.of([*seed[1][:index], labels, *seed[1][index + 1 :]])
                found = self.lowered(self.lowered(changed, (index,)))
                if self._costs.better(found[0], seed[0]):
                    seed, better = found, True
                    break
        return seed

    def _is_over(self) -> bool:
        return self._work <= 0 or not self._run.should_continue()

    def _candidates(self, seed: Seed, index: int) -> Iterator[Labels]:
        """Partitions of an attribute of which the last one that is better is the cheapest."""
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
        elif index not in self.left_out:
            if index not in self._few:
                self._few[index] = [labels_of(blocks, space.size) for blocks in partitions(space)]
            yield from self._few[index]

    def _changes(self, partitions: Sequence[Labels]) -> Iterator[tuple[int, Labels]]:
        """Other partitions of one attribute: first the coarsest and the finest, then a block merged or dissolved."""
        for index, labels in enumerate(partitions):
            for other in np.zeros_like(labels), np.arange(len(labels)):
                if not np.array_equal(labels, other):
                    yield index, other
        for index, domain in enumerate(self._costs.domains):
            space, blocks = domain.space, blocks_of(partitions[index].tolist())
            for block in space.coarser(blocks):
                yield index, labels_of(space.closure(join((*blocks, block))), space.size)
            if isinstance(space, TreeSpace):
                for block in blocks:
                    if block & (block - 1):
                        yield index, labels_of([other for other in blocks if other != block], space.size)
