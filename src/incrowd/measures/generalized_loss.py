"""NCP, the generalized loss: how much of its domain a released value leaves possible. A suppressed record loses all."""

from __future__ import annotations

import numpy as np

from incrowd.measures.classes import ReleasedClasses


def generalized_loss(classes: ReleasedClasses) -> float:
    """NCP: loss per cell, 0 for the original and 1 for a table that says nothing."""
    return float(np.mean(list(classes.losses.values())))
