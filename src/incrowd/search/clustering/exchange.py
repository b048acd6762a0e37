"""The exchange of the method "cover": records move to the class that has their values and costs less.

Every class is good after every single move, so that a sweep may end anywhere.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from incrowd.run import Run
from incrowd.search.clustering.class_index import Classes, Tree, new_classes, new_tree
from incrowd.search.clustering.space import BUCKET, Array, Forest, Space
from incrowd.search.native.kernels import Int32, Int64, kernel

SWEPT_INSERTED, SWEPT_PART, SWEPT_USED, SWEPT_LOOKED = range(4)


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
    tuples: Int32
    classes: Classes
    tree: Tree
    size: Int64
    detail: Int64
    parts: Int64
    targets: Int64
    stack: Int32
    at: Int64


sweep_some = kernel("sweep_some", Sweep, int)


def exchanged(space: Space, nodes: Array, parts: Array, crowding: int, number: int, run: Run) -> Array:
    """The parts (tuple, class and records: parts x 3) after one sweep; it ends where the run should not go on."""
    size = np.bincount(parts[:, 1], parts[:, 2], len(nodes)).astype(np.int64)
    state = _new_sweep(space, nodes, size, parts, crowding, moves=True, leaves=False)

    def work(amount: int) -> bool:
        done = bool(sweep_some(state, amount))
        run.amount(int(state.at[SWEPT_PART]), len(parts), f"parts looked at in sweep {number}")
        return done or not run.should_continue()

    run.in_slices(work)
    return state.parts[: state.at[SWEPT_USED]]


def proposed(
    space: Space, nodes: Array, sizes: Array, parts: Array, crowding: int, run: Run, *, leaves: bool = False
) -> Array:
    """The class that each part should move to, whatever that does to the classes; -1 where it should stay.

    With `leaves` it must leave its class, even for one that costs more; -1 where there is none then.
    """
    state = _new_sweep(space, nodes, sizes, parts, crowding, moves=False, leaves=leaves)
    run.in_slices(lambda amount: bool(sweep_some(state, amount)) or not run.should_continue())
    return state.targets


def _new_sweep(
    space: Space, nodes: Array, size: Array, parts: Array, crowding: int, *, moves: bool, leaves: bool
) -> Sweep:
    tree, at = new_tree(len(nodes), space.roots, BUCKET), np.zeros(4, np.int64)
    out = np.empty((2 * len(parts), 3), np.int64)
    out[: len(parts)], at[SWEPT_USED] = parts, len(parts)
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
