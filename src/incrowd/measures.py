"""What a release lost: discernibility, average class size, generalized loss and classification metric.

A suppressed record has lost everything: its loss is 1, its class is wrong, and it cannot be told from any other record,
so it counts as large as the whole table towards discernibility. Measures are computed from the compressed table and the
recoding, for every attribute alone, for every quasi-identifier, and in total. Where a local recoding splits a tuple,
the classification metric depends on which of its rows go where: then the target classes of the released classes are
counted from the rows (`engines.arrow.label_counts`), and without that count the metric is left out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.policy import QuasiIdentifier
from incrowd.recodings.local.recoding import AnyRecoding, LocalRecoding
from incrowd.recodings.recoding import Recoding
from incrowd.table import Codes, CompressedTable, Counts, Floats, count, sort_tuples


@dataclass(frozen=True)
class ClassMeasures:
    """Measures over the equivalence classes of some attributes.

    Args:
        attributes: The attributes.
        k: The crowd they need.
        classes: Number of classes.
        anonymity: Size of the smallest.
        median_class: Size of the one in the middle (the lower of two).
        largest_class: Size of the largest.
        discernibility: Sum over records of the size of their class (DM).
        average_class_size: Records per class, over k (C_AVG); 1 is best.
        ncp: Generalized loss per cell, 0 for the original and 1 for a table that says nothing.
        classification_metric: Share of records whose class label is not the majority in their class (CM); None without
            a target.
        suppressed: Records left out.
    """

    attributes: tuple[str, ...]
    k: int
    classes: int
    anonymity: int
    median_class: int
    largest_class: int
    discernibility: int
    average_class_size: float
    ncp: float
    classification_metric: float | None
    suppressed: int = 0


@dataclass(frozen=True)
class Measures:
    """All measures of a release."""

    records: int
    total: ClassMeasures
    quasi_identifiers: tuple[ClassMeasures, ...]
    attributes: tuple[ClassMeasures, ...]

    def to_json(self) -> dict[str, Any]:
        """As JSON-able data."""
        return asdict(self)


def measure(
    table: CompressedTable,
    recoding: AnyRecoding,
    quasi_identifiers: Sequence[QuasiIdentifier],
    labels: Counts | None = None,
) -> Measures:
    """Measure a recoding of a table.

    The total is over all attributes of all quasi-identifiers, with the largest k of them.

    Args:
        table: The compressed table.
        recoding: The recoding.
        quasi_identifiers: What it must satisfy.
        labels: Records per released class and target class, of a local recoding that splits tuples.
    """
    if isinstance(recoding, LocalRecoding):
        table, cells, widths, losses, kept = _local_cells(table, recoding, labels)
    else:
        cells, widths, losses, kept = _cells(table, recoding)
    classes = _Classes.of(table, cells, widths, kept)

    def over(attributes: tuple[str, ...], k: int) -> ClassMeasures:
        return classes.over(attributes, k, float(np.mean([losses[name] for name in attributes])))

    names = tuple(cells)
    needed = {name: max(qid.k for qid in quasi_identifiers if name in qid.attributes) for name in names}
    return Measures(
        table.records,
        over(names, max(needed.values())),
        tuple(over(qid.attributes, qid.k) for qid in quasi_identifiers),
        tuple(over((name,), needed[name]) for name in names),
    )


Kept = npt.NDArray[np.bool_] | None
Cells = tuple[dict[str, Codes], dict[str, int], dict[str, float], Kept]


def _cells(table: CompressedTable, recoding: Recoding) -> Cells:
    """By attribute the cell of each tuple, how many cells there are, the loss per record; and which tuples are kept."""
    cells: dict[str, Codes] = {}
    lost: dict[str, Floats] = {}
    for index, attribute in enumerate(table.attributes):
        cell_of_code = recoding.cells(attribute.name, attribute.values())
        lost[attribute.name] = recoding[attribute.name].losses(attribute)[np.maximum(cell_of_code, 0)]
        narrow = np.min_scalar_type(-len(recoding[attribute.name].labels))  # -1 is no cell
        cells[attribute.name] = cell_of_code.astype(narrow).take(table.codes[index])
    widths = {name: len(recoding[name].labels) for name in cells}
    kept = recoding.released([cells[name] for name in recoding.names])
    losses = {a.name: _loss(table, index, lost[a.name], kept) for index, a in enumerate(table.attributes)}
    return cells, widths, losses, kept


def _local_cells(
    table: CompressedTable, recoding: LocalRecoding, labels: Counts | None
) -> tuple[CompressedTable, dict[str, Codes], dict[str, int], dict[str, float], Kept]:
    """The same of a local recoding, over a table with a tuple for each released class."""
    mapping = recoding.mapping
    size = len(mapping.classes)
    columns, counts = tuple(mapping.classes.T), count(mapping.part_classes, size, mapping.part_records)
    released = CompressedTable(table.attributes, columns, counts)
    if labels is None and table.has_target and not mapping.split.any():  # each tuple is one part, in the same order
        labels = table.class_counts_of(mapping.part_classes, size)
    if labels is not None:
        tuples, classes = np.nonzero(labels)
        entries = labels[tuples, classes]
        released = CompressedTable(table.attributes, columns, counts, table.classes, tuples, classes, entries)
    cells, widths, losses = {}, {}, {}
    for hierarchy, attribute, column in zip(mapping.hierarchies, table.attributes, columns, strict=True):
        cells[hierarchy.name], widths[hierarchy.name] = column, hierarchy.size
        losses[hierarchy.name] = float(counts @ hierarchy.losses(attribute)[column]) / table.records
    return released, cells, widths, losses, None


@dataclass(frozen=True)
class _Classes:
    """The released classes over all attributes; those over some attributes are unions of them."""

    records: int
    cells: dict[str, Codes]  # per class
    widths: dict[str, int]
    sizes: Counts
    frequencies: Counts | None  # classes x target classes

    @classmethod
    def of(
        cls,
        table: CompressedTable,
        cells: dict[str, Codes],
        widths: dict[str, int],
        kept: npt.NDArray[np.bool_] | None,
    ) -> _Classes:
        groups, firsts = group(list(cells.values()), list(widths.values()))
        sizes = count(groups, len(firsts), table.weights if kept is None else table.counts * kept)
        frequencies = table.class_counts_of(groups, len(firsts), kept) if table.has_target else None
        present = sizes > 0
        tuples = firsts[present]
        return cls(
            table.records,
            {name: column.take(tuples) for name, column in cells.items()},
            widths,
            sizes[present],
            None if frequencies is None else frequencies[present],
        )

    def over(self, attributes: tuple[str, ...], k: int, ncp: float) -> ClassMeasures:
        groups, firsts = group([self.cells[name] for name in attributes], [self.widths[name] for name in attributes])
        sizes = count(groups, len(firsts), self.sizes)
        released = int(sizes.sum())
        suppressed = self.records - released
        misfits = None
        if self.frequencies is not None:
            majority = np.zeros(len(firsts), np.int64)
            for frequency in self.frequencies.T:  # one per target class
                np.maximum(majority, count(groups, len(firsts), frequency), out=majority)
            misfits = 1 - int(majority.sum()) / self.records
        smallest, median, largest = np.quantile(sizes, (0, 0.5, 1), method="lower") if released else (0, 0, 0)
        return ClassMeasures(
            attributes=attributes,
            k=k,
            classes=len(sizes),
            anonymity=int(smallest),
            median_class=int(median),
            largest_class=int(largest),
            discernibility=_squares(sizes, released) + suppressed * self.records,
            average_class_size=released / max(1, len(sizes)) / k,
            ncp=ncp,
            classification_metric=misfits,
            suppressed=suppressed,
        )


def _squares(sizes: Counts, total: int) -> int:
    """Sum of squares, whole, however large."""
    return int(sizes @ sizes) if total < 2**31 else sum(n * n for n in sizes.tolist())


def _loss(table: CompressedTable, index: int, lost: Floats, kept: npt.NDArray[np.bool_] | None) -> float:
    """Loss per cell of one attribute, from the loss of each of its codes."""
    if kept is None:
        return float(table.value_counts(index) @ lost) / table.records
    return float(table.counts @ np.where(kept, lost[table.codes[index]], 1.0)) / table.records


def group(columns: Sequence[Codes], widths: Sequence[int]) -> tuple[Codes, Codes]:
    """Number the distinct rows of some columns of codes.

    Returns:
        The number of each row, and for each number a row that has it.
    """
    if math.prod(widths) <= 4 * len(columns[0]) + 65536:  # a table of all combinations is small: no need to sort
        keys = np.zeros(len(columns[0]), np.int64)
        for column, width in zip(columns, widths, strict=True):
            keys = keys * width + column
        first = np.full(math.prod(widths), -1)
        first[keys[::-1]] = np.arange(len(keys))[::-1]
        present = first >= 0
        return (present.cumsum() - 1).take(keys), first[present]
    order, starts = sort_tuples(columns, widths)
    groups = np.empty(len(order), np.int64)
    groups[order] = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(order))))
    return groups, order[starts]
