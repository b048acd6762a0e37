"""What all bottom-up searches on a table share: what must hold, the ladders of its attributes, and what steps lose."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from incrowd.privacy.model import Requirement, Requirements
from incrowd.search.bottom_up.class_index import Crowds
from incrowd.search.bottom_up.generalization_trees import Ladder, ladder_of
from incrowd.search.bottom_up.losses import Ints, Losses, ranks
from incrowd.search.priorities import weights_by_name
from incrowd.table.attributes import TaxonomyAttribute
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import Floats

SPREAD = 0.7  # of the random factors of a restart, as the standard deviation of their logarithm


@dataclass(frozen=True)
class Problem:
    """A table and what is asked of it.

    Args:
        table: The table.
        requirements: What must hold.
        information: What generalizations lose.
        budget: Records that may be left out.
        weights: The priority of each attribute by name.
        groups: Whether children of a node of a given taxonomy may become groups.
        rare: By column, the values that are suppressed by themselves, rarest first.
    """

    table: CompressedTable
    requirements: tuple[Requirement, ...]
    information: str
    budget: int
    weights: Mapping[str, Fraction]
    groups: bool = False
    rare: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        table: CompressedTable,
        requirements: Requirements,
        information: str,
        budget: int,
        priorities: Mapping[str, float] | None = None,
    ) -> Problem:
        """The problem as in the paper."""
        weights = weights_by_name([attribute.name for attribute in table.attributes], priorities)
        return cls(table, tuple(requirements), information, budget, weights)

    def suppressing(self, name: str, values: tuple[int, ...]) -> Problem:
        """The same with some values of a column suppressed by themselves."""
        return replace(self, rare={**self.rare, name: values})

    def in_groups(self) -> Problem:
        """The same with groups of children."""
        return replace(self, groups=True)

    @cached_property
    def ladders(self) -> tuple[Ladder, ...]:
        """What the values of each attribute can be generalized to."""
        return tuple(
            ladder_of(self.table, index, self.information, groups=self.groups, rare=self.rare.get(attribute.name, ()))
            for index, attribute in enumerate(self.table.attributes)
        )

    @cached_property
    def losses(self) -> tuple[Losses, ...]:
        """What every generalization loses, by attribute."""
        names = [attribute.name for attribute in self.table.attributes]
        return tuple(
            Losses(self.table, index, ladder, self.information, self.weights[names[index]])
            for index, ladder in enumerate(self.ladders)
        )

    def crowds(self) -> list[Crowds]:
        """The classes of each quasi-identifier at the bottom."""
        return [Crowds(requirement, self.ladders, self.table) for requirement in self.requirements]

    def factors(self, random: np.random.Generator | None) -> list[Floats]:
        """What every I(G) is multiplied by, by attribute: random factors where they are wanted, else 1."""
        factors = [np.ones(len(ladder.parent)) for ladder in self.ladders]
        if random is not None:
            for index in sorted(range(len(factors)), key=lambda index: self.table.attributes[index].name):
                factors[index] = np.exp(SPREAD * random.standard_normal(len(factors[index])))
        return factors

    @cached_property
    def share_ranks(self) -> list[Ints]:
        """The rank of each node by what it loses of the whole table, by attribute."""
        shares = [loss.share for loss in self.losses]
        errors = [np.full(len(share), loss.error) for loss, share in zip(self.losses, shares, strict=True)]
        return ranks(self.losses, shares, errors, lambda attribute, node: self.losses[attribute].exact_share(node))


def rare_values(table: CompressedTable, requirements: Requirements, share: Fraction) -> dict[str, tuple[int, ...]]:
    """The values, rarest first, of each column with a given taxonomy that together have at most a share of the records.

    Columns in which they have too few records to be a class, or where only one of them occurs, are left out. Values
    that nobody has are among them: a recoding should not tell which of its suppressed values occur.
    """
    found = {}
    for index, attribute in enumerate(table.attributes):
        if not isinstance(attribute, TaxonomyAttribute) or attribute.rule is not None:
            continue
        least = max(one.least_size for one in requirements if attribute.name in one.attributes)
        counts = table.value_counts(index)
        rarest = np.argsort(counts, kind="stable")
        below = np.cumsum(counts[rarest])
        many = int(np.count_nonzero(below <= int(share * table.records)))
        if np.count_nonzero(counts[rarest[:many]]) > 1 and below[many - 1] >= least:
            found[attribute.name] = tuple(rarest[:many].tolist())
    return found
