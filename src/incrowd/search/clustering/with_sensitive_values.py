"""Classes of whole tuples that are good by any privacy model: bad ones join, large ones split, tuples are exchanged.

Where a model counts a protected column, compiled searches do not know what makes a class good, and tuples are not split
between classes: dealing records by a hash would not know their protected values. So all classes are sets of whole
tuples, and the requirement is asked about many of them at a time (`Ledger`).

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
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.privacy.model import Requirement
from incrowd.privacy.size_rule import SizeRule
from incrowd.run import Run
from incrowd.search.clustering.class_tally import Entries, Ledger, Term
from incrowd.search.clustering.kernels import Kernels, kernels_for
from incrowd.table.class_counts import Mask
from incrowd.table.grouping import count

Numbers = npt.NDArray[Any]

NEAREST = 12  # classes that a bad class looks at
FEW = 3  # the same of a class that is too small
ALONE = 40  # rounds in which a class takes part in one change only
SWEEPS = 30
BUCKET = 16


@dataclass(frozen=True)
class Space:
    """What stays the same while classes change.

    Args:
        forest: The hierarchies, for compiled code.
        roots: The root of each attribute.
        tuples: The tuples, as nodes of the forest: tuples x attributes.
        counts: Records of each tuple.
        ledger: Says which classes are good.
    """

    forest: Any
    roots: Numbers
    tuples: Numbers
    counts: Numbers
    ledger: Ledger

    @cached_property
    def kernels(self) -> Kernels:
        """The inner loops for a table of this size."""
        return kernels_for(len(self.counts))

    def nodes(self, groups: Numbers, size: int) -> Numbers:
        """The closest common generalization of each class."""
        found: Numbers = self.kernels.common_of(self.forest, self.tuples, groups, size)
        return found

    def detail(self, nodes: Numbers) -> Numbers:
        """How much detail each class holds."""
        found: Numbers = self.forest.detail[nodes].sum(axis=1)
        return found

    def worth(self, groups: Numbers, crowding: int) -> int:
        """How much detail a release by some classes holds, less what their sizes cost."""
        groups, size = compact(groups)
        sizes = count(groups, size, self.counts)
        return int(sizes @ self.detail(self.nodes(groups, size))) - crowding * int(sizes @ sizes)


def is_guarded(requirement: Requirement) -> bool:
    """Whether more than the size of a class decides whether it is good."""
    return bool(requirement.columns) or not requirement.upward_closed


def guarded(
    space: Space, groups: Numbers, run: Run, crowding: int = 0, others: Sequence[Numbers] = ()
) -> tuple[Numbers, int]:
    """Make every class good, then as small as they can be.

    Args:
        space: Tuples and hierarchies.
        groups: The class of each tuple; classes may be bad.
        run: Asked in between whether to go on; it may end at any moment once all classes are good.
        crowding: What a unit of the sum of squared class sizes costs, in units of detail.
        others: Other classes to begin with; those that end with the least loss are taken.

    Returns:
        The class of each tuple, and the sweeps of the exchange that moved something.
    """
    starts = [np.zeros_like(groups), together(space, groups, run)]
    starts += [joined(space, start, run) for start in (groups, *others)]
    run.anytime = True  # every class is good from here on
    ways = [split_again(space, start, run) for start in starts]
    groups = max(reversed(ways), key=lambda way: space.worth(way, crowding))
    groups, sweeps = exchanged_tuples(space, groups, crowding, run)
    return split_again(space, groups, run), sweeps


def compact(groups: Numbers) -> tuple[Numbers, int]:
    """Classes numbered by their first tuple, without gaps, and how many they are."""
    _, first, number = np.unique(groups, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[number], len(first)


# Joining


def joined(space: Space, groups: Numbers, run: Run) -> Numbers:
    """Join bad classes with others until all are good."""
    groups, size = compact(groups)
    most, rounds = 0, 0
    while True:
        run.check()
        classes = space.ledger.classes(groups, size)
        good = space.ledger.good_classes(classes)
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

    asking: Numbers
    others: Numbers
    tuples: Numbers
    costs: Numbers

    @classmethod
    def of(cls, space: Space, groups: Numbers, size: int, classes: Entries, good: Mask, run: Run) -> _Options:
        nodes, sizes, asking = space.nodes(groups, size), classes.counts.records, np.flatnonzero(~good)
        small = sizes[asking] < space.ledger.requirement.least_size
        near, far = np.full((len(asking), NEAREST), -1), np.zeros((len(asking), NEAREST), np.int64)
        for some, most in ((small, FEW), (~small, NEAREST)):
            if some.any():
                near[some, :most], far[some, :most] = space.kernels.neighbours(
                    space.forest, space.roots, nodes, sizes, asking[some], most, BUCKET, run
                )
        order = np.argsort(groups, kind="stable")
        first = np.searchsorted(groups[order], np.arange(size + 1))
        tuples, costs = space.kernels.closest_members(
            space.forest, space.tuples, space.counts, nodes, sizes, order, first, asking, near, good
        )
        # asking x options: joining each neighbour, then taking a tuple of each
        others, takes = np.hstack([near, near]), np.hstack([np.full_like(tuples, -1), tuples])
        costs, could = np.hstack([far, costs]), np.hstack([near >= 0, tuples >= 0])
        ends_well = np.zeros(could.shape, bool)
        ask = could & ((takes >= 0) | ~small[:, None])
        ends_well[ask] = _ends_well(space.ledger, classes, np.repeat(asking, ask.sum(axis=1)), others[ask], takes[ask])
        could &= ends_well | (takes < 0)
        prefers: Mask = np.where(small[:, None], could, ends_well)
        prefers |= could & ~prefers.any(axis=1, keepdims=True)
        chosen = np.argmin(np.where(prefers, costs, np.iinfo(np.int64).max), axis=1)
        rows = np.arange(len(asking))
        return cls(asking, others[rows, chosen], takes[rows, chosen], costs[rows, chosen])


def _ends_well(ledger: Ledger, classes: Entries, asking: Numbers, others: Numbers, takes: Numbers) -> Mask:
    """Whether a class is good once it has joined another one, or taken its tuple, and the other one is good still."""
    places, lends = np.arange(len(asking)), takes >= 0
    joins, lent = [Term(classes, others[~lends], places[~lends])], Term(ledger.tuples, takes[lends], places[lends])
    well = ledger.good([Term(classes, asking, places), *joins, lent], len(asking))
    numbers = np.arange(int(lends.sum()))
    rest = [Term(classes, others[lends], numbers), Term(ledger.tuples, takes[lends], numbers, -1)]
    well[lends] &= ledger.good(rest, len(numbers))
    return well


def _performed(groups: Numbers, size: int, options: _Options, good: Mask, together: bool) -> Numbers:
    """The classes after a round: the cheapest changes first; nobody takes part in two.

    Args:
        groups: The class of each tuple.
        size: Number of classes.
        options: What each bad class would do.
        good: Which classes are good.
        together: Whether several may join the same good class, so that a round does more.
    """
    after, moves = np.arange(size), []
    busy = np.zeros(size, bool)
    order = np.lexsort((options.asking, options.costs))
    words = (options.asking[order], options.others[order], options.tuples[order])
    for own, other, taken in zip(*(column.tolist() for column in words), strict=True):
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


def together(space: Space, groups: Numbers, run: Run) -> Numbers:
    """Put all bad classes into one, with as many of the most general good classes as it takes to make that good."""
    groups, size = compact(groups)
    good = space.ledger.good_classes(space.ledger.classes(groups, size))
    if good.all():
        return groups
    order = np.lexsort((space.detail(space.nodes(groups, size)), good))  # bad ones first, then the most general
    number = int((~good).sum())
    while number < size:
        run.check()
        rest = np.zeros(size, bool)
        rest[order[:number]] = True
        tuples = np.flatnonzero(rest[groups])
        if space.ledger.good_groups(tuples, np.zeros(len(tuples), np.int64), 1)[0]:
            break
        number += max(1, number // 2)
    after = np.arange(size)
    after[order[:number]] = order[0]
    return after[groups]


# Splitting


def split_again(space: Space, groups: Numbers, run: Run) -> Numbers:
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


def _best_parts(space: Space, tuples: Numbers, groups: Numbers, size: int) -> tuple[Numbers, Mask]:
    """How the classes of some tuples are split best: the part of each tuple, and which tuples leave their class."""
    own, width = groups[tuples], len(space.roots)
    nodes = space.nodes(groups, size)
    before = space.detail(nodes)
    branches = space.kernels.branches_of(space.forest, nodes[own], space.tuples[tuples])
    best, attribute = np.zeros(size, np.int64), np.full(size, -1)
    found = np.zeros((len(tuples), width), np.int64)
    for a in range(width):
        part, number, splits = _good_parts(space, tuples, own, size, branches[:, a])
        detail = space.detail(space.kernels.common_of(space.forest, space.tuples[tuples], part, number))
        gains = np.zeros(size, np.int64)
        np.add.at(gains, own, space.counts[tuples] * (detail[part] - before[own]))
        better = splits & (gains > best)
        best[better], attribute[better] = gains[better], a
        found[:, a] = part
    chosen = np.maximum(attribute, 0)[own]
    return found[np.arange(len(tuples)), chosen] + chosen * len(tuples), attribute[own] >= 0


def _good_parts(space: Space, tuples: Numbers, own: Numbers, size: int, branch: Numbers) -> tuple[Numbers, int, Mask]:
    """Classes split by the branches of one attribute.

    Branches that are not good stay together, if need be with the smallest good one.

    Returns:
        The part of each tuple, their number, and which classes fall into at least two parts, all good.
    """
    _, part = np.unique(own * np.int64(len(space.forest.parent)) + branch, return_inverse=True)
    number = int(part.max()) + 1
    home = np.empty(number, np.int64)
    home[part] = own
    good = space.ledger.good_groups(tuples, part, number)
    records = count(part, number, space.counts[tuples])
    for _ in range(2):
        rest = ~good[part]
        settled = np.ones(size, bool)
        if rest.any():
            settled = space.ledger.good_groups(tuples[rest], own[rest], size) | (np.bincount(home, ~good, size) == 0)
        several = np.bincount(home, good, size) + (np.bincount(home, ~good, size) > 0) > 1
        if (settled | ~several).all():
            break
        order = np.lexsort((records, ~good, home))  # the smallest good branch of each class first
        firsts = order[np.flatnonzero(np.diff(home[order], prepend=-1))]
        good[firsts[~settled[home[firsts]]]] = False
    rest = ~good[part]
    part[rest] = number + own[rest]
    _, part = np.unique(part, return_inverse=True)
    return part, int(part.max()) + 1, settled & several


# Exchange


def exchanged_tuples(space: Space, groups: Numbers, crowding: int, run: Run) -> tuple[Numbers, int]:
    """Move tuples to classes that have their values and cost less, while both stay good; and the sweeps."""
    blocked = np.zeros(len(groups), bool)
    needs = SizeRule(space.ledger.requirement.least_size)
    for number in range(SWEEPS):
        groups, size = compact(groups)
        classes = space.ledger.classes(groups, size)
        nodes, sizes = space.nodes(groups, size), classes.counts.records
        movable = np.flatnonzero(~blocked & (np.bincount(groups)[groups] > 1))
        parts = np.stack([movable, groups[movable], space.counts[movable]], axis=1)
        if not len(parts) or not run.should_continue():
            return groups, number
        places = space.forest, space.roots, space.tuples, nodes
        targets = space.kernels.proposed(*places, sizes, parts, needs, crowding, run)
        moving = np.flatnonzero(targets >= 0)
        if not len(moving):
            return groups, number
        tuples, home, target = movable[moving], groups[movable[moving]], targets[moving]
        detail = space.detail(nodes)
        gain = space.counts[tuples] * (detail[target] - detail[home])
        free = _first_of_each(np.lexsort((tuples, -gain)), home, target, size)
        tuples, home, target = tuples[free], home[free], target[free]
        well = _stay_good(space.ledger, classes, tuples, home, target)
        blocked[tuples[~well]] = True
        groups[tuples[well]] = target[well]
    return groups, SWEEPS


def _first_of_each(order: Numbers, home: Numbers, target: Numbers, size: int) -> Numbers:
    """Moves in an order, without those that touch a class of an earlier one."""
    busy, chosen = [False] * size, []
    for move, one, other in zip(order.tolist(), home[order].tolist(), target[order].tolist(), strict=True):
        if not busy[one] and not busy[other]:
            busy[one] = busy[other] = True
            chosen.append(move)
    return np.array(chosen, np.int64)


def _stay_good(ledger: Ledger, classes: Entries, tuples: Numbers, home: Numbers, target: Numbers) -> Mask:
    """Whether both classes of a move are good after it."""
    number = len(tuples)
    places = np.arange(number)
    terms = [
        Term(classes, np.append(home, target), np.arange(2 * number)),
        Term(ledger.tuples, tuples, places, -1),
        Term(ledger.tuples, tuples, places + number),
    ]
    good = ledger.good(terms, 2 * number)
    return np.asarray(good[:number] & good[number:])
