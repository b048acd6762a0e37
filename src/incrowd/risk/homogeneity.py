"""What a crowd gives away: classes in which everybody has the same sensitive value."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from incrowd.population.records import People


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
        """As JSON-able data."""
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
