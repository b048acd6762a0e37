"""Columns that follow from others, and what that means for their roles.

Whoever knows a quasi-identifier knows all that follows from it, and what reveals one is as good as one: both are
quasi-identifiers too. Columns that say the same have the same role. A column that tells sex and more, and repeats, is
the number of a person.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, permutations

import numpy as np
import numpy.typing as npt

from incrowd.errors import shorten
from incrowd.inspection.concepts import CERTAINTIES, GUESS, INSENSITIVE, LIKELY, QUASI_IDENTIFIER, SENSITIVE, SEX, SURE
from incrowd.inspection.counting import Codes, CountedColumn
from incrowd.inspection.findings import SEVERAL_RECORDS
from incrowd.inspection.proposals import ProposedRole
from incrowd.run import Run

BITS = 20  # an accident of one in a million
MOST_PAIRS = 40_000  # of columns that are compared
MOST_SUMMED = 40  # columns of which sums are looked for
MOST_NOTES = 12
_FEW = 1 << 13  # rows that mostly show at once that nothing is told


def tells(column: CountedColumn, other: CountedColumn) -> bool:
    """Whether the values of a column tell those of another, in all records that have both."""
    both = _function(column.codes, other.codes)
    return both is not None and _agreements(*both) >= BITS


def _function(column: Codes, other: Codes) -> tuple[Codes, Codes] | None:
    """The codes of records that have both, if the first tell the second."""
    for rows in (slice(_FEW), slice(None)):
        both = (column[rows] >= 0) & (other[rows] >= 0)
        first, second = column[rows][both], other[rows][both]
        last = np.full(int(first.max(initial=-1)) + 1, -1, np.int32)
        last[first] = second
        if (last[first] != second).any():
            return None
    return first, second


def _agreements(first: Codes, second: Codes, persons: Codes | None = None) -> float:
    """How unlikely it is, in bits, that records with the same first code have the same second one by accident.

    Records of one person with the same first code count once: they agree anyway.
    """
    if not len(first):
        return 0
    shares = np.bincount(second) / len(second)
    apart = len(first) if persons is None else len(np.unique(persons.astype(np.int64) * (first.max() + 1) + first))
    return -math.log2(float(shares @ shares)) * (apart - len(np.unique(first)))


def _order(first: Codes, second: Codes) -> float:
    """How unlikely it is, in bits, that second codes rise, or fall, with the first by accident; 0 if they do not."""
    if not _follows(first, second):
        return 0
    orders = math.lgamma(len(second) + 1) - sum(math.lgamma(count + 1) for count in np.bincount(second).tolist())
    return orders / math.log(2)


def _follows(first: Codes, second: Codes) -> bool:
    steps = np.diff(second[np.argsort(first, kind="stable")])
    return not ((steps < 0).any() and (steps > 0).any())


@dataclass(frozen=True)
class Ordered:
    """The codes of a column, missing as -1; of numbers and dates in their order.

    Args:
        codes: Of the first records.
        distinct: How many there are.
        numbers: The number of each code, ascending; None of other values.
        may_be_person: Whether its values could be numbers of people.
    """

    codes: Codes
    distinct: int
    numbers: npt.NDArray[np.float64] | None
    may_be_person: bool

    def values(self, rows: int | None = None) -> npt.NDArray[np.float64]:
        """The numbers of the first rows, all if None; NaN for missing ones."""
        assert self.numbers is not None
        return np.append(self.numbers, np.nan)[self.codes[:rows]]

    def tells(self, other: Ordered, persons: Codes | None = None) -> bool:
        """Whether its values tell those of another; of values that few share, only if their order agrees too.

        Args:
            other: The other column.
            persons: Whose record each is; None if each is a person's own.
        """
        if other.distinct > self.distinct or (few := _function(self.codes[:_FEW], other.codes[:_FEW])) is None:
            return False
        present = int((self.codes >= 0).sum())
        shared = 2 * self.distinct <= present or other.distinct == self.distinct < present
        ordered = self.numbers is not None and other.numbers is not None and _follows(*few)
        if not (shared or ordered) or (both := _function(self.codes, other.codes)) is None:
            return False
        if ordered and _order(*both) >= BITS:
            return True
        rows = (self.codes >= 0) & (other.codes >= 0)
        return shared and _agreements(*both, persons if persons is None else persons[rows]) >= BITS


@dataclass(frozen=True)
class Relations:
    """Which columns of a table follow from which, by their places; `told[a]` are those that `a` tells.

    Of `sums`, the first is the total of the others.
    """

    names: tuple[str, ...]
    told: tuple[frozenset[int], ...]
    sums: tuple[tuple[int, ...], ...] = ()

    def same(self, place: int) -> list[int]:
        """The other columns that say the same as one."""
        return sorted(other for other in self.told[place] if place in self.told[other])

    def notes(self) -> list[str]:
        """A line for each set of columns that say the same, and for each column from which others follow."""
        groups = sorted({(place, *self.same(place)) for place in range(len(self.names)) if self.same(place)})
        same = [f"columns {self._named(sorted(group))} say the same" for group in groups if group[0] == min(group)]
        follow = [
            f"column '{self.names[place]}' determines {self._named(rest)}"
            for place, told in enumerate(self.told)
            if (rest := sorted(told - set(self.same(place)))) and place <= min(self.same(place), default=place)
        ]
        sums = [f"column '{self.names[total]}' is the sum of {self._named(parts)}" for total, *parts in self.sums]
        notes, more = [*same, *sums, *follow], len(same + sums + follow) - MOST_NOTES
        return [*notes[:MOST_NOTES], *([f"{more} more columns follow from others"] if more > 0 else [])]

    def _named(self, places: Sequence[int]) -> str:
        return shorten([f"'{self.names[place]}'" for place in places])

    def person(self, columns: Sequence[Ordered], roles: Sequence[ProposedRole]) -> str | None:
        """The column that seems to say whose record it is: it repeats, and tells sex and something else of people."""
        for place, told in enumerate(self.told):
            sure = [roles[other].reason for other in told if roles[other].certainty == SURE]
            if columns[place].may_be_person and SEX in sure and len(set(sure)) > 1:
                return self.names[place]
        return None

    def applied(self, roles: Sequence[ProposedRole]) -> list[ProposedRole]:
        """The roles, with those changed that follow from others."""
        found = list(roles)
        for place, role in enumerate(roles):
            best = max(self.same(place), key=lambda other: (_rank(roles[other]), -other), default=place)
            if _rank(roles[best]) > _rank(role) and role.name != roles[best].name:
                found[place] = self._like(role, roles[best], "says the same as", best)
        changes = True
        while changes:
            changes = False
            for place in range(len(found)):
                moved = self._moved(place, found)
                if moved is not None:
                    found[place], changes = moved, True
        return found

    def _moved(self, place: int, roles: Sequence[ProposedRole]) -> ProposedRole | None:
        """Another role for a column that reveals or follows from one that needs protection, None if it may stay."""
        role = roles[place]
        if role.name != INSENSITIVE and (role.name, role.certainty) != (SENSITIVE, GUESS):
            return None
        wanted = (QUASI_IDENTIFIER,) if role.name == SENSITIVE else (QUASI_IDENTIFIER, SENSITIVE)
        for name in wanted:
            for other, told in enumerate(self.told):
                if roles[other].name != name or roles[other].certainty == GUESS:
                    continue
                if other in self.told[place]:
                    return self._like(role, roles[other], "reveals", other)
                if place in told and (name == QUASI_IDENTIFIER or role.certainty == GUESS):
                    return self._like(role, roles[other], "follows from", other)
        for group in self.sums:
            others = [other for other in group if other != place]
            if len(others) < len(group) and all(roles[other].name in wanted for other in others):
                name = max((roles[other].name for other in others), key=wanted.index)
                return replace(role, name=name, reason=f"it follows from {self._named(others)}", certainty=LIKELY)
        return None

    def _like(self, role: ProposedRole, other: ProposedRole, verb: str, place: int) -> ProposedRole:
        return replace(role, name=other.name, reason=f"it {verb} '{self.names[place]}'", certainty=LIKELY)


def relations_of(
    names: Sequence[str],
    columns: Sequence[Ordered],
    roles: Sequence[ProposedRole],
    run: Run,
    persons: Codes | None = None,
) -> Relations:
    """Which columns follow from which, without identifiers; of a table with very many columns, none."""
    used = [
        place
        for place, (column, role) in enumerate(zip(columns, roles, strict=True))
        if column.distinct > 1 and role.name in (QUASI_IDENTIFIER, SENSITIVE, INSENSITIVE)
    ]
    told: list[set[int]] = [set() for _ in columns]
    for place, other in permutations(used if len(used) ** 2 <= MOST_PAIRS else [], 2):
        run.check()
        if columns[place].tells(columns[other], persons):
            told[place].add(other)
    numbers = [place for place in used if columns[place].numbers is not None and columns[place].distinct > 2]
    return Relations(tuple(names), tuple(map(frozenset, told)), tuple(_sums(columns, numbers)))


def _sums(columns: Sequence[Ordered], places: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Columns that are the sum of two or three others in all records; a few records mostly show that they are not."""
    if not 3 <= len(places) <= MOST_SUMMED:
        return
    few = np.stack([columns[place].values(64) for place in places])
    few_sums = (
        (parts, few[list(parts)].sum(axis=0)) for size in (2, 3) for parts in combinations(range(len(few)), size)
    )
    for parts, total in few_sums:
        for place in np.flatnonzero(~(np.abs(few - total) > _rounding(total)).any(axis=1)).tolist():
            group = tuple(places[each] for each in (place, *parts))
            if place not in parts and _is_sum(*(columns[each].values() for each in group)):
                yield group


def _is_sum(total: npt.NDArray[np.float64], *parts: npt.NDArray[np.float64]) -> bool:
    """Whether parts add up to the total in all records that have them, and in several none of the parts is zero."""
    sums = np.sum(parts, axis=0)
    several = np.logical_and.reduce([np.abs(part) > 0 for part in parts]).sum() >= SEVERAL_RECORDS
    return bool(several and not (np.abs(total - sums) > _rounding(sums)).any())


def _rounding(numbers: npt.NDArray[np.float64]) -> float:
    return 1e-6 * float(np.nanmax(np.abs(numbers), initial=0))


def may_be_person(distinct: int, present: int) -> bool:
    """Whether a column has as many values as people would, of whom each has several records."""
    return SEVERAL_RECORDS <= distinct <= present / 2


def _rank(role: ProposedRole) -> int:
    return CERTAINTIES.index(role.certainty)
