"""Joining parts of the values of one attribute, two by two, until one is left: those first whose joining loses least.

Of joins that lose the same, exactly, the one with fewest records comes first, then the one whose parts begin first.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any, NamedTuple

import numpy as np

from incrowd.search.exact import ABSOLUTE, DECIMALS, RELATIVE, comparable, information_lost
from incrowd.search.information import entropy
from incrowd.table.grouping import Counts

Places = tuple[int, int, int]  # where both parts begin, and the number of the join


@dataclass(frozen=True)
class Part:
    """Values that are one from some point on."""

    node: int
    codes: Sequence[int]  # ascending; all of a range, if only neighbours are joined
    counts: Any  # its records, or how many of them have each label


class CellJoin(NamedTuple):
    """Two parts whose joining loses this much of the cells: a whole number."""

    lost: int
    records: int
    places: Places


class CellJoins:
    """Joins by the loss of cells; `loss` is what a cell with the codes of one or two parts loses: a whole number."""

    def __init__(self, counts: Counts, loss: Callable[..., int]) -> None:
        self._counts, self._loss = counts, loss

    def counts(self, codes: Sequence[int]) -> int:
        return int(self._counts[list(codes)].sum())

    def of(self, pairs: Iterable[tuple[Part, Part]], number: int) -> Iterator[CellJoin]:
        """The joins of some pairs, numbered from some number on."""
        for place, (one, other) in enumerate(pairs, number):
            records = one.counts + other.counts
            lost = records * self._loss(one, other) - one.counts * self._loss(one) - other.counts * self._loss(other)
            yield CellJoin(lost, records, _places(one, other, place))


class InformationJoin:
    """Two parts whose joining loses this much information: a float, and its exact value where that matters."""

    __slots__ = ("_error", "_exact", "_lost", "_parts", "places")

    def __init__(self, lost: float, error: float, parts: tuple[list[int], list[int]], places: Places) -> None:
        self.places = places
        self._lost = lost  # records times bits
        self._error = error + RELATIVE * abs(lost)
        self._parts = parts  # their label counts
        self._exact: tuple[Fraction, int, Places] | None = None

    def __lt__(self, other: InformationJoin) -> bool:
        difference = self._lost - other._lost
        slack = self._error + other._error
        return difference < 0 if difference > slack or difference < -slack else self._compared() < other._compared()

    def _compared(self) -> tuple[Fraction, int, Places]:
        if self._exact is None:
            left, right = self._parts
            lost = comparable(information_lost(self._parts), DECIMALS)
            self._exact = lost, sum(left) + sum(right), self.places
        return self._exact


class InformationJoins:
    """Joins by information about labels; label_counts: codes x labels."""

    def __init__(self, label_counts: Counts) -> None:
        self._label_counts = label_counts
        self._error = ABSOLUTE * float(label_counts.sum())

    def counts(self, codes: Sequence[int]) -> Counts:
        return np.asarray(self._label_counts[list(codes)].sum(axis=0))

    def of(self, pairs: Sequence[tuple[Part, Part]], number: int) -> Iterator[InformationJoin]:
        """The joins of some pairs, numbered from some number on."""
        if not pairs:
            return
        parts = np.array([(one.counts, other.counts) for one, other in pairs]).transpose(1, 0, 2)
        labels = np.stack([*parts, parts.sum(axis=0)])  # part x pairs x labels
        one_bits, other_bits, both_bits = labels.sum(axis=2) * entropy(labels)
        lost, ones, others = (both_bits - one_bits - other_bits).tolist(), parts[0].tolist(), parts[1].tolist()
        for place, (one, other) in enumerate(pairs):
            counts = ones[place], others[place]
            yield InformationJoin(lost[place], self._error, counts, _places(one, other, number + place))


Joins = CellJoins | InformationJoins


def _places(one: Part, other: Part, number: int) -> Places:
    first, second = sorted((one.codes[0], other.codes[0]))
    return first, second, number


def join(
    parts: Sequence[Part], joins: Joins, joined: Callable[[Part, Part], Part], *, neighbours: bool = False
) -> Part:
    """Join parts until one is left, which is returned; `joined` makes a new part. Only neighbours, or any two."""
    alive = {part.node: part for part in parts}
    begins, ends = ({part.codes[place]: part for part in parts} for place in (0, -1))
    waiting: list[Any] = []  # joins of one kind
    offered: list[tuple[Part, Part]] = []

    def offer(pairs: list[tuple[Part, Part]]) -> None:
        for each in joins.of(pairs, len(offered)):
            heapq.heappush(waiting, each)
        offered.extend(pairs)

    offer(list(pairwise(parts) if neighbours else combinations(parts, 2)))
    while len(alive) > 1:
        one, other = offered[heapq.heappop(waiting).places[2]]
        if one.node not in alive or other.node not in alive:
            continue
        del alive[one.node], alive[other.node]
        both = joined(one, other)
        if neighbours:
            begins[both.codes[0]] = ends[both.codes[-1]] = both
            before, after = ends.get(both.codes[0] - 1), begins.get(both.codes[-1] + 1)
            offer([*([(before, both)] if before else []), *([(both, after)] if after else [])])
        else:
            offer([(both, part) for part in alive.values()])
        alive[both.node] = both
    return next(iter(alive.values()))
