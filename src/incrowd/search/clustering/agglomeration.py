"""The loop of KACA1 in compiled code: merge small classes with their nearest, or with a stub of it, until none is left.

A class is a generalized tuple, a size, and a list of members: how many records of which original tuple. Random numbers
are SplitMix64, drawn in a fixed order, so that the same key gives the same classes on every machine. All that the loop
knows lies in arrays that outlive a call, so that it can be left and entered again between any two steps.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from incrowd.privacy.compiled import SizeRule, could_be_two, is_good, lacking
from incrowd.run import Run
from incrowd.search.clustering.class_index import Classes, Tree, insert, new_classes, new_tree, remove
from incrowd.search.clustering.forest import Forest
from incrowd.search.clustering.nearest import Query, nearest, new_query
from incrowd.search.compiled import compiled, compiled_within

Array = npt.NDArray[Any]

INSERTED, WAITING = range(2)
EVERY = 2**62
JOINING = 500  # how many units of work a step of the loop counts


class Members(NamedTuple):
    """Members of the classes: `head` and `tail` per class; tuple, records and the next entry per entry."""

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
    needs: SizeRule
    looks: int
    classes: Classes
    members: Members
    tree: Tree
    query: Query
    small: Small
    random: Array
    at: Array


def agglomerated(
    forest: Forest,
    roots: Array,
    nodes: Array,
    counts: Array,
    needs: SizeRule,
    run: Run,
    bucket: int,
    looks: int = EVERY,
) -> tuple[Array, Array, Array]:
    """Run KACA1.

    Args:
        forest: The hierarchies.
        roots: The root of each attribute.
        nodes: The tuples, as nodes of the forest: tuples x attributes.
        counts: Records of each tuple.
        needs: What a class needs.
        run: Asked between two slices whether to go on; its key gives the random choices.
        bucket: Classes per bucket of the index.
        looks: At how many classes a search for the nearest looks at most.

    Returns:
        Tuple, class and records of each part of the result; classes are numbered with gaps.
    """
    state = new_clustering(forest, roots, nodes, counts, needs, run.key.number("clustering"), bucket, looks)
    run.in_slices(lambda amount: index_some(state, amount))
    small = int(state.at[WAITING])

    def join(amount: int) -> bool:
        done: bool = agglomerate_some(state, amount)
        run.amount(small - int(state.at[WAITING]), small, "small classes joined")
        return done

    run.in_slices(join)
    parts: tuple[Array, Array, Array] = parts_of(state.members)
    return parts


def new_clustering(
    forest: Forest, roots: Array, nodes: Array, counts: Array, needs: SizeRule, seed: int, bucket: int, looks: int
) -> Clustering:
    """Every tuple a class, none of them in the tree yet."""
    tuples = len(counts)
    return Clustering(
        forest,
        needs,
        looks,
        new_classes(nodes, counts),
        _members(counts),
        new_tree(tuples, roots, bucket),
        new_query(forest, roots, tuples),
        Small(np.empty(tuples, np.int64), np.full(tuples, -1, np.int64)),
        np.array([seed % 2**63], np.uint64),
        np.zeros(2, np.int64),
    )


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
    members.tuples[:tuples], members.records[:tuples] = np.arange(tuples), counts
    return members


@compiled_within
def draw(state: Array) -> Any:
    """The next number of SplitMix64."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@compiled
def agglomerate_some(state: Clustering, amount: int) -> bool:
    """Go on with the loop for an amount of work; whether there are no small classes any more."""
    at = state.at
    while amount > 0 and at[WAITING]:
        _join(state)
        amount -= JOINING
    return bool(at[WAITING] == 0)


@compiled
def index_some(state: Clustering, amount: int) -> bool:
    """Go on with putting classes into the tree, so many of them; whether all are there."""
    at = state.at
    end = min(len(state.small.place), at[INSERTED] + amount)
    while at[INSERTED] < end:
        _add(state, at[INSERTED])
        at[INSERTED] += 1
    return bool(at[INSERTED] == len(state.small.place))


@compiled_within
def _add(state: Clustering, number: int) -> None:
    """Put a class into the tree, and among the small ones if it is one."""
    classes, small = state.classes, state.small
    classes.key[number] = draw(state.random)
    insert(state.tree, state.forest, classes, number)
    if not is_good(state.needs, classes.rows[number, -2]):
        waiting = state.at[WAITING]
        small.numbers[waiting], small.place[number] = number, waiting
        state.at[WAITING] += 1


@compiled_within
def _join(state: Clustering) -> None:
    """One step of KACA1: a small class takes its nearest, or a stub of it."""
    classes, small, at, needs = state.classes, state.small, state.at, state.needs
    size = classes.rows[:, -2]
    number = small.numbers[draw(state.random) % np.uint64(at[WAITING])]
    _forget(small, number, at)
    other = nearest(state.tree, state.forest, classes, state.query, number, needs, state.looks)
    remove(state.tree, classes, number)
    if could_be_two(needs, size[number] + size[other]):
        taken = lacking(needs, size[number])
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


@compiled_within
def _forget(small: Small, number: int, at: Array) -> None:
    at[WAITING] -= 1
    last = small.numbers[at[WAITING]]
    small.numbers[small.place[number]], small.place[last] = last, small.place[number]
    small.place[number] = -1


@compiled_within
def _generalize(forest: Forest, rows: Array, number: int, other: int) -> None:
    """Make the tuple of a class the closest common generalization of two."""
    for a in range(rows.shape[1] - 2):
        node = rows[number, a]
        while not node <= rows[other, a] < forest.end[node]:
            node = forest.parent[node]
        rows[number, a] = node


@compiled_within
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


@compiled
def parts_of(members: Members) -> tuple[Array, Array, Array]:
    """Tuple, class and records of each entry, class by class."""
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
