"""The loop of KACA1 in compiled code: merge small classes with their nearest, or with a stub of it, until none is left.

A class is a generalized tuple, a size, and a list of members: how many records of which original tuple. Random numbers
are SplitMix64, drawn in a fixed order, so that the same seed gives the same classes on every machine.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from incrowd.search.class_index import Forest, insert, nearest, new_classes, new_query, new_tree, remove

Array = npt.NDArray[Any]


class Members(NamedTuple):
    """Members of the classes: `head` and `tail` per class; tuple, records and the next entry per entry."""

    head: Array
    tail: Array
    tuples: Array
    records: Array
    after: Array
    used: Array


@njit(cache=True)
def draw(state: Array) -> Any:
    """The next number of SplitMix64."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit(cache=True)
def agglomerate(
    forest: Forest, roots: Array, nodes: Array, counts: Array, k: int, seed: int, bucket: int
) -> tuple[Array, Array, Array]:
    """Run KACA1.

    Args:
        forest: The hierarchies.
        roots: The root of each attribute.
        nodes: The tuples, as hierarchy nodes: tuples x attributes.
        counts: Records of each tuple.
        k: Smallest class.
        seed: Seed of the random choices.
        bucket: Classes per bucket of the index.

    Returns:
        Tuple, class and records of each part of the result; classes are numbered with gaps.
    """
    tuples = len(counts)
    state = np.array([seed], np.uint64)
    classes = new_classes(nodes, counts)
    rows, size = classes.rows, classes.rows[:, -2]
    members = _members(counts)
    tree, query = new_tree(tuples, roots, bucket), new_query(forest, roots, tuples)
    small, place, waiting = np.empty(tuples, np.int64), np.full(tuples, -1, np.int64), 0
    for number in range(tuples):
        classes.key[number] = draw(state)
        insert(tree, forest, classes, number, bucket)
        if counts[number] < k:
            small[waiting], place[number], waiting = number, waiting, waiting + 1
    while waiting:
        number = small[draw(state) % np.uint64(waiting)]
        waiting = _forget(small, place, number, waiting)
        other = nearest(tree, forest, classes, query, number, k)
        remove(tree, classes, number)
        if size[number] + size[other] < 2 * k:
            remove(tree, classes, other)
            if place[other] >= 0:
                waiting = _forget(small, place, other, waiting)
            taken = size[other]
        else:
            taken = k - size[number]
        _take(members, number, other, taken)
        size[number] += taken
        size[other] -= taken
        classes.key[number] = draw(state)
        _generalize(forest, rows, number, other)
        insert(tree, forest, classes, number, bucket)
        if size[number] < k:
            small[waiting], place[number], waiting = number, waiting, waiting + 1
    return _parts(members)


@njit(cache=True)
def _forget(small: Array, place: Array, number: int, waiting: int) -> int:
    last = small[waiting - 1]
    small[place[number]], place[last] = last, place[number]
    place[number] = -1
    return waiting - 1


@njit(cache=True)
def _generalize(forest: Forest, rows: Array, number: int, other: int) -> None:
    """Make the tuple of a class the closest common generalization of two."""
    for a in range(rows.shape[1] - 2):
        node = rows[number, a]
        while not node <= rows[other, a] < forest.end[node]:
            node = forest.parent[node]
        rows[number, a] = node


@njit(cache=True)
def _members(counts: Array) -> Members:
    tuples = len(counts)
    most = 4 * tuples  # a step splits at most one entry, and there are fewer than two steps per tuple
    members = Members(
        np.arange(tuples),
        np.arange(tuples),
        np.empty(most, np.int64),
        np.empty(most, np.int64),
        np.full(most, -1, np.int64),
        np.array([tuples]),
    )
    for number in range(tuples):
        members.tuples[number], members.records[number] = number, counts[number]
    return members


@njit(cache=True)
def _take(members: Members, number: int, other: int, wanted: int) -> None:
    """Move records from the front of one class's members to the end of another's."""
    while wanted:
        entry = members.head[other]
        if members.records[entry] <= wanted:
            members.head[other] = members.after[entry]
        else:
            rest, entry = entry, members.used[0]
            members.used[0] += 1
            members.tuples[entry], members.records[entry] = members.tuples[rest], wanted
            members.records[rest] -= wanted
        members.after[entry] = -1
        members.after[members.tail[number]] = entry
        members.tail[number] = entry
        wanted -= members.records[entry]


@njit(cache=True)
def _parts(members: Members) -> tuple[Array, Array, Array]:
    used = members.used[0]
    tuples, numbers, records = np.empty(used, np.int64), np.empty(used, np.int64), np.empty(used, np.int64)
    size = 0
    for number in range(len(members.head)):
        entry = members.head[number]
        while entry >= 0:
            tuples[size], numbers[size], records[size] = members.tuples[entry], number, members.records[entry]
            size += 1
            entry = members.after[entry]
    return tuples[:size], numbers[:size], records[:size]
