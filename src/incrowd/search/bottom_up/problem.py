"""What all bottom-up searches on a table share: what must hold, the trees of its attributes, and what steps lose."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np

from incrowd.privacy.model import Requirements
from incrowd.search.bottom_up.class_index import ClassIndex
from incrowd.search.bottom_up.generalization_trees import GeneralizationTree, tree_of
from incrowd.search.bottom_up.losses import Ints, Losses, ranks
from incrowd.table.attributes import TaxonomyAttribute
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import Floats

SPREAD = 0.7  # of the random factors of a restart, as the standard deviation of their logarithm


@dataclass(frozen=True)
class Problem:
    """What all bottom-up searches on a table share."""

    table: CompressedTable
    requirements: Requirements
    information: str  # what generalizations lose
    budget: int  # records that may be left out
    weights: Mapping[str, Fraction]  # the priority of each attribute by name
    groups: bool = False  # whether children of a node of a given taxonomy may become groups
    # by column, the values that are suppressed by themselves, rarest first
    rare: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    @cached_property
    def trees(self) -> tuple[GeneralizationTree, ...]:
        return tuple(
            tree_of(self.table, index, self.information, groups=self.groups, rare=self.rare.get(attribute.name, ()))
            for index, attribute in enumerate(self.table.attributes)
        )

    @cached_property
    def losses(self) -> tuple[Losses, ...]:
        names = [attribute.name for attribute in self.table.attributes]
        return tuple(
            Losses(self.table, index, tree, self.information, self.weights[names[index]])
            for index, tree in enumerate(self.trees)
        )

    def indexes(self) -> list[ClassIndex]:
        return [ClassIndex(requirement, self.trees, self.table) for requirement in self.requirements]

    def factors(self, random: np.random.Generator | None) -> list[Floats]:
        """What every I(G) is multiplied by, by attribute: random factors where they are wanted, else 1."""
        factors = [np.ones(len(tree.parent)) for tree in self.trees]
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
        if not attribute.is_public or (isinstance(attribute, TaxonomyAttribute) and attribute.top):
            continue
        least = max(one.least_size for one in requirements if attribute.name in one.attributes)
        counts = table.value_counts(index)
        rarest = np.argsort(counts, kind="stable")
        below = np.cumsum(counts[rarest])
        many = int(np.count_nonzero(below <= int(share * table.records)))
        if np.count_nonzero(counts[rarest[:many]]) > 1 and below[many - 1] >= least:
            found[attribute.name] = tuple(rarest[:many].tolist())
    return found
