"""Classes of whole tuples that are good by any privacy model: bad ones join, large ones split, tuples are exchanged.

Where a model counts a protected column, compiled searches do not know what makes a class good, and tuples are not split
between classes: allocating records by a hash would not know their protected values. So all classes are sets of whole
tuples, and the requirement is asked about many of them at a time (`ClassTally`).

Joining. In each round every bad class looks at its nearest classes, and at the nearest tuple of each that is good. It
takes what costs least: of a class that is too small for any good one, whatever it is; else of what makes it good
without making another one bad, and if there is no such thing, the nearest class. It ends: a class that joins another is
one class less; a tuple moves only where that makes a class good and leaves one good. In the end there is one class of
everything, which is good, or else no release is.

Where models are hard, bad classes that join one another grow and grow. So there are two other ways: to put all bad ones
together, with the most general good ones if need be; and to begin with one class of everything. What the splitting then
leaves with the least loss is taken.

Splitting. A class is split by the children of one of its values; those that are not good stay together, if need be with
the smallest good one. All parts are good.

Exchange. Tuples move to the class that has all their values and costs less, if both classes are good afterwards.

Each of them is exact about what is good, and its order does not depend on that of rows: ties go by the number of class
and tuple, which follow the order of values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from incrowd.privacy.model import Requirement
from incrowd.run import Run
from incrowd.search.clustering.class_index import Classes, Query, Tree, new_classes, new_query, new_tree
from incrowd.search.clustering.class_tally import ClassTally, Entries, Term
from incrowd.search.clustering.exchange import proposed
from incrowd.search.clustering.space import BUCKET, Array, Forest, Space, compact
from incrowd.search.native import kernels
from incrowd.search.native.kernels import Int32, Int64, kernel
from incrowd.table.class_counts import Mask
from incrowd.table.grouping import count

NEAREST = 12  # classes that a bad class looks at
FEW = 3  # the same of a class that is too small
ALONE = 40  # rounds in which a class takes part in one change only
SWEEPS = 30


def counts_values(requirement: Requirement) -> bool:
    """Whether more than the size of a class decides whether it is good."""
    return bool(requirement.columns) or not requirement.upward_closed


def made_good(
    space: Space, groups: Array, run: Run, crowding: int = 0, others: Sequence[Array] = ()
) -> tuple[Array, int]:
    """Make every class good, then as small as they can be.

    Returns:
        The class of each tuple, and the number of sweeps of the exchange that moved something.
    """
    starts = [np.zeros_like(groups), together(space, groups, run)]
    starts += [joined(space, start, run) for start in (groups, *others)]
    run.anytime = True  # every class is good from here on
    ways = [split_again(space, start, run) for start in starts]
    groups = max(reversed(ways), key=lambda way: space.worth(way, crowding))
    groups, sweeps = exchanged_tuples(space, groups, crowding, run)
    return split_again(space, groups, run), sweeps


# Joining


def joined(space: Space, groups: Array, run: Run) -> Array:
    """Join bad classes with others until all are good."""
    groups, size = compact(groups)
    most, rounds = 0, 0
    while True:
        run.check()
        classes = space.tally.classes(groups, size)
        good = space.tally.good_classes(classes)
        left = int((~good).sum())
        most = max(most, left)
        run.amount(most - left, most, "classes made good")
        if not left or size == 1:
            return groups
        options = _Options.of(space, groups, size, classes, good, run)
        groups, size = compact(_performed(groups, size, options, good, rounds >= ALONE))
        rounds += 1


@dataclass(frozen=True)
class _Options:
    """What each bad class would do: join another one, or take a tuple of it (-1 where it joins), at a cost."""

    asking: Array
    others: Array
    tuples: Array
    costs: Array

    @classmethod
    def of(cls, space: Space, groups: Array, size: int, classes: Entries, good: Mask, run: Run) -> _Options:
        nodes, sizes = space.nodes(np.arange(len(groups)), groups), classes.counts.records
        asking = np.flatnonzero(~good)
        small = sizes[asking] < space.tally.requirement.least_size
        near, far = np.full((len(asking), NEAREST), -1), np.zeros((len(asking), NEAREST), np.int64)
        for some, most in ((small, FEW), (~small, NEAREST)):
            if some.any():
                near[some, :most], far[some, :most] = neighbours(space, nodes, sizes, asking[some], most, run)
        order = np.argsort(groups, kind="stable")
        first = np.searchsorted(groups[order], np.arange(size + 1))
        tuples, costs = np.full(near.shape, -1, np.int64), np.zeros(near.shape, np.int64)
        closest_members(
            space.forest, space.tuples, space.counts, nodes, sizes, order, first, asking, near, good, tuples, costs
        )
        # asking x options: joining each neighbour, then taking a tuple of each
        others, takes = np.hstack([near, near]), np.hstack([np.full_like(tuples, -1), tuples])
        costs, could = np.hstack([far, costs]), np.hstack([near >= 0, tuples >= 0])
        ends_well = np.zeros(could.shape, bool)
        ask = could & ((takes >= 0) | ~small[:, None])
        ends_well[ask] = _ends_well(space.tally, classes, np.repeat(asking, ask.sum(axis=1)), others[ask], takes[ask])
        could &= ends_well | (takes < 0)
        prefers: Mask = np.where(small[:, None], could, ends_well)
        prefers |= could & ~prefers.any(axis=1, keepdims=True)
        chosen = np.argmin(np.where(prefers, costs, np.iinfo(np.int64).max), axis=1)
        rows = np.arange(len(asking))
        return cls(asking, others[rows, chosen], takes[rows, chosen], costs[rows, chosen])


def _ends_well(tally: ClassTally, classes: Entries, asking: Array, others: Array, takes: Array) -> Mask:
    """Whether a class is good once it has joined another one, or taken its tuple, and the other one is good still."""
    places, lends = np.arange(len(asking)), takes >= 0
    joins, lent = [Term(classes, others[~lends], places[~lends])], Term(tally.tuples, takes[lends], places[lends])
    well = tally.good([Term(classes, asking, places), *joins, lent], len(asking))
    numbers = np.arange(int(lends.sum()))
    rest = [Term(classes, others[lends], numbers), Term(tally.tuples, takes[lends], numbers, -1)]
    well[lends] &= tally.good(rest, len(numbers))
    return well


def _performed(groups: Array, size: int, options: _Options, good: Mask, together: bool) -> Array:
    """The classes after a round: the cheapest changes first; nobody takes part in two.

    With `together` several may join the same good class, so that a round does more.
    """
    after, moves = np.arange(size), []
    busy = np.zeros(size, bool)
    order = np.lexsort((options.asking, options.costs))
    columns = (options.asking[order], options.others[order], options.tuples[order])
    for own, other, taken in zip(*(column.tolist() for column in columns), strict=True):
        if busy[own] or busy[other]:
            continue
        busy[own] = True
        if taken >= 0:
            moves.append((taken, own))
        else:
            after[own] = other
        busy[other] = taken >= 0 or not (together and good[other])
    groups = after[groups]
    for taken, own in moves:
        groups[taken] = own
    return groups


def together(space: Space, groups: Array, run: Run) -> Array:
    """Put all bad classes into one, with as many of the most general good classes as it takes to make that good."""
    groups, size = compact(groups)
    good = space.tally.good_classes(space.tally.classes(groups, size))
    if good.all():
        return groups
    detail = space.detail(space.nodes(np.arange(len(groups)), groups))
    order = np.lexsort((detail, good))  # bad ones first, then the most general
    number = int((~good).sum())
    while number < size:
        run.check()
        rest = np.zeros(size, bool)
        rest[order[:number]] = True
        tuples = np.flatnonzero(rest[groups])
        if space.tally.good_groups(tuples, np.zeros(len(tuples), np.int64), 1)[0]:
            break
        number += max(1, number // 2)
    after = np.arange(size)
    after[order[:number]] = order[0]
    return after[groups]


class Neighbours(NamedTuple):
    """The search for the nearest classes of those `asking`: `found`, and how `far` they are (asking x most).

    `at` says how many classes are INSERTED in the tree, and how many have ASKED.
    """

    forest: Forest
    classes: Classes
    tree: Tree
    query: Query
    asking: Int64
    found: Int64
    far: Int64
    at: Int64


NEAR_INSERTED, NEAR_ASKED = range(2)
ask_some = kernel("ask_some", Neighbours, int)
closest_members = kernel(
    "closest_members", Forest, Int32, Int64, Int32, *[Int64] * 5, kernels.Mask, Int64, Int64
)  # the tuple of each donor that costs least where it moves to the class that asks, and that cost


def neighbours(space: Space, nodes: Array, sizes: Array, asking: Array, most: int, run: Run) -> tuple[Array, Array]:
    """The nearest classes of some classes, and their distances: asking x most, -1 where there are no more."""
    classes, size = new_classes(nodes, sizes), len(nodes)
    classes.key[:] = np.arange(size)
    tree, query = new_tree(size, space.roots, BUCKET), new_query(space.forest, space.roots, size)
    found, far = np.full((len(asking), most), -1, np.int64), np.zeros((len(asking), most), np.int64)
    state = Neighbours(space.forest, classes, tree, query, asking, found, far, np.zeros(2, np.int64))
    run.in_slices(lambda amount: bool(ask_some(state, amount)))
    return found, far


# Splitting


def split_again(space: Space, groups: Array, run: Run) -> Array:
    """Split classes as long as all parts are good and something is gained."""
    groups, size = compact(groups)
    active = np.ones(size, bool)
    while active.any() and run.should_continue():
        tuples = np.flatnonzero(active[groups])
        parts, parted = _best_parts(space, tuples, groups, size)
        if not len(tuples):
            break
        groups = groups.copy()
        groups[tuples[parted]] = size + parts[parted]
        changed = np.zeros(len(groups), bool)
        changed[tuples] = np.isin(groups[tuples], np.unique(groups[tuples[parted]]))
        groups, size = compact(groups)
        active = np.zeros(size, bool)
        active[groups[changed]] = True
    return groups


def _best_parts(space: Space, tuples: Array, groups: Array, size: int) -> tuple[Array, Mask]:
    """How the classes of some tuples are split best: the part of each tuple, and which tuples leave their class."""
    own, width = groups[tuples], len(space.roots)
    nodes = space.nodes(np.arange(len(groups)), groups)
    before = space.detail(nodes)
    branches = space.branches(nodes[own], tuples)
    best, attribute = np.zeros(size, np.int64), np.full(size, -1)
    found = np.zeros((len(tuples), width), np.int64)
    for a in range(width):
        part, splits = _good_parts(space, tuples, own, size, branches[:, a])
        detail = space.detail(space.nodes(tuples, part))
        gains = np.zeros(size, np.int64)
        np.add.at(gains, own, space.counts[tuples] * (detail[part] - before[own]))
        better = splits & (gains > best)
        best[better], attribute[better] = gains[better], a
        found[:, a] = part
    chosen = np.maximum(attribute, 0)[own]
    return found[np.arange(len(tuples)), chosen] + chosen * len(tuples), attribute[own] >= 0


def _good_parts(space: Space, tuples: Array, own: Array, size: int, branch: Array) -> tuple[Array, Mask]:
    """Classes split by the branches of one attribute.

    Branches that are not good stay together, if need be with the smallest good one.

    Returns:
        The part of each tuple, and which classes fall into at least two parts, all good.
    """
    _, part = np.unique(own * np.int64(len(space.forest.parent)) + branch, return_inverse=True)
    number = int(part.max()) + 1
    home = np.empty(number, np.int64)
    home[part] = own
    good = space.tally.good_groups(tuples, part, number)
    records = count(part, number, space.counts[tuples])
    for _ in range(2):
        rest = ~good[part]
        settled = np.ones(size, bool)
        if rest.any():
            settled = space.tally.good_groups(tuples[rest], own[rest], size) | (np.bincount(home, ~good, size) == 0)
        several = np.bincount(home, good, size) + (np.bincount(home, ~good, size) > 0) > 1
        if (settled | ~several).all():
            break
        order = np.lexsort((records, ~good, home))  # the smallest good branch of each class first
        firsts = order[np.flatnonzero(np.diff(home[order], prepend=-1))]
        good[firsts[~settled[home[firsts]]]] = False
    rest = ~good[part]
    part[rest] = number + own[rest]
    _, part = np.unique(part, return_inverse=True)
    return part, settled & several


# Exchange


def exchanged_tuples(space: Space, groups: Array, crowding: int, run: Run) -> tuple[Array, int]:
    """Move tuples to classes that have their values and cost less, while both stay good; and the sweeps."""
    blocked = np.zeros(len(groups), bool)
    for number in range(SWEEPS):
        groups, size = compact(groups)
        classes = space.tally.classes(groups, size)
        nodes, sizes = space.nodes(np.arange(len(groups)), groups), classes.counts.records
        movable = np.flatnonzero(~blocked & (np.bincount(groups)[groups] > 1))
        parts = np.stack([movable, groups[movable], space.counts[movable]], axis=1)
        if not len(parts) or not run.should_continue():
            return groups, number
        targets = proposed(space, nodes, sizes, parts, crowding, run)
        moving = np.flatnonzero(targets >= 0)
        if not len(moving):
            return groups, number
        tuples, home, target = movable[moving], groups[movable[moving]], targets[moving]
        detail = space.detail(nodes)
        gain = space.counts[tuples] * (detail[target] - detail[home])
        free = _first_of_each(np.lexsort((tuples, -gain)), home, target, size)
        tuples, home, target = tuples[free], home[free], target[free]
        well = _stay_good(space.tally, classes, tuples, home, target)
        blocked[tuples[~well]] = True
        groups[tuples[well]] = target[well]
    return groups, SWEEPS


def _first_of_each(order: Array, home: Array, target: Array, size: int) -> Array:
    """Moves in an order, without those that touch a class of an earlier one."""
    busy, chosen = [False] * size, []
    for move, one, other in zip(order.tolist(), home[order].tolist(), target[order].tolist(), strict=True):
        if not busy[one] and not busy[other]:
            busy[one] = busy[other] = True
            chosen.append(move)
    return np.array(chosen, np.int64)


def _stay_good(tally: ClassTally, classes: Entries, tuples: Array, home: Array, target: Array) -> Mask:
    """Whether both classes of a move are good after it."""
    number = len(tuples)
    places = np.arange(number)
    terms = [
        Term(classes, np.append(home, target), np.arange(2 * number)),
        Term(tally.tuples, tuples, places, -1),
        Term(tally.tuples, tuples, places + number),
    ]
    good = tally.good(terms, 2 * number)
    return np.asarray(good[:number] & good[number:])
