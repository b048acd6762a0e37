"""Special uniques (SUDA; Elliot, Manning and Ford 2002, SUDA2: Manning, Haglin and Keane 2008).

A set of columns is a minimal sample unique of a record if no other record has the same values there, and that holds for
no smaller set within it. Someone who is alone by two columns out of eight is easier to find than someone who needs all
eight; and the more such sets, the easier. A set of size m among `ATT` columns scores the product of (ATT - i) over
i = m .. M, where M is the largest size that is searched, ATT - 1 at most. A record's score is the sum over its sets.

The search goes through the sets of columns depth first, so that every subset of a set comes before it (in the order of
their bit masks), and refines the partition of the tuples by one column at a time. Invariant: a node works on just those
tuples that share their values with a record that is not unique by any subset. It ends since there are finitely many
sets; where every record is unique by some subset, all larger sets are left out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.population.records import People
from incrowd.run import Run
from incrowd.table.grouping import Codes, Counts, count, group

MOST_WORK = 500_000_000  # tuples times sets of columns that are looked at unless a size is given
LISTED = 10  # records that are listed
_WIDEST_INT = 20  # scores of this many columns fit into 64 bits: their sum is at most ATT!

Bits = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class MinimalUniques:
    """A set of columns, by their places, and the tuples, each of one record, for which it is a minimal unique."""

    columns: tuple[int, ...]
    tuples: Codes


@dataclass(frozen=True)
class SpecialRecord:
    """A record with a high score: its row, from 1, and its smallest sets of columns that no other record shares."""

    row: int
    score: int
    columns: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class SpecialUniques:
    """What SUDA2 found.

    Args:
        attributes: The columns.
        largest: The largest size of sets that was searched.
        sizes: How many minimal sample uniques of size 1, 2, ... there are.
        contributions: By column, the share of all scores that comes from sets with that column. A set counts for each
            of its columns, so that the shares sum up to more than 1.
        highest: The records with the highest scores, highest first, then by row.
        scores: The score of each record, in the order of the rows.
    """

    attributes: tuple[str, ...]
    largest: int
    sizes: tuple[int, ...]
    contributions: dict[str, Fraction]
    highest: tuple[SpecialRecord, ...]
    scores: npt.NDArray[Any] = field(repr=False, compare=False)

    @property
    def complete(self) -> bool:
        return self.largest >= len(self.attributes)

    @property
    def records(self) -> int:
        return int(np.count_nonzero(self.scores))

    def to_json(self) -> dict[str, Any]:
        """All except the scores of all records."""
        return {
            "largest_size": self.largest,
            "complete": self.complete,
            "minimal_uniques_by_size": list(self.sizes),
            "records": self.records,
            "contributions": {name: float(share) for name, share in self.contributions.items()},
            "highest": [
                {"row": record.row, "score": record.score, "columns": [list(names) for names in record.columns]}
                for record in self.highest
            ],
        }


def special_uniques(people: People, run: Run, max_size: int | None = None) -> SpecialUniques:
    """Score every record; without `max_size`, sets are searched as large as a fixed amount of work allows."""
    number = len(people.attributes)
    largest = size_within(len(people.sizes), number, MOST_WORK) if max_size is None else min(max_size, number)
    found = minimal_uniques(people.codes, people.sizes, largest, run, people.owners)
    scores = np.zeros(len(people.sizes), np.int64 if number <= _WIDEST_INT else object)
    shares = dict.fromkeys(people.attributes, 0)
    sizes = [0] * largest
    for each in found:
        score = set_score(len(each.columns), number, largest)
        scores[each.tuples] += score
        sizes[len(each.columns) - 1] += len(each.tuples)
        for place in each.columns:
            shares[people.attributes[place]] += score * len(each.tuples)
    total = sum(scores.tolist())
    contributions = {name: Fraction(share, total) if total else Fraction(0) for name, share in shares.items()}
    of_records = scores[people.class_of]
    highest = _highest(people, of_records, found)
    return SpecialUniques(people.attributes, largest, tuple(sizes), contributions, highest, of_records)


def set_score(size: int, columns: int, largest: int) -> int:
    return math.prod(columns - i for i in range(size, min(largest, columns - 1) + 1))


def size_within(tuples: int, columns: int, work: int) -> int:
    """The largest size so that all sets up to it, times the tuples, are within an amount of work; 1 at least."""
    sets = size = 0
    while size < columns and (sets + math.comb(columns, size + 1)) * tuples <= work:
        size += 1
        sets += math.comb(columns, size)
    return max(1, size)


def minimal_uniques(
    codes: Sequence[Codes], counts: Counts, largest: int, run: Run, owners: Codes | None = None
) -> list[MinimalUniques]:
    """All minimal sample uniques up to a size.

    Args:
        codes: Per column, the value of each distinct tuple.
        counts: Records of each tuple.
        largest: The largest size of a set.
        run: Asked whether to go on.
        owners: Whose tuple each is, where one person may have several; a shared one has a number of its own.
    """
    alone = np.flatnonzero(counts == 1)
    if not len(alone):
        return []
    return _Search(codes, alone, largest, run, owners).all()


class _Search:
    """The sets of columns as bit masks, the finest column at the highest bit: it splits most, and is split by most."""

    def __init__(
        self, codes: Sequence[Codes], alone: Codes, largest: int, run: Run, owners: Codes | None = None
    ) -> None:
        widths = [int(column.max()) + 1 for column in codes]
        self.places = sorted(range(len(codes)), key=lambda place: (len(np.unique(codes[place])), place))
        self.codes = [codes[place].astype(np.int64) for place in self.places]
        self.widths = [widths[place] for place in self.places]
        self.alone = alone
        self.owners = owners
        self.number = np.full(len(codes[0]), -1)  # of each tuple among those alone
        self.number[alone] = np.arange(len(alone))
        self.largest = largest
        self.run = run
        # By mask, which of those alone are unique by that set; a mask that is not there: all are.
        self.unique: dict[int, Bits] = {0: np.packbits(np.zeros(len(alone), bool))}
        self.found: list[MinimalUniques] = []

    def all(self) -> list[MinimalUniques]:
        everyone = np.arange(len(self.number))
        self._below(0, len(self.codes), everyone, np.zeros(len(everyone), np.int64), 1)
        return self.found

    def _below(self, mask: int, lowest: int, tuples: Codes, groups: Codes, number: int) -> None:
        """Search the sets that have one more column than a mask, below its lowest, and all below those."""
        for place in range(lowest):
            self._visit(mask | 1 << place, place, tuples, groups * self.widths[place], number * self.widths[place])

    def _visit(self, mask: int, place: int, tuples: Codes, keys: Codes, width: int) -> None:
        """Search one set, whose lowest column is at a place, and those below it.

        Args:
            mask: The set.
            place: Its lowest column.
            tuples: The tuples that count.
            keys: The group of each without that column, times the number of its values.
            width: All keys are less.
        """
        self.run.check()
        smaller = [self.unique.get(mask & ~(1 << bit)) for bit in range(len(self.codes)) if mask >> bit & 1]
        if any(bits is None for bits in smaller):
            return
        bits = np.bitwise_or.reduce(smaller)  # type: ignore[arg-type]
        live = ~np.unpackbits(bits, count=len(self.alone)).astype(bool)  # of those alone: unique by no subset
        if not live.any():
            return
        groups, sizes = _numbered(keys + self.codes[place].take(tuples), width)
        if self.owners is not None:
            sizes = _owners(groups, self.owners.take(tuples), len(sizes))
        numbers = self.number.take(tuples)
        waiting = (numbers >= 0) & live.take(numbers)
        found = numbers[waiting & (sizes.take(groups) == 1)]
        if len(found):
            columns = tuple(sorted(self.places[bit] for bit in range(len(self.codes)) if mask >> bit & 1))
            self.found.append(MinimalUniques(columns, np.sort(self.alone[found])))
            live[found] = False
            bits = np.packbits(~live)
        if mask.bit_count() >= self.largest:
            return
        self.unique[mask] = bits
        kept = np.zeros(len(sizes), bool)  # groups in which someone is still not unique
        kept[groups[waiting & live.take(numbers)]] = True
        chosen = kept.take(groups)
        renumbered = np.cumsum(kept) - 1
        self._below(mask, place, tuples[chosen], renumbered.take(groups[chosen]), int(kept.sum()))


def _numbered(keys: Codes, width: int) -> tuple[Codes, Counts]:
    if width <= 4 * len(keys) + 1024:  # counting is faster than sorting
        sizes = np.bincount(keys, minlength=width)
        present = sizes > 0
        return (np.cumsum(present) - 1).take(keys), sizes[present]
    _, groups, sizes = np.unique(keys, return_inverse=True, return_counts=True)
    return groups, sizes


def _owners(groups: Codes, owners: Codes, number: int) -> Counts:
    """How many owners the tuples of each group have."""
    _, firsts = group([groups, owners], [number, int(owners.max()) + 1])
    return count(groups[firsts], number, None)


def _highest(people: People, scores: npt.NDArray[Any], found: Sequence[MinimalUniques]) -> tuple[SpecialRecord, ...]:
    """The records with the highest scores, and why."""
    rows = np.flatnonzero(scores)
    rows = rows[np.argsort(-scores[rows], kind="stable")][:LISTED]
    listed = []
    for row in rows.tolist():
        tuple_number = people.class_of[row]
        own = [each.columns for each in found if _contains(each.tuples, tuple_number)]
        least = min(map(len, own))
        smallest = sorted(columns for columns in own if len(columns) == least)
        names = tuple(tuple(people.attributes[place] for place in columns) for columns in smallest)
        listed.append(SpecialRecord(row + 1, int(scores[row]), names))
    return tuple(listed)


def _contains(tuples: Codes, wanted: int) -> bool:
    place = np.searchsorted(tuples, wanted)
    return bool(place < len(tuples) and tuples[place] == wanted)
