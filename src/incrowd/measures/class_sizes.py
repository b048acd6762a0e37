"""Measures of how large the released classes are: discernibility and average class size.

A suppressed record is indistinguishable from all others, so for discernibility its class is as large as the table.
"""

from __future__ import annotations

import numpy as np

from incrowd.measures.classes import ReleasedClasses
from incrowd.table.grouping import Counts


def smallest(classes: ReleasedClasses) -> int:
    """The size of the smallest class, 0 where nothing is released."""
    return int(classes.sizes.min()) if classes.released else 0


def median(classes: ReleasedClasses) -> int:
    """The size of the class in the middle (the lower of two), 0 where nothing is released."""
    if not classes.released:
        return 0
    sizes, middle = classes.sizes, (len(classes.sizes) - 1) // 2
    if sizes.max() > len(sizes):
        return int(np.partition(sizes, middle)[middle])
    return int(np.searchsorted(np.cumsum(np.bincount(sizes)), middle, side="right"))  # where there are many small ones


def largest(classes: ReleasedClasses) -> int:
    """The size of the largest class, 0 where nothing is released."""
    return int(classes.sizes.max()) if classes.released else 0


def discernibility(classes: ReleasedClasses) -> int:
    """DM: the sum over records of the size of their class."""
    return _squares(classes.sizes, classes.released) + classes.suppressed * classes.records


def average_class_size(classes: ReleasedClasses) -> float:
    """C_AVG: records per class, over the smallest class that was asked for; 1 is best."""
    return classes.released / max(1, len(classes.sizes)) / classes.least_size


def _squares(sizes: Counts, total: int) -> int:
    """Sum of squares, whole, however large."""
    return int(sizes @ sizes) if total < 2**31 else sum(n * n for n in sizes.tolist())
