"""When a search for an optimum stops early, and what it tells on the way."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from incrowd.search.costs import Costs

OFTEN = 0.5  # seconds between two reports


@dataclass(frozen=True)
class Progress:
    """How far a search is: costs in the unit of the report."""

    nodes: int
    waiting: int
    best: float
    bound: float
    seconds: float

    def __str__(self) -> str:
        return f"best {self.best:,.6g}, bound {self.bound:,.6g}, {self.nodes:,} nodes seen, {self.waiting:,} waiting"


class Limited(Protocol):
    """A search that can be stopped."""

    costs: Costs
    best: float

    @property
    def bound(self) -> float:
        """No allowed anonymization costs less."""

    @property
    def visited(self) -> int:
        """Nodes that were looked at."""

    @property
    def waiting(self) -> int:
        """Nodes that may still be better."""


class Limits:
    """The limits of one search; time runs from when they are made.

    Args:
        time_limit: Seconds after which to stop.
        gap: Stop when the best is within this share of the bound.
        on_progress: Called about twice a second.
    """

    def __init__(
        self, time_limit: float | None = None, gap: float = 0.0, on_progress: Callable[[Progress], object] | None = None
    ) -> None:
        self._began = self._told = time.monotonic()
        self._until = np.inf if time_limit is None else self._began + time_limit
        self._gap, self._on_progress = gap, on_progress

    def reached(self, search: Limited) -> str:
        """Which limit a search has reached, none if empty; tells its progress on the way."""
        now = time.monotonic()
        if self._on_progress is not None and now - self._told > OFTEN:
            self._told = now
            best, bound = search.costs.reported(search.best), search.costs.reported(search.bound)
            self._on_progress(Progress(search.visited, search.waiting, best, bound, now - self._began))
        if self._gap > 0 and np.isfinite(search.best) and search.best - search.bound <= self._gap * search.best:
            return "gap"
        return "time limit" if now > self._until else ""
