"""The classes of a release over some attributes: what class measures are worked out from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from incrowd.recodings.recoding import Parts
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import Codes, Counts, count, group


@dataclass(frozen=True)
class ReleasedClasses:
    """The classes of a release over some attributes.

    Args:
        attributes: The attributes.
        least_size: The smallest class that was asked for.
        records: Records of the original table.
        sizes: Records of each class.
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
        """Records that are released."""
        return int(self.sizes.sum())

    @property
    def suppressed(self) -> int:
        """Records that are left out."""
        return self.records - self.released


@dataclass(frozen=True)
class FinestClasses:
    """The released classes over all attributes; those over some attributes are unions of them."""

    records: int
    cells: dict[str, Codes]  # per class
    sizes: Counts
    labels: Counts | None  # classes x labels
    losses: Mapping[str, float]

    @classmethod
    def of(cls, table: CompressedTable, parts: Parts, labels: Counts | None = None) -> FinestClasses:
        """The classes of a table that is released in parts.

        Args:
            table: The table.
            parts: How it is released.
            labels: Records per part and label, where tuples are dealt to several parts.
        """
        widths = {name: len(losses) for name, losses in parts.losses.items()}
        groups, firsts = group(list(parts.cells.values()), list(widths.values()))
        if parts.kept is None:
            sizes = count(groups, len(firsts), table.weights if parts.records is table.counts else parts.records)
        else:
            sizes = count(groups, len(firsts), parts.records * parts.kept)
        if labels is not None:
            labels = _summed(labels, groups, len(firsts))
        elif table.has_target and not parts.dealt:
            of_tuple = groups if parts.of_tuple is None else groups[parts.of_tuple]
            labels = table.labels_in(of_tuple, len(firsts), parts.kept)
        if not (present := sizes > 0).all():
            firsts, sizes, labels = firsts[present], sizes[present], None if labels is None else labels[present]
        cells = {name: column.take(firsts) for name, column in parts.cells.items()}
        left_out = table.records - int(sizes.sum())
        weights = sizes.astype(np.float64)
        shown = {  # records per cell
            name: count(column, widths[name], weights) if widths[name] > 1 else sizes.sum(keepdims=True)
            for name, column in cells.items()
        }
        lost = {name: (float(shown[name] @ parts.losses[name]) + left_out) / table.records for name in cells}
        return cls(table.records, cells, sizes, labels, lost)

    def over(self, attributes: tuple[str, ...], least_size: int) -> ReleasedClasses:
        """The classes over some attributes."""
        found = self.within(attributes)
        return ReleasedClasses(attributes, least_size, self.records, found.sizes, found.labels, found.losses)

    def within(self, attributes: tuple[str, ...]) -> FinestClasses:
        """The classes over some attributes, of which those over fewer of them can be made faster than of all."""
        if set(attributes) == set(self.cells):
            return self
        columns = [self.cells[name] for name in attributes]
        groups, firsts = group(columns, [int(column.max(initial=0)) + 1 for column in columns])
        cells = {name: column.take(firsts) for name, column in zip(attributes, columns, strict=True)}
        sizes = count(groups, len(firsts), self.sizes)
        labels = None if self.labels is None else _summed(self.labels, groups, len(firsts))
        return FinestClasses(self.records, cells, sizes, labels, {name: self.losses[name] for name in attributes})


def _summed(labels: Counts, groups: Codes, size: int) -> Counts:
    """Rows of a matrix summed up by group."""
    return np.stack([count(groups, size, column) for column in labels.T], axis=1)
