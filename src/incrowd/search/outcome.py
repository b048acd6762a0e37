"""What a release by some generalized domains would be: who is left out, and what it costs.

Records in classes that are not good are left out. Costs are those of `measures`: a record that is left out has lost
everything, its label is wrong, and it counts as large as the whole table. They are fractions, so that what costs the
same is equal, and what costs less is less.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

import numpy as np

from incrowd.errors import PolicyError
from incrowd.measures.classes import FinestClasses
from incrowd.measures.registry import class_values
from incrowd.privacy.model import Requirements
from incrowd.recodings.by_value import ByValue
from incrowd.recodings.recoding import Recoding
from incrowd.search.domains import Domain, Mask
from incrowd.search.exact import information
from incrowd.search.method import SearchResult
from incrowd.search.priorities import weights_by_name
from incrowd.search.record_suppression import suppressed, withhold
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import Codes, Counts, count, group

Cost = Literal["dm", "ncp", "cm"]


class Outcome:
    """A release by one domain per attribute.

    Args:
        table: The table.
        requirements: What must hold.
        domains: The domain of each attribute of the table.
        weights: The priority of each attribute by name, which multiplies the loss of its cells; all 1 if None.
    """

    def __init__(
        self,
        table: CompressedTable,
        requirements: Requirements,
        domains: Sequence[Domain],
        weights: Mapping[str, Fraction] | None = None,
    ) -> None:
        self.domains = tuple(domains)
        self._weights = weights
        self._table = table
        self._requirements = requirements
        self._columns = [domain.cells[codes] for domain, codes in zip(domains, table.codes, strict=True)]

    def _group(self, attributes: Sequence[int]) -> tuple[Codes, Codes]:
        """The class of each tuple over some attributes, and a tuple of each class."""
        if sorted(attributes) == list(range(len(self.domains))):
            return self._united
        return group(
            [self._columns[index] for index in attributes], [self.domains[index].width for index in attributes]
        )

    @cached_property
    def _united(self) -> tuple[Codes, Codes]:
        return group(self._columns, [domain.width for domain in self.domains])

    @cached_property
    def _classes(self) -> list[Codes]:
        """The class of each tuple, per quasi-identifier."""
        places = ([self._table.index(name) for name in r.attributes] for r in self._requirements)
        return [self._group(attributes)[0] for attributes in places]

    @cached_property
    def anonymity(self) -> tuple[int, ...]:
        """The worst class per quasi-identifier, before any record is left out."""
        pairs = zip(self._requirements, self._classes, strict=True)
        return tuple(r.anonymity(self._table.class_counts(groups, int(groups.max()) + 1)) for r, groups in pairs)

    @cached_property
    def released_anonymity(self) -> tuple[int, ...]:
        """The worst class per quasi-identifier of those that are released; none if nothing is."""
        if self.suppressed == self._table.records:
            return ()
        worst = []
        for requirement, groups in zip(self._requirements, self._classes, strict=True):
            classes = self._table.class_counts(groups, int(groups.max()) + 1, ~self.out)
            worst.append(requirement.models[0].levels(classes)[classes.records > 0].min().item())
        return tuple(worst)

    @cached_property
    def holding(self) -> tuple[bool, ...]:
        """Which quasi-identifiers hold before any record is left out."""
        pairs = zip(self._requirements, self._classes, strict=True)
        counts = ((r, self._table.class_counts(groups, int(groups.max()) + 1)) for r, groups in pairs)
        return tuple(bool(r.good(classes).all()) for r, classes in counts)

    @cached_property
    def out(self) -> Mask:
        """The tuples that are left out, so that every class that is released is good."""
        return suppressed(self._classes, self._requirements, self._table)

    @cached_property
    def suppressed(self) -> int:
        """Records that are left out."""
        return int(self._table.counts[self.out].sum())

    @cached_property
    def _kept(self) -> Counts:
        """Records per tuple that are released."""
        return self._table.counts * ~self.out

    def cost(self, measure: Cost) -> Fraction:
        """Discernibility, loss per cell, or the share of records with another label than most of their class."""
        groups, firsts = self._united
        records = self._table.records
        if measure == "dm":
            sizes = count(groups, len(firsts), self._kept)
            return Fraction(int(sizes @ sizes) + self.suppressed * records)
        if measure == "cm":
            frequencies = self._table.labels_in(groups, len(firsts), ~self.out)
            return 1 - Fraction(int(frequencies.max(axis=1).sum()), records)
        lost = total = Fraction(0)
        for domain, codes in zip(self.domains, self._table.codes, strict=True):
            weight = self._weights[domain.attribute.name] if self._weights else 1
            kept = count(codes, len(domain.cells), self._kept)
            lost += Fraction(int(kept @ domain.whole_losses), domain.scale.denominator) * weight
            total += weight
        return (lost / total + self.suppressed) / records

    def found(self, facts: Mapping[str, Any], **more: Any) -> SearchResult:
        """The release as what a search found, without what only left-out records would reveal.

        Args:
            facts: What the method says of it.
            **more: Steps and the like.
        """
        recoding, left_out = withhold(self._table, ByValue(tuple(d.recoding for d in self.domains)), self.out)
        return SearchResult(recoding, facts={**facts, "suppressed_records": left_out}, **more)


def released_cost(
    table: CompressedTable, recoding: Recoding, cost: Cost, priorities: Mapping[str, float] | None = None
) -> float:
    """What a release costs, once what only left-out records have is withheld, for people to read."""
    if priorities:
        return float(weighed_cost(table, recoding, priorities))
    classes = FinestClasses.of(table, recoding.parts(table)).over(recoding.names, 1)
    return readable(class_values(classes)[cost] or 0)


def cost_of(table: CompressedTable, recoding: Recoding, priorities: Mapping[str, float] | None = None) -> Fraction:
    """What a release has lost of what the search is for; a record that is left out has lost everything.

    With a target that is the information about it, without one the loss of cells, weighed by priorities.
    """
    if not table.has_target:
        return weighed_cost(table, recoding, priorities)
    classes = FinestClasses.of(table, recoding.parts(table))
    assert classes.labels is not None
    left_out = table.records - int(classes.sizes.sum())
    everyone = table.labels_in(np.zeros(len(table.counts), np.int64), 1)[0]
    unknown = information(everyone.tolist()) / table.records  # of one record of whom nothing is known
    return sum((information(labels) for labels in classes.labels.tolist()), left_out * unknown) / table.records


def weighed_cost(table: CompressedTable, recoding: Recoding, priorities: Mapping[str, float] | None) -> Fraction:
    """The loss of what is released (NCP), with cells weighed by priorities; a left-out record has lost everything."""
    parts = recoding.parts(table)
    weights = weights_by_name([attribute.name for attribute in table.attributes], priorities)
    kept = np.ones(len(parts.records), bool) if parts.kept is None else parts.kept
    counts = np.where(kept, parts.records, 0).astype(np.float64)
    lost = {name: float(counts @ parts.losses[name][parts.cells[name]]) for name in weights}
    mean = sum(float(weight) * lost[name] for name, weight in weights.items()) / float(sum(weights.values()))
    return Fraction(str(readable((mean + table.records - float(counts.sum())) / table.records)))


def weighs_cells(word: str, cost: str, priorities: Mapping[str, float] | None) -> None:
    """Priorities weigh the losses of cells.

    Raises:
        PolicyError: They are given for a cost that does not count cells.
    """
    if priorities and cost not in ("ncp", "hdm"):
        raise PolicyError(f"The '{word}' parameter must be ncp where 'priorities' are given. Got {cost!r}.")


def readable(cost: Fraction | float) -> float:
    """A cost for people to read, the same on every machine."""
    return round(float(cost), 12)


def default_cost(table: CompressedTable, cost: Cost | None, priorities: Mapping[str, float] | None = None) -> Cost:
    """The cost to go by: the one asked for, else ncp.

    Raises:
        PolicyError: The classification metric is asked for, and there is no target; or priorities are given for a cost
            that has no use for them.
    """
    weighs_cells("cost", cost or "ncp", priorities)
    if cost == "cm" and not table.has_target:
        raise PolicyError("The 'cost' parameter must be dm or ncp when there is no target. Got 'cm'.")
    return cost or "ncp"
