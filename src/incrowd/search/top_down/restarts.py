"""Restarts of a top-down search: a greedy search can be led astray by one step, and never takes one back.

A restart multiplies the gains of every attribute by a random factor, the same during the whole search; a third of the
attributes are held back, and refined after the others. Half of the numbers are cut where enough records stay on both
sides, too: the cut with the highest gain often sets apart a few records that cannot be refined further afterwards.
And a number whose best cut would break a promise is not given up, as it is in the plain search: the next best cut with
more room is tried, until one holds or there is no more room. Of all releases the one is taken that loses least of what
the search is for: with a target the information about it, without one the loss (NCP). The plain search is one of them,
and is taken unless another is better.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from incrowd.key import Key
from incrowd.table.compressed import CompressedTable

SPREAD = 0.7  # of the random factors, as the standard deviation of their logarithm
HELD_BACK, LATER = 1 / 3, 64  # how often an attribute is refined after the others, and by which factor
ROOMY = 0.5  # how often a number gets room
LARGEST, SMALLEST = 1, 8  # halvings of all records: room is drawn between a half and a 256th of them
_LEAST, _DECIMALS = 0.001, 3


def drawn(
    table: CompressedTable, priorities: Mapping[str, float] | None, key: Key, restart: int
) -> tuple[dict[str, float], dict[str, int]]:
    """The weights and rooms that a restart searches with, whatever the order of columns."""
    random = np.random.default_rng(key.number("restarts", restart))
    names = sorted(attribute.name for attribute in table.attributes)
    factors = np.exp(random.normal(0, SPREAD, len(names)))
    shares = np.exp2(-random.uniform(LARGEST, SMALLEST, len(names)))
    shares[random.random(len(names)) >= ROOMY] = 0
    factors[random.random(len(names)) < HELD_BACK] /= LATER
    asked = priorities or {}
    weights = {
        name: round(max(_LEAST, factor * asked.get(name, 1)), _DECIMALS)
        for name, factor in zip(names, factors.tolist(), strict=True)
    }
    return weights, dict(zip(names, (shares * table.records).astype(int).tolist(), strict=True))
