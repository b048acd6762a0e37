"""Compiled parts of the method "cover": the rounds that cover tuples, and the exchange of records between classes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from incrowd.search.class_index import (
    ATTRIBUTE,
    FILLED,
    FIRST,
    KIND,
    OTHER,
    SIBLING,
    VALUE,
    Classes,
    Forest,
    Tree,
    insert,
    new_classes,
    new_tree,
)

Array = npt.NDArray[Any]
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


class Groups(NamedTuple):
    """A hash table of the groups of a round: key, records, the number of a group that is large enough, last round."""

    key: Array
    records: Array
    number: Array
    seen: Array


@njit(cache=True)
def cover_rounds(
    above: Array, first: Array, codes: Array, counts: Array, rounds: Array, k: int, work: int
) -> tuple[Array, int, int]:
    """Go through levels in the given order; whatever then forms groups of at least k leaves as these groups.

    Args:
        above: The node of each code at each level of each attribute, behind each other.
        first: Where in it a level of an attribute begins: attributes x levels.
        codes: The tuples: tuples x attributes.
        counts: Records of each tuple.
        rounds: The level of each attribute in each round: rounds x attributes.
        k: Smallest group.
        work: How many tuples may be looked at; no round begins after that.

    Returns:
        The group of each tuple, -1 for those that are left over, the number of groups, and of rounds.
    """
    tuples, room = len(codes), 16
    while room < 2 * tuples:
        room *= 2
    table = Groups(
        np.empty(room, np.uint64), np.empty(room, np.int64), np.empty(room, np.int64), np.full(room, -1, np.int64)
    )
    left, slots, found = np.arange(tuples), np.empty(tuples, np.int64), np.full(tuples, -1, np.int64)
    starts = np.empty(codes.shape[1], np.int64)
    groups = done = 0
    waiting = tuples
    while done < len(rounds) and waiting and work > 0:
        work -= waiting
        for a in range(len(starts)):
            starts[a] = first[a, rounds[done, a]]
        _tally(above, starts, codes, counts, left[:waiting], slots, table, done)
        stay = 0
        for i in range(waiting):
            if table.records[slots[i]] >= k:
                if table.number[slots[i]] < 0:
                    table.number[slots[i]] = groups
                    groups += 1
                found[left[i]] = table.number[slots[i]]
            else:
                left[stay] = left[i]
                stay += 1
        waiting = stay
        done += 1
    return found, groups, done


@njit(cache=True)
def _tally(
    above: Array, starts: Array, codes: Array, counts: Array, left: Array, slots: Array, table: Groups, done: int
) -> None:
    """Count the records of each group among the tuples that are left, and note where in the table each tuple's is."""
    key_of, records, number, seen = table.key, table.records, table.number, table.seen
    last = np.uint64(len(seen) - 1)
    for i in range(len(left)):
        key = np.uint64(0)
        for a in range(len(starts)):  # should two keys ever collide, their common group is only more general
            key = (key ^ np.uint64(above[starts[a] + codes[left[i], a]])) * _MULTIPLIER
            key ^= key >> np.uint64(29)
        place = key & last
        while seen[place] == done and key_of[place] != key:
            place = (place + np.uint64(1)) & last
        if seen[place] != done:
            seen[place], key_of[place], records[place], number[place] = done, key, 0, -1
        records[place] += counts[left[i]]
        slots[i] = place


@njit(cache=True)
def exchange(
    forest: Forest,
    roots: Array,
    tuples: Array,
    class_nodes: Array,
    parts: Array,
    k: int,
    crowding: int,
    bucket: int,
) -> Array:
    """One sweep: move records to the class that has all their values and improves the objective most.

    Args:
        forest: The hierarchies.
        roots: The root of each attribute.
        tuples: The tuples, as nodes: tuples x attributes.
        class_nodes: The classes, as nodes: classes x attributes.
        parts: Tuple, class and records of each part: parts x 3.
        k: Smallest class.
        crowding: What a unit of the sum of squared class sizes costs, in units of detail.
        bucket: Classes per bucket of the index.

    Returns:
        The parts after the sweep.
    """
    size, detail = _sizes(forest, class_nodes, parts)
    classes = new_classes(class_nodes, size)
    tree = new_tree(len(class_nodes), roots, bucket)
    for number in range(len(class_nodes)):
        insert(tree, forest, classes, number, bucket)
    out, used = np.empty((2 * len(parts), 3), np.int64), len(parts)
    out[:used] = parts
    stack = np.empty(tree.used[0] + 1, np.int32)
    for part in range(len(parts)):
        home, records = out[part, 1], min(out[part, 2], size[out[part, 1]] - k)
        if records <= 0:
            continue
        target = _best(tree, forest, classes, size, detail, tuples[out[part, 0]], home, records, crowding, stack)
        if target < 0:
            continue
        size[home], size[target] = size[home] - records, size[target] + records
        if records == out[part, 2]:
            out[part, 1] = target
        else:
            out[part, 2] -= records
            out[used, 0], out[used, 1], out[used, 2] = out[part, 0], target, records
            used += 1
    return out[:used]


@njit(cache=True)
def _sizes(forest: Forest, nodes: Array, parts: Array) -> tuple[Array, Array]:
    """Size and detail of each class."""
    size, detail = np.zeros(len(nodes), np.int64), np.zeros(len(nodes), np.int64)
    for part in range(len(parts)):
        size[parts[part, 1]] += parts[part, 2]
    for number in range(len(nodes)):
        for a in range(nodes.shape[1]):
            detail[number] += forest.detail[nodes[number, a]]
    return size, detail


@njit(cache=True)
def _best(
    tree: Tree,
    forest: Forest,
    classes: Classes,
    size: Array,
    detail: Array,
    values: Array,
    home: int,
    records: int,
    crowding: int,
    stack: Array,
) -> int:
    """The class with all of a tuple's values that records should move to, -1 if no move improves the objective."""
    end, rows, links = forest.end, classes.rows, tree.links
    best, chosen = 0, -1
    stack[0], height = 0, 1
    while height:
        height -= 1
        place = stack[height]
        a = links[place, ATTRIBUTE]
        if a >= 0:
            child = links[place, FIRST]
            while child >= 0:
                value = links[child, VALUE]
                if links[child, FILLED] and (links[child, KIND] == OTHER or value <= values[a] < end[value]):
                    stack[height] = child
                    height += 1
                child = links[child, SIBLING]
            continue
        other = links[place, FIRST]
        while other >= 0:
            gain = records * (detail[other] - detail[home])
            gain -= 2 * crowding * records * (size[other] + records - size[home])
            if gain > best and other != home and _has(rows[other], end, values):
                best, chosen = gain, other
            other = rows[other, -1]
    return chosen


@njit(cache=True)
def _has(row: Array, end: Array, values: Array) -> bool:
    """Whether every value of a tuple lies at or below that of a class."""
    for a in range(len(values)):  # noqa: SIM110  (compiled code has no generators)
        if not row[a] <= values[a] < end[row[a]]:
            return False
    return True
