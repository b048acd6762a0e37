"""A mu-Argus-like method (Hundepool, Willenborg, 1996): rare combinations of values are generalized, then suppressed.

mu-Argus looks at combinations of up to three attributes. A combination of values is unsafe if those who have it are no
good class: with k-anonymity, fewer than k. The user generalizes attributes until few unsafe combinations are left; of
the records that have one, cells are suppressed, as few as will do, so that no unsafe combination is shown: a set cover,
solved greedily (`cell_suppression`). Here the user is replaced by a rule: the attribute that takes part in most unsafe
combinations is generalized to its next level (see `domains`), until at most a share `suppress` of the records has an
unsafe combination.

That is not k-anonymity: a record may be alone on all attributes while all of its combinations of three are common, and
the crowd of a suppressed cell are only those who have it suppressed too. So ours goes on. Of the records that are still
in bad classes over a whole quasi-identifier, more cells are suppressed: one of each where that makes a good class, then
two, and so on, first those whose suppression loses least. The last few, who have no crowd however many of their cells
go, become a class together with as many safe records as are lacking, of the class with which fewest cells are lost; or
with all of that class, if it has none to spare. With one quasi-identifier, what all records of a class have in common
is shown again in the end. The facts say how many records mu-Argus would have left in too small classes. Where models
count the values of a protected column, equal records are not split; the last few then draw whole classes.

Invariant: classes only merge while attributes rise, so unsafe combinations do not come back; it ends, since each step
raises a level. Suppression ends, since every turn suppresses more cells, and where all are, all records are one class.
Cells of safe records are suppressed only of those that the last few draw, or where several quasi-identifiers share
attributes. Ties are broken by the names of the attributes and by values, never by the order of rows or columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import lcm
from typing import Any

import numpy as np

from incrowd.privacy.model import Requirement, Requirements
from incrowd.recodings.by_tuple import ByTuple
from incrowd.recodings.hierarchies import Hierarchy
from incrowd.recodings.kinds import hierarchy_of
from incrowd.recodings.mapping import LocalMapping, nodes_of, trace
from incrowd.recodings.ranges import BOUNDS, Ranges, on_grids, public_grids
from incrowd.run import Run
from incrowd.search.baselines.cell_suppression import BLOCK, Ints, Needed, Suppression, WholeTuples, cover
from incrowd.search.baselines.climb import Climb
from incrowd.search.baselines.domains import Domain, Mask
from incrowd.search.leaving_out import budget_of
from incrowd.search.loss_scale import NARROW, Whole
from incrowd.search.method import SearchResult
from incrowd.search.priorities import weights_by_name
from incrowd.table.attributes import NumberAttribute
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import count, group


def argus(
    table: CompressedTable,
    requirements: Requirements,
    run: Run,
    *,
    length: int = 3,
    suppress: float = 0.05,
    bounds: str = BOUNDS,
    priorities: Mapping[str, float] | None = None,
) -> SearchResult:
    """Generalize away rare combinations, then suppress cells until everyone has a crowd.

    Priorities divide unsafe combinations, and multiply what a suppressed cell loses.
    """
    by_name = weights_by_name([attribute.name for attribute in table.attributes], priorities)
    weights = [by_name[attribute.name] for attribute in table.attributes]
    budget = budget_of(table, suppress)
    climb = Climb(table, requirements, run)
    rare = _RareCombinations(table, requirements, length, run)
    first = found = rare.count(climb.outcome.domains)
    while found.records > budget:
        weighed = {index: float(found.values[index] / weights[index]) for index in climb.open}
        rare.forget(climb.rise(weighed if priorities else {index: found.values[index] for index in weighed}))
        found = rare.count(climb.outcome.domains)
    facts = {
        "levels": climb.levels,
        "unsafe_combinations": first.total,
        "unsafe_combinations_left": found.total,
    }
    mapping, more = _Generalized(table, climb, weights, exact=bounds == "exact").suppress(requirements, rare, run)
    return SearchResult(ByTuple.of(mapping, run.key), climb.steps, facts={**facts, **more})


class _Generalized:
    """The generalized table: its distinct tuples, attributes by name, and the cells that they show."""

    def __init__(self, table: CompressedTable, climb: Climb, weights: Sequence[Fraction], *, exact: bool) -> None:
        self._table = table
        self._weights = weights
        self._exact = exact
        self._levels = climb.levels
        self._domains = climb.outcome.domains
        self._order = sorted(range(len(table.attributes)), key=lambda index: table.attributes[index].name)
        columns = [
            np.zeros(len(table.counts), np.int64)
            if climb.is_silent(index)
            else self._domains[index].cells[table.codes[index]].astype(np.int64) + 1
            for index in self._order
        ]
        self._number, self._firsts = group(columns, [self._domains[index].width + 1 for index in self._order])
        self._cells = np.stack([column[self._firsts] for column in columns], axis=1)
        self._records = count(self._number, len(self._firsts), table.counts)

    def suppress(
        self, requirements: Requirements, rare: _RareCombinations, run: Run
    ) -> tuple[LocalMapping, dict[str, Any]]:
        """Suppress cells of unsafe combinations, then until every quasi-identifier holds; what is released, facts."""
        needed = [
            (np.array(sorted(self._order.index(self._table.index(name)) for name in r.attributes)), r)
            for r in requirements
        ]
        costs, most = self._costs()
        state = self._state((self._records @ costs).tolist(), requirements)
        unsafe = self._bad(state, needed)
        unsafe_cells, members = rare.minimal(self._firsts)
        for start in range(0, len(costs), BLOCK):  # tuples do not depend on each other
            run.check()
            block = slice(start, start + BLOCK)
            state.cells[block][cover(unsafe_cells[block], members[:, self._order], costs[block], most)] = 0
        facts: dict[str, Any] = {
            "records_in_small_classes": int(self._records[unsafe].sum()),
            "cells_suppressed_by_argus": int(self._records @ state.suppressed.sum(axis=1)),
            "records_in_small_classes_after_argus": int(self._records[self._bad(state, needed)].sum()),
        }
        state.complete(needed, run)
        touched = state.suppressed.any(axis=1)
        facts |= {
            "cells_suppressed": int(state.records @ state.suppressed.sum(axis=1)),
            "records_with_suppressed_cells": int(state.records[touched].sum()),
            "safe_records_among_them": int(state.records[touched & ~unsafe[state.tuples]].sum()),
        }
        return self._mapping(state, max(requirement.least_size for requirement in requirements)), facts

    def _state(self, weights: list[float], requirements: Requirements) -> Suppression:
        if not (columns := {name for requirement in requirements for name in requirement.columns}):
            return Suppression(self._cells, self._records, weights)
        size = len(self._firsts)
        protected = {name: self._table.protected[name].grouped(self._number, size) for name in sorted(columns)}
        return WholeTuples(self._cells, self._records, weights, protected)

    def _costs(self) -> tuple[Whole, int]:
        """What suppressing each cell loses, in whole numbers (tuples x attributes), and what it would lose at most."""
        domains = [self._domains[index] for index in self._order]
        weights = [self._weights[index] for index in self._order]
        most = lcm(
            *(domain.scale.denominator * weight.denominator for domain, weight in zip(domains, weights, strict=True))
        )
        highest = int(most * max(weights))
        kept = []
        for index, domain, weight in zip(self._order, domains, weights, strict=True):
            whole = domain.whole_losses.astype(np.int64 if highest < NARROW else object)
            lost = whole * (most // domain.scale.denominator)
            kept.append(
                ((most - lost) * weight.numerator // weight.denominator)[self._table.codes[index][self._firsts]]
            )
        return np.stack(kept, axis=1), highest

    @staticmethod
    def _bad(state: Suppression, needed: Needed) -> Mask:
        """The parts that lie in a class that is not good."""
        return np.asarray(np.logical_or.reduce([state.bad(places, requirement) for places, requirement in needed]))

    def _mapping(self, state: Suppression, least_size: int) -> LocalMapping:
        """What is released, by original tuples; no class has fewer records."""
        table = self._table
        numbers = np.arange(len(state.tuples))
        tuples, parts, records = trace(self._number, table.counts, state.tuples, numbers, state.records)
        hierarchies, nodes = [], []
        for index in range(len(table.attributes)):
            told = state.cells[parts, self._order.index(index)] > 0
            hierarchy, column = self._column(index, table.codes[index][tuples], told)
            hierarchies.append(hierarchy)
            nodes.append(column)
        shown = np.stack(nodes, axis=1)
        if not self._exact:
            hierarchies, shown = on_grids(table, hierarchies, shown, public_grids(table, least_size))
        return LocalMapping.build(hierarchies, nodes_of(table, hierarchies), tuples, shown, records)

    def _column(self, index: int, codes: Any, told: Mask) -> tuple[Hierarchy, Ints]:
        """The hierarchy of an attribute, and the node of each code; the root where it is not shown."""
        attribute = self._table.attributes[index]
        if isinstance(attribute, NumberAttribute):
            return _ranges(attribute, self._domains[index], codes, told)
        hierarchy = hierarchy_of(attribute)
        level = hierarchy.taxonomy.height + 1 - self._levels[attribute.name]
        return hierarchy, np.where(told, hierarchy.to_level(hierarchy.leaves, level)[codes], 0)


def _ranges(attribute: NumberAttribute, domain: Domain, codes: Any, told: Mask) -> tuple[Hierarchy, Ints]:
    """Cells of numbers as ranges; each reaches from the lowest to the highest number that is told by it."""
    cells = domain.cells[codes]
    low, high = np.full(domain.width, attribute.size), np.full(domain.width, -1)
    np.minimum.at(low, cells[told], codes[told])
    np.maximum.at(high, cells[told], codes[told])
    used = np.flatnonzero(high >= 0)
    spans = {cell: (int(low[cell]), int(high[cell]) + 1) for cell in used.tolist()}
    ranges = Ranges.of(attribute, spans.values())
    nodes = np.zeros(domain.width, np.int64)
    nodes[used] = [ranges.node(*span) for span in spans.values()]
    return ranges, np.where(told, nodes[cells], 0)


@dataclass(frozen=True)
class _Count:
    """Unsafe combinations: all, those with each attribute, and the records that have one."""

    total: int
    values: list[int]
    records: int


class _RareCombinations:
    """The unsafe combinations of the attributes of each quasi-identifier; what a step does not touch is kept."""

    def __init__(self, table: CompressedTable, requirements: Requirements, length: int, run: Run) -> None:
        self._table = table
        self._run = run
        self._needed: dict[tuple[int, ...], list[Requirement]] = {}  # what the classes of some attributes must satisfy
        for requirement in requirements:
            places = sorted(table.index(name) for name in requirement.attributes)
            for size in range(1, min(length, len(places)) + 1):
                for subset in combinations(places, size):
                    self._needed.setdefault(subset, []).append(requirement)
        self._unsafe: dict[tuple[int, ...], tuple[int, Mask]] = {}  # how many, and the tuples that have one

    def forget(self, attribute: int) -> None:
        for subset in [subset for subset in self._unsafe if attribute in subset]:
            del self._unsafe[subset]

    def count(self, domains: Sequence[Domain]) -> _Count:
        values, total = [0] * len(domains), 0
        unsafe = np.zeros(len(self._table.counts), bool)
        for subset in self._needed:
            if subset not in self._unsafe:
                self._run.check()
                self._unsafe[subset] = self._find(subset, domains)
            number, mask = self._unsafe[subset]
            total += number
            unsafe |= mask
            for index in subset:
                values[index] += number
        return _Count(total, values, int(self._table.counts[unsafe].sum()))

    def _find(self, subset: tuple[int, ...], domains: Sequence[Domain]) -> tuple[int, Mask]:
        columns = [domains[index].cells[self._table.codes[index]] for index in subset]
        groups = group(columns, [domains[index].width for index in subset])[0]
        classes = self._table.class_counts(groups, int(groups.max()) + 1)
        rare = ~np.logical_and.reduce([requirement.good(classes) for requirement in self._needed[subset]])
        return int(rare.sum()), rare[groups]

    def minimal(self, tuples: Ints) -> tuple[Mask, Mask]:
        """The unsafe combinations of some tuples that no smaller one is part of, as they were counted last.

        Which combinations are so in which tuple (tuples x combinations), and their attributes (combinations x
        attributes).
        """
        subsets = sorted(self._needed, key=len)
        unsafe = np.stack([self._unsafe[subset][1][tuples] for subset in subsets], axis=1)
        members = np.zeros((len(subsets), len(self._table.attributes)), bool)
        for number, subset in enumerate(subsets):
            self._run.check()
            members[number, list(subset)] = True
            within = (members[:number] <= members[number]).all(axis=1)
            unsafe[:, number] &= ~unsafe[:, :number][:, within].any(axis=1)
        return unsafe, members
