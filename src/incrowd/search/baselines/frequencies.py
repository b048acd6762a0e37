"""Frequency sets: how many records have which combination of values, and how to get one from another.

A frequency set is a small compressed table without a target. It can be projected to fewer attributes, and rolled up to
more general domains, without going back to the tuples it came from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from incrowd.privacy.model import Requirement
from incrowd.search.baselines.domains import Domain
from incrowd.table.class_counts import ClassCounts, Histogram
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import Codes, Counts, count, group


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

    def rolled_up(self, place: int, domain: Domain) -> FrequencySet:
        """The frequency set after the codes of one attribute have become the values of a domain."""
        columns, widths = list(self.columns), list(self.widths)
        columns[place], widths[place] = domain.cells[columns[place]], domain.width
        return FrequencySet(tuple(columns), tuple(widths), self.counts, self.protected)._collapsed()

    def bad(self, requirement: Requirement) -> int:
        """Records with a combination that does not satisfy a requirement."""
        return int(self.counts[~requirement.good(ClassCounts(self.counts, self.protected))].sum())

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

    def __init__(self, values: FrequencySet, hierarchies: Sequence[Sequence[Domain]]) -> None:
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
