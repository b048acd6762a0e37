"""Who is in which class: rows, or people where it is known whose row each is. The one place that counts people.

Whoever has rows in several classes is in all of them, and counts once in whatever is said of people: in each class, and
over several classes, with the worst of hers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from incrowd.table.grouping import Codes, Counts, Floats, count, group


@dataclass(frozen=True)
class Members:
    """The members of some classes.

    Args:
        persons: Whose row each is, as a number from 0 up; None where every row is a person of its own.
    """

    class_of: Codes
    classes: int
    persons: Codes | None = None

    @cached_property
    def number(self) -> int:
        return len(self.class_of) if self.persons is None else len(self._people)

    @cached_property
    def sizes(self) -> Counts:
        return count(self.class_of if self.persons is None else self._pairs[1], self.classes, None)

    def counted(self, chosen: npt.NDArray[np.bool_]) -> int:
        """How many members some classes have together, each counted once."""
        if self.persons is None:
            return int(self.sizes[chosen].sum())
        persons, of = self._pairs
        return int(np.count_nonzero(np.bincount(persons[chosen[of]], minlength=self.number)))

    def smallest(self) -> Counts:
        """Of each member, the size of the smallest class that it is in."""
        if self.persons is None:
            return self.sizes[self.class_of]
        persons, of = self._pairs
        found = np.full(self.number, np.iinfo(np.int64).max)
        np.minimum.at(found, persons, self.sizes[of])
        return found

    def worst(self, values: Floats) -> Floats:
        """Of each member, the highest value of its classes."""
        if self.persons is None:
            return values[self.class_of]
        persons, of = self._pairs
        found = np.full(self.number, -np.inf)
        np.maximum.at(found, persons, values[of])
        return found

    def expected(self, chances: Floats) -> float:
        """How many members are expected to be in a class of which something is true, by how likely it is of each.

        Of several classes of a person it is taken to be true independently.
        """
        if self.persons is None:
            return float(self.sizes @ chances)
        persons, of = self._pairs
        none = np.ones(self.number)
        np.multiply.at(none, persons, 1 - chances[of])
        return float((1 - none).sum())

    @cached_property
    def _people(self) -> Codes:
        return np.flatnonzero(np.bincount(self.persons)) if self.persons is not None else self.class_of

    @cached_property
    def _pairs(self) -> tuple[Codes, Codes]:
        """People, numbered from 0 without a gap, and the classes that they are in, each pair once."""
        assert self.persons is not None
        persons = np.searchsorted(self._people, self.persons)
        _, firsts = group([self.class_of, persons], [self.classes, self.number])
        return persons[firsts], self.class_of[firsts]
