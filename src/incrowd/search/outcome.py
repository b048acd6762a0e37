"""What a release by some generalized domains would be: who is left out, and what it costs.

Records in classes that are too small are left out. Costs are those of `measures`: a record that is left out has lost
everything, its class is wrong, and it counts as large as the whole table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Literal

import numpy as np

from incrowd.errors import PolicyError
from incrowd.measures import group, measure
from incrowd.policy import QuasiIdentifier
from incrowd.recodings.recoding import Recoding
from incrowd.search import Found
from incrowd.search.crowds import suppressed
from incrowd.search.domains import Domain, Mask
from incrowd.search.withhold import withhold
from incrowd.table import Codes, CompressedTable, Counts, count

Cost = Literal["dm", "loss", "cm"]


class Outcome:
    """A release by one domain per attribute.

    Args:
        table: The table.
        quasi_identifiers: What must hold.
        domains: The domain of each attribute of the table.
    """

    def __init__(
        self, table: CompressedTable, quasi_identifiers: Sequence[QuasiIdentifier], domains: Sequence[Domain]
    ) -> None:
        self.domains = tuple(domains)
        self._table = table
        self._quasi_identifiers = quasi_identifiers
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
        places = ([self._table.index(name) for name in qid.attributes] for qid in self._quasi_identifiers)
        return [self._group(attributes)[0] for attributes in places]

    @cached_property
    def anonymity(self) -> tuple[int, ...]:
        """Size of the smallest class per quasi-identifier, before any record is left out."""
        return tuple(int(np.bincount(classes, self._table.weights).min()) for classes in self._classes)

    @cached_property
    def out(self) -> Mask:
        """The tuples that are left out, so that every class that is released is large enough."""
        return suppressed(self._classes, [qid.k for qid in self._quasi_identifiers], self._table)

    @cached_property
    def suppressed(self) -> int:
        """Records that are left out."""
        return int(self._table.counts[self.out].sum())

    @cached_property
    def _kept(self) -> Counts:
        """Records per tuple that are released."""
        return self._table.counts * ~self.out

    def cost(self, measure: Cost) -> float:
        """Discernibility, generalized loss per cell, or share of records whose class label is not that of their class.

        Rounded to 12 decimals, so that what costs the same is equal on every machine.
        """
        groups, firsts = self._united
        records = self._table.records
        if measure == "dm":
            sizes = count(groups, len(firsts), self._kept)
            return float(sizes @ sizes + self.suppressed * records)
        if measure == "cm":
            frequencies = self._table.class_counts_of(groups, len(firsts), ~self.out)
            return round(1 - float(frequencies.max(axis=1).sum()) / records, 12)
        lost = [
            float(count(codes, len(domain.cells), self._kept) @ domain.losses)
            for domain, codes in zip(self.domains, self._table.codes, strict=True)
        ]
        return round((sum(sorted(lost)) / len(lost) + self.suppressed) / records, 12)

    def found(self, facts: Mapping[str, Any], **more: Any) -> Found:
        """The release as what a search found, without what only left-out records would tell.

        Args:
            facts: What the method says of it.
            **more: Steps and the like.
        """
        recodings = [domain.recoding for domain in self.domains]
        recoding, classes, left_out = withhold(self._table, recodings, self.out)
        return Found(recoding, classes=classes, facts={**facts, "suppressed_records": left_out}, **more)


def released_cost(
    table: CompressedTable, quasi_identifiers: Sequence[QuasiIdentifier], found: Found, cost: Cost
) -> float:
    """What a release costs by a measure, once what only left-out records have is withheld; rounded as costs are."""
    total = measure(table, Recoding(found.recoding, classes=found.classes), quasi_identifiers).total
    costs = {"dm": total.discernibility, "loss": total.ncp, "cm": total.classification_metric}
    return round(float(costs[cost] or 0), 12)


def default_cost(table: CompressedTable, cost: Cost | None) -> Cost:
    """The cost to go by: the one asked for, else loss.

    Raises:
        PolicyError: The classification metric is asked for, and there is no target.
    """
    if cost == "cm" and not table.has_target:
        raise PolicyError("The 'cost' parameter must be dm or loss where there is no target. Got 'cm'.")
    return cost or "loss"


def budget_of(table: CompressedTable, suppress: float) -> int:
    """How many records a share of the table is."""
    return int(suppress * table.records + 1e-9)
