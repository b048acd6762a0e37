"""How the witness reads privacy models: from tables of classes and values, as the definitions are written down.

It shares no code with the models that searches ask, and where there are two ways to compute a thing it takes the other
one: matrices instead of sparse counts, edges of a tree instead of its nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.errors import DataError

Numbers = npt.NDArray[Any]
Level = Callable[[Numbers, "Column", Any], Numbers]
_CELLS = 4_000_000  # of a matrix of classes x values at a time
_TIE = 1e-9  # numbers with fractions may be so far over a limit


@dataclass(frozen=True)
class Column:
    """A column of the rows, counted in each class.

    Args:
        values: The distinct values.
        classes: The class of each entry, in ascending order.
        codes: The value of each entry.
        counts: How many rows of the class have the value.
        size: Number of classes.
    """

    values: tuple[Any, ...]
    classes: Numbers
    codes: Numbers
    counts: Numbers
    size: int

    @property
    def shares(self) -> Numbers:
        """The share of each value in all rows."""
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


def _distinct(matrix: Numbers, column: Column, model: Any) -> Numbers:
    harmless = np.isin(column.values, model.harmless)
    return np.asarray((matrix[:, ~harmless] > 0).sum(axis=1) + matrix[:, harmless].sum(axis=1))


def _entropy(matrix: Numbers, column: Column, model: Any) -> Numbers:
    harmless = np.isin(column.values, model.harmless)
    rows = matrix.sum(axis=1)
    shares = matrix[:, ~harmless] / rows[:, None]
    known = np.log(np.where(shares > 0, shares, 1.0))
    alone = matrix[:, harmless].sum(axis=1) / rows * np.log(rows)  # each harmless row is a value of its own
    return np.asarray(np.exp(alone - (shares * known).sum(axis=1)))


def _recursive(matrix: Numbers, column: Column, model: Any) -> Numbers:
    """The factor c that a class would need: it has to be below the one that was promised."""
    harmless = np.isin(column.values, model.harmless)
    found = []
    for row in matrix:
        counts = sorted([n for n in row[~harmless].tolist() if n] + [1] * int(row[harmless].sum()), reverse=True)
        rest = sum(counts[model.l - 1 :])
        found.append(counts[0] / rest if rest else np.inf)
    return np.array(found)


def _share(matrix: Numbers, column: Column, model: Any) -> Numbers:
    harmless = np.isin(column.values, model.harmless)
    return np.asarray((matrix * ~harmless).max(axis=1) / matrix.sum(axis=1))


def _excess(matrix: Numbers, column: Column) -> Numbers:
    return np.asarray(matrix / matrix.sum(axis=1)[:, None] - column.shares)


def _distance(matrix: Numbers, column: Column, model: Any) -> Numbers:
    excess = _excess(matrix, column)
    if model.distance == "hierarchical":
        return _in_tree(excess, column.values, model.taxonomy)
    if model.distance == "ordered" or (model.distance is None and all(map(_is_number, column.values))):
        order = sorted(range(len(column.values)), key=lambda place: _sort_key(column.values[place]))
        return np.asarray(np.abs(excess[:, order].cumsum(axis=1)).sum(axis=1) / max(1, len(order) - 1))
    return np.asarray(np.abs(excess).sum(axis=1) / 2)


def _in_tree(excess: Numbers, values: tuple[Any, ...], taxonomy: Any) -> Numbers:
    """What crosses each edge, times half its length: an edge is as long as its ends differ in height."""
    taxonomy = taxonomy.with_missing() if None in values else taxonomy
    paths = {path[0]: path for path in taxonomy.paths()}  # from the leaf to the root
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


def _gain(matrix: Numbers, column: Column, model: Any) -> Numbers:
    """The smallest beta that a class allows; none does, in the enhanced form, if a frequent value gains too much."""
    gain = np.maximum(_excess(matrix, column) / column.shares, 0)
    if model.enhanced:
        gain = np.where(gain > -np.log(column.shares) + _TIE, np.inf, gain)
    return np.asarray(gain.max(axis=1))


def _factor(matrix: Numbers, column: Column, model: Any) -> Numbers:
    with np.errstate(divide="ignore"):
        return np.asarray(np.abs(np.log(matrix / matrix.sum(axis=1)[:, None] / column.shares)).max(axis=1))


def _sort_key(value: Any) -> tuple[int, float, str]:
    return (2, 0.0, "") if value is None else (0, float(value), value) if _is_number(value) else (1, 0.0, value)


def _is_number(value: Any) -> bool:
    try:
        return value is None or abs(float(value)) < np.inf
    except ValueError:
        return False


# For each model with a column: what to compute, which limit it has, and whether more is better.
_BY_COLUMN: Mapping[str, tuple[Level, Callable[[Any], float], bool]] = {
    "distinct l-diversity": (_distinct, lambda model: model.l, True),
    "entropy l-diversity": (_entropy, lambda model: model.l, True),
    "recursive (c, l)-diversity": (_recursive, lambda model: model.c, False),
    "t-closeness": (_distance, lambda model: model.t, False),
    "alpha-anonymity": (_share, lambda model: model.alpha, False),
    "beta-likeness": (_gain, lambda model: model.beta, False),
    "delta-disclosure": (_factor, lambda model: model.delta, False),
}


def reached(model: Any, sizes: Numbers, columns: Mapping[str, Column]) -> tuple[float, float, Numbers]:
    """What was promised, what the worst class reaches, and which classes fall short.

    Args:
        model: The promise.
        sizes: Rows of each class.
        columns: The columns that were counted.

    Raises:
        DataError: The witness does not know this model.
    """
    if model.name == "k-anonymity":
        return model.k, sizes.min().item(), sizes < model.k
    if model.name == "k people":
        people = np.bincount(columns[model.column].classes, minlength=len(sizes))  # an entry for each person
        return model.k, people.min().item(), people < model.k
    if model.name == "k-map":
        people = columns[model.column].counts
        return model.k, people.min().item(), people < model.k
    if model.name == "delta-presence":
        shares = sizes / np.maximum(columns[model.column].counts, 1)
        return model.delta, shares.max().item(), shares > model.delta
    if model.name not in _BY_COLUMN:
        raise DataError(f"the witness cannot count {model.name}, so it cannot say whether {model} holds")
    level, limit_of, more_is_better = _BY_COLUMN[model.name]
    column, limit = columns[model.column], limit_of(model)
    found = np.concatenate([level(matrix, column, model) for matrix in column.matrices()])
    if more_is_better:
        return limit, found.min().item(), found < limit - _TIE
    if model.name in ("recursive (c, l)-diversity", "delta-disclosure"):  # these are strict
        return limit, found.max().item(), ~(found < limit - (_TIE if model.name == "delta-disclosure" else 0))
    return limit, found.max().item(), found > limit + _TIE
