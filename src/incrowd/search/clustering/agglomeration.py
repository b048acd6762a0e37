"""The loop of KACA1: merge small classes with their nearest, or with a stub of it, until none is left.

A class is a generalized tuple, a size, and a list of members: how many records of which original tuple. Random numbers
are SplitMix64, drawn in a fixed order, so that the same key gives the same classes on every machine. All that the loop
knows is in arrays that outlive a call, so that it can be left and entered again between any two steps.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from incrowd.run import Run
from incrowd.search.clustering.class_index import Classes, Query, Tree, new_classes, new_query, new_tree
from incrowd.search.clustering.space import BUCKET, EVERY, Array, Forest, Parts, Space
from incrowd.search.native.kernels import Int64, UInt64, given, kernel

JOINED_INSERTED, JOINED_WAITING = range(2)


class Chains(NamedTuple):
    """Members of the classes, as lists: `head` and `tail` per class; tuple, records and the next entry per entry."""

    head: Int64
    tail: Int64
    tuples: Int64
    records: Int64
    after: Int64
    used: Int64


class Small(NamedTuple):
    """The classes that are not good, in any order, and the place of each class among them, -1 where it is good."""

    numbers: Int64
    place: Int64


class Clustering(NamedTuple):
    """All that the loop knows; `at` says how many classes are INSERTED in the tree, and how many small ones WAITING."""

    forest: Forest
    least_size: int
    looks: int
    classes: Classes
    members: Chains
    tree: Tree
    query: Query
    found: Int64
    far: Int64
    small: Small
    random: UInt64
    at: Int64


agglomerate_some = kernel("agglomerate_some", Clustering, int)
list_members = kernel("list_members", *[Int64] * 5)


def agglomerated(
    space: Space, nodes: Array, counts: Array, run: Run, bucket: int = BUCKET, looks: int = EVERY
) -> Parts:
    """Run KACA1 on some tuples; tuple, class and records of each part of the result, classes numbered with gaps."""
    tuples, random = len(counts), np.array([run.key.number("clustering") % 2**63], np.uint64)
    state = Clustering(
        space.forest,
        space.least_size,
        looks,
        new_classes(nodes, counts),
        _members(counts),
        new_tree(tuples, space.roots, bucket),
        new_query(space.forest, space.roots, tuples),
        np.empty(1, np.int64),
        np.empty(1, np.int64),
        Small(np.empty(tuples, np.int64), np.full(tuples, -1, np.int64)),
        random,
        np.zeros(2, np.int64),
    )
    small, bound = int((counts < space.least_size).sum()), given(state, Clustering)

    def join(amount: int) -> bool:
        done = bool(agglomerate_some(bound, amount))
        begun = state.at[JOINED_INSERTED] == tuples
        run.amount(small - int(state.at[JOINED_WAITING]) if begun else 0, small, "small classes joined")
        return done

    run.in_slices(join)
    return parts_of(state.members.head, *state.members[2:5])


def _members(counts: Array) -> Chains:
    tuples = len(counts)
    most = 4 * tuples  # a step splits at most one entry, and there are fewer than two steps per tuple
    entries = np.empty(most, np.int64), np.empty(most, np.int64), np.full(most, -1, np.int64)
    members = Chains(np.arange(tuples), np.arange(tuples), *entries, np.array([tuples]))
    members.tuples[:tuples], members.records[:tuples] = np.arange(tuples), counts
    return members


def parts_of(heads: Array, tuples: Array, records: Array, after: Array) -> Parts:
    """Tuple, class and records of each entry of some lists, class by class."""
    parts = np.empty((3, len(tuples)), np.int64)
    size = list_members(heads, tuples, records, after, parts)
    return parts[0, :size], parts[1, :size], parts[2, :size]
