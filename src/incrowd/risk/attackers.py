"""What an attacker could do: who is alone, what a crowd gives away, and how likely each of three attackers is right.

The prosecutor knows that her target is in the table, and picks a record of the matching class. The journalist does not
know who is in it: his candidates are all people of the population that match. The marketer links everybody, and counts
how many links are right. Where one person has several records, her risk is the highest over her classes, and she counts
once. What is counted is a fraction of integers and compared with the threshold as such; the mean of 1 / F is rounded
once to the nearest double.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from incrowd.population.estimates import AT_MOST, COUNTED, Outside
from incrowd.population.records import People
from incrowd.table.grouping import group


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
    """Risk 1 / size of the class in the population: counted there, or estimated, or the most it can be."""
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


@dataclass(frozen=True)
class SampleUniques:
    """Records that are alone in the table; with a unit people, who are alone in one of their classes at least.

    Args:
        records: This many.
        share: Of all records, or of all people.
        classes: Classes of one.
        pairs: Classes of two.
        without: By column, how many records would be alone if that column were left out.
    """

    records: int
    share: Fraction
    classes: int
    pairs: int
    without: Mapping[str, int]

    def to_json(self) -> dict[str, Any]:
        return {
            "records": self.records,
            "share": float(self.share),
            "classes": self.classes,
            "pairs": self.pairs,
            "without": dict(self.without),
        }


def sample_uniques(people: People) -> SampleUniques:
    alone = people.sizes == 1
    widths = [int(column.max()) + 1 for column in people.codes]
    without = {}
    for place, name in enumerate(people.attributes):
        left = [i for i in range(len(widths)) if i != place]
        groups, number = np.zeros(len(people.sizes), np.int64), 1
        if left:
            groups, firsts = group([people.codes[i] for i in left], [widths[i] for i in left])
            number = len(firsts)
        without[name] = people.members.counted((people.sizes_of(groups, number) == 1)[groups])
    found = people.members.counted(alone)
    pairs = int((people.sizes == 2).sum())
    return SampleUniques(found, Fraction(found, people.number), int(alone.sum()), pairs, without)


def match_is_right(uniques: SampleUniques, fraction: Fraction) -> Fraction | None:
    """How likely a match with a record that is alone is right (data intrusion simulation, Skinner and Elliot 2002).

    An attacker picks someone of the population at random, and exactly one record matches. With `a` classes of one, `b`
    pairs and the sampling fraction p, the match is right with probability p a / (p a + 2 (1 - p) b). The table must be
    a simple random sample. None where it has neither records alone nor pairs.
    """
    right = fraction * uniques.classes
    wrong = 2 * (1 - fraction) * uniques.pairs
    return right / (right + wrong) if right + wrong else None


@dataclass(frozen=True)
class Homogeneity:
    """Classes of one sensitive value: whoever is known to be in one is known to have it.

    Args:
        column: The sensitive column.
        classes: Classes with one value.
        records: Records in them; with a unit people, each once.
        in_crowds: Records in those of more than one: a crowd hides who they are, not what they have.
    """

    column: str
    classes: int
    records: int
    in_crowds: int

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def homogeneity(people: People) -> tuple[Homogeneity, ...]:
    """Count the classes with one value, for each sensitive column; missing values are a value."""
    found = []
    sizes = people.sizes
    for name, values in people.sensitive.items():
        value = np.zeros(len(sizes), values.dtype)
        value[people.class_of] = values  # of each class, that of some record
        mixed = np.zeros(len(sizes), bool)
        mixed[people.class_of[value[people.class_of] != values]] = True
        records, in_crowds = people.members.counted(~mixed), people.members.counted(~mixed & (sizes > 1))
        found.append(Homogeneity(name, int((~mixed).sum()), records, in_crowds))
    return tuple(found)
