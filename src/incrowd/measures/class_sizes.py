"""Measures of how large the released classes are: discernibility and average class size.

A suppressed record is indistinguishable from all others, so for discernibility its class is as large as the table.
"""

from __future__ import annotations

import numpy as np

from incrowd.measures.classes import ReleasedClasses
from incrowd.table.grouping import Counts


def quantile(classes: ReleasedClasses, share: float) -> int:
    """The size below which a share of the classes lies (the lower of two), 0 where nothing is released."""
    return int(np.quantile(classes.sizes, share, method="lower")) if classes.released else 0


def discernibility(classes: ReleasedClasses) -> int:
    """DM: the sum over records of the size of their class."""
    return _squares(classes.sizes, classes.released) + classes.suppressed * classes.records


def average_class_size(classes: ReleasedClasses) -> float:
    """C_AVG: records per class, over the smallest class that was asked for; 1 is best."""
    return classes.released / max(1, len(classes.sizes)) / classes.least_size


def _squares(sizes: Counts, total: int) -> int:
    """Sum of squares, whole, however large."""
    return int(sizes @ sizes) if total < 2**31 else sum(n * n for n in sizes.tolist())
