"""What mistakes on test rows say about an error: point estimates with 95 % confidence intervals.

A single test part gives a Wilson interval for an error (a normal one where the target is a number), and for the
difference of two errors a Wald interval over the pairs, because both were made on the same rows. Several folds give a t
interval over the folds; folds share training rows, so that interval is a little too narrow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

CONFIDENCE = 0.95
_Z = 1.959964  # of the normal distribution, two-sided

Mistakes = npt.NDArray[np.bool_] | npt.NDArray[np.float64]  # one per test row: whether, or how far it is off


@dataclass(frozen=True)
class Estimate:
    """A share, mostly between 0 and 1 (or a difference of two), and the ends of its 95 % confidence interval."""

    value: float
    low: float
    high: float

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def __str__(self) -> str:
        return f"{100 * self.value:.2f} [{100 * self.low:.2f}, {100 * self.high:.2f}]"


def error_of(folds: Sequence[Mistakes]) -> Estimate:
    if len(folds) > 1:
        return _over_folds([float(fold.mean()) for fold in folds])
    rows, share = len(folds[0]), float(folds[0].mean())
    if folds[0].dtype.kind == "f":
        half = _Z * float(folds[0].std()) / sqrt(rows)
        return Estimate(share, max(0.0, share - half), share + half)
    scale = 1 + _Z**2 / rows
    middle = (share + _Z**2 / (2 * rows)) / scale
    half = _Z * sqrt(share * (1 - share) / rows + _Z**2 / (4 * rows**2)) / scale
    return Estimate(share, max(0.0, middle - half), min(1.0, middle + half))


def difference_of(folds: Sequence[Mistakes], others: Sequence[Mistakes]) -> Estimate:
    """By how much the share of mistakes exceeds that of others on the same rows."""
    differences = [fold.astype(float) - other for fold, other in zip(folds, others, strict=True)]
    if len(folds) > 1:
        return _over_folds([float(difference.mean()) for difference in differences])
    value = float(differences[0].mean())
    half = _Z * float(differences[0].std()) / sqrt(len(differences[0]))
    return Estimate(value, value - half, value + half)


def interval_kind(folds: int, *, numbers: bool = False) -> str:
    """How the intervals were made, for people."""
    if folds > 1:
        return f"95 % t interval over {folds} folds"
    return f"95 % {'normal' if numbers else 'Wilson'} interval; differences paired by test row"


def _over_folds(values: Sequence[float]) -> Estimate:
    from scipy.stats import t

    mean = float(np.mean(values))
    error = float(np.std(values, ddof=1)) / sqrt(len(values))
    half = float(t.ppf((1 + CONFIDENCE) / 2, len(values) - 1)) * error
    return Estimate(mean, mean - half, mean + half)
