"""The classes of a release over some attributes: what class measures are worked out from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce

import numpy as np

from incrowd.recodings.recoding import Parts
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import Codes, Counts, Floats, count, group, sums_of_rows


@dataclass(frozen=True)
class ReleasedClasses:
    """The classes of a release over some attributes.

    Args:
        least_size: The smallest class that was asked for.
        labels: Records of each class and label of the target, classes x labels; None where they are not known.
        losses: The generalized loss of each attribute, per cell of the original table.
    """

    attributes: tuple[str, ...]
    least_size: int
    records: int
    sizes: Counts
    labels: Counts | None
    losses: Mapping[str, float]

    @property
    def released(self) -> int:
        return int(self.sizes.sum())

    @property
    def suppressed(self) -> int:
        return self.records - self.released


@dataclass(frozen=True)
class FinestClasses:
    """The released classes over all attributes; those over some attributes are unions of them."""

    records: int
    cells: dict[str, Codes]  # per class
    sizes: Counts
    labels: Counts | None  # classes x labels
    losses: Mapping[str, Floats]  # of the cells of each attribute

    @classmethod
    def of(cls, table: CompressedTable, parts: Parts, labels: Counts | None = None) -> FinestClasses:
        """The classes of a table released in parts; labels per part are given if tuples are dealt to several."""
        widths = {name: len(losses) for name, losses in parts.losses.items()}
        groups, firsts = group(list(parts.cells.values()), list(widths.values()))
        if table.has_target and not parts.is_split and labels is None:
            of_tuple = groups if parts.of_tuple is None else groups[parts.of_tuple]
            labels = table.labels_in(of_tuple, len(firsts), parts.kept)
            sizes = reduce(np.add, labels.T)  # every record has one label
        else:
            records = table.weights if parts.records is table.counts else parts.records
            sizes = count(groups, len(firsts), records if parts.kept is None else parts.records * parts.kept)
            labels = None if labels is None else np.stack([count(groups, len(firsts), n) for n in labels.T], axis=1)
        if not (present := sizes > 0).all():
            firsts, sizes, labels = firsts[present], sizes[present], None if labels is None else labels[present]
        cells = {name: column.take(firsts) for name, column in parts.cells.items()}
        return cls(table.records, cells, sizes, labels, parts.losses)

    def lost(self, name: str) -> float:
        """The generalized loss of one attribute, per cell of the original table; the fewer classes, the faster."""
        losses, released = self.losses[name], int(self.sizes.sum())
        shown = count(self.cells[name], len(losses), self.sizes) if len(losses) > 1 else np.array([released])
        return (float(shown @ losses) + (self.records - released)) / self.records

    def over(
        self, attributes: tuple[str, ...], least_size: int, lost: Mapping[str, float] | None = None
    ) -> ReleasedClasses:
        """The classes over some attributes; what is lost of each may be known before."""
        found = self.within(attributes)
        of_these = {name: found.lost(name) if lost is None else lost[name] for name in attributes}
        return ReleasedClasses(attributes, least_size, self.records, found.sizes, found.labels, of_these)

    def within(self, attributes: tuple[str, ...]) -> FinestClasses:
        """The classes over some attributes, of which those over fewer of them can be made faster than of all."""
        if set(attributes) == set(self.cells):
            return self
        columns = [self.cells[name] for name in attributes]
        widths = [int(column.max(initial=0)) + 1 for column in columns]
        amounts = [self.sizes] if self.labels is None else list(self.labels.T)
        distinct, sums = sums_of_rows(columns, widths, amounts)
        labels = None if self.labels is None else np.stack(sums, axis=1)
        cells, losses = dict(zip(attributes, distinct, strict=True)), {name: self.losses[name] for name in attributes}
        return FinestClasses(self.records, cells, reduce(np.add, sums), labels, losses)
