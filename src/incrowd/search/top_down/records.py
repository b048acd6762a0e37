"""The records that a top-down search reads: those of a quasi-identifier that it need not distinguish are one.

A quasi-identifier has few of the attributes, and in the course of a search some of these have nothing left to refine.
Records that are in one class and equal in all attributes that have something left stay together to the end, so they may
be counted as one record of their weight. Each quasi-identifier has records of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from incrowd.search.top_down.groups import Rows, Weights, take
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import Codes, distinct_rows

_MANY = 1 << 14  # records that are worth the effort
_SAMPLED = 16  # one record of so many is looked at first
_DISTINCT = 0.8  # share of these that may be distinct, where it pays: of all records, less than a fifth are then


@dataclass
class Records:
    """The records of one quasi-identifier as one attribute sees them: their codes, and which records have a code."""

    codes: Codes
    size: int
    _order: Codes | None = field(default=None, init=False)
    _starts: Codes | None = field(default=None, init=False)

    def of(self, rows: Rows) -> Codes:
        return take(self.codes, rows)

    def under(self, start: int, stop: int) -> Rows:
        """The records with a code in [start, stop)."""
        if start == 0 and stop == self.size:
            return slice(None)
        if self._order is None or self._starts is None:
            self._order = np.argsort(self.codes, kind="stable").astype(np.int32)
            self._starts = np.concatenate([[0], np.bincount(self.codes, minlength=self.size).cumsum()])
        return self._order[self._starts[start] : self._starts[stop]]

    def parts(self, edges: Codes) -> tuple[Rows, Codes]:
        """The records with a code between the first edge and the last, and between which two edges each is."""
        rows = self.under(int(edges[0]), int(edges[-1]))
        parts = np.arange(len(edges) - 1, dtype=np.min_scalar_type(len(edges)))
        if self._starts is None or isinstance(rows, slice):
            return rows, np.repeat(parts, np.diff(edges)).take(self.codes)
        return rows, np.repeat(parts, np.diff(self._starts[edges]))  # they are in the order of their codes


def records_by(codes: Mapping[int, Codes], size: int) -> dict[int, Records]:
    """The records of an attribute by quasi-identifier; where these have the same records, they share what is made."""
    shared = {id(column): Records(column, size) for column in codes.values()}
    return {requirement: shared[id(column)] for requirement, column in codes.items()}


def records_of(table: CompressedTable, *, counted: bool) -> tuple[Sequence[Codes], Weights]:
    """The codes that the search reads, and their weights.

    Where nearly every tuple occurs once, records are read instead of tuples: counting without weights is faster, and
    there are hardly more of them. Where values are counted in histograms of tuples, tuples are read.
    """
    if counted or table.weights is None or table.records > 1.2 * len(table.counts):
        return table.codes, table.weights
    several = np.flatnonzero(table.counts > 1)
    more = np.repeat(several, table.counts[several] - 1)  # the rest of their records comes last
    return [np.concatenate([column, column.take(more)]) for column in table.codes], None


def merged(columns: Sequence[Codes], widths: Sequence[int], weights: Weights) -> tuple[list[Codes], Weights] | None:
    """The distinct records, column by column, and their weights; None where it would not pay."""
    if len(columns[0]) < _MANY:
        return None
    some = [column[::_SAMPLED] for column in columns]
    if len(distinct_rows(some, widths, None)[1]) > _DISTINCT * len(some[0]):
        return None
    found, counted = distinct_rows(columns, widths, weights)
    return found, counted.astype(np.float64)
