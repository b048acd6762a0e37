"""What a release by some generalized domains would be: who is left out, and what it costs.

Records in classes that are not good are left out. Costs are those of `measures`: a record that is left out has lost
everything, its label is wrong, and it counts as large as the whole table. They are fractions, so that what costs the
same is equal, and what costs less is less.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

from incrowd.privacy.model import Requirements
from incrowd.recodings.by_value import ByValue
from incrowd.search.baselines.domains import Domain, Mask
from incrowd.search.costs import Cost
from incrowd.search.leaving_out import compared, records_left_out, suppressed, withhold
from incrowd.search.method import SearchResult
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import Codes, Counts, count, group


class Outcome:
    """A release by one domain per attribute; weights multiply the loss of the cells of each."""

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
        kept = ~self.out
        for requirement, groups in zip(compared(self._requirements, self._table, kept), self._classes, strict=True):
            classes = self._table.class_counts(groups, int(groups.max()) + 1, kept)
            worst.append(requirement.models[0].levels(classes)[classes.records > 0].min().item())
        return tuple(worst)

    @cached_property
    def holding(self) -> tuple[bool, ...]:
        """Which quasi-identifiers hold before any record is left out."""
        pairs = zip(self._requirements, self._classes, strict=True)
        counts = ((r, self._table.class_counts(groups, int(groups.max()) + 1)) for r, groups in pairs)
        return tuple(r.holds(classes) for r, classes in counts)

    @cached_property
    def out(self) -> Mask:
        """The tuples that are left out, so that every class that is released is good."""
        closed = all(requirement.upward_closed for requirement in self._requirements)
        return self._bad if closed else self._withheld(self._bad)[1]

    @cached_property
    def _bad(self) -> Mask:
        """The tuples of bad classes, before what only they have is withheld."""
        return suppressed(self._classes, self._requirements, self._table)

    def _withheld(self, out: Mask) -> tuple[ByValue, Mask]:
        recoding = ByValue(tuple(domain.recoding for domain in self.domains))
        return withhold(self._table, self._requirements, recoding, out)

    @cached_property
    def suppressed(self) -> int:
        return int(self._table.counts[self.out].sum())

    def within(self, budget: int) -> bool:
        """Whether at most that many records are left out."""
        return int(self._table.counts[self._bad].sum()) <= budget and self.suppressed <= budget

    @cached_property
    def _kept(self) -> Counts:
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
        """The release as what a search found, without what only left-out records would reveal."""
        recoding, _ = self._withheld(self.out)
        left_out = records_left_out(self._table, recoding)
        return SearchResult(recoding, facts={**facts, "suppressed_records": left_out}, **more)
