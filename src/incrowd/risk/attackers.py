"""Three attackers, and how likely each is right.

The prosecutor knows that her target is in the table, and picks a record of the matching class. The journalist does not
know who is in it: his candidates are all people of the population that match. The marketer links everybody, and counts
how many links are right. Where one person has several records, her risk is the highest over her classes, and she counts
once. What is counted is a fraction of integers and compared with the threshold as such; the mean of 1 / F is rounded
once to the nearest double.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from incrowd.population.journalist_risk import AT_MOST, COUNTED, Outside
from incrowd.population.records import People


@dataclass(frozen=True)
class Attacker:
    """What one attacker can hope for.

    Args:
        highest: The risk of the record that is easiest to find; where it is estimated, the most it can be.
        average: The mean risk over all records, or all people.
        at_risk: Records, or people, whose risk is above the threshold; where it is estimated, the expected number.
        how: Whether average and number were counted, estimated, or are the most they can be.
        assumes: What they rest on; empty where they were counted in the table.
        reason: Why they were not estimated; empty where they were.
    """

    highest: Fraction
    average: Fraction
    at_risk: int
    how: str = COUNTED
    assumes: str = ""
    reason: str = ""

    def to_json(self) -> dict[str, Any]:
        """As JSON-able data."""
        return {
            "highest": float(self.highest),
            "average": float(self.average),
            "at_risk": self.at_risk,
            "how": self.how,
            "assumes": self.assumes,
            "reason": self.reason,
        }


def crowd_of(threshold: Fraction) -> int:
    """The crowd size of a threshold: the risk in smaller crowds, and only there, is above it."""
    return min(math.ceil(1 / threshold), int(np.iinfo(np.int64).max))


def prosecutor(people: People, threshold: Fraction) -> Attacker:
    """Risk 1 / size of the class in the table."""
    sizes = people.sizes
    if people.persons is None:
        average = Fraction(len(sizes), people.number)
    else:
        own, persons = np.unique(people.members.smallest(), return_counts=True)
        risks = (Fraction(number, size) for size, number in zip(own.tolist(), persons.tolist(), strict=True))
        average = sum(risks, Fraction(0)) / people.number
    return Attacker(Fraction(1, int(sizes.min())), average, people.members.counted(sizes < crowd_of(threshold)))


def journalist(people: People, known: Outside, threshold: Fraction) -> Attacker:
    """Risk 1 / size of the class in the population: counted there, or estimated, or the most it can be.

    Args:
        people: The records.
        known: What is known of their classes in the population.
        threshold: A higher risk is too high.
    """
    counted = known.candidates
    candidates = people.sizes if counted is None else counted
    average = marketer(people, known)
    if people.persons is not None and known.how == AT_MOST:
        average = prosecutor(people, threshold).average
    elif people.persons is not None:
        average = Fraction(math.fsum(people.members.worst(known.risks).tolist())) / people.number
    if counted is not None:
        at_risk = people.members.counted(counted < crowd_of(threshold))
    else:
        at_risk = round(people.members.expected(known.small))
    if known.how == AT_MOST:
        at_risk = min(at_risk, math.floor(average * people.number / threshold))  # each of them has more than it
    return Attacker(Fraction(1, int(candidates.min())), average, at_risk, known.how, known.assumes, known.reason)


def marketer(people: People, known: Outside | None) -> Fraction:
    """The share of links that are right when all records, or everybody in each of her classes, are linked.

    Against the table itself that is classes / records: in each class one link is right on average. Against a population
    it is the mean of 1 / size of the class there.
    """
    if known is None:
        return Fraction(len(people.sizes), people.memberships)
    if known.how == AT_MOST:
        return known.most
    risks = people.sizes * known.risks if known.candidates is None else people.sizes / known.candidates
    return Fraction(math.fsum(risks.tolist())) / people.memberships
