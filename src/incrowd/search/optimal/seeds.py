"""Good anonymizations to start an optimal search with: the better the first one, the more can be pruned.

Three starts, all within the scheme: the coarsest partitions, the release of a top-down refinement made just coarse
enough for the scheme, and a greedy walk from the original values up, which merges what saves most suppressed records
per cost. The best of them is improved as long as that helps: by single merges, by dissolving a block, by moving a
value. Sets may also start from the optimum over intervals, which is found much faster.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np

from incrowd.privacy.model import Requirement
from incrowd.recodings.by_value import ByValue
from incrowd.run import Run
from incrowd.search.optimal.blocks import Blocks, Labels, bits, blocks_of, join, labels_of
from incrowd.search.optimal.costs import Costs, Partitions
from incrowd.search.optimal.partitions import LevelSpace
from incrowd.search.optimal.schemes import Domain
from incrowd.search.top_down.top_down import top_down
from incrowd.table.compressed import CompressedTable

WORK = 30_000_000  # rows that may be looked at while improving a start
Seed = tuple[float, list[Labels]]
NOTHING: Seed = np.inf, []  # never better


def coarsest_of(domains: Sequence[Domain]) -> list[Labels]:
    """All values of each attribute together, which every scheme allows."""
    return [np.zeros(domain.space.size, np.int64) for domain in domains]


def from_top_down(table: CompressedTable, requirement: Requirement, costs: Costs, run: Run) -> list[Labels]:
    """The release of a top-down refinement, made just coarse enough for the schemes."""
    found = top_down(table, (requirement,), run).recoding
    assert isinstance(found, ByValue)
    partitions = []
    for domain, recoding in zip(costs.domains, found.attributes, strict=True):
        cells = recoding.of_codes(domain.attribute)[list(domain.codes)]
        blocks = domain.space.closure(blocks_of(cells.tolist()))
        partitions.append(labels_of(blocks, domain.space.size))
    return partitions


def carried(partitions: Partitions, old: Sequence[Domain], new: Sequence[Domain]) -> list[Labels]:
    """Partitions found in one scheme, in the positions of a scheme that allows them too."""
    moved = []
    for labels, before, after in zip(partitions, old, new, strict=True):
        label_of = dict(zip(before.codes, labels.tolist(), strict=True))
        moved.append(labels_of(blocks_of([label_of[code] for code in after.codes]), after.space.size))
    return moved


class Seeds:
    """Looks for good partitions.

    Args:
        costs: What is to be low.
        limit: Records that may be suppressed.
        run: When it is over, what there is will do.
    """

    def __init__(self, costs: Costs, limit: int, run: Run) -> None:
        self._run = run
        self._costs = costs
        self._limit = limit
        self._work = WORK // len(costs.rows)

    def best(self, starts: Sequence[list[Labels]]) -> Seed | None:
        """The best that starts and a greedy walk lead to; None if nothing is allowed."""
        found = [*map(self.of, starts), *self._walk()]
        allowed = [seed for seed in found if seed is not None]
        if not allowed:
            return None
        return self._improve(min(allowed, key=lambda seed: seed[0]))

    def _is_over(self) -> bool:
        return self._work <= 0 or not self._run.goes_on()

    def of(self, partitions: list[Labels]) -> Seed | None:
        """What partitions cost, and themselves; None if they suppress too much."""
        cost, suppressed = self._costs.of(partitions)
        self._work -= 1
        return (cost, partitions) if suppressed <= self._limit else None

    def _walk(self) -> Iterator[Seed | None]:
        """From the original values up, merging what saves most suppressed records for what it adds to the bound."""
        partitions = [np.arange(domain.space.size) for domain in self._costs.domains]
        current = self._costs.between(partitions, None)
        suppressed = self._costs.of(partitions)[1]
        yield self.of(partitions)
        while suppressed and not self._is_over():
            best: tuple[Any, ...] | None = None
            for moved in self._merged(partitions):
                classes = self._costs.classes(moved)
                left = int(classes.sizes[~self._costs.good(classes)].sum())
                added = self._costs.between(moved, None).bound - current.bound
                saved = suppressed - left
                rank = (0, added / saved) if saved > 0 else (1, added)
                self._work -= 2
                if self._is_over():
                    return
                if best is None or rank < best[0]:
                    best = (rank, moved, left)
            if best is None:
                return
            _, partitions, suppressed = best
            current = self._costs.between(partitions, None)
            yield self.of(partitions)

    def _improve(self, seed: Seed) -> Seed:
        improving = True
        while improving and not self._is_over():
            improving = False
            for moved in chain(self._merged(seed[1]), self._changed(seed[1])):
                if self._is_over():
                    break
                other = self.of(moved)
                if other is not None and self._costs.better(other[0], seed[0]):
                    seed, improving = other, True
        return seed

    def _merged(self, partitions: Partitions) -> Iterator[list[Labels]]:
        for index, domain in enumerate(self._costs.domains):
            blocks = blocks_of(partitions[index].tolist())
            for block in domain.space.coarser(blocks):
                yield self._replaced(partitions, index, domain.space.closure(join((*blocks, block))))

    def _changed(self, partitions: Partitions) -> Iterator[list[Labels]]:
        """Every block dissolved, every value taken out of its block, and moved to every other block."""
        for index, domain in enumerate(self._costs.domains):
            space, blocks = domain.space, blocks_of(partitions[index].tolist())
            if isinstance(space, LevelSpace):
                if (level := space.level(blocks)) > 0:
                    yield self._replaced(partitions, index, blocks_of(space.levels[level - 1]))
                continue
            for block in blocks:
                others = [other for other in blocks if other != block]
                yield self._replaced(partitions, index, (*others, *(1 << position for position in bits(block))))
                for position in bits(block):
                    rest = [*others, block ^ 1 << position] if block & (block - 1) else others
                    for target in (0, *others):
                        moved = (*(other for other in rest if other != target), target | 1 << position)
                        if space.valid(moved):
                            yield self._replaced(partitions, index, moved)

    def _replaced(self, partitions: Partitions, index: int, blocks: Blocks) -> list[Labels]:
        moved = list(partitions)
        moved[index] = labels_of(blocks, self._costs.domains[index].space.size)
        return moved
