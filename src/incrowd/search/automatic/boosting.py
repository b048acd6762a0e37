"""Gradient boosting over histograms: a fast learner that judges candidates on a sample.

Trees are shallow and grow level by level, those of all classes at once. Columns are cut into a few bins; for a split
only sums of gradients per node and bin are needed, and of each column its most frequent bin is what the others leave,
so shares that are mostly 0 cost next to nothing.

Gradients are rounded to 2 ** -20. Sums of them are then exact, in any order and on any machine, and so are the splits
that follow from them: what is chosen by these trees does not depend on how a machine rounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from incrowd.search.native.kernels import Float64, Int64, kernel
from incrowd.table.grouping import Codes, Floats

ROUNDS, DEPTH, RATE = 60, 3, 0.2
BINS = 32
RIDGE, LEAST = 1.0, 2.0  # added to the curvature of a leaf, and the least that one may have (8 records or more)
_GRAIN = float(1 << 20)

_add_to_bins = kernel("add_to_bins", Int64, Int64, Int64, Float64, int, Float64)
_go_down = kernel("go_down", Int64, Int64, Int64, Int64)


@dataclass(frozen=True)
class Bins:
    """How columns are cut: the highest value of each bin but the last; a missing number lies below all others."""

    edges: tuple[Floats, ...]

    @classmethod
    def of(cls, features: Floats) -> Bins:
        """Cut between neighbouring values where they are few, else at quantiles of the rows."""
        return cls(tuple(_edges(_filled(column)) for column in features.T))

    def __call__(self, features: Floats) -> Codes:
        """The bin of each cell: rows x columns."""
        starts = self.starts
        columns = [np.searchsorted(e, _filled(x), "left") for e, x in zip(self.edges, features.T, strict=True)]
        return np.stack(columns, axis=1) + starts[:-1] if columns else np.zeros((len(features), 0), np.int64)

    @property
    def starts(self) -> Codes:
        """The first bin of each column, and how many there are."""
        return np.cumsum([0, *(len(edges) + 1 for edges in self.edges)])


def _filled(column: Floats) -> Floats:
    return np.where(np.isnan(column), -np.inf, column)


def _edges(column: Floats) -> Floats:
    """Where a column is cut: halfway between neighbouring values."""
    ordered = np.sort(column)
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)])  # of equal values
    if len(starts) > BINS:
        starts = starts[np.append(True, np.diff(starts * BINS // len(ordered)) > 0)]
    before, after = ordered[starts[1:] - 1], ordered[starts[1:]]
    known = np.where(np.isinf(before), after, before)
    return np.where(np.isinf(before), np.nextafter(after, -np.inf), known + (after - known) / 2)


@dataclass(frozen=True)
class Trees:
    """The trees of one round, one for each output.

    Args:
        columns: What is tested: outputs x inner nodes, level by level.
        bins: Rows with a bin above that go right.
        leaves: What each leaf adds: outputs x leaves.
    """

    columns: Codes
    bins: Codes
    leaves: Floats

    def added(self, binned: Codes) -> Floats:
        """What the trees add to each row: outputs x rows."""
        nodes = np.zeros((len(self.leaves), len(binned)), np.int64)
        for level in range(DEPTH):
            nodes = _below(binned, nodes, self.columns[:, _level(level)], self.bins[:, _level(level)])
        return np.take_along_axis(self.leaves, nodes, axis=1)


def _level(level: int) -> slice:
    return slice((1 << level) - 1, (2 << level) - 1)


def _below(binned: Codes, nodes: Codes, columns: Codes, bins: Codes) -> Codes:
    """The node of each row on the next level: outputs x rows."""
    below = nodes.copy()
    _go_down(binned, np.ascontiguousarray(columns), np.ascontiguousarray(bins), below)
    return below


@dataclass(frozen=True)
class Boosted:
    """A classifier that was trained.

    Args:
        bins: How columns are cut.
        prior: What every row starts with: one figure per output.
        rounds: The trees.
    """

    bins: Bins
    prior: Floats
    rounds: tuple[Trees, ...]

    @classmethod
    def trained(cls, features: Floats, classes: Codes, size: int) -> Boosted:
        """Learn from rows, each of one of `size` classes."""
        shares = (np.bincount(classes, minlength=size) + 1) / (len(classes) + size)
        outputs = 1 if size == 2 else size
        truth = np.eye(size)[classes].T[-outputs:]  # outputs x rows
        prior = np.log(shares[1:] / shares[:1]) if size == 2 else np.log(shares)
        bins = Bins.of(features)
        growth, rounds = _Growth(bins, bins(features)), []
        scores = np.repeat(prior[:, None], len(classes), axis=1)
        for _ in range(ROUNDS if growth.columns else 0):
            likely = _likely(scores)
            trees = growth.grown(_rounded(likely - truth), _rounded(likely * (1 - likely)))
            scores += trees.added(growth.binned)
            rounds.append(trees)
        return cls(bins, prior, tuple(rounds))

    def scores(self, features: Floats) -> Floats:
        """What speaks for each class of each row: outputs x rows."""
        binned = self.bins(features)
        return sum((trees.added(binned) for trees in self.rounds), np.repeat(self.prior[:, None], len(binned), axis=1))

    def classes(self, features: Floats) -> Codes:
        """The likeliest class of each row."""
        scores = self.scores(features)
        return np.asarray((scores[0] > 0).astype(np.int64) if len(scores) == 1 else scores.argmax(axis=0))


def _likely(scores: Floats) -> Floats:
    if len(scores) == 1:
        return np.asarray(1 / (1 + np.exp(-scores)))
    powers = np.exp(scores - scores.max(axis=0))
    return np.asarray(powers / powers.sum(axis=0))


def _rounded(figures: Floats) -> Floats:
    return np.asarray(np.round(figures * _GRAIN) / _GRAIN)


class _Growth:
    """Grows trees over the same bins again and again."""

    def __init__(self, bins: Bins, binned: Codes) -> None:
        self.binned, self.columns = binned, len(bins.edges)
        starts = bins.starts
        self._starts, self._size = starts[:-1], int(starts[-1])
        counts = np.bincount(binned.ravel(), minlength=self._size)
        self._usual = np.array([low + counts[low:high].argmax() for low, high in pairwise(starts)], np.int64)
        rows, places = np.nonzero(binned != self._usual)
        self._rows, self._bins = np.ascontiguousarray(rows), binned[rows, places]  # entries
        self._column_of = np.repeat(np.arange(self.columns), np.diff(starts))
        self._is_last = np.zeros(self._size, bool)
        self._is_last[starts[1:] - 1] = True

    def grown(self, slopes: Floats, curves: Floats) -> Trees:
        """The trees that lower the loss most, given its gradients and curvatures: outputs x rows."""
        outputs, inner = len(slopes), (1 << DEPTH) - 1
        columns, bins = np.zeros((outputs, inner), np.int64), np.full((outputs, inner), self._size)
        nodes = np.zeros(slopes.shape, np.int64)
        for level in range(DEPTH):
            chosen, useful = self._splits(nodes, 1 << level, slopes, curves)
            columns[:, _level(level)] = self._column_of[chosen]
            bins[:, _level(level)] = np.where(useful, chosen, self._size)  # no bin is above: all go left
            nodes = _below(self.binned, nodes, columns[:, _level(level)], bins[:, _level(level)])
        slope, curve = (_sums(nodes, 1 << DEPTH, part) for part in (slopes, curves))
        return Trees(columns, bins, -RATE * slope / (curve + RIDGE))

    def _splits(self, nodes: Codes, size: int, slopes: Floats, curves: Floats) -> tuple[Codes, Codes]:
        """The best split of each node, as the last bin on the left, and whether it is of use: outputs x nodes."""
        slope, curve = (_sums(nodes, size, part) for part in (slopes, curves))
        left_slope, left_curve = (self._left(nodes, size, *each) for each in ((slopes, slope), (curves, curve)))
        right_slope, right_curve = slope[..., None] - left_slope, curve[..., None] - left_curve
        gain = left_slope**2 / (left_curve + RIDGE) + right_slope**2 / (right_curve + RIDGE)
        allowed = (left_curve >= LEAST) & (right_curve >= LEAST) & ~self._is_last
        gain = np.where(allowed, gain, -1.0)
        best = gain.argmax(axis=-1)
        gained = np.take_along_axis(gain, best[..., None], axis=-1)[..., 0]
        return best, gained > slope**2 / (curve + RIDGE)

    def _left(self, nodes: Codes, size: int, figures: Floats, whole: Floats) -> Floats:
        """The sum of figures in each bin and those below it in its column: outputs x nodes x bins."""
        sums = np.zeros((len(figures), size, self._size))
        _add_to_bins(self._rows, self._bins, nodes, figures, size, sums)
        sums[..., self._usual] = whole[..., None] - np.add.reduceat(sums, self._starts, axis=-1)
        below = sums.cumsum(axis=-1)
        before = np.concatenate([np.zeros((*below.shape[:2], 1)), below], axis=-1)[..., self._starts]
        return np.asarray(below - before[..., self._column_of])


def _sums(nodes: Codes, size: int, figures: Floats) -> Floats:
    """The sum of figures in each node: outputs x nodes."""
    outputs = len(figures)
    groups = np.arange(outputs)[:, None] * size + nodes
    return np.asarray(np.bincount(groups.ravel(), figures.ravel(), outputs * size).reshape(outputs, size), np.float64)
