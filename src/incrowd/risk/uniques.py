"""Who is alone: records that no other equals, in the table and without one of its columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from incrowd.population.records import People
from incrowd.table.grouping import group


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
        """As JSON-able data."""
        return {
            "records": self.records,
            "share": float(self.share),
            "classes": self.classes,
            "pairs": self.pairs,
            "without": dict(self.without),
        }


def sample_uniques(people: People) -> SampleUniques:
    """Count the records that are alone."""
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
