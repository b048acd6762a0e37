"""CM, the classification metric: how many records do not have the label that most of their class have."""

from __future__ import annotations

from incrowd.measures.classes import ReleasedClasses


def classification_metric(classes: ReleasedClasses) -> float | None:
    """CM: share of records whose label is not the majority of their class, or that are left out; None if unknown."""
    if classes.labels is None:
        return None
    return 1 - int(classes.labels.max(axis=1, initial=0).sum()) / classes.records
