"""Three attackers, and how likely each is right.

The prosecutor knows that her target is in the table, and picks a record of the matching class. The journalist does not
know who is in it: his candidates are all people of the population that match. The marketer links everybody, and counts
how many links are right. All risks are fractions of integers, and are compared with the threshold as such; the one
exception is an average over weighted classes, which is rounded once to the nearest double.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from incrowd.risk.people import UNIT, People
from incrowd.table.grouping import Counts


@dataclass(frozen=True)
class Attacker:
    """What one attacker can hope for.

    Args:
        highest: The risk of the record that is easiest to find.
        average: The mean risk over all records.
        at_risk: Records whose risk is above the threshold.
    """

    highest: Fraction
    average: Fraction
    at_risk: int

    def to_json(self) -> dict[str, Any]:
        """As JSON-able data."""
        return {"highest": float(self.highest), "average": float(self.average), "at_risk": self.at_risk}


def prosecutor(sizes: Counts, threshold: Fraction) -> Attacker:
    """Risk 1 / size of the class in the table.

    Args:
        sizes: Records of each class.
        threshold: A higher risk is too high.
    """
    return _against(sizes, sizes, 1, threshold, Fraction(len(sizes), int(sizes.sum())))


def journalist(
    people: People, fraction: Fraction | None, threshold: Fraction, matching: Counts | None = None
) -> Attacker | None:
    """Risk 1 / size of the class in the population, as it is counted there, or as weights or the fraction estimate it.

    Where it is estimated, a class of f records stands for f / fraction people, or for the sum of its weights; for f
    people at least, since those exist. That understates the risk of small classes, since only classes that were drawn
    are seen. None where nothing is known.

    Args:
        people: The records.
        fraction: The share of the population that is in the table.
        threshold: A higher risk is too high.
        matching: People of a given population in each class.
    """
    sizes = people.sizes
    if matching is not None:
        average = Fraction(math.fsum((sizes / matching).tolist())) / people.records
        return _against(sizes, matching, 1, threshold, average)
    if people.weight_sums is not None:
        units = np.maximum(people.weight_sums, sizes * UNIT)
        average = Fraction(math.fsum((sizes / units).tolist())) * UNIT / people.records
        return _against(sizes, units, UNIT, threshold, average)
    if fraction is None:
        return None
    own = prosecutor(sizes, threshold / fraction)
    return Attacker(own.highest * fraction, own.average * fraction, own.at_risk)


def marketer(people: People, known: Attacker | None) -> Fraction:
    """The share of records that are linked rightly when all are linked.

    Against the table itself that is classes / records: in each class one link is right on average. Against a population
    it is the mean over records of 1 / size of the class there.
    """
    return Fraction(len(people.sizes), people.records) if known is None else known.average


def _against(sizes: Counts, candidates: Counts, unit: int, threshold: Fraction, average: Fraction) -> Attacker:
    """Risk unit / candidates in each class; above the threshold just if candidates < unit / threshold."""
    limit = math.ceil(unit / threshold)  # for integers, below the quotient is below its ceiling
    at_risk = int(sizes[candidates < min(limit, np.iinfo(np.int64).max)].sum())
    return Attacker(Fraction(unit, int(candidates.min())), average, at_risk)
