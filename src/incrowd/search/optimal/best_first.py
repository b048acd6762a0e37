"""What searches for an optimum have in common: nodes that wait, the best so far, and what both prove.

Invariant: the best cost so far, or a node that waits and whose bound is no higher than the optimum, is a proof that
nothing better was lost. When nothing waits, the best is the optimum. Memory is bounded: when too many nodes wait, the
search goes depth first, where only the siblings on one path wait.
"""

from __future__ import annotations

import heapq
import time
from abc import ABC, abstractmethod
from typing import Generic, Protocol, TypeVar

import numpy as np

from incrowd.run import Best, Run
from incrowd.search.optimal.blocks import Apart, Labels
from incrowd.search.optimal.costs import Costs
from incrowd.search.optimal.descent import Descent
from incrowd.search.optimal.innermost import Innermost, RunOver

OFTEN = 0.5  # seconds between two reports
ENOUGH = "work"  # the limit of a search that may do only this much


class Bounded(Protocol):
    """A node below which no cost is lower than its bound."""

    bound: float


N = TypeVar("N", bound=Bounded)


class BestFirst(ABC, Generic[N]):
    """A branch and bound search; `run` it, then read `best`, `bound` and the counts.

    Args:
        limit: Records that may be suppressed.
        run: Gets the progress; when it is over, the best so far stays.
        gap: Stop when the best is within this share of the bound.
        most: How many nodes may wait before the search goes depth first.
        solved: The attribute that is solved given the others, not enumerated.
        in_order: Whether the node with the lowest bound comes first, else first come first served.
    """

    direction = ""

    def __init__(
        self, costs: Costs, limit: int, run: Run, gap: float, most: int, solved: int | None, in_order: bool = True
    ) -> None:
        self.costs, self._limit, self._run, self._gap = costs, limit, run, gap
        self._descent = Descent(costs, limit, run)
        self._most, self._solved, self._in_order = max(1, most), solved, in_order
        self._innermost: Innermost | None = None
        self._heap: list[tuple[float, int, N]] = []
        self._stack: list[N] = []
        self._current: N | None = None
        self._serial = 0
        self._reported = time.monotonic()
        self.best = np.inf
        self.partitions: list[Labels] | None = None
        self.visited = self.pruned = 0
        self.stopped = ""

    def offer(self, cost: float, partitions: list[Labels]) -> None:
        """Take an allowed anonymization if it is better than the best."""
        if self.costs.better(cost, self.best):
            self.best, self.partitions = cost, list(partitions)

    def _offer(self, partitions: list[Labels], apart: Apart, lowered: bool = True) -> None:
        """Take partitions with the cheapest one of the innermost attribute, and what a descent makes of them."""
        if self._innermost is not None:
            index = self._innermost.index
            labels = self._innermost.cheapest(partitions, apart, self.best)
            if labels is None:
                return
            partitions = [*partitions[:index], labels, *partitions[index + 1 :]]
        cost, suppressed = self.costs.of(partitions)
        if suppressed <= self._limit and self.costs.better(cost, self.best):
            self.offer(cost, partitions)
            if lowered:
                self.offer(*self._descent.lowered((cost, partitions)))

    @property
    def bound(self) -> float:
        """No allowed anonymization costs less."""
        waiting = [self._current] if self._current else []
        lowest = min((node.bound for node in (*waiting, *self._stack)), default=np.inf)
        if self._heap:
            lowest = min(lowest, self._heap[0][2].bound if self._in_order else min(n.bound for _, _, n in self._heap))
        return min(lowest, self.best)

    @property
    def waiting(self) -> int:
        """Nodes that may still be better."""
        return len(self._heap) + len(self._stack)

    def run(self, work: float = np.inf) -> None:
        """Search until nothing waits, the gap is small enough, the run is over, or so many rows were looked at."""
        self._push(self._root())
        try:
            if not self._is_over(work) and self._solved is not None:
                self._innermost = Innermost(self.costs, self._solved, self._limit, self._run)
            while self.waiting and not self._is_over(work):
                self._current = self._pop()
                work -= self._effort(self._current) * len(self.costs.rows)
                if work < 0:  # more than may be done
                    self._push(self._current)
                else:
                    self._visit(self._current)
                self._current = None
        except RunOver:  # the current node waits still
            self.stopped = self._run.over

    @abstractmethod
    def _root(self) -> N:
        """The node below which everything lies."""

    def _effort(self, node: N) -> int:
        """How often the rows are looked at to visit a node, about."""
        return len(self.costs.domains)

    @abstractmethod
    def _visit(self, node: N) -> None:
        """Drop a node, or push nodes that together hold all that it does."""

    def _push(self, node: N) -> None:
        if len(self._heap) >= self._most or self._stack:
            self._stack.append(node)
        else:
            self._serial += 1
            priority = node.bound if self._in_order else 0.0
            heapq.heappush(self._heap, (priority, self._serial, node))

    def _pop(self) -> N:
        return self._stack.pop() if self._stack else heapq.heappop(self._heap)[2]

    def _is_over(self, work: float) -> bool:
        """Whether a limit is reached; reports the progress now and then."""
        if time.monotonic() - self._reported > OFTEN:
            self._reported = time.monotonic()
            cost, bound = map(self.costs.reported, (self.best, self.bound))
            self._run.tell(Best(cost, bound, self.visited, self.waiting))
        if self._gap > 0 and np.isfinite(self.best) and self.best - self.bound <= self._gap * self.best:
            self.stopped = "gap"
        elif work <= 0:
            self.stopped = ENOUGH
        elif not self._run.should_continue():
            self.stopped = self._run.over
        return bool(self.stopped)
