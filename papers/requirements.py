"""The random requirements of several quasi-identifiers in section 6.1 of TDS."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from papers.adult import ATTRIBUTES

Requirement = tuple[tuple[str, ...], ...]


def requirements(number: int, seed: int = 0) -> list[Requirement]:
    """Requirements of 3 to 7 quasi-identifiers, all of the same 2 to 9 attributes; a repeated one is dropped."""
    random = np.random.default_rng(seed)
    found = []
    for _ in range(number):
        several, length = int(random.integers(3, 8)), int(random.integers(2, 10))
        drawn = {tuple(sorted(random.choice(len(ATTRIBUTES), length, replace=False))) for _ in range(several)}
        found.append(tuple(tuple(ATTRIBUTES[place] for place in places) for places in sorted(drawn)))
    return found


def united(requirement: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """All attributes of a requirement."""
    return tuple(name for name in ATTRIBUTES if any(name in names for names in requirement))
