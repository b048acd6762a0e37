"""Packings of cuts, which bound what joins cost in all: linear programming, with cuts that come as they are needed.

Every cut asks for one of some joins, or that a class is suppressed. Let each cut get an amount, so that no join is in
cuts with more in all than it costs, and no class has cuts with more than suppressing it costs. Then the joins and
suppressions that keep all cuts cost at least the sum of the amounts, since each cut is kept by one that pays for it.

The amounts are found with floating point numbers. What counts are whole numbers that are checked as such, so no error
of rounding can make a bound too high.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from incrowd.run import Run
from incrowd.search.optimal import packing_kernels
from incrowd.search.optimal.slices import in_slices
from incrowd.table.grouping import Counts, Floats

PIVOTS = 50  # for each row and time, at most
NUDGE = 1e-7  # of a limit, so that limits are not used up at the same time
GOLDEN = 0.6180339887498949
PARTS = 1024  # of a record, in which whole numbers are counted


@dataclass(frozen=True)
class Packed:
    """A packing of whole numbers, in parts of a record.

    Args:
        total: Their sum.
        left: Of each join, how much more it costs than the cuts that name it got.
        amounts: Of each cut.
    """

    total: int
    left: Counts
    amounts: Counts


class Packing:
    """Packs cuts.

    Args:
        costs: Of each join, what it costs; whole numbers above 0.
        penalties: Of each class, what suppressing it costs.
        run: Asked now and then whether to go on.
    """

    def __init__(self, costs: Counts, penalties: Counts, run: Run) -> None:
        self._costs, self._penalties, self._run = costs, penalties, run
        self._limits = costs * (1 - NUDGE * (np.arange(1, len(costs) + 1) * GOLDEN % 1))
        self._starts, self._entries = np.zeros(1, np.int64), np.empty(0, np.int64)
        self._owners = np.empty(0, np.int64)
        self._row_of_class = np.full(len(penalties), -1)
        self.capped = np.empty(0, np.int64)  # classes that have a row
        self.total = 0.0
        self._begin()

    def add(self, owners: Counts, starts: Counts, entries: Counts) -> None:
        """Take more cuts: the class of each, and where its joins start among all of them."""
        self._starts = np.concatenate([self._starts, self._starts[-1] + starts[1:]])
        self._entries = np.concatenate([self._entries, entries])
        self._owners = np.concatenate([self._owners, owners])
        alone = owners[np.diff(starts) == 0]  # can only be suppressed
        self.cap(alone)

    def cap(self, classes: Counts) -> None:
        """Heed from now on what suppressing some classes costs."""
        new = np.unique(classes)
        new = new[self._row_of_class[new] < 0]
        if len(new):
            self._row_of_class[new] = len(self.capped) + np.arange(len(new))
            self.capped = np.concatenate([self.capped, new])
            self._begin()

    def _begin(self) -> None:
        rows = len(self._costs) + len(self.capped)
        self._basis, self._inverse = -1 - np.arange(rows), np.eye(rows)
        self._amounts = np.concatenate([self._limits, self._penalties[self.capped].astype(np.float64)])
        self._prices = np.zeros(rows)

    def solve(self, target: float) -> None:
        """Pack as much as possible, or a target.

        Raises:
            RunOver: The run is over.
        """
        while True:
            self._pack(target)
            packed = np.bincount(self._owners, self._wanted(), len(self._penalties))
            over = np.flatnonzero(packed > self._penalties * (1 + NUDGE) + 1)
            over = over[self._row_of_class[over] < 0]
            if not len(over):
                return
            self.cap(over)

    def _pack(self, target: float) -> None:
        starts, entries = self._rows()
        cuts, rows = len(starts) - 1, len(self._prices)
        is_cut = self._basis >= 0
        basis_of, basis_of_row = np.full(cuts, -1), np.full(rows, -1)
        places = np.arange(rows)
        basis_of[self._basis[is_cut]] = places[is_cut]
        basis_of_row[-1 - self._basis[~is_cut]] = places[~is_cut]
        sums = np.concatenate([[0.0], np.cumsum(self._prices[entries])])
        gains = 1 - (sums[starts[1:]] - sums[starts[:-1]])
        total = np.array([self._amounts[is_cut].sum()])
        scratch = (gains, np.ones(cuts), np.ones(rows), basis_of, basis_of_row, total, target)
        given = (starts, entries, self._basis, self._inverse, self._amounts, self._prices)
        in_slices(self._run, packing_kernels.pack, *given, *scratch, np.array([PIVOTS * (rows + 1)]))
        self.total = float(total[0])

    def _rows(self) -> tuple[Counts, Counts]:
        """The rows of each cut: its joins, and its class if that has a row."""
        row = self._row_of_class[self._owners]
        has_row = row >= 0
        starts = np.concatenate([[0], np.cumsum(np.diff(self._starts) + has_row)])
        last = starts[1:][has_row] - 1
        entries, is_join = np.empty(starts[-1], np.int64), np.ones(starts[-1], bool)
        is_join[last] = False
        entries[is_join], entries[last] = self._entries, len(self._costs) + row[has_row]
        return starts, entries

    def _wanted(self) -> Floats:
        wanted = np.zeros(len(self._owners))
        is_cut = self._basis >= 0
        wanted[self._basis[is_cut]] = np.maximum(0.0, self._amounts[is_cut])
        return wanted

    @property
    def prices(self) -> Floats:
        """Of each join, what a little more of its cost would add."""
        return np.maximum(0.0, self._prices[: len(self._costs)])

    @property
    def class_prices(self) -> Floats:
        """Of each class, what a little more of its penalty would add."""
        prices = np.zeros(len(self._penalties))
        prices[self.capped] = np.maximum(0.0, self._prices[len(self._costs) :])
        return prices

    def whole(self) -> Packed:
        """The same in whole numbers, which are a packing for sure."""
        left, left_of_class = self._costs * PARTS, self._penalties * PARTS
        wanted, amounts = np.floor(self._wanted() * PARTS).astype(np.int64), np.zeros(len(self._owners), np.int64)
        given = (self._starts, self._entries, self._owners, wanted, left, left_of_class)
        total = packing_kernels.pack_whole(*given, amounts)
        return Packed(int(total), left, amounts)
