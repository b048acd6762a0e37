"""Full-domain search: every attribute at one level of its taxonomy, all combinations of levels one lattice.

The cost of a node is `base + extra`: base is what its records would pay if none had to be suppressed, extra what
suppression adds. Base never falls and extra never rises on the way up (see `costs`), nor does the number of suppressed
records. So one evaluated node says something of all nodes below and above it: no node above has a lower base, no node
below a lower extra. For NCP the base of every node is known before the search starts.

Invariant: every node that is not evaluated has a bound, the largest base known from below plus the largest extra known
from above; a node is left out only if its bound is no better than the best cost. The search takes the node X with the
lowest bound, walks a greedy path from X to the top and looks by bisection for the highest node whose extra is enough to
rule out X (predictive tagging). It ends, since each round evaluates at least one node and X is ruled out or evaluated,
unless the run is over.

A node is evaluated from the classes of the evaluated node below it that has the fewest (roll-up), never from the rows,
unless the values of protected columns are counted.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.run import Run
from incrowd.search.optimal import kernels
from incrowd.search.optimal.blocks import Labels, blocks_of, labels_of
from incrowd.search.optimal.costs import Costs
from incrowd.search.optimal.limits import Limits
from incrowd.search.optimal.partitions import LevelSpace
from incrowd.table.class_counts import ClassCounts
from incrowd.table.grouping import Floats

LARGEST = 5_000_000  # nodes of a lattice; beyond, branch and bound needs less memory
HUB = 1_000  # classes beyond which a roll-up goes over a node half way
Levels = tuple[int, ...]


def fits(costs: Costs) -> bool:
    """Whether a problem can be searched as one lattice."""
    sizes = [domain.space.partitions for domain in costs.domains]
    levels = all(isinstance(domain.space, LevelSpace) for domain in costs.domains)
    keys = float(np.prod([float(domain.space.size) for domain in costs.domains]))
    return levels and costs.cost in ("dm", "ncp") and float(np.prod(sizes, dtype=float)) <= LARGEST and keys < 2.0**62


class LevelLattice:
    """A search of the lattice; `run` it, then read `best`, `bound` and the counts.

    Args:
        costs: What is to be low: DM or NCP.
        limit: Records that may be suppressed.
        run: Gets the progress; when it is over, the best so far stays.
        gap: Stop when the best is within this share of the bound.
        memory: Megabytes that the classes of evaluated nodes may take.
    """

    def __init__(
        self,
        costs: Costs,
        limit: int,
        run: Run,
        gap: float = 0.0,
        memory: float = 1000,
    ) -> None:
        self.costs, self._limit, self._room = costs, limit, int(memory * 1e6)
        self._limits = Limits(run, gap)
        spaces = [domain.space for domain in costs.domains]
        self._shape = tuple(space.partitions for space in spaces)
        self._prepare_labels()
        self._base = self._known_base()
        self._extra = np.zeros(self._shape)
        self._open = np.ones(self._shape, bool)
        self._loss = self._mean_loss()
        slots = 1 << (2 * len(costs.rows)).bit_length()
        self._slots = np.full(slots, -1, np.int32)
        kind = np.int16 if costs.width < 2**15 else np.int64
        self._kept = [((0,) * len(self._shape), np.ascontiguousarray(costs.rows.astype(kind)), costs.weights)]
        self._source = np.zeros(self._shape, np.int32)  # the smallest of these to roll a node up from
        self._source_size = np.full(self._shape, len(costs.rows))
        self._evaluated: dict[Levels, tuple[float, float, int]] = {}
        self.best = np.inf
        self._best_levels: Levels | None = None
        self.stopped = ""
        self.direction = "lattice"

    def _prepare_labels(self) -> None:
        """Labels of all levels, multiplied so that their sum over the attributes is a key of the class."""
        costs = self.costs
        width = max(domain.space.size for domain in costs.domains)
        self._labels = np.zeros((len(self._shape), max(self._shape), width), np.int64)
        self._penalties = np.zeros(self._labels.shape)
        stride = 1
        for index, domain in enumerate(costs.domains):
            assert isinstance(domain.space, LevelSpace)
            for level, labels in enumerate(domain.space.levels):
                part = labels_of(blocks_of(labels), len(labels))
                self._labels[index, level, : len(labels)] = part * stride
                if costs.cost == "ncp":
                    self._penalties[index, level, : len(labels)] = costs.penalties(index, part)
            stride *= domain.space.size

    def _known_base(self) -> Floats:
        """What all records pay at each node at least: all of it for NCP, the least size of a class for DM."""
        base = np.zeros(self._shape)
        if self.costs.cost == "dm":
            return base + float(self.costs.records) * self.costs.least
        for index, counts in enumerate(self.costs.value_counts):
            paid = self._penalties[index, : self._shape[index], : len(counts)] @ counts
            base += paid.reshape([-1 if place == index else 1 for place in range(len(self._shape))])
        return base

    def _mean_loss(self) -> Floats:
        """How general each node is, to choose paths by: the share of values that are merged, over all attributes."""
        loss = np.zeros(self._shape)
        for index, domain in enumerate(self.costs.domains):
            assert isinstance(domain.space, LevelSpace)
            size = max(1, domain.space.size - 1)
            merged = [(len(labels) - len(set(labels))) / size for labels in domain.space.levels]
            loss += np.array(merged).reshape([-1 if place == index else 1 for place in range(len(self._shape))])
        return loss

    @property
    def visited(self) -> int:
        """Nodes that were evaluated."""
        return len(self._evaluated)

    @property
    def pruned(self) -> int:
        """Nodes that were ruled out without being evaluated."""
        return int(np.prod(self._shape)) - self.visited - int(self._candidates().sum())

    @property
    def bound(self) -> float:
        """No allowed anonymization costs less."""
        bounds = (self._base + self._extra)[self._candidates()]
        return float(min(bounds.min(initial=np.inf), self.best))

    @property
    def partitions(self) -> list[Labels] | None:
        """The best partitions so far."""
        return None if self._best_levels is None else self._partitions(self._best_levels)

    def _partitions(self, node: Levels) -> list[Labels]:
        """The partitions of a node."""
        levels = zip(self.costs.domains, node, strict=True)
        return [labels_of(blocks_of(domain.space.levels[level]), domain.space.size) for domain, level in levels]  # type: ignore[union-attr]

    def run(self, work: float = np.inf) -> None:
        """Search until every node is evaluated or ruled out, or it has to stop.

        Args:
            work: Rows that may be looked at, about.
        """
        self._limits.work = work
        self._evaluate(tuple(size - 1 for size in self._shape))
        while True:
            self._limits.work -= self._base.size
            candidates = self._candidates()
            bounds = np.where(candidates, self._base + self._extra, np.inf)
            lowest = int(bounds.argmin())
            if not candidates.ravel()[lowest] or self._is_over():
                return
            self._rule_out(tuple(int(level) for level in np.unravel_index(lowest, self._shape)))

    def _candidates(self) -> npt.NDArray[np.bool_]:
        return self._open & (self._base + self._extra < self.costs.below(self.best))

    @property
    def waiting(self) -> int:
        """Nodes that may still be better."""
        return int(self._candidates().sum())

    def _is_over(self) -> bool:
        self.stopped = self.stopped or self._limits.reached(self)
        return bool(self.stopped)

    def _rule_out(self, start: Levels) -> None:
        """Find by bisection the highest node on a path from the start whose extra rules the start out."""
        path = self._path(start)
        low, high = 0, len(path)
        while low < high and not self._is_over():
            middle = (low + high) // 2
            _, extra, suppressed = self._evaluate(path[middle])
            enough = self._base[start] + extra >= self.costs.below(self.best)
            if suppressed > self._limit or enough:
                low = middle + 1
            else:
                high = middle

    def _path(self, node: Levels) -> list[Levels]:
        """From a node upwards through nodes that are not ruled out, those with the highest bound first."""
        candidates = self._candidates()
        path = [node]
        while True:
            above = [
                (*node[:index], level + 1, *node[index + 1 :])
                for index, level in enumerate(node)
                if level + 1 < self._shape[index]
            ]
            above = [other for other in above if candidates[other]]
            if not above:
                return path
            node = max(above, key=lambda other: (self._base[other] + self._extra[other], self._loss[other], other))
            path.append(node)

    def _evaluate(self, node: Levels, direct: bool = False) -> tuple[float, float, int]:
        """Base, extra and suppressed records of a node, and what follows for others."""
        if node in self._evaluated:
            return self._evaluated[node]
        costs = self.costs
        self._limits.work -= int(self._source_size[node])
        if costs.requirement.columns:
            classes = costs.classes(self._partitions(node))
            rows, sizes, good = costs.rows[classes.firsts], classes.sizes, costs.good(classes)
        else:
            rows, sizes = self._roll_up(node, direct)
            good = costs.requirement.good(ClassCounts(sizes))
        if costs.cost == "dm":
            base, extra, suppressed = kernels.base_and_extra(sizes, good, costs.least, costs.records)
        else:
            penalties = self._penalties[np.arange(len(node)), node]
            extra, suppressed = kernels.extra_cells(rows, sizes, good, penalties)
            base = float(self._base[node])
        self._evaluated[node] = (base, extra, suppressed)
        self._open[node] = False
        below = tuple(slice(0, level + 1) for level in node)
        above = tuple(slice(level, None) for level in node)
        np.maximum(self._extra[below], extra, out=self._extra[below])
        np.maximum(self._base[above], base, out=self._base[above])
        if suppressed > self._limit:
            self._open[below] = False
        elif costs.better(base + extra, self.best):
            self.best, self._best_levels = base + extra, node
        return self._evaluated[node]

    def _roll_up(self, node: Levels, direct: bool) -> tuple[Any, Any]:
        """The classes of a node: one row and the size of each.

        From many classes it goes over the node half way, which others can then be rolled up from too.
        """
        levels, rows, weights = self._kept[self._source[node]]
        if len(rows) > HUB and not direct:
            half = tuple((low + high) // 2 for low, high in zip(levels, node, strict=True))
            if half != levels:
                self._evaluate(half, direct=True)
                _, rows, weights = self._kept[self._source[node]]
        labels = self._labels[np.arange(len(node)), node]
        slots = self._slots[: 1 << (2 * len(rows)).bit_length()]
        firsts, sizes = kernels.roll_up(rows, weights, labels, slots)
        made, sizes, count = rows[firsts], sizes.copy(), len(sizes)
        if made.nbytes + sizes.nbytes <= self._room and 10 * count < 9 * len(rows):
            self._room -= made.nbytes + sizes.nbytes
            above = tuple(slice(level, None) for level in node)
            better = self._source_size[above] > count
            self._source[above][better] = len(self._kept)
            self._source_size[above][better] = count
            self._kept.append((node, made, sizes))
        return made, sizes
