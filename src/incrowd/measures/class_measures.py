"""Measures of released classes: their sizes, discernibility, the classification metric and the generalized loss.

A suppressed record is indistinguishable from all others, so for discernibility its class is as large as the table; it
loses all, and its label is not that of a majority.
"""

from __future__ import annotations

from functools import reduce

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
    return int(sizes @ sizes) if total < 2**31 else sum(n * n for n in sizes.tolist())


def classification_metric(classes: ReleasedClasses) -> float | None:
    """CM: share of records whose label is not the majority of their class, or that are left out; None if unknown."""
    if classes.labels is None:
        return None
    majorities = reduce(np.maximum, classes.labels.T, np.int64(0))  # label by label: classes are many, labels few
    return 1 - int(np.sum(majorities)) / classes.records


def generalized_loss(classes: ReleasedClasses) -> float:
    """NCP: loss per cell, 0 for the original and 1 for a table that says nothing."""
    return float(np.mean(list(classes.losses.values())))
