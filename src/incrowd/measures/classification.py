"""CM, the classification metric: how many records do not have the label that most of their class have."""

from __future__ import annotations

from functools import reduce

import numpy as np

from incrowd.measures.classes import ReleasedClasses


def classification_metric(classes: ReleasedClasses) -> float | None:
    """CM: share of records whose label is not the majority of their class, or that are left out; None if unknown."""
    if classes.labels is None:
        return None
    majorities = reduce(np.maximum, classes.labels.T, np.int64(0))  # label by label: classes are many, labels few
    return 1 - int(np.sum(majorities)) / classes.records
