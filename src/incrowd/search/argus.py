"""A mu-Argus-like method (Hundepool, Willenborg, 1996): make rare combinations of a few values common, then complete.

mu-Argus looks at combinations of up to three attributes. A combination of values is unsafe if fewer than k records have
it. The user generalizes attributes until few unsafe combinations are left, and those are suppressed cell by cell. Here
the user is replaced by a rule: the attribute that takes part in most unsafe combinations is generalized to its next
level (see `domains`), until at most a share `suppress` of the records has an unsafe combination.

That is no k-anonymity: a record may be alone on all attributes while all of its combinations of three are common. So
the release is completed. Generalization goes on, by Datafly's rule (most distinct values first), until at most that
share of the records lies in classes over all attributes that are too small. They are left out as records: among them
are all with an unsafe combination, since a class is no larger than the crowd of any of its combinations. The facts say
where mu-Argus would have stopped, and how many records it would have left in too small classes.

Invariant: classes only merge, so neither unsafe combinations nor records left over come back. It ends, since each step
raises a level, and at the top all records are one class. Ties are broken by the name of the attribute.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from incrowd.measures import group
from incrowd.policy import QuasiIdentifier
from incrowd.search import Found
from incrowd.search.climb import Climb
from incrowd.search.domains import Domain, Mask
from incrowd.search.outcome import budget_of
from incrowd.steps import Step
from incrowd.table import CompressedTable


def argus(
    table: CompressedTable,
    quasi_identifiers: Sequence[QuasiIdentifier],
    *,
    length: int = 3,
    suppress: float = 0.05,
    on_step: Callable[[Step], object] | None = None,
) -> Found:
    """Generalize away rare combinations, then complete to k-anonymity.

    Args:
        table: The compressed table.
        quasi_identifiers: What must hold; every attribute of the table belongs to at least one.
        length: Combinations of up to that many attributes are looked at.
        suppress: Share of the records that may be left out.
        on_step: Called after each step.
    """
    budget = budget_of(table, suppress)
    climb = Climb(table, quasi_identifiers, on_step)
    rare = _RareCombinations(table, quasi_identifiers, length)
    first = found = rare.count(climb.outcome.domains)
    while found.records > budget:
        rare.forget(climb.rise({index: found.values[index] for index in climb.open}))
        found = rare.count(climb.outcome.domains)
    facts = {
        "unsafe_combinations": first.total,
        "unsafe_combinations_left": found.total,
        "levels_of_argus": climb.levels,
        "records_in_small_classes_after_argus": climb.outcome.suppressed,
    }
    climb.rise_until(budget, climb.distinct)
    return climb.found(facts)


@dataclass(frozen=True)
class _Count:
    """Unsafe combinations: all, those with each attribute, and the records that have one."""

    total: int
    values: list[int]
    records: int


class _RareCombinations:
    """The unsafe combinations of the attributes of each quasi-identifier; what a step does not touch is kept."""

    def __init__(self, table: CompressedTable, quasi_identifiers: Sequence[QuasiIdentifier], length: int) -> None:
        self._table = table
        self._needed: dict[tuple[int, ...], int] = {}  # the crowd that values of some attributes need
        for qid in quasi_identifiers:
            places = sorted(table.index(name) for name in qid.attributes)
            for size in range(1, min(length, len(places)) + 1):
                for subset in combinations(places, size):
                    self._needed[subset] = max(qid.k, self._needed.get(subset, 0))
        self._unsafe: dict[tuple[int, ...], tuple[int, Mask]] = {}  # how many, and the tuples that have one

    def forget(self, attribute: int) -> None:
        """An attribute has changed."""
        for subset in [subset for subset in self._unsafe if attribute in subset]:
            del self._unsafe[subset]

    def count(self, domains: Sequence[Domain]) -> _Count:
        """Count them, with each attribute generalized to a domain."""
        values, total = [0] * len(domains), 0
        unsafe = np.zeros(len(self._table.counts), bool)
        for subset in self._needed:
            if subset not in self._unsafe:
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
        rare = np.bincount(groups, self._table.weights) < self._needed[subset]
        return int(rare.sum()), rare[groups]
