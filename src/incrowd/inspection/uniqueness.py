"""How identifying columns are together: who is unique in the sample on the codes of some columns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from incrowd.run import Run
from incrowd.table.grouping import Codes, group, sort_tuples
from incrowd.table.members import Members

WORK = 60_000_000  # codes that may be sorted to find the worst combinations
SHOWN = 3  # combinations of each size


@dataclass(frozen=True)
class Combination:
    """Columns, and how many records are unique on them; where people are known, how many people.

    Args:
        columns: Their names.
        uniques: Records that no other record equals on these columns, or people with a record that none of another
            person equals.
        records: Records, or people, that were compared.
    """

    columns: tuple[str, ...]
    uniques: int
    records: int

    @property
    def share(self) -> float:
        return self.uniques / max(1, self.records)


def count_uniques(columns: Sequence[Codes], sizes: Sequence[int], persons: Codes | None = None) -> int:
    """How many rows of codes no other row equals; if people are known, how many have a row that nobody else has.

    Args:
        columns: One array of codes per column, from 0.
        sizes: Number of codes of each column.
        persons: Whose row each is, as a number; None if every row is a person of its own.
    """
    rows = len(columns[0])
    if persons is not None:
        groups, firsts = group(columns, sizes)
        members = Members(groups, len(firsts), persons)
        return members.counted(members.sizes == 1)
    if math.prod(sizes) <= 1 << 62:
        key = np.zeros(rows, np.int64)
        for column, size in zip(columns, sizes, strict=True):
            key *= size
            key += column
        if math.prod(sizes) <= 4 * rows + 65536:
            return int((np.bincount(key) == 1).sum())
        key.sort()
        starts = np.flatnonzero(np.append(True, key[1:] != key[:-1]))
    else:
        _, starts = sort_tuples(columns, sizes)
    return int((np.diff(np.append(starts, rows)) == 1).sum())


def compared(columns: Sequence[Codes], persons: Codes | None) -> int:
    return len(columns[0]) if persons is None else len(np.unique(persons))


def worst_combinations(
    names: Sequence[str], columns: Sequence[Codes], sizes: Sequence[int], run: Run, persons: Codes | None = None
) -> tuple[list[Combination], list[Combination]]:
    """The pairs and the triples of columns with the most uniques, most first.

    All combinations of the columns with the most distinctive values are counted, of as many columns as `WORK` allows.
    """
    if not columns:
        return [], []
    rows, number = len(columns[0]), compared(columns, persons)
    telling = [int((np.bincount(column, minlength=1).astype(np.int64) ** 2).sum()) for column in columns]
    order = sorted(range(len(names)), key=lambda i: (telling[i], names[i]))[: _affordable(len(names), rows)]
    chosen = sorted(order)
    found: list[list[Combination]] = []
    for size in (2, 3):
        counted = []
        for parts in combinations(chosen, size):
            run.check()
            uniques = count_uniques([columns[i] for i in parts], [sizes[i] for i in parts], persons)
            counted.append(Combination(tuple(names[i] for i in parts), uniques, number))
        found.append(sorted(counted, key=lambda each: (-each.uniques, each.columns))[:SHOWN])
    return found[0], found[1]


def _affordable(columns: int, rows: int) -> int:
    """Of how many columns all pairs and triples may be counted."""
    affordable = min(columns, 4)
    while affordable < columns and (math.comb(affordable + 1, 2) + math.comb(affordable + 1, 3)) * rows <= WORK:
        affordable += 1
    return affordable
