"""The exchange of the method "cover": records move to the class that has their values and costs less.

Every class is good after every single move, so that a sweep may end anywhere.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

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
from incrowd.search.clustering.space import Array, Forest, Space
from incrowd.search.compiled import in_numpy, kernel, ready

INSERTED, PART, USED, LOOKED = range(4)


class Sweep(NamedTuple):
    """All that a sweep knows.

    `tuples` and `classes` are rows of nodes; `size` and `detail` are those of each class. `parts` are tuple, class and
    records of each part, with room for as many again; `targets` is the class that each part should move to, and with
    `moves` it does, as far as its class can spare it. With `leaves` a part has to leave, even for a class that costs
    more. `crowding` is what a unit of the sum of squared class sizes costs, in units of detail. `at` says how many
    classes are INSERTED in the tree, the PART that is next, how many rows of parts are USED, and how many classes and
    tree nodes were LOOKED at.
    """

    forest: Forest
    least_size: int
    crowding: int
    moves: bool
    leaves: bool
    tuples: Array
    classes: Classes
    tree: Tree
    size: Array
    detail: Array
    parts: Array
    targets: Array
    stack: Array
    at: Array


def exchanged(space: Space, nodes: Array, parts: Array, crowding: int, number: int, run: Run) -> Array:
    """The parts (tuple, class and records: parts x 3) after one sweep; it ends where the run should not go on."""
    size = np.bincount(parts[:, 1], parts[:, 2], len(nodes)).astype(np.int64)
    state = _new_sweep(space, nodes, size, parts, crowding, moves=True, leaves=False)
    some = ready(sweep_some, len(space.counts))

    def work(amount: int) -> bool:
        done = some(state, amount)
        run.amount(int(state.at[PART]), len(parts), f"parts looked at in sweep {number}")
        return done or not run.should_continue()

    run.in_slices(work)
    return state.parts[: state.at[USED]]


def proposed(
    space: Space, nodes: Array, sizes: Array, parts: Array, crowding: int, run: Run, *, leaves: bool = False
) -> Array:
    """The class that each part should move to, whatever that does to the classes; -1 where it should stay.

    With `leaves` it must leave its class, even for one that costs more; -1 where there is none then.
    """
    state = _new_sweep(space, nodes, sizes, parts, crowding, moves=False, leaves=leaves)
    some = ready(sweep_some, len(space.counts))
    run.in_slices(lambda amount: some(state, amount) or not run.should_continue())
    return state.targets


def _new_sweep(
    space: Space, nodes: Array, size: Array, parts: Array, crowding: int, *, moves: bool, leaves: bool
) -> Sweep:
    tree, at = new_tree(len(nodes), space.roots, space.bucket), np.zeros(4, np.int64)
    out = np.empty((2 * len(parts), 3), np.int64)
    out[: len(parts)], at[USED] = parts, len(parts)
    return Sweep(
        space.forest,
        space.least_size,
        crowding,
        moves,
        leaves,
        space.tuples,
        new_classes(nodes, size),
        tree,
        size.astype(np.int64),
        space.detail(nodes),
        out,
        np.full(len(parts), -1, np.int64),
        np.empty(len(tree.links), np.int32),
        at,
    )


@kernel
def sweep_some(state: Sweep, amount: int) -> bool:
    """Go on with a sweep until this many classes and tree nodes were looked at; whether all is done."""
    at, parts, size = state.at, state.parts, state.size
    until = at[LOOKED] + amount
    while at[LOOKED] < until:
        at[LOOKED] += 1
        if at[INSERTED] < len(size):
            insert(state.tree, state.forest, state.classes, at[INSERTED])
            at[INSERTED] += 1
            continue
        part = at[PART]
        if part == len(state.targets):
            return True
        home, records = parts[part, 1], parts[part, 2]
        if state.moves:
            records = min(records, size[home] - state.least_size)
        if records > 0:
            state.targets[part] = _best_class(state, state.tuples[parts[part, 0]], home, records)
            if state.moves and state.targets[part] >= 0:
                _move(state, part, records)
        at[PART] += 1
    return False


@kernel
def _move(state: Sweep, part: int, records: int) -> None:
    """Move records of a part to its target."""
    parts, size, target = state.parts, state.size, state.targets[part]
    home = parts[part, 1]
    size[home], size[target] = size[home] - records, size[target] + records
    if records == parts[part, 2]:
        parts[part, 1] = target
    else:
        used = state.at[USED]
        parts[part, 2] -= records
        parts[used, 0], parts[used, 1], parts[used, 2] = parts[part, 0], target, records
        state.at[USED] += 1


def _best_at_once(state: Sweep, values: Array, home: int, records: int) -> int:
    """What `_best_class` does, among all classes."""
    rows, size, own = state.classes.rows[:, :-2], state.size, -1 if state.leaves else state.detail[home]
    others = np.flatnonzero(((rows <= values) & (values < state.forest.end[rows])).all(axis=1))
    gain = records * (state.detail[others] - own - 2 * state.crowding * (size[others] + records - size[home]))
    gain[others == home] = 0
    best = np.argmax(gain)
    state.at[LOOKED] += len(rows)
    return int(others[best]) if gain[best] > 0 else -1


@in_numpy(_best_at_once)
def _best_class(state: Sweep, values: Array, home: int, records: int) -> int:
    """The class with all of a tuple's values that records should move to, -1 if no move improves the objective."""
    size, detail, stack, crowding = state.size, state.detail, state.stack, state.crowding
    end, rows, links = state.forest.end, state.classes.rows, state.tree.links
    best, chosen, looked, own = 0, -1, 0, -1 if state.leaves else detail[home]
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
            gain = records * (detail[other] - own)
            gain -= 2 * crowding * records * (size[other] + records - size[home])
            better = gain > best or (gain == best and 0 <= other < chosen)  # of equally good ones the first
            if better and other != home and _has(rows[other], end, values):
                best, chosen = gain, other
            other = rows[other, -1]
    state.at[LOOKED] += looked
    return chosen


@kernel
def _has(row: Array, end: Array, values: Array) -> bool:
    """Whether every value of a tuple lies at or below that of a class."""
    for a in range(len(values)):  # noqa: SIM110  (compiled code has no generators)
        if not row[a] <= values[a] < end[row[a]]:
            return False
    return True
