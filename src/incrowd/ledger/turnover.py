"""What changes between two releases of one growing table: who stays, who leaves, who comes, and who has to wait.

Anyone can subtract a release from the one before. So whatever changes must change for at least k people of a class at
once: rows of people who stay are released as before, people leave a class in groups of at least k, and so do those
whose record changed, who come back among at least k with the same history. Where there are fewer, their old rows stay
for now. Newcomers stand in crowds of newcomers, and people of whom something was released elsewhere in crowds of those
of whom the same was; fewer than k of them wait, and so do all where those who do not come are too few.

Invariant, for every class of the last release: of those who stay in it, those who left it for good and those who left
it to come back, there are none or enough people, with enough sensitive values. It ends because every round moves
somebody to those who stay.

Whoever knows who left and sees their rows stay must learn nothing of what they had. So what was released of people
decides by the class alone: a part of it may change if it has enough values whoever is in it, that is if it is larger
than the most people of the class who could be short of values together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from incrowd.engines.allocation import Hashes, mix
from incrowd.table.grouping import Codes, group

Mask = npt.NDArray[np.bool_]
STAYS, LEAVES, CHANGES = range(3)


@dataclass(frozen=True)
class Rows:
    """Rows of one release or table.

    Args:
        persons: The person of each row.
        contents: A hash of what each row holds.
        classes: What was released of the person of each row before; the class of a row of the last release is in it.
        released: The codes of each sensitive column that has to have several values, as they were released.
        secrets: The same, as they would be released now.
    """

    persons: npt.NDArray[np.void]
    contents: Hashes
    classes: Codes
    released: Mapping[str, Codes]
    secrets: Mapping[str, Codes]


@dataclass(frozen=True)
class Turnover:
    """What becomes of the rows of the last release, and of those of the table.

    Args:
        carried: Rows of the last release that are released again as they are.
        entering: Rows of the table that are released anew.
        histories: The history of each entering row; of those who were not in the last release it is negative.
        waiting: Rows of newcomers who are too few.
        held: People who left or changed, and whose old rows stay, since too few of their class did.
        left: People who left.
        changed: People who come back with other values.
    """

    carried: Mask
    entering: Mask
    histories: Codes
    waiting: Mask
    held: int
    left: int
    changed: int


def turnover(before: Rows, now: Rows, absent: Rows, people: int, values: Mapping[str, int]) -> Turnover:
    """What may change.

    Args:
        before: The rows of the last release.
        now: The rows of the table.
        absent: People who are in neither, of whom something was released before.
        people: How many people have to change alike.
        values: How many values of each sensitive column they have to have.
    """
    (old, new), size = numbered(before.persons, now.persons)
    state = _wishes(before, now, old, new, size)
    wishing = state != STAYS
    known = np.zeros(size, np.int64)
    known[new] = now.classes
    enough = _enough_to_change(before.classes, old, before.released, people, values)
    while True:
        histories = np.where(state == CHANGES, known, -1 - known)
        bad = _few_of_a_class(before, old, state, enough)
        bad |= _alike_who_change(now, new, histories, state == CHANGES, values)
        bad &= state != STAYS
        if not bad.any():
            break
        state[bad] = STAYS
    was_there = np.bincount(old, minlength=size) > 0
    fresh = ~was_there
    waiting = _few_who_come(now, new, absent, fresh, people, values)
    enters = (fresh & ~waiting) | (state == CHANGES)
    there = was_there & (state == STAYS)
    entering = enters[new]
    return Turnover(
        carried=there[old],
        entering=entering,
        histories=histories[new][entering],
        waiting=waiting[new],
        held=int((wishing & there).sum()),
        left=int((state == LEAVES).sum()),
        changed=int((state == CHANGES).sum()),
    )


def numbered(*parts: npt.NDArray[np.void]) -> tuple[list[Codes], int]:
    """The people of several tables as numbers, and how many there are."""
    halves = np.concatenate(parts).view(np.uint64).reshape(-1, 2)
    order = np.argsort(halves[:, 0])
    first, second = (half[1:] != half[:-1] for half in halves[order].T)
    if (second & ~first).any():  # the hashes of two people begin alike
        order = np.lexsort(halves.T)
        first, second = (half[1:] != half[:-1] for half in halves[order].T)
    new = np.append(False, first | second)[: len(order)]
    numbers = np.empty(len(order), np.int64)
    numbers[order] = np.cumsum(new)
    ends = np.cumsum([len(part) for part in parts])[:-1]
    return list(np.split(numbers, ends)), int(numbers.max(initial=-1)) + 1


def _wishes(before: Rows, now: Rows, old: Codes, new: Codes, size: int) -> Codes:
    """What became of each person of the last release, if nobody had to be held back."""
    state = np.full(size, STAYS)
    held = [np.zeros(size, np.uint64) for _ in range(2)]
    for total, numbers, rows in zip(held, (old, new), (before, now), strict=True):
        np.add.at(total, numbers, mix(rows.contents))
    was_there = np.bincount(old, minlength=size) > 0
    state[was_there & (held[0] != held[1])] = CHANGES
    state[was_there & (np.bincount(new, minlength=size) == 0)] = LEAVES
    return state


def _few_of_a_class(before: Rows, old: Codes, state: Codes, enough: Codes) -> Mask:
    """Who is in a class of the last release of which too few stay, leave or change."""
    groups = before.classes.astype(np.int64) * 3 + state[old]
    few = distinct_in(groups, old) < enough
    bad = np.zeros(int(before.classes.max(initial=-1)) + 1, bool)
    bad[before.classes[few]] = True
    found = np.zeros(len(state), bool)
    found[old[bad[before.classes]]] = True
    return found


def _alike_who_change(now: Rows, new: Codes, histories: Codes, chosen: Mask, values: Mapping[str, int]) -> Mask:
    """Which of those who change come back with too few values among those of the same history."""
    rows = np.flatnonzero(chosen[new])
    secrets = {name: codes[rows] for name, codes in now.secrets.items()}
    few = _too_alike(histories[new[rows]], secrets, values)
    found = np.zeros(len(chosen), bool)
    found[new[rows[few]]] = True
    return found


def _few_who_come(now: Rows, new: Codes, absent: Rows, fresh: Mask, people: int, values: Mapping[str, int]) -> Mask:
    """Which of those who come share what was released of them with too few who come, or with too few who do not."""
    rows = np.flatnonzero(fresh[new])
    classes = np.concatenate([now.classes[rows], absent.classes])
    comes = np.arange(len(classes)) < len(rows)
    persons = np.concatenate([new[rows], len(fresh) + np.arange(len(absent.classes))])
    released = {name: np.concatenate([codes[rows], absent.released[name]]) for name, codes in now.released.items()}
    few = distinct_in(2 * classes + comes, persons) < _enough_to_change(classes, persons, released, people, values)
    secrets = {name: codes[rows] for name, codes in now.secrets.items()}
    few[comes] |= _too_alike(now.classes[rows], secrets, values)
    found = np.zeros(len(fresh), bool)
    found[new[rows[np.isin(now.classes[rows], classes[few])]]] = True
    return found


def _too_alike(groups: Codes, secrets: Mapping[str, Codes], values: Mapping[str, int]) -> Mask:
    """Which rows are in a group with too few values of a sensitive column."""
    few = np.zeros(len(groups), bool)
    for name in secrets.keys() & values.keys():
        few |= distinct_in(groups, secrets[name]) < values[name]
    return few


def _enough_to_change(
    classes: Codes, persons: Codes, released: Mapping[str, Codes], people: int, values: Mapping[str, int]
) -> Codes:
    """For each row, how many people of its class have to change alike to have enough values, whoever they are."""
    enough = np.full(len(classes), people)
    for name in released.keys() & values.keys():
        np.maximum(enough, 1 + _most_short(classes, persons, released[name], values[name]), out=enough)
    return enough


def _most_short(classes: Codes, persons: Codes, things: Codes, least: int) -> Codes:
    """For each row, at most how many people of its class have fewer than `least` things together.

    They have the most frequent things but one of those that they need; who has enough alone is none of them.
    """
    number = _numbers(classes)
    rows = _firsts(number, persons, things)
    each = _numbers(number[rows], persons[rows])
    rows = rows[np.bincount(each)[each] < least]
    kind = _numbers(number[rows], things[rows])
    frequent = np.bincount(kind)
    of = np.empty(len(frequent), np.int64)
    of[kind] = number[rows]
    order = np.lexsort((-frequent, of))
    first = np.searchsorted(of[order], of[order])
    chosen = order[np.arange(len(order)) - first < least - 1]
    most = np.bincount(of[chosen], frequent[chosen], minlength=int(number.max(initial=-1)) + 1)
    return np.asarray(most.astype(np.int64)[number])


def _numbers(*columns: Codes) -> Codes:
    """A number for each distinct row."""
    return np.asarray(group(columns, _sizes(columns))[0], np.int64)


def _firsts(*columns: Codes) -> Codes:
    """A place of each distinct row."""
    return np.asarray(group(columns, _sizes(columns))[1], np.int64)


def _sizes(columns: Sequence[Codes]) -> list[int]:
    return [int(column.max(initial=0)) + 1 for column in columns]


def distinct_in(groups: Codes, things: Codes) -> Codes:
    """For each row, how many different things its group has."""
    if not len(groups):
        return np.empty(0, np.int64)
    _, number = np.unique(groups, return_inverse=True)
    width = int(things.max()) + 1
    pairs = np.unique(number.ravel() * width + things)
    return np.asarray(np.bincount(pairs // width)[number.ravel()], np.int64)
