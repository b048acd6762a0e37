"""Which columns tell another one: each of their values comes with one value of it, and that is no accident.

A column that passes through and tells a quasi-identifier, such as a year of birth beside an age, undoes what became of
it. Records that share a value of the first are compared in the second; if all of them agree, how unlikely that is where
the two have nothing to do with each other is known from how often two records agree there at all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from incrowd.inspection.counting import CountedColumn

BITS = 20  # an accident of one in a million
_FEW = 1 << 13  # rows that mostly show at once that nothing is told


def tells(column: CountedColumn, other: CountedColumn) -> bool:
    """Whether the values of a column tell those of another, in all records that have both."""
    for rows in (slice(_FEW), slice(None)):
        both = (column.codes[rows] >= 0) & (other.codes[rows] >= 0)
        first, second = column.codes[rows][both], other.codes[rows][both]
        last = np.full(len(column.values), -1, np.int32)
        last[first] = second
        if (last[first] != second).any():
            return False
    if not len(first):
        return False
    shares = np.bincount(second) / len(second)
    agreements = len(first) - np.count_nonzero(last >= 0)
    return bool(-math.log2(float(shares @ shares)) * agreements >= BITS)


def telling_warning(name: str, others: Sequence[str]) -> str:
    """What to say of a column that passes through and tells quasi-identifiers."""
    told = " and ".join(f"'{other}'" for other in others)
    return (
        f"column '{name}' passes through and tells {told}: each of its values comes with one; name it as a "
        "quasi-identifier too, or drop it"
    )
