"""What a number of successes says about a share, honestly also where numbers are small.

Shares have Wilson's interval; the difference of two shares has Newcombe's, made from the Wilson intervals of both: of
independent trials (R. G. Newcombe, Interval estimation for the difference between independent proportions, 1998,
method 10), or of trials on the same people (Improved confidence intervals for the difference between binomial
proportions based on paired data, 1998, method 10). Successes may be expected numbers: the intervals are then wider than
they need to be. Trials that depend on each other, as those on the people of one crowd, count as fewer (L. Kish, Survey
sampling, 1965): `independent_trials` says as how many.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

CONFIDENCE = 0.95
MANY_GROUPS = 30


@dataclass(frozen=True)
class Interval:
    """An estimate and the ends of its interval."""

    value: float
    low: float
    high: float
    kind: str


def normal_quantile(confidence: float) -> float:
    """How many standard deviations a two-sided interval reaches."""
    return NormalDist().inv_cdf((1 + confidence) / 2)


def independent_trials(group_of: npt.NDArray[Any], outcomes: npt.NDArray[Any] | None = None) -> float:
    """As how many trials those on groups of people count, given the group of each.

    Args:
        group_of: The group of each trial.
        outcomes: Where there are many groups, how much the members of one have in common is estimated from these
            outcomes of trials; else they count as one.
    """
    sizes = np.bincount(group_of).astype(float)
    least = float(sizes.sum() ** 2 / (sizes**2).sum())
    if outcomes is None or least < MANY_GROUPS:
        return least
    apart = outcomes - outcomes.mean()
    together = float((np.bincount(group_of, apart) ** 2).sum())
    return least if together == 0 else float(np.clip(len(apart) * (apart**2).sum() / together, least, len(apart)))


def wilson(successes: float, trials: float, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Wilson's interval for a share; everything is possible without a trial."""
    if trials <= 0:
        return 0.0, 1.0
    z, share = normal_quantile(confidence), successes / trials
    scale = 1 + z * z / trials
    middle = (share + z * z / (2 * trials)) / scale
    half = z * sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials)) / scale
    low = 0.0 if successes <= 0 else max(0.0, middle - half)
    high = 1.0 if successes >= trials else min(1.0, middle + half)
    return low, high


def above(successes: float, trials: float, baseline: float, confidence: float = CONFIDENCE) -> Interval:
    """By how much a share exceeds one that is known."""
    low, high = wilson(successes, trials, confidence)
    return Interval(successes / trials - baseline, low - baseline, high - baseline, "Wilson")


def independent(
    successes: float, trials: float, others: float, other_trials: float, confidence: float = CONFIDENCE
) -> Interval:
    """By how much a share exceeds that of other people."""
    return _newcombe((successes, trials), (others, other_trials), 0.0, confidence, "Newcombe, independent")


def paired(
    both: float, only_first: float, only_second: float, neither: float, confidence: float = CONFIDENCE
) -> Interval:
    """By how much the share of the first attack exceeds that of the second on the same people."""
    first, second = both + only_first, both + only_second
    trials = both + only_first + only_second + neither
    product = first * (trials - first) * second * (trials - second)
    phi = 0.0
    if product > 0:
        above_chance = both * neither - only_first * only_second
        if above_chance > 0:
            above_chance = max(above_chance - trials / 2, 0.0)  # his correction for continuity
        phi = above_chance / sqrt(product)
    return _newcombe((first, trials), (second, trials), phi, confidence, "Newcombe, paired")


def _newcombe(
    one: tuple[float, float], other: tuple[float, float], phi: float, confidence: float, kind: str
) -> Interval:
    shares = [successes / trials if trials else 0.0 for successes, trials in (one, other)]
    (low, high), (other_low, other_high) = (wilson(*each, confidence) for each in (one, other))
    below, above_it = shares[0] - low, high - shares[0]
    other_below, other_above = shares[1] - other_low, other_high - shares[1]
    value = shares[0] - shares[1]
    down = sqrt(max(below**2 - 2 * phi * below * other_above + other_above**2, 0.0))
    up = sqrt(max(above_it**2 - 2 * phi * above_it * other_below + other_below**2, 0.0))
    return Interval(value, max(value - down, -1.0), min(value + up, 1.0), kind)
