"""Which columns tell another one: each of their values comes with one value of it, and that is no accident.

A column that passes through and tells a quasi-identifier, such as a year of birth beside an age, undoes what became of
it. Records that share a value of the first are compared in the second; if all of them agree, how unlikely that is where
the two have nothing to do with each other is known from how often two records agree there at all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from incrowd.formats.sources import Source
from incrowd.inspection.counting import KEPT_ROWS, CountedColumn, count_values
from incrowd.run import Run

BITS = 20  # an accident of one in a million


def tells(column: CountedColumn, other: CountedColumn) -> bool:
    """Whether the values of a column tell those of another, in all records that have both."""
    both = (column.codes >= 0) & (other.codes >= 0)
    first, second = column.codes[both], other.codes[both]
    if not len(first):
        return False
    last = np.full(len(column.values), -1, np.int32)
    last[first] = second
    if (last[first] != second).any():
        return False
    shares = np.bincount(second) / len(second)
    agreements = len(first) - np.count_nonzero(last >= 0)
    return bool(-math.log2(float(shares @ shares)) * agreements >= BITS)


def telling_warnings(source: Source, columns: Sequence[str], quasi: Sequence[str], run: Run) -> list[str]:
    """Which of some columns tell quasi-identifiers; reads all of these once, up to a million rows.

    Args:
        source: The rows.
        columns: The columns that pass through.
        quasi: The quasi-identifiers that do not.
        run: Told of rows, and asked whether to go on.
    """
    if not columns or not quasi:
        return []
    _, counted = count_values(source, run, [*columns, *quasi], most=KEPT_ROWS)
    found = []
    for column in counted[: len(columns)]:
        told = [f"'{other.name}'" for other in counted[len(columns) :] if column.readable and tells(column, other)]
        if told:
            found.append(
                f"column '{column.name}' passes through and tells {' and '.join(told)}: each of its values comes with "
                "one; name it as a quasi-identifier too, or drop it"
            )
    return found
