"""Good anonymizations to start an optimal search with: the better the first one, the more can be pruned.

The starts, all within the scheme: the coarsest partitions, the finest ones, the release of a top-down refinement made
just coarse enough for the scheme, and what more rigid schemes found. Each goes down to where no attribute alone can be
changed for the better (`descent`). Attributes for which that is not possible are changed as long as that helps by
single merges, by dissolving a block, by moving a value; where it is possible for none, there is one more start: a
greedy walk from the original values up, which merges what saves most suppressed records per cost.
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
from incrowd.search.optimal.descent import Descent, Seed
from incrowd.search.optimal.innermost import innermost_of
from incrowd.search.optimal.partitions import LevelSpace
from incrowd.search.optimal.schemes import Domain
from incrowd.search.top_down.top_down import top_down
from incrowd.table.compressed import CompressedTable

WORK = 30_000_000  # rows that may be looked at while improving a start
STEPS = 100_000_000  # steps of a top-down refinement, times the rows that each looks at


def coarsest_of(domains: Sequence[Domain]) -> list[Labels]:
    """All values of each attribute together, which every scheme allows."""
    return [np.zeros(domain.space.size, np.int64) for domain in domains]


def refined(table: CompressedTable, requirement: Requirement, run: Run) -> ByValue:
    """The release of a top-down refinement."""
    found = top_down(table, (requirement,), run, max_steps=max(1, STEPS // len(table.counts))).recoding
    assert isinstance(found, ByValue)
    return found


def refined_by(recoding: ByValue, domains: Sequence[Domain]) -> list[Labels]:
    """What a recoding makes of values, made just coarse enough for the schemes."""
    partitions = []
    for domain, of_attribute in zip(domains, recoding.attributes, strict=True):
        cells = of_attribute.of_codes(domain.attribute)[list(domain.codes)]
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
        """The best that starts lead to, and the finest and the coarsest partitions; None if nothing is allowed."""
        domains = self._costs.domains
        descent = Descent(self._costs, self._limit, self._run)
        starts = [*starts, [np.arange(domain.space.size) for domain in domains], coarsest_of(domains)]
        if descent.left_out and innermost_of(self._costs) is None:
            walked = [seed for seed in self._walk() if seed is not None]
            starts += [seed[1] for seed in sorted(walked, key=lambda seed: seed[0])[:1]]
        seed = descent.best(starts)
        if descent.left_out:
            seed = descent.lowered(self._improve(seed, descent.left_out))
        return seed if np.isfinite(seed[0]) else None

    def _is_over(self) -> bool:
        return self._work <= 0 or not self._run.should_continue()

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
            for moved in self._merged(partitions, range(len(partitions))):
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

    def _improve(self, seed: Seed, indices: Sequence[int]) -> Seed:
        """What single changes of some attributes lead to."""
        improving = True
        while improving and not self._is_over():
            improving = False
            for moved in chain(self._merged(seed[1], indices), self._changed(seed[1], indices)):
                if self._is_over():
                    break
                other = self.of(moved)
                if other is not None and self._costs.better(other[0], seed[0]):
                    seed, improving = other, True
        return seed

    def _merged(self, partitions: Partitions, indices: Sequence[int]) -> Iterator[list[Labels]]:
        for index in indices:
            domain, blocks = self._costs.domains[index], blocks_of(partitions[index].tolist())
            for block in domain.space.coarser(blocks):
                yield self._replaced(partitions, index, domain.space.closure(join((*blocks, block))))

    def _changed(self, partitions: Partitions, indices: Sequence[int]) -> Iterator[list[Labels]]:
        """Every block dissolved, every value taken out of its block, and moved to every other block."""
        for index in indices:
            space, blocks = self._costs.domains[index].space, blocks_of(partitions[index].tolist())
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
