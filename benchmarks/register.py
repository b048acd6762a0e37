"""An attacker with a register: she knows everyone's quasi-identifiers, the code, the policy and the public files.

Local recoding deals equal records to several classes. She is granted even the mapping, how many records of which tuple
went to which class, and tries a key for the rest: under the right key, rows of a class that only one tuple has give a
threshold that rows of the same tuple dealt elsewhere must exceed; rows that do not belong to somebody else, often to
the rare neighbour whom k was to hide. A wrong key soon contradicts the rows, and then she has learned nothing.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from incrowd.engines.allocation import RowHash, mix

Pairs = dict[tuple[int, int], Any]


@dataclass(frozen=True)
class Undone:
    """What she got.

    Args:
        refuted: Whether the rows contradict the key.
        below: People whose row is certainly among less than k.
        unique: People whose row she knows.
    """

    refuted: bool
    below: int = 0
    unique: int = 0


def undone(rows: pa.Table, recoding: Any, key: bytes, k: int) -> Undone:
    """Try a key on released rows.

    Args:
        rows: The released rows, all columns.
        recoding: The recoding, of which she uses the mapping and not the key.
        key: The key that she tries.
        k: What was promised.
    """
    mapping = recoding.mapping
    of_class = _rows_by_class(rows, recoding)
    members: dict[int, list[tuple[int, int]]] = defaultdict(list)  # of each class: tuple and records
    parts: dict[int, list[tuple[int, int]]] = defaultdict(list)  # of each tuple: class and records, largest first
    for of_tuple, number, records in zip(*_parts(mapping), strict=True):
        members[number].append((of_tuple, records))
        parts[of_tuple].append((number, records))
    draws = _draws(rows, recoding, key, parts, of_class)
    possible = _possible(parts, members, of_class, draws)
    for number, inside in members.items():
        every = np.unique(np.concatenate([possible[of_tuple, number] for of_tuple, _ in inside]))
        if len(every) < len(of_class[number]):
            return Undone(True)
        if any(len(possible[of_tuple, number]) < records for of_tuple, records in inside):
            return Undone(True)
    below = unique = 0
    for of_tuple, own in parts.items():
        found = [_candidates(of_tuple, number, members[number], possible) for number, _ in own]
        candidates = sum(map(len, found))
        people = sum(records for _, records in own)
        below += people * (candidates < k)
        unique += people * (candidates == 1)
    return Undone(False, below, unique)


def _parts(mapping: Any) -> tuple[list[int], list[int], list[int]]:
    return mapping.part_tuples.tolist(), mapping.part_classes.tolist(), mapping.part_records.tolist()


def _rows_by_class(rows: pa.Table, recoding: Any) -> dict[int, Any]:
    """The places of the rows of each class."""
    columns = zip(recoding.names, recoding.mapping.classes.T.tolist(), strict=True)
    labels = [recoding.labels_of(name, nodes) for name, nodes in columns]
    numbers = {label: number for number, label in enumerate(zip(*labels, strict=True))}
    found = defaultdict(list)
    for place, row in enumerate(zip(*(rows[name].to_pylist() for name in recoding.names), strict=True)):
        found[numbers[row]].append(place)
    return {number: np.array(places) for number, places in found.items()}


def _draws(rows: pa.Table, recoding: Any, key: bytes, parts: Any, of_class: dict[int, Any]) -> Pairs:
    """For each dealt tuple and each of its classes, the draw that each row would have if it were of that tuple."""
    pairs = [(t, number) for t, own in parts.items() if len(own) > 1 for number, _ in own]
    places = np.concatenate([of_class[number] for _, number in pairs])
    tuples = np.concatenate([np.full(len(of_class[number]), t) for t, number in pairs])
    guessed = rows.take(pa.array(places))
    for i, name in enumerate(recoding.names):
        texts = recoding.labels_of(name, recoding.mapping.tuples[:, i].tolist())
        column = pa.array(texts, pa.string()).take(pa.array(tuples))
        guessed = guessed.set_column(guessed.schema.get_field_index(name), name, column)
    hashes = RowHash(key, recoding.dropped)(guessed.combine_chunks().to_batches(max_chunksize=len(guessed))[0])
    repeated = Counter(zip(tuples.tolist(), hashes.tolist(), strict=True))
    draws = mix(hashes ^ mix(np.zeros(len(hashes), np.uint64))).astype(np.float64)
    twice = [repeated[pair] > 1 for pair in zip(tuples.tolist(), hashes.tolist(), strict=True)]
    draws[np.array(twice, bool)] = np.nan  # of equal rows she cannot tell the numbers
    ends = np.cumsum([len(of_class[number]) for _, number in pairs])[:-1]
    return dict(zip(pairs, np.split(draws, ends), strict=True))


def _possible(parts: Any, members: Any, of_class: dict[int, Any], draws: Pairs) -> Pairs:
    """For each tuple and each of its classes, the rows that can be of it."""
    possible: Pairs = {}
    for t, own in parts.items():
        alone = [len(members[number]) == 1 for number, _ in own]
        for place, (number, _) in enumerate(own):
            can = np.ones(len(of_class[number]), bool)
            if len(own) > 1:
                drawn = draws[t, number]
                for other, (elsewhere, _) in enumerate(own):
                    known = draws[t, elsewhere][~np.isnan(draws[t, elsewhere])] if alone[other] else np.empty(0)
                    if len(known) and other < place:
                        can &= ~(drawn < known.max())
                    if len(known) and other > place:
                        can &= ~(drawn > known.min())
            possible[t, number] = of_class[number][can]
    return possible


def _candidates(t: int, number: int, inside: list[tuple[int, int]], possible: Pairs) -> Any:
    """The rows of a class that a person of a tuple may have: those that nobody else can, if these are enough."""
    others = [possible[other, number] for other, _ in inside if other != t]
    forced = np.setdiff1d(possible[t, number], np.concatenate(others)) if others else possible[t, number]
    return forced if len(forced) == dict(inside)[t] else possible[t, number]


@dataclass(frozen=True)
class Guessed:
    """What being left out tells of a sensitive column.

    Args:
        people: Who are not in the release.
        right: How many of them have the value that most of them have.
        prior: The share of that value in the table.
    """

    people: int
    right: int
    prior: Fraction

    @property
    def excess(self) -> Fraction:
        """How much more often the guess is right than the column's own distribution allows."""
        return Fraction(self.right, self.people) - self.prior if self.people else Fraction(0)


def guessed(table: pa.Table, released: pa.Table, secret: str, person: str) -> Guessed:
    """Guess the secret of everyone who is not in a release: the one value of which being left out tells most.

    Args:
        table: The original rows.
        released: The released rows.
        secret: The sensitive column.
        person: A column that tells rows apart, which stands for the register: she knows who is not there.
    """
    there = set(released[person].to_pylist())
    everyone = Counter(table[secret].to_pylist())
    pairs = zip(table[person].to_pylist(), table[secret].to_pylist(), strict=True)
    gone = Counter(value for name, value in pairs if name not in there)
    people = sum(gone.values())
    if not people:
        return Guessed(0, 0, Fraction(0))
    value = max(gone, key=lambda each: gone[each] / people - everyone[each] / len(table))
    return Guessed(people, gone[value], Fraction(everyone[value], len(table)))
