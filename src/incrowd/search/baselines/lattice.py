"""The lattice of full-domain generalizations: one level per attribute, and which nodes hold.

A node holds if leaving out the records of bad classes stays within the budget. Generalizing only ever merges classes,
so whatever lies above a node that holds does, too. And a node can only hold if it does on any subset of a
quasi-identifier: dropping attributes merges classes as well. With a budget that needs more of a privacy model than
that unions of good classes are good: a good class must stay good whatever joins it (`upward_closed`). With other models
a budget makes a lattice `irregular`: a node that holds says nothing of those above it, so every node is asked, those
that cannot be the cheapest excepted. So does a promise about all classes together that is not `monotone`.

Frequency sets say how many records have which combination of values. They can be projected to fewer attributes, and
rolled up to more general domains, without going back to the tuples they came from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import comb, prod
from typing import Protocol

import numpy as np
import numpy.typing as npt

from incrowd.errors import InfeasibleError, PolicyError
from incrowd.privacy.model import Requirement, Requirements, with_suppression
from incrowd.run import Run
from incrowd.search.baselines.domains import Domain, Mask, hierarchy
from incrowd.search.baselines.outcome import Outcome
from incrowd.search.costs import Cost
from incrowd.search.leaving_out import bad_classes, budget_of
from incrowd.search.limits import BELOW_TOP
from incrowd.search.priorities import weights_by_name
from incrowd.table.class_counts import ClassCounts, Histogram
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import Codes, Counts, count, group


class Rolled(Protocol):
    """What a level makes of the codes below it: the released value of each, and how many released values there are."""

    @property
    def cells(self) -> Codes: ...

    @property
    def width(self) -> int: ...


@dataclass(frozen=True)
class FrequencySet:
    """Distinct combinations of codes, and the records of each."""

    columns: tuple[Codes, ...]
    widths: tuple[int, ...]
    counts: Counts  # records per combination
    # for each protected column, how many records of each combination have each value
    protected: Mapping[str, Histogram] = field(default_factory=dict)

    @classmethod
    def of(cls, table: CompressedTable, attributes: Sequence[int]) -> FrequencySet:
        columns = tuple(table.codes[index] for index in attributes)
        widths = tuple(table.attributes[index].size for index in attributes)
        return cls(columns, widths, table.counts, table.protected)._collapsed()

    def without(self, place: int) -> FrequencySet:
        columns, widths = list(self.columns), list(self.widths)
        del columns[place], widths[place]
        return FrequencySet(tuple(columns), tuple(widths), self.counts, self.protected)._collapsed()

    def rolled_up(self, place: int, domain: Rolled) -> FrequencySet:
        """The frequency set after the codes of one attribute have become the values of a domain."""
        columns, widths = list(self.columns), list(self.widths)
        columns[place], widths[place] = domain.cells[columns[place]], domain.width
        return FrequencySet(tuple(columns), tuple(widths), self.counts, self.protected)._collapsed()

    def bad(self, requirement: Requirement) -> int:
        """Records with a combination that does not satisfy a requirement."""
        return int(self.counts[bad_classes(requirement, ClassCounts(self.counts, self.protected))].sum())

    def _collapsed(self) -> FrequencySet:
        groups, firsts = group(self.columns, self.widths)
        counts = count(groups, len(firsts), self.counts)
        protected = {name: values.grouped(groups, len(firsts)) for name, values in self.protected.items()}
        return FrequencySet(tuple(column[firsts] for column in self.columns), self.widths, counts, protected)


class RollUps:
    """The frequency sets of the nodes of a lattice, asked for in lexicographic order of their levels.

    Attributes are rolled up one after the other, and what the next node shares with the last one, its first levels, is
    not rolled up again.
    """

    def __init__(self, values: FrequencySet, hierarchies: Sequence[Sequence[Rolled]]) -> None:
        self._hierarchies = hierarchies
        self._levels: list[int] = []
        self._sets = [values]

    def at(self, levels: Sequence[int]) -> FrequencySet:
        shared = 0
        while shared < len(self._levels) and self._levels[shared] == levels[shared]:
            shared += 1
        del self._levels[shared:], self._sets[shared + 1 :]
        for place in range(shared, len(levels)):
            level = levels[place]
            self._levels.append(level)
            last = self._sets[-1]
            self._sets.append(last.rolled_up(place, self._hierarchies[place][level]) if level else last)
        return self._sets[-1]


MOST_NODES = 5 * 10**7  # of the lattices of all subsets together, a byte each
CHUNK = 1 << 16  # nodes whose levels are listed at a time
ROUNDING = 1e-9  # losses that bound others are sums of floats

Node = tuple[int, ...]


class Lattice:
    """The full-domain generalizations of a table.

    Attributes have an order here: those with most levels first, by name where equal. So the order of columns does not
    matter, and frequency sets shrink early.
    """

    def __init__(
        self,
        table: CompressedTable,
        requirements: Requirements,
        suppress: float,
        run: Run,
        priorities: Mapping[str, float] | None = None,
    ) -> None:
        self._table = table
        self._weights = weights_by_name([attribute.name for attribute in table.attributes], priorities)
        self._requirements = requirements
        self._run = run
        for requirement in requirements if suppress else ():
            with_suppression(requirement.models)
        self._budget = min(budget_of(table, suppress), table.records - 1)
        monotone = all(model.monotone for requirement in requirements for model in requirement.of_table)
        closed = all(requirement.upward_closed for requirement in requirements)
        self.irregular = not monotone or (self._budget > 0 and not closed)
        chains = {index: hierarchy(attribute) for index, attribute in enumerate(table.attributes)}
        self._order = sorted(chains, key=lambda index: (-len(chains[index]), table.attributes[index].name))
        self.names = tuple(table.attributes[index].name for index in self._order)
        self.hierarchies = tuple(chains[index] for index in self._order)
        self.shape = tuple(len(chain) for chain in self.hierarchies)

    def outcome(self, node: Sequence[int]) -> Outcome:
        domains: list[Domain] = [chain[0] for chain in self.hierarchies]
        for index, chain, level in zip(self._order, self.hierarchies, node, strict=True):
            domains[index] = chain[level]
        return Outcome(self._table, self._requirements, domains, self._weights)

    def priced(self, nodes: Sequence[Node], cost: Cost) -> list[tuple[Fraction, int, Node]]:
        """Cost, height and node of each; the smallest is the one to release, whatever order the nodes come in."""
        priced = []
        for node in nodes:
            self._run.check()
            priced.append((self.outcome(node).cost(cost), sum(node), node))
            self._run.amount(len(priced), len(nodes), "generalizations priced")
        return priced

    def cheapest(self, cost: Cost) -> tuple[tuple[Fraction, int, Node], int]:
        """Cost, height and node of the cheapest that holds, of equals the lowest and first, and how many were asked.

        A release costs no less than one of all records would, as one that is left out has lost everything. So nodes are
        asked in the order of that loss, until the rest would lose more.
        """
        least = self._losses() if cost == "ncp" else np.zeros(self.shape)
        flat, best, asked = least.ravel(), None, 0
        for place in np.argsort(flat, kind="stable").tolist():
            if best is not None and flat[place] > float(best[0]) + ROUNDING:
                break
            self._run.check()
            node = tuple(int(level) for level in np.unravel_index(place, self.shape))
            asked += 1
            if (outcome := self.outcome(node)).within(self._budget):
                priced = outcome.cost(cost), sum(node), node
                best = priced if best is None else min(best, priced)
            self._run.amount(asked, flat.size, "generalizations tried")
        assert best is not None  # the most general one holds
        return best, asked

    def _losses(self) -> npt.NDArray[np.float64]:
        """What each node would lose (NCP) if it released all records."""
        lost = np.zeros(self.shape)
        total = float(sum(self._weights.values()))
        for axis, (index, name) in enumerate(zip(self._order, self.names, strict=True)):
            counts = self._table.value_counts(index)
            each = [float(counts @ d.whole_losses) / d.scale.denominator for d in self.hierarchies[axis]]
            share = np.array(each) * float(self._weights[name]) / total / self._table.records
            lost += share.reshape([-1 if place == axis else 1 for place in range(len(self.shape))])
        return lost

    def levels(self, node: Sequence[int]) -> dict[str, int]:
        return dict(sorted(zip(self.names, map(int, node), strict=True)))

    @cached_property
    def heights(self) -> npt.NDArray[np.int16]:
        """The height of each node: the number of levels climbed."""
        heights = np.zeros(self.shape, np.int16)
        for levels in np.ix_(*(np.arange(size, dtype=np.int16) for size in self.shape)):
            heights += levels
        return heights

    def holding(self, within: Mask) -> Mask:
        """Which nodes hold, given nodes that may (all that hold are among them, and all above one that may)."""
        if self.irregular:
            held = np.zeros_like(within)
            for node in nodes_of(within, self._run):
                self._run.check()
                held[node] = self.outcome(node).within(self._budget)
            return held
        if len(self._requirements) > 1:
            return _holding(within, lambda node: self.outcome(node).suppressed <= self._budget, self._run)
        rolled = RollUps(FrequencySet.of(self._table, self._order), self.hierarchies)
        return _holding(within, lambda node: rolled.at(node).bad(self._requirements[0]) <= self._budget, self._run)

    def survivors(self, most: int) -> Mask:
        """The nodes that hold on every subset of at most that many attributes of each quasi-identifier."""
        if prod(levels + 1 for levels in self.shape) > MOST_NODES:
            raise PolicyError(
                f"the lattice has {prod(self.shape):,} full-domain generalizations, too many to search; name fewer "
                "attributes, give taxonomies with fewer levels, or use the method datafly, argus, tdr or bug"
            )
        survived = np.ones(self.shape, bool)
        for requirement in () if self.irregular else self._requirements:
            places = tuple(place for place, name in enumerate(self.names) if name in requirement.attributes)
            values = FrequencySet.of(self._table, [self._order[place] for place in places])
            walk = _SubsetWalk([self.hierarchies[p] for p in places], requirement, self._budget, most, self._run)
            walk.visit(values, len(places), ())
            for mask, subset in walk.largest():
                chosen = [places[place] for place in subset]
                survived &= np.expand_dims(mask, tuple(p for p in range(len(self.shape)) if p not in chosen))
        return survived


class _SubsetWalk:
    """Which nodes of the lattices of all small subsets of some attributes hold, smaller subsets first.

    A subset is visited after all of its own subsets, and only nodes that hold on all of those are counted. The
    frequency set of a subset comes from the one with one attribute more, as in Incognito's data cube.
    """

    def __init__(
        self, hierarchies: Sequence[Sequence[Domain]], requirement: Requirement, budget: int, most: int, run: Run
    ) -> None:
        self._hierarchies = hierarchies
        self._requirement = requirement
        self._run = run
        self._budget = budget
        self._most = most
        self._subsets = sum(comb(len(hierarchies), size) for size in range(1, min(most, len(hierarchies)) + 1))
        self._held: dict[tuple[int, ...], Mask] = {(): np.ones((), bool)}

    def visit(self, values: FrequencySet, undecided: int, chosen: tuple[int, ...]) -> None:
        """Visit all subsets that have the chosen attributes, and of the first `undecided` ones any."""
        if len(chosen) > self._most:
            return
        if undecided:
            last = undecided - 1
            if len(values.columns) > 1:
                self.visit(values.without(last), last, chosen)
            self.visit(values, last, (last, *chosen))
        elif chosen:
            self._held[chosen] = self._count(values, chosen)
            self._run.amount(len(self._held) - 1, self._subsets, "subsets of the attributes searched")

    def _count(self, values: FrequencySet, chosen: tuple[int, ...]) -> Mask:
        hierarchies = [self._hierarchies[place] for place in chosen]
        within = np.ones([len(chain) for chain in hierarchies], bool)
        for at in range(len(chosen)):
            within &= np.expand_dims(self._held[(*chosen[:at], *chosen[at + 1 :])], at)
        rolled = RollUps(values, hierarchies)
        return _holding(within, lambda node: rolled.at(node).bad(self._requirement) <= self._budget, self._run)

    def largest(self) -> Iterator[tuple[Mask, tuple[int, ...]]]:
        """The largest subsets, with what holds on them; they imply all smaller ones."""
        size = min(self._most, len(self._hierarchies))
        return ((mask, subset) for subset, mask in self._held.items() if len(subset) == size)


def check_found(held: Mask) -> None:
    """Raise InfeasibleError if no node holds, as can be where columns have a highest level."""
    if not held.any():
        raise InfeasibleError(BELOW_TOP)


def nodes_of(mask: Mask, run: Run) -> Iterator[Node]:
    """The nodes of a mask in lexicographic order: a node comes after all that lie below it."""
    flat = np.flatnonzero(mask)
    for start in range(0, len(flat), CHUNK):
        run.check()
        levels = np.unravel_index(flat[start : start + CHUNK], mask.shape)
        yield from zip(*(column.tolist() for column in levels), strict=True)


def _holding(within: Mask, holds: Callable[[Node], bool], run: Run) -> Mask:
    """Which nodes hold, asking only those that may and lie above none that does."""
    held = np.zeros_like(within)
    for node in nodes_of(within, run):
        if not held[node]:
            run.check()
            if holds(node):
                held[tuple(slice(level, None) for level in node)] = True
    return held


def minimal(held: Mask, run: Run) -> list[Node]:
    """The nodes that hold while none below them does, in lexicographic order."""
    least = held.copy()
    for axis in range(held.ndim):
        upper, lower = [slice(None)] * held.ndim, [slice(None)] * held.ndim
        upper[axis], lower[axis] = slice(1, None), slice(None, -1)
        least[tuple(upper)] &= ~held[tuple(lower)]
    return list(nodes_of(least, run))
