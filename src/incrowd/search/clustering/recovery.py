"""What destroy and repair know: the classes, with an index of them, and a pool for a try."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from incrowd.privacy.compiled import SizeRule
from incrowd.search.clustering.class_index import Classes, Tree, new_classes, new_tree
from incrowd.search.clustering.forest import Forest
from incrowd.search.clustering.nearest import Query, new_query
from incrowd.search.clustering.pool import Pool, meeting_of, new_pool
from incrowd.search.compiled import compiled

Array = npt.NDArray[Any]

LIVE, CLASSES_LEFT, ENTRIES_LEFT, TRIES, KEPT, IDLE, INSERTED, LOOKED = range(8)
WIDEST = 32  # classes that are looked up for a try at most
MOST_PARTS = 1200  # parts in a try at most
BUCKET = 16
SPARE_NODES = 4096  # of the tree; it is built anew when no more are left


class Members(NamedTuple):
    """The parts of each class: `head` and `length` per class; tuple, records and the next part per part."""

    head: Array
    length: Array
    tuples: Array
    records: Array
    after: Array


class Recovery(NamedTuple):
    """All that the tries know.

    Classes that exist are listed in `live`, each at its `place`; numbers of classes and parts that are free in
    `free_classes` and `free_entries`. The rows of the index have the size 1, `size` are the true ones; the last row is
    that of the record a try begins at. `near` are the classes of a try, `found` those that were looked up, with how
    `far` they are. `at` says how many are LIVE, how many of both lists are left, the TRIES, the classes that were KEPT
    when made anew, the tries since the last improvement (IDLE), classes INSERTED in the tree, and values LOOKED at.
    """

    forest: Forest
    roots: Array
    needs: SizeRule
    crowding: int
    everything: int
    tuples: Array
    classes: Classes
    tree: Tree
    query: Query
    size: Array
    detail: Array
    members: Members
    live: Array
    place: Array
    free_classes: Array
    free_entries: Array
    near: Array
    found: Array
    far: Array
    pool: Pool
    random: Array
    at: Array


def new_recovery(
    forest: Forest,
    roots: Array,
    tuples: Array,
    classes: Array,
    parts: Array,
    needs: SizeRule,
    crowding: int,
    seed: int,
) -> Recovery:
    """Before the first try.

    Args:
        forest: The hierarchies.
        roots: The root of each attribute.
        tuples: The tuples, as nodes: tuples x attributes.
        classes: The classes, as nodes: classes x attributes.
        parts: Tuple, class and records of each part: parts x 3.
        needs: What a class needs.
        crowding: What a unit of the sum of squared class sizes costs, in units of detail.
        seed: Of the random numbers.
    """
    number, room = len(classes), 2 * len(classes) + 64
    entries = 2 * len(parts) + 1024
    rows = np.zeros((room + 1, len(roots)), np.int32)
    rows[:number] = classes
    size, detail = np.zeros(room, np.int64), np.zeros(room, np.int64)
    size[:number] = np.bincount(parts[:, 1], parts[:, 2], number)
    detail[:number] = forest.detail[classes].sum(axis=1)
    indexed = new_classes(rows, np.ones(room + 1, np.int64))
    indexed.key[:] = np.arange(room + 1)
    at = np.zeros(8, np.int64)
    at[[LIVE, CLASSES_LEFT, ENTRIES_LEFT]] = number, room - number, entries - len(parts)
    tree = new_tree(room + SPARE_NODES, roots, BUCKET)
    return Recovery(
        forest,
        roots,
        needs,
        crowding,
        int(forest.detail[tuples[:1]].sum()),
        tuples,
        indexed,
        tree,
        new_query(forest, roots, room + SPARE_NODES),
        size,
        detail,
        _members(parts, room, entries),
        np.arange(room),
        np.arange(room),
        np.arange(number, number + room) % room,  # those that exist are the last, and none of them is free yet
        np.arange(len(parts), len(parts) + entries) % entries,
        np.empty(WIDEST, np.int64),
        np.empty(WIDEST, np.int64),
        np.empty(WIDEST, np.int64),
        new_pool(len(tuples), len(roots), MOST_PARTS, meeting_of(forest, roots)),
        np.array([seed % 2**63], np.uint64),
        at,
    )


def _members(parts: Array, room: int, entries: int) -> Members:
    """Parts as lists, class by class."""
    order = np.argsort(parts[:, 1], kind="stable")
    members = Members(
        np.full(room, -1, np.int64),
        np.zeros(room, np.int64),
        np.empty(entries, np.int64),
        np.empty(entries, np.int64),
        np.full(entries, -1, np.int64),
    )
    number = len(parts)
    members.tuples[:number], members.records[:number] = parts[order, 0], parts[order, 2]
    groups = parts[order, 1]
    same = np.flatnonzero(groups[1:] == groups[:-1])
    members.after[same] = same + 1
    firsts = np.flatnonzero(np.diff(groups, prepend=-1))
    members.head[groups[firsts]] = firsts
    members.length[groups[firsts]] = np.diff(np.append(firsts, number))
    return members


@compiled
def parts_of(state: Recovery) -> tuple[Array, Array, Array]:
    """Tuple, class and records of each part; classes are numbered without gaps."""
    members, at = state.members, state.at
    total = 0
    for i in range(at[LIVE]):
        total += members.length[state.live[i]]
    tuples, groups, records = np.empty(total, np.int64), np.empty(total, np.int64), np.empty(total, np.int64)
    size = 0
    for i in range(at[LIVE]):
        entry = members.head[state.live[i]]
        while entry >= 0:
            tuples[size], groups[size], records[size] = members.tuples[entry], i, members.records[entry]
            size += 1
            entry = members.after[entry]
    return tuples, groups, records
