"""How much two columns have to do with each other: Cramér's V, corrected for chance (Bergsma 2013).

Numbers with many values are put into ten groups of about equal size first, and of many categories the rarest count as
one, so that a table of two columns stays small and has enough records in its cells.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from incrowd.report.columns import Columns
from incrowd.table.grouping import Codes, count

Matrix = list[list[float]]
GROUPS = 10  # of numbers with many values
_MANY_NUMBERS = 20
_MOST = 50  # categories


def associations(columns: Columns, names: Sequence[str]) -> Matrix:
    """Cramér's V of each pair of columns, from 0 for none to 1 where one tells the other."""
    coarse = [_coarse(columns, name) for name in names]
    found = [[1.0] * len(names) for _ in names]
    for row in range(len(names)):
        for column in range(row):
            value = round(cramers_v(coarse[row], coarse[column]), 4)
            found[row][column] = found[column][row] = value
    return found


def cramers_v(first: Codes, second: Codes) -> float:
    """Cramér's V of two columns of codes, every code of which occurs."""
    rows, wide, records = int(first.max()) + 1, int(second.max()) + 1, len(first)
    if min(rows, wide) < 2 or records < 2:
        return 0.0
    observed = count(first * wide + second, rows * wide, None).reshape(rows, wide)  # rows x columns
    expected = np.outer(observed.sum(axis=1), observed.sum(axis=0)) / records
    phi = float((np.square(observed - expected) / expected).sum()) / records
    phi = max(0.0, phi - (rows - 1) * (wide - 1) / (records - 1))
    room = min(size - (size - 1) ** 2 / (records - 1) for size in (rows, wide)) - 1
    return 0.0 if room <= 0 else min(1.0, math.sqrt(phi / room))


def _coarse(columns: Columns, name: str) -> Codes:
    codes, labels = columns.codes[name], columns.labels[name]
    numbers = _numbers(labels) if len(labels) > _MANY_NUMBERS else None
    if numbers is not None:
        values = numbers[codes]
        edges = np.unique(np.nanquantile(values, np.linspace(0, 1, GROUPS + 1)[1:-1]))
        coarse = np.where(np.isnan(values), len(edges) + 1, np.searchsorted(edges, values, side="right"))
    elif len(labels) > _MOST:
        frequent = np.argsort(-columns.counts(name), kind="stable")[: _MOST - 1]
        place = np.full(len(labels), _MOST - 1)
        place[frequent] = np.arange(len(frequent))
        coarse = place[codes]
    else:
        coarse = codes
    return np.asarray(np.unique(coarse, return_inverse=True)[1])


def _numbers(labels: Sequence[str | None]) -> np.ndarray[tuple[int], np.dtype[np.float64]] | None:
    """The labels as numbers, not-a-number for an empty cell; None unless all are numbers."""
    try:
        found = np.array([math.nan if label is None else float(label) for label in labels])
    except ValueError:
        return None
    return found if np.isfinite(found).any() and not np.isinf(found).any() else None
