"""The loop of KACA1: merge small classes with their nearest, or with a stub of it, until none is left.

A class is a generalized tuple, a size, and a list of members: how many records of which original tuple. Random numbers
are SplitMix64, drawn in a fixed order, so that the same key gives the same classes on every machine. All that the loop
knows is in arrays that outlive a call, so that it can be left and entered again between any two steps.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from incrowd.run import Run
from incrowd.search.clustering.class_index import (
    Classes,
    Query,
    Tree,
    insert,
    nearest,
    new_classes,
    new_query,
    new_tree,
    remove,
)
from incrowd.search.clustering.space import EVERY, Array, Forest, Parts, Space, above
from incrowd.search.compiled import kernel, ready

INSERTED, WAITING = range(2)
JOINING = 500  # how many units of work a step of the loop counts


class Members(NamedTuple):
    """Members of the classes, as lists: `head` and `tail` per class; tuple, records and the next entry per entry."""

    head: Array
    tail: Array
    tuples: Array
    records: Array
    after: Array
    used: Array


class Small(NamedTuple):
    """The classes that are not good, in any order, and the place of each class among them, -1 where it is good."""

    numbers: Array
    place: Array


class Clustering(NamedTuple):
    """All that the loop knows; `at` says how many classes are INSERTED in the tree, and how many small ones WAITING."""

    forest: Forest
    least_size: int
    looks: int
    classes: Classes
    members: Members
    tree: Tree
    query: Query
    found: Array
    far: Array
    small: Small
    random: Array
    at: Array


def agglomerated(
    space: Space, nodes: Array, counts: Array, run: Run, bucket: int | None = None, looks: int = EVERY
) -> Parts:
    """Run KACA1 on some tuples; tuple, class and records of each part of the result, classes numbered with gaps."""
    tuples, random = len(counts), np.array([run.key.number("clustering") % 2**63], np.uint64)
    state = Clustering(
        space.forest,
        space.least_size,
        looks,
        new_classes(nodes, counts),
        _members(counts),
        new_tree(tuples, space.roots, bucket or space.bucket),
        new_query(space.forest, space.roots, tuples),
        np.empty(1, np.int64),
        np.empty(1, np.int64),
        Small(np.empty(tuples, np.int64), np.full(tuples, -1, np.int64)),
        random,
        np.zeros(2, np.int64),
    )
    some, small = ready(agglomerate_some, tuples), int((counts < space.least_size).sum())

    def join(amount: int) -> bool:
        done = some(state, amount)
        run.amount(small - int(state.at[WAITING]) if state.at[INSERTED] == tuples else 0, small, "small classes joined")
        return done

    run.in_slices(join)
    return ready(parts_of, tuples)(state.members.head, *state.members[2:5])


def _members(counts: Array) -> Members:
    tuples = len(counts)
    most = 4 * tuples  # a step splits at most one entry, and there are fewer than two steps per tuple
    entries = np.empty(most, np.int64), np.empty(most, np.int64), np.full(most, -1, np.int64)
    members = Members(np.arange(tuples), np.arange(tuples), *entries, np.array([tuples]))
    members.tuples[:tuples], members.records[:tuples] = np.arange(tuples), counts
    return members


@kernel
def draw(state: Array) -> Any:
    """The next number of SplitMix64."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@kernel
def agglomerate_some(state: Clustering, amount: int) -> bool:
    """Go on with the loop for an amount of work; whether there are no small classes any more."""
    at, classes = state.at, len(state.small.place)
    while amount > 0 and at[INSERTED] < classes:
        _add(state, at[INSERTED])
        at[INSERTED] += 1
        amount -= 1
    while amount > 0 and at[WAITING]:
        _join(state)
        amount -= JOINING
    return bool(at[INSERTED] == classes and at[WAITING] == 0)


@kernel
def _add(state: Clustering, number: int) -> None:
    """Put a class into the tree, and among the small ones if it is one."""
    classes, small = state.classes, state.small
    classes.key[number] = draw(state.random)
    insert(state.tree, state.forest, classes, number)
    if classes.rows[number, -2] < state.least_size:
        waiting = state.at[WAITING]
        small.numbers[waiting], small.place[number] = number, waiting
        state.at[WAITING] += 1


@kernel
def _join(state: Clustering) -> None:
    """One step of KACA1: a small class takes its nearest, or a stub of it."""
    classes, small, at, least_size = state.classes, state.small, state.at, state.least_size
    size = classes.rows[:, -2]
    number = small.numbers[draw(state.random) % np.uint64(at[WAITING])]
    _forget(small, number, at)
    nearest(state.tree, state.forest, classes, state.query, number, least_size, state.looks, state.found, state.far)
    other = state.found[0]
    remove(state.tree, classes, number)
    if size[number] + size[other] >= 2 * least_size:
        taken = int(least_size - size[number])
    else:
        remove(state.tree, classes, other)
        if small.place[other] >= 0:
            _forget(small, other, at)
        taken = int(size[other])
    _take(state.members, number, other, taken)
    size[number] += taken
    size[other] -= taken
    _generalize(state.forest, classes.rows, number, other)
    _add(state, number)


@kernel
def _forget(small: Small, number: int, at: Array) -> None:
    at[WAITING] -= 1
    last = small.numbers[at[WAITING]]
    small.numbers[small.place[number]], small.place[last] = last, small.place[number]
    small.place[number] = -1


@kernel
def _generalize(forest: Forest, rows: Array, number: int, other: int) -> None:
    """Make the tuple of a class the closest common generalization of two."""
    for a in range(rows.shape[1] - 2):
        rows[number, a] = above(forest.parent, forest.end, rows[number, a], rows[other, a])


@kernel
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


@kernel
def parts_of(heads: Array, tuples: Array, records: Array, after: Array) -> Parts:
    """Tuple, class and records of each entry of some lists, class by class."""
    parts, size = np.empty((3, len(tuples)), np.int64), 0
    for number in range(len(heads)):
        entry = heads[number]
        while entry >= 0:
            parts[0, size], parts[1, size], parts[2, size] = tuples[entry], number, records[entry]
            size += 1
            entry = after[entry]
    return parts[0, :size], parts[1, :size], parts[2, :size]
