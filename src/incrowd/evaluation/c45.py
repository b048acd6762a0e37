"""C4.5, the decision tree of the papers' experiments (Quinlan, release 8, its default options), for scikit-learn.

What sets it apart from scikit-learn's tree: a category is split into all its values at once and not tried again below;
splits are chosen by gain ratio among those of at least average gain; a cut of a number pays for its choice; and the
tree is pruned by pessimistic estimates of its errors, where a node may also become its largest branch.

Missing values are not spread over the branches as C4.5 does it: a missing number lies below all others, a missing
category is one of its own. Trees end at a depth of 300.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from math import exp, log, log2, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin

CASES = 2  # at least this many cases in two branches of a split
CONFIDENCE = 0.25  # of the estimates that pruning uses
DEEPEST = 300
_EPSILON = 1e-3
_COEFFICIENT = (0.84 + (0.25 - 0.84) * (CONFIDENCE - 0.2) / (0.4 - 0.2)) ** 2  # interpolated as C4.5's table does it

Matrix = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]


@dataclass
class Node:
    """A node of the tree; a leaf if it has no branches."""

    best: int  # the most frequent class
    column: int = -1  # what is tested
    cut: float = 0.0  # numbers above it go right; unused for categories
    branches: list[Node] = field(default_factory=list)  # left and right, or one for each category


@dataclass(frozen=True)
class _Split:
    column: int
    gain: float
    info: float  # entropy of the branches' sizes
    cut: float = 0.0


class C45(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A decision tree over columns of numbers (the first `numbers` of them) followed by columns of category codes."""

    def __init__(self, numbers: int = 0) -> None:
        self.numbers = numbers

    def fit(self, X: Matrix, y: Any) -> C45:
        self.classes_, classes = np.unique(np.asarray(y), return_inverse=True)
        columns = _columns(X, self.numbers)
        growth = _Growth(columns, self.numbers, classes.astype(np.int64), len(self.classes_))
        self.root_ = growth.grow(np.arange(len(classes)), frozenset(), 0)
        growth.prune(self.root_, np.arange(len(classes)))
        return self

    def predict(self, X: Matrix) -> Any:
        columns, found = _columns(X, self.numbers), np.zeros(len(X), np.int64)
        open_nodes = [(self.root_, np.arange(len(X)))]
        while open_nodes:
            node, rows = open_nodes.pop()
            found[rows] = node.best
            if node.branches and len(rows):
                open_nodes += zip(node.branches, _routed(node, columns, self.numbers, rows), strict=True)
        return self.classes_[found]


def extra_errors(cases: float, errors: float) -> float:
    """How many more errors than were seen a leaf is expected to make, by the upper end of a confidence interval."""
    if cases == 0:
        return 0.0
    none = cases * (1 - exp(log(CONFIDENCE) / cases))
    if errors < 1e-6:
        return none
    if errors < 0.9999:
        return none + errors * (extra_errors(cases, 1.0) - none)
    if errors + 0.5 >= cases:
        return 0.67 * (cases - errors)
    seen = errors + 0.5
    root = sqrt(_COEFFICIENT * (seen * (1 - seen / cases) + _COEFFICIENT / 4))
    return cases * (seen + _COEFFICIENT / 2 + root) / (cases + _COEFFICIENT) - errors


def _columns(X: Matrix, numbers: int) -> list[Any]:
    """Columns as numbers (minus infinity where missing) and as codes."""
    low = np.where(np.isnan(X), -np.inf, X)
    return [low[:, i] if i < numbers else X[:, i].astype(np.int64) for i in range(X.shape[1])]


def _routed(node: Node, columns: list[Any], numbers: int, rows: Codes) -> list[Codes]:
    """The rows that go to each branch; a category without a branch goes to none."""
    values = columns[node.column][rows]
    if node.column < numbers:
        above = values > node.cut
        return [rows[~above], rows[above]]
    order = np.argsort(values, kind="stable")
    ends = np.searchsorted(values[order], np.arange(len(node.branches) + 1))
    return [rows[order[low:high]] for low, high in pairwise(ends)]


def _bits(counts: Any) -> Any:
    """For each count n, n log2(n)."""
    counts = np.asarray(counts, float)
    return counts * np.log2(np.where(counts > 0, counts, 1))


class _Growth:
    def __init__(self, columns: list[Any], numbers: int, classes: Codes, size: int) -> None:
        self._columns, self._numbers = columns, numbers
        self._classes, self._size = classes, size
        self._widths = [0 if i < numbers else int(column.max()) + 1 for i, column in enumerate(columns)]
        self._numbers_of = [np.unique(column) for column in columns[:numbers]]
        few = [width < 0.3 * len(classes) for width in self._widths]  # numbers have 0
        self._counts = few if any(few) else [True] * len(few)

    def grow(self, rows: Codes, used: frozenset[int], depth: int) -> Node:
        """The unpruned tree of some rows; categories that were split above are not tried again."""
        counts = self._frequencies(rows)
        node = Node(int(counts.argmax()))
        if counts.max() == len(rows) or len(rows) < 2 * CASES or depth == DEEPEST:
            return node
        split = self._best(rows, counts, used)
        if split is None:
            return node
        node.column, node.cut = split.column, split.cut
        node.branches = [node] * (2 if split.column < self._numbers else self._widths[split.column])
        below = used if split.column < self._numbers else used | {split.column}
        parts = _routed(node, self._columns, self._numbers, rows)
        node.branches = [self.grow(part, below, depth + 1) if len(part) else Node(node.best) for part in parts]
        if self._errors(node, rows) >= len(rows) - counts.max() - _EPSILON:
            node.branches = []
        return node

    def _frequencies(self, rows: Codes) -> Codes:
        return np.bincount(self._classes[rows], minlength=self._size)

    def _errors(self, node: Node, rows: Codes) -> int:
        """Training errors of a tree."""
        if not node.branches:
            return int((self._classes[rows] != node.best).sum())
        parts = _routed(node, self._columns, self._numbers, rows)
        return sum(self._errors(branch, part) for branch, part in zip(node.branches, parts, strict=True))

    def _best(self, rows: Codes, counts: Codes, used: frozenset[int]) -> _Split | None:
        """The split of the highest gain ratio among those of at least average gain."""
        base = float(_bits(len(rows)) - _bits(counts).sum()) / len(rows)
        splits = []
        for column in range(len(self._columns)):
            if column < self._numbers:
                split = self._number(column, rows, counts, base)
            else:
                split = None if column in used else self._category(column, rows, base)
            if split is not None:
                splits.append(split)
        gains = [split.gain for split in splits if self._counts[split.column]]
        least = sum(gains) / len(gains) - _EPSILON if gains else np.inf
        ratios = [(split.gain / split.info, -split.column, split) for split in splits if split.info > _EPSILON
                  and split.gain >= least and split.gain > -_EPSILON]  # fmt: skip
        return max(ratios)[2] if ratios else None

    def _category(self, column: int, rows: Codes, base: float) -> _Split | None:
        """All categories apart, if two of them have enough cases."""
        width = self._widths[column]
        keys = self._columns[column][rows] * self._size + self._classes[rows]
        table = np.bincount(keys, minlength=width * self._size)
        sizes = table.reshape(width, self._size).sum(axis=1)
        if (sizes >= CASES).sum() < 2:
            return None
        inside = float(_bits(sizes).sum() - _bits(table).sum()) / len(rows)
        return _Split(column, base - inside, float(_bits(len(rows)) - _bits(sizes).sum()) / len(rows))

    def _number(self, column: int, rows: Codes, counts: Codes, base: float) -> _Split | None:
        """The cut of the highest gain, less what it takes to say which one of all it is."""
        values, cases = self._columns[column][rows], len(rows)
        order = np.argsort(values, kind="stable")
        ordered, classes = values[order], self._classes[rows[order]]
        least = min(max(0.1 * cases / self._size, CASES), 25)
        places = np.flatnonzero(ordered[1:] > ordered[:-1]) + 1
        places = places[(places >= least) & (cases - places >= least)]
        if not len(places):
            return None
        low = np.stack([np.cumsum(classes == each)[places - 1] for each in range(self._size)])
        inside = _bits(places) - _bits(low).sum(axis=0) + _bits(cases - places)
        inside = (inside - _bits(counts[:, None] - low).sum(axis=0)) / cases
        best = int(inside.argmin())
        gain = base - float(inside[best]) - log2(len(places)) / cases
        if gain <= 0:
            return None
        place = int(places[best])
        info = float(_bits(cases) - _bits(place) - _bits(cases - place)) / cases
        return _Split(column, gain, info, self._cut(column, float(ordered[place - 1]), float(ordered[place])))

    def _cut(self, column: int, low: float, high: float) -> float:
        """The greatest number of all training rows that is not above the middle."""
        middle = (low + high) / 2
        if not np.isfinite(middle):  # one of both is missing
            return low
        return float(self._numbers_of[column][self._numbers_of[column].searchsorted(middle, side="right") - 1])

    def prune(self, node: Node, rows: Codes) -> float:
        """Make a node a leaf, or its largest branch, where fewer errors are expected; the errors expected then."""
        leaf = self._leaf(node, rows, update=True)
        if not node.branches:
            return leaf
        parts = _routed(node, self._columns, self._numbers, rows)
        tree = sum(self.prune(branch, part) for branch, part in zip(node.branches, parts, strict=True))
        largest = node.branches[int(np.argmax([len(part) for part in parts]))]
        branch = self._expected(largest, rows)
        if leaf <= branch + 0.1 and leaf <= tree + 0.1:
            node.branches = []
            return leaf
        if branch > tree + 0.1:
            return tree
        node.best, node.column, node.cut, node.branches = largest.best, largest.column, largest.cut, largest.branches
        return self.prune(node, rows)

    def _leaf(self, node: Node, rows: Codes, *, update: bool) -> float:
        """The errors expected of a leaf; its class stays where others are as frequent."""
        counts = self._frequencies(rows)
        best = node.best if counts[node.best] == counts.max() else int(counts.argmax())
        if update:
            node.best = best
        return len(rows) - int(counts[best]) + extra_errors(len(rows), len(rows) - int(counts[best]))

    def _expected(self, node: Node, rows: Codes) -> float:
        """The errors expected of a tree on some rows."""
        if not node.branches:
            return self._leaf(node, rows, update=False)
        parts = _routed(node, self._columns, self._numbers, rows)
        return sum(self._expected(branch, part) for branch, part in zip(node.branches, parts, strict=True))
