"""The exchange of the method "cover" in compiled code: records move to the class that has their values and costs less.

Every class is good after every single move, so that a sweep may end anywhere.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from incrowd.privacy.compiled import SizeRule, spare
from incrowd.run import Run
from incrowd.search.clustering.class_index import (
    ATTRIBUTE,
    FILLED,
    FIRST,
    KIND,
    OTHER,
    SIBLING,
    VALUE,
    Classes,
    Tree,
    insert,
    new_classes,
    new_tree,
)
from incrowd.search.clustering.forest import Forest
from incrowd.search.compiled import compiled, compiled_within

Array = npt.NDArray[Any]

INSERTED, PART, USED, LOOKED = range(4)
BUCKET = 16  # classes per bucket of the index


class Sweep(NamedTuple):
    """All that a sweep knows.

    `tuples` and `classes` are rows of nodes; `size` and `detail` are those of each class. `parts` are tuple, class and
    records of each part, with room for as many again; `crowding` is what a unit of the sum of squared class sizes
    costs, in units of detail. `at` says how many classes are INSERTED in the tree, the PART that is next, how many rows
    of parts are USED, and how many classes and tree nodes were LOOKED at.
    """

    forest: Forest
    needs: SizeRule
    crowding: int
    tuples: Array
    classes: Classes
    tree: Tree
    size: Array
    detail: Array
    parts: Array
    stack: Array
    at: Array


def exchanged(
    forest: Forest, roots: Array, tuples: Array, classes: Array, parts: Array, needs: SizeRule, crowding: int,
    number: int, run: Run,
) -> Array:  # fmt: skip
    """The parts after one sweep; the sweep ends where the run should not go on.

    Args:
        forest: The hierarchies.
        roots: The root of each attribute.
        tuples: The tuples, as nodes: tuples x attributes.
        classes: The classes, as nodes: classes x attributes.
        parts: Tuple, class and records of each part: parts x 3.
        needs: What a class needs.
        crowding: What a unit of the sum of squared class sizes costs, in units of detail.
        number: Which sweep it is.
        run: Asked between two slices whether to go on.
    """
    state = new_sweep(forest, roots, tuples, classes, parts, needs, crowding, BUCKET)
    total = int(state.at[USED])

    def some(amount: int) -> bool:
        done: bool = exchange_some(state, total, amount)
        run.amount(int(state.at[PART]), total, f"parts looked at in sweep {number}")
        return done or not run.should_continue()

    run.in_slices(some)
    return state.parts[: state.at[USED]]


def new_sweep(
    forest: Forest,
    roots: Array,
    tuples: Array,
    classes: Array,
    parts: Array,
    needs: SizeRule,
    crowding: int,
    bucket: int,
) -> Sweep:
    """Before a sweep; no class is in the tree yet.

    Args:
        forest: The hierarchies.
        roots: The root of each attribute.
        tuples: The tuples, as nodes: tuples x attributes.
        classes: The classes, as nodes: classes x attributes.
        parts: Tuple, class and records of each part: parts x 3.
        needs: What a class needs.
        crowding: What a unit of the sum of squared class sizes costs, in units of detail.
        bucket: Classes per bucket of the index.
    """
    size = np.bincount(parts[:, 1], parts[:, 2], len(classes)).astype(np.int64)
    tree = new_tree(len(classes), roots, bucket)
    out = np.empty((2 * len(parts), 3), np.int64)
    out[: len(parts)] = parts
    at = np.zeros(4, np.int64)
    at[USED] = len(parts)
    detail = forest.detail[classes].sum(axis=1)
    stack = np.empty(len(tree.links), np.int32)
    return Sweep(forest, needs, crowding, tuples, new_classes(classes, size), tree, size, detail, out, stack, at)


@compiled
def exchange_some(state: Sweep, parts: int, amount: int) -> bool:
    """Go on with a sweep until so many classes and tree nodes were looked at; whether all is done."""
    at = state.at
    until = at[LOOKED] + amount
    while at[LOOKED] < until:
        at[LOOKED] += 1
        if at[INSERTED] < len(state.size):
            insert(state.tree, state.forest, state.classes, at[INSERTED])
            at[INSERTED] += 1
        elif at[PART] < parts:
            _move(state, at[PART])
            at[PART] += 1
        else:
            return True
    return False


@compiled_within
def _move(state: Sweep, part: int) -> None:
    """Move what a part's class can spare of it to the class that improves the objective most, if there is one."""
    out, size = state.parts, state.size
    home = out[part, 1]
    records = min(out[part, 2], spare(state.needs, size[home]))
    if records <= 0:
        return
    target = best_class(state, state.tuples[out[part, 0]], home, records)
    if target < 0:
        return
    size[home], size[target] = size[home] - records, size[target] + records
    if records == out[part, 2]:
        out[part, 1] = target
    else:
        used = state.at[USED]
        out[part, 2] -= records
        out[used, 0], out[used, 1], out[used, 2] = out[part, 0], target, records
        state.at[USED] += 1


@compiled_within
def best_class(state: Sweep, values: Array, home: int, records: int) -> int:
    """The class with all of a tuple's values that records should move to, -1 if no move improves the objective."""
    size, detail, stack, crowding = state.size, state.detail, state.stack, state.crowding
    end, rows, links = state.forest.end, state.classes.rows, state.tree.links
    best, chosen, looked = 0, -1, 0
    stack[0], height = 0, 1
    while height:
        height -= 1
        looked += 1
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
        looked += links[place, FILLED]
        other = links[place, FIRST]
        while other >= 0:
            gain = records * (detail[other] - detail[home])
            gain -= 2 * crowding * records * (size[other] + records - size[home])
            better = gain > best or (gain == best and 0 <= other < chosen)  # of equally good ones the first
            if better and other != home and _has(rows[other], end, values):
                best, chosen = gain, other
            other = rows[other, -1]
    state.at[LOOKED] += looked
    return chosen


@compiled_within
def _has(row: Array, end: Array, values: Array) -> bool:
    """Whether every value of a tuple lies at or below that of a class."""
    for a in range(len(values)):  # noqa: SIM110  (compiled code has no generators)
        if not row[a] <= values[a] < end[row[a]]:
            return False
    return True
