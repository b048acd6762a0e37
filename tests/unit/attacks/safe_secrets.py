"""Secrets that follow from quasi-identifiers in the whole population: what a release tells of them is known anyway."""

import numpy as np

VALUES = np.array(["no", "flu", "cold"])


def two_together(people, rng):
    apart = (people["age"] // 10 + people["zip"] // 1000) % 2 == 0
    return _drawn(np.where(apart[:, None], [0.7, 0.2, 0.1], [0.2, 0.3, 0.5]), rng)


def nearly_certain_for_some(people, rng):
    """For those who are old and live far away; it fades towards the others."""
    no = 1 / (1 + np.exp((50 - people["age"]) / 8 + (3000 - people["zip"]) / 700))
    return _drawn(np.stack([no, (1 - no) * 0.6, (1 - no) * 0.4], axis=1), rng)


def nearly_certain_in_a_box(people, rng):
    inside = (people["age"] < 50) & (people["zip"] < 3000)
    return _drawn(np.where(inside[:, None], [0.98, 0.01, 0.01], [0.4, 0.35, 0.25]), rng)


def _drawn(shares, rng):
    return VALUES[np.minimum((shares.cumsum(axis=1) < rng.random((len(shares), 1))).sum(axis=1), 2)]
