"""What is proven of the loss of boxes: a bound for the loss of any release as boxes, and the gap to it.

Where every attribute has a hierarchy, boxes are generalized tuples, and the bound is that of `clustering.proof`.
Numbers and dates are released as ranges of any bounds, too many to look at; there the bound comes from neighbours. A
good class has at least so many records, and all of them lose what its box loses. That is no less than what the smallest
box around a record and any other one of them loses, nor than what that other one is known to lose at least. So a record
loses no less than the larger of these two, for the last of the so many records for which it is least, itself included.
At first nothing is known; a further pass can only raise what is. Rounded bounds only lose more.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from incrowd.privacy.model import Requirement
from incrowd.recodings.mapping import LocalMapping
from incrowd.run import Run
from incrowd.search.clustering import proof as by_prices
from incrowd.search.clustering.proof import SAFE
from incrowd.search.mondrian.boxes import Ints
from incrowd.search.mondrian.dimensions import Dimension, NumberDimension
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import Floats

QUICK = 4_000_000  # pairs of tuples that are looked at where nobody asked for a bound
MOST = 1_000_000_000  # the same where somebody did
CELLS = 1 << 20  # pairs at a time
PASSES = 2
FEW = 1024  # values whose pairs are looked at once


def proven(
    table: CompressedTable,
    requirement: Requirement,
    dimensions: Sequence[Dimension],
    mapping: LocalMapping,
    run: Run,
    *,
    asked: bool,
) -> dict[str, float]:
    """The bound (as NCP) and the gap, as facts of a release; nothing if that would take long."""
    if not any(isinstance(dimension, NumberDimension) for dimension in dimensions):
        most = by_prices.MOST if asked else by_prices.QUICK
        return by_prices.proven(table, requirement, mapping.hierarchies, mapping, run, most)
    if len(table.counts) ** 2 > (MOST if asked else QUICK):
        return {}
    least = np.zeros(len(table.counts))
    for _ in range(PASSES):
        more = nearest_crowds(table, dimensions, requirement.least_size, least, run)
        if more is None:
            return {}
        least = more
    lost = np.zeros(len(mapping.part_records))
    for place, (attribute, hierarchy) in enumerate(zip(table.attributes, mapping.hierarchies, strict=True)):
        lost += hierarchy.losses(attribute)[mapping.classes[mapping.part_classes, place]]
    total = float(lost @ mapping.part_records)
    return by_prices.gap(float(least @ table.counts) * SAFE, total, table.records * len(dimensions))


def nearest_crowds(
    table: CompressedTable, dimensions: Sequence[Dimension], least_size: int, known: Floats, run: Run
) -> Floats | None:
    """What a record of each tuple loses at least, summed over the attributes; None if the run is over before."""
    many = len(table.counts)
    codes = [column.astype(np.int64) for column in table.codes]
    sizes = [attribute.size for attribute in table.attributes]
    tables = [_between_values(dimension, size) for dimension, size in zip(dimensions, sizes, strict=True)]
    last = min(least_size, many) - 1  # every tuple has a record, so as many tuples as records needed are enough
    found = np.empty(many)
    for start in range(0, many, step := max(1, CELLS // many)):
        if not run.should_continue():
            return None
        run.amount(start, many, "tuples compared")
        apart = np.zeros((min(step, many - start), many))
        for dimension, column, between in zip(dimensions, codes, tables, strict=True):
            apart += _apart(dimension, column[start : start + step], column, between)
        np.maximum(apart, known, out=apart)
        near = np.argpartition(apart, last, axis=1)[:, : last + 1]
        losses = np.take_along_axis(apart, near, axis=1)
        order = np.argsort(losses, axis=1)
        records = np.cumsum(np.take_along_axis(table.counts[near], order, axis=1), axis=1)
        enough = (records >= least_size).argmax(axis=1)
        found[start : start + step] = np.take_along_axis(losses, order, axis=1)[np.arange(len(near)), enough]
    return found


def _between_values(dimension: Dimension, size: int) -> Floats | None:
    """What the smallest box around each pair of values loses; None if there are many."""
    every = np.arange(size)
    return _lost(dimension, every[:, None], every[None]) if size <= FEW else None


def _apart(dimension: Dimension, some: Ints, others: Ints, between: Floats | None) -> Floats:
    if between is None:
        return _lost(dimension, some[:, None], others[None])
    return between.take(some, axis=0).take(others, axis=1)


def _lost(dimension: Dimension, one: Ints, other: Ints) -> Floats:
    low, high = np.minimum(one, other), np.maximum(one, other)
    lost: Floats = (dimension.lost(low, high) / dimension.widest).astype(np.float64)  # whole numbers may be huge
    return lost
