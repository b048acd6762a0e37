"""How the witness reads privacy models: from tables of classes and values, as the definitions are written down.

It shares no code with the models that searches ask, and where there are two ways to compute a thing it takes the other
one: matrices instead of sparse counts, edges of a tree instead of its nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from math import exp, lgamma, log, log1p
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.errors import DataError
from incrowd.verification.uniqueness import share_alone

Numbers = npt.NDArray[Any]
Level = Callable[[Numbers, "Column", "Promise"], Numbers]
_CELLS = 4_000_000  # of a matrix of classes x values at a time
_TIE = 1e-9  # numbers with fractions may be so far over a limit


@dataclass(frozen=True)
class Promise:
    """One promise, as data.

    Args:
        name: The name of the model, such as "k-anonymity".
        text: The promise in short, such as "k=10".
        limit: What every class should reach, or must not exceed.
        column: The column whose values are counted, if any.
        more: What else the model says of its column, such as values that need no protection.
    """

    name: str
    text: str
    limit: float
    column: str | None = None
    more: Mapping[str, Any] = field(default_factory=dict)

    @property
    def harmless(self) -> tuple[str, ...]:
        return tuple(self.more.get("harmless", ()))


@dataclass(frozen=True)
class Column:
    """A column of the rows, counted in each class."""

    values: tuple[Any, ...]
    classes: Numbers
    codes: Numbers
    counts: Numbers
    size: int

    @property
    def shares(self) -> Numbers:
        return np.asarray(np.bincount(self.codes, self.counts, len(self.values)) / self.counts.sum())

    def matrices(self) -> Iterator[Numbers]:
        """Rows by class and value, some classes at a time."""
        width = len(self.values)
        step = max(1, _CELLS // width)
        for start in range(0, self.size, step):
            stop = min(self.size, start + step)
            part = slice(*np.searchsorted(self.classes, [start, stop]))
            matrix = np.zeros((stop - start, width), np.int64)
            matrix[self.classes[part] - start, self.codes[part]] = self.counts[part]
            yield matrix


def _distinct(matrix: Numbers, column: Column, promise: Promise) -> Numbers:
    harmless = np.isin(column.values, promise.harmless)
    return np.asarray((matrix[:, ~harmless] > 0).sum(axis=1) + matrix[:, harmless].sum(axis=1))


def _entropy(matrix: Numbers, column: Column, promise: Promise) -> Numbers:
    harmless = np.isin(column.values, promise.harmless)
    rows = matrix.sum(axis=1)
    shares = matrix[:, ~harmless] / rows[:, None]
    known = np.log(np.where(shares > 0, shares, 1.0))
    alone = matrix[:, harmless].sum(axis=1) / rows * np.log(rows)  # each harmless row is a value of its own
    return np.asarray(np.exp(alone - (shares * known).sum(axis=1)))


def _recursive(matrix: Numbers, column: Column, promise: Promise) -> Numbers:
    """The factor c that a class would need: it has to be below the one that was promised."""
    harmless = np.isin(column.values, promise.harmless)
    found = []
    for row in matrix:
        counts = sorted([n for n in row[~harmless].tolist() if n] + [1] * int(row[harmless].sum()), reverse=True)
        rest = sum(counts[promise.more["l"] - 1 :])
        found.append(counts[0] / rest if rest else np.inf)
    return np.array(found)


def _share(matrix: Numbers, column: Column, promise: Promise) -> Numbers:
    harmless = np.isin(column.values, promise.harmless)
    return np.asarray((matrix * ~harmless).max(axis=1) / matrix.sum(axis=1))


def _excess(matrix: Numbers, column: Column) -> Numbers:
    return np.asarray(matrix / matrix.sum(axis=1)[:, None] - column.shares)


def _distance(matrix: Numbers, column: Column, promise: Promise) -> Numbers:
    excess, distance = _excess(matrix, column), promise.more.get("distance")
    if distance == "hierarchical":
        return _in_tree(excess, column.values, promise.more["paths"])
    if distance == "ordered" or (distance is None and all(map(_is_number, column.values))):
        order = sorted(range(len(column.values)), key=lambda place: _sort_key(column.values[place]))
        return np.asarray(np.abs(excess[:, order].cumsum(axis=1)).sum(axis=1) / max(1, len(order) - 1))
    return np.asarray(np.abs(excess).sum(axis=1) / 2)


def _in_tree(excess: Numbers, values: tuple[Any, ...], tree: tuple[tuple[str | None, ...], ...]) -> Numbers:
    """What crosses each edge, times half its length: an edge is as long as its ends differ in height."""
    paths: dict[Any, tuple[str | None, ...]] = {path[0]: path for path in tree}  # from the leaf to the root
    if None in values:
        paths.setdefault(None, (None, tree[0][-1]))  # missing values are a leaf below the root
    total = max(len(path) for path in paths.values()) - 1
    crossing: dict[tuple[Any, ...], Numbers] = {}
    length: dict[tuple[Any, ...], int] = {}
    for place, value in enumerate(values):
        path = paths[value]
        for depth in range(len(path) - 1):  # the edge above the node at this place of the path
            edge = path[depth:]
            crossing[edge] = crossing.get(edge, 0) + excess[:, place]
            above = total - (len(path) - 2 - depth)
            length[edge] = above - (0 if depth == 0 else above - 1)
    moved = sum(np.abs(crossing[edge]) * length[edge] for edge in crossing)
    return np.asarray(moved / (2 * total) if total else np.zeros(len(excess)))


def _gain(matrix: Numbers, column: Column, promise: Promise) -> Numbers:
    return np.asarray(np.maximum(_excess(matrix, column) / column.shares, 0).max(axis=1))


def _enhanced_gain(matrix: Numbers, column: Column, promise: Promise) -> Numbers:
    """The smallest beta that a class allows; none does if a frequent value gains too much."""
    gain = np.maximum(_excess(matrix, column) / column.shares, 0)
    return np.asarray(np.where(gain > -np.log(column.shares) + _TIE, np.inf, gain).max(axis=1))


def _factor(matrix: Numbers, column: Column, promise: Promise) -> Numbers:
    with np.errstate(divide="ignore"):
        return np.asarray(np.abs(np.log(matrix / matrix.sum(axis=1)[:, None] / column.shares)).max(axis=1))


def _sort_key(value: Any) -> tuple[int, float, str]:
    return (2, 0.0, "") if value is None else (0, float(value), value) if _is_number(value) else (1, 0.0, value)


def _is_number(value: Any) -> bool:
    try:
        return value is None or abs(float(value)) < np.inf
    except ValueError:
        return False


@dataclass(frozen=True)
class Count:
    """How a model of a sensitive column is counted.

    Args:
        level: What each class reaches.
        more_is_better: Whether classes should reach the limit, or must not exceed it.
        strict: Whether they must stay below it.
        tie: How far numbers with fractions may be over the limit.
    """

    level: Level
    more_is_better: bool = False
    strict: bool = False
    tie: float = _TIE

    def bad(self, found: Numbers, limit: float) -> Numbers:
        if self.more_is_better:
            return np.asarray(found < limit - self.tie)
        return np.asarray(~(found < limit - self.tie) if self.strict else found > limit + self.tie)


BY_COLUMN: Mapping[str, Count] = {
    "distinct l-diversity": Count(_distinct, more_is_better=True),
    "entropy l-diversity": Count(_entropy, more_is_better=True),
    "recursive (c, l)-diversity": Count(_recursive, strict=True, tie=0),
    "t-closeness": Count(_distance),
    "alpha-anonymity": Count(_share),
    "beta-likeness": Count(_gain),
    "enhanced beta-likeness": Count(_enhanced_gain),
    "delta-disclosure": Count(_factor, strict=True),
}
IN_POPULATION = ("k-map", "delta-presence")
_ESTIMATED = 1e-6  # two ways to find the parameters of an estimator differ by less, relative


def _of_table(promise: Promise, sizes: Numbers) -> tuple[float, float]:
    """What all classes together reach, and the most that they may."""
    if promise.name == "average risk":
        return len(sizes) / sizes.sum().item(), promise.limit
    if promise.name == "sample uniqueness":
        return (sizes == 1).sum().item() / sizes.sum().item(), promise.limit
    more = promise.more
    return share_alone(sizes, more["sampling_fraction"], more["estimator"]), promise.limit * (1 + _ESTIMATED)


def _records_of(promise: Promise) -> int:
    """The fewest records that one person fewer than promised shows with at most the error, if any: counted down."""
    people, share = int(promise.limit) - 1, float(promise.more["sampling_fraction"])
    if share == 1:
        return people + 1
    most, tail = promise.more["error"] * (1 - (1 - share) ** people) * (1 + _TIE), 0.0
    for records in range(people, 0, -1):
        ways = lgamma(people + 1) - lgamma(records + 1) - lgamma(people - records + 1)
        tail += exp(ways + records * log(share) + (people - records) * log1p(-share))
        if tail > most:
            return records + 1
    return 1


OF_TABLE = ("average risk", "sample uniqueness", "population uniqueness")


def reached(promise: Promise, sizes: Numbers, columns: Mapping[str | None, Column]) -> tuple[float, Numbers]:
    """What the worst class reaches, or all together, and which fall short; column None has people of the population.

    Raises:
        DataError: The witness does not know this model.
    """
    name, limit = promise.name, promise.limit
    if name == "k-anonymity":
        return sizes.min().item(), sizes < limit
    if name == "k people":
        people = np.bincount(columns[promise.column].classes, minlength=len(sizes))  # an entry for each person
        return people.min().item(), people < limit
    if name == "k-map":
        people = columns[None].counts
        return people.min().item(), people < limit
    if name == "delta-presence":
        shares = sizes / np.maximum(columns[None].counts, 1)
        return shares.max().item(), shares > limit
    if name == "estimated k-map":
        return sizes.min().item(), sizes < _records_of(promise)
    if name in OF_TABLE:  # which all classes keep or break together
        level, most = _of_table(promise, sizes)
        return level, np.full(len(sizes), not level <= most)
    if name not in BY_COLUMN:
        raise DataError(f"the witness cannot count {name}, so it cannot say whether {promise.text} holds")
    counted, column = BY_COLUMN[name], columns[promise.column]
    found = np.concatenate([counted.level(matrix, column, promise) for matrix in column.matrices()])
    worst = found.min() if counted.more_is_better else found.max()
    return worst.item(), counted.bad(found, limit)
