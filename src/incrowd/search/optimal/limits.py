"""When a search for an optimum stops early, and what it reports on the way."""

from __future__ import annotations

import time
from typing import Protocol

import numpy as np

from incrowd.run import Best, Run
from incrowd.search.optimal.costs import Costs

OFTEN = 0.5  # seconds between two reports
ENOUGH = "work"  # the limit of a search that may do only so much


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
    """The limits of one search.

    Args:
        run: Gets the progress about twice a second, and is asked whether to go on.
        gap: Stop when the best is within this share of the bound.

    `work` is how many rows may still be looked at, about; whoever looks at them counts it down.
    """

    def __init__(self, run: Run, gap: float = 0.0) -> None:
        self._run, self._gap = run, gap
        self._told = time.monotonic()
        self.work = np.inf

    def reached(self, search: Limited) -> str:
        """Which limit a search has reached, none if empty; reports its progress on the way."""
        now = time.monotonic()
        if now - self._told > OFTEN:
            self._told = now
            cost, bound = search.costs.reported(search.best), search.costs.reported(search.bound)
            self._run.tell(Best(cost, bound, search.visited, search.waiting))
        if self._gap > 0 and np.isfinite(search.best) and search.best - search.bound <= self._gap * search.best:
            return "gap"
        if self.work <= 0:
            return ENOUGH
        return "" if self._run.should_continue() else self._run.over
