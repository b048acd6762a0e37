"""What the values of a release still say: entropy, precision, ambiguity, and the squared error of numbers.

These are the measures that readers of ARX, sdcMicro and the papers look for. They follow from the table and its
recoding: which values a released one covers, and how many records have each of them. A left-out record says nothing: it
counts as generalized to the top in every column.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from incrowd.errors import DataError, PolicyError
from incrowd.recodings.recoding import Recoding
from incrowd.table.attributes import Attribute, FlatAttribute, NumberAttribute
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import Codes, Counts, Floats, count
from incrowd.table.scales import Scale, scale_of


@dataclass(frozen=True)
class _Column:
    """One column of a release, in pieces of records that are released alike.

    Args:
        counts: Records of each code in the original table.
        codes: The original code of each piece.
        cells: What each piece is released as.
        records: Records of each piece that is released.
        left_out: Records of each code that are left out.
    """

    attribute: Attribute
    counts: Counts
    codes: Codes
    cells: Codes
    records: Counts
    left_out: Counts


def _columns(table: CompressedTable, recoding: Recoding) -> Iterator[_Column]:
    pieces = recoding.pieces(table)
    records, gone = pieces.records[pieces.kept], pieces.records[~pieces.kept]
    for index, attribute in enumerate(table.attributes):
        codes = table.codes[index].astype(np.int64).take(pieces.tuples)
        left_out = count(codes[~pieces.kept], attribute.size, gone)
        cells = pieces.cells[attribute.name][pieces.kept].astype(np.int64)
        yield _Column(attribute, table.value_counts(index), codes[pieces.kept], cells, records, left_out)


def entropy(table: CompressedTable, recoding: Recoding) -> float:
    """Non-uniform entropy: the bits that are missing to know every value again, as a share of all of them.

    A record with the value a that is released as B loses log2(n_B / n_a) bits, where n_a records of the original table
    have a, and n_B a value in B (de Waal and Willenborg 1999; Gionis and Tassa 2009). A column has lost the sum of that
    over its records, divided by what it is if nothing is released, n_B = n; the measure is the mean of the columns. It
    is what ARX reports as non-uniform entropy of a full-domain release.
    """
    lost = []
    for column in _columns(table, recoding):
        counts = np.maximum(column.counts, 1).astype(np.float64)
        bits = np.log2(table.records / counts)
        covered = recoding.sums(column.attribute, column.counts.astype(np.float64)[:, None])[:, 0]
        missing = np.log2(np.maximum(covered, 1))[column.cells] - np.log2(counts)[column.codes]
        everything = float(column.counts @ bits)
        found = float(column.records @ missing) + float(column.left_out @ bits)
        lost.append(found / everything if everything else 0.0)
    return float(np.mean(lost))


def precision(table: CompressedTable, recoding: Recoding) -> float | None:
    """Sweeney's Prec: 1 less the mean over cells of the levels climbed over the height of the column's hierarchy.

    1 for the original, 0 if every cell is the top of its hierarchy (Sweeney 2002, "Achieving k-anonymity privacy
    protection using generalization and suppression", definition 4). None where a released value is in no hierarchy, as
    numbers that a search cut itself.
    """
    climbed = []
    for column in _columns(table, recoding):
        try:
            hierarchy, nodes = recoding.in_hierarchy(column.attribute)
        except PolicyError:
            return None
        if hierarchy.kind in ("ranges", "centres"):
            return None
        tree = hierarchy.taxonomy
        steps = (tree.height - tree.level[nodes]) / max(1, tree.height)
        found = float(column.records @ steps[column.cells]) + int(column.left_out.sum())
        climbed.append(found / table.records)
    return 1 - float(np.mean(climbed))


def ambiguity(table: CompressedTable, recoding: Recoding) -> float:
    """Ambiguity: how many combinations of original values fit a released record, on average.

    AM of Goldberger and Tassa 2010 ("Efficient anonymizations with enhanced utility", section 3): the mean over records
    of the product over columns of the number of values that the released one covers; ARX reports the sum.
    """
    pieces = recoding.pieces(table)
    fitting, everything = np.ones(len(pieces.records)), 1.0
    for attribute in table.attributes:
        covered = recoding.sums(attribute, np.ones((attribute.size, 1)))[:, 0]
        fitting *= covered[pieces.cells[attribute.name]]
        everything *= attribute.size
    fitting[~pieces.kept] = everything
    return float(pieces.records @ fitting) / table.records


def squared_error(table: CompressedTable, recoding: Recoding) -> float | None:
    """SSE/SST: the squared error of released numbers over the variation of the original ones, mean of the columns.

    Of each column of numbers or dates: the sum over records of the squared distance of the original number from the
    released one, divided by that from the mean of the column (Domingo-Ferrer and Mateo-Sanz 2002, where columns are
    standardized first, which comes to the same). The number of an interval is its middle, of an open one its bound; a
    value that could be any, and a left-out one, counts as the mean, so a column of which nothing is left has 1. A
    label that is no number is the middle of what it covers. Records without a value do not count; None where no
    column has numbers that differ.
    """
    shares = [
        share for column in _columns(table, recoding) if (share := _share_of_squares(column, recoding)) is not None
    ]
    return float(np.mean(shares)) if shares else None


def _share_of_squares(column: _Column, recoding: Recoding) -> float | None:
    if (known := numbers_of(column.attribute)) is None:
        return None
    scale, numbers = known
    there = ~np.isnan(numbers)
    counts = column.counts[there]
    mean = float(counts @ numbers[there]) / max(1, int(counts.sum()))
    squares = np.where(there, (numbers - mean) ** 2, 0.0)
    if not (variation := float(column.counts @ squares)):
        return None
    shown = shown_numbers(recoding, column.attribute, scale, numbers, column.cells)
    errors = np.where(there[column.codes], np.where(np.isnan(shown), mean, shown) - numbers[column.codes], 0.0) ** 2
    return (float(column.records @ errors) + float(column.left_out @ squares)) / variation


def numbers_of(attribute: Attribute) -> tuple[Scale, Floats] | None:
    """How a column of numbers or dates is read, and the number of each code, none for missing values."""
    if (scale := number_scale(attribute)) is None:
        return None
    values = attribute.values()
    numbers = np.full(attribute.size, np.nan)
    known = values.is_valid().to_numpy(zero_copy_only=False)
    numbers[known] = scale.numbers(values.drop_null(), attribute.name).astype(np.float64)
    return scale, numbers


def shown_numbers(recoding: Recoding, attribute: Attribute, scale: Scale, numbers: Floats, cells: Codes) -> Floats:
    """The number that each released value stands for, none for one that could be any."""
    used, place = np.unique(cells, return_inverse=True)
    labels = recoding.labels_of(attribute.name, used.tolist())
    first, last = recoding.ends(attribute)
    pairs = zip(used.tolist(), labels, strict=True)
    found = [_number(label, scale, numbers[first[cell] : last[cell] + 1]) for cell, label in pairs]
    return np.array(found, np.float64)[place]


def _number(label: str | None, scale: Scale, covered: Floats) -> float:
    """The number that a released value stands for: as it is written, else the middle of what it covers."""
    if label is None:
        return np.nan
    try:
        return scale.middle(label)
    except (DataError, ValueError):  # a label of a taxonomy file, such as "young"
        known = covered[~np.isnan(covered)]
        return float((known.min() + known.max()) / 2) if known.size else np.nan


def number_scale(attribute: Attribute) -> Scale | None:
    """The scale of a column of numbers or dates, also of one that has a hierarchy; None of any other."""
    if isinstance(attribute, NumberAttribute):
        return attribute.scale
    if isinstance(attribute, FlatAttribute):
        return None
    try:
        return scale_of(attribute.values().drop_null(), attribute.name)
    except DataError:
        return None
