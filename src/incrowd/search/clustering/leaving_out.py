"""Leaving out records of a local release, within a budget, where that saves more loss than it costs.

A record that is left out has lost everything, so leaving it out only pays for what others regain. There are two ways:

- Trimming. Of a class only the records below one child of one of its values stay, and are drawn together.
- Dissolving. The records of a class join other classes that have all their values already; those for whom there is no
  such class are left out.

What gains most for each record that is left out is done first, as far as the budget reaches, over and over, until
nothing is gained any more. Every class is good after every round, so it may end at any moment: what stays of a trimmed
class is asked about, and where a model is upward closed, a good class stays good whatever joins it. Where one is not,
no class is dissolved, and classes that are bad beside the records that stay are left out after every round; if that is
too much or does not pay, the round is made again with half of the changes. It ends, as the loss falls each time. Ties
go by the number of the class, which follows the order of its tuples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from incrowd.run import Run
from incrowd.search.clustering.class_tally import Entries, Term
from incrowd.search.clustering.exchange import proposed
from incrowd.search.clustering.space import Array, Parts, Space, compact
from incrowd.table.class_counts import ClassCounts, Mask
from incrowd.table.grouping import count

ROUNDS = 100


def leave_out(space: Space, parts: Parts, budget: int, run: Run) -> tuple[Parts, int]:
    """Leave out records while that pays.

    Args:
        space: The tuples, with the loss as what counts.
        parts: Tuple, class and records of each part; with protected columns every tuple is one part, in order.
        budget: How many records may be left out.
        run: Asked in between whether to go on; every class is good.

    Returns:
        The parts, with the class -1 for those that are left out, and the number of records left out.
    """
    tuples, groups, records = parts
    spent = 0
    for _ in range(ROUNDS):
        if spent == budget or not run.should_continue():
            break
        state = _State.of(space, tuples, groups, records)
        if space.tally.requirement.upward_closed:
            after = _performed(state, [_trimmed(state), _dissolved(state, run)], budget - spent)
        else:
            after = _settled(state, _trimmed(state), budget, budget - spent)
        if after is None:
            break
        groups = after
        spent = int(records[groups < 0].sum())
        run.amount(spent, budget, "records left out")
    return (tuples, groups, records), spent


@dataclass(frozen=True)
class _State:
    """Parts that are released, in classes: numbers of the parts, their classes without gaps, and what classes hold."""

    space: Space
    all_groups: Array
    chosen: Array
    tuples: Array
    records: Array
    groups: Array
    size: int
    nodes: Array
    detail: Array
    sizes: Array
    entries: Entries

    @classmethod
    def of(cls, space: Space, tuples: Array, groups: Array, records: Array) -> _State:
        chosen = np.flatnonzero(groups >= 0)
        own, size = compact(groups[chosen])
        nodes = space.nodes(tuples[chosen], own)
        entries = space.tally.tuples if space.tally.requirement.columns else Entries.of(ClassCounts(records), ())
        sizes = count(own, size, records[chosen])
        of_parts = space, groups, chosen, tuples[chosen], records[chosen]
        return cls(*of_parts, own, size, nodes, space.detail(nodes), sizes, entries)


@dataclass(frozen=True)
class _Changes:
    """A change of each class: what all records gain, how many are left out, and where each part goes (-1 for out)."""

    gain: Array
    out: Array
    targets: Array


def _trimmed(state: _State) -> _Changes:
    """The best way to keep the records of one branch only, per class."""
    space, own, size = state.space, state.groups, state.size
    branches = space.branches(state.nodes[own], state.tuples)
    gains, outs = np.zeros(size, np.int64), np.zeros(size, np.int64)
    targets = own.copy()
    for a in range(len(space.roots)):
        _, part = np.unique(own * np.int64(len(space.forest.parent)) + branches[:, a], return_inverse=True)
        number = int(part.max()) + 1
        home = np.empty(number, np.int64)
        home[part] = own
        kept = count(part, number, state.records)
        out = state.sizes[home] - kept
        detail = space.detail(space.nodes(state.tuples, part))
        gain = kept * (detail - state.detail[home]) - out * state.detail[home]
        pays = (gain > 0) & (out > 0)
        asked = pays[part]
        if asked.any():
            pays &= space.tally.good([Term(state.entries, state.chosen[asked], part[asked])], number)
        best = np.full(size, -1)
        order = np.lexsort((-np.arange(number), gain))
        order = order[pays[order] & (gain[order] > gains[home[order]])]
        best[home[order]] = order  # the last one written is the best
        better = best >= 0
        gains[better], outs[better] = gain[best[better]], out[best[better]]
        changed = better[own]
        targets[changed] = np.where(part[changed] == best[own[changed]], own[changed], -1)
    return _Changes(gains, outs, targets)


def _dissolved(state: _State, run: Run) -> _Changes:
    """What becomes of each class whose records join the classes that have their values, or are left out."""
    space, size = state.space, state.size
    parts = np.stack([state.tuples, state.groups, state.records], axis=1)
    targets = proposed(space, state.nodes, state.sizes, parts, 0, run, leaves=True)
    detail = np.where(targets < 0, 0, state.detail[targets])
    gains = np.zeros(size, np.int64)
    np.add.at(gains, state.groups, state.records * (detail - state.detail[state.groups]))
    return _Changes(gains, count(state.groups, size, state.records * (targets < 0)), targets)


def _settled(state: _State, change: _Changes, budget: int, left: int) -> Array | None:
    """The class of all parts, which are tuples, after changes that pay together with the bad classes they make."""
    before = int(state.sizes @ state.detail)
    while left:
        after = _performed(state, [change], left)
        if after is None:
            return None
        after = state.space.tally.settled(after, budget)
        if after is not None and (after >= 0).any():
            then = _State.of(state.space, np.arange(len(after)), after, state.space.counts)
            if int(then.sizes @ then.detail) > before:
                return after
        left //= 2
    return None


def _performed(state: _State, changes: list[_Changes], budget: int) -> Array | None:
    """The class of all parts after the best changes that do not disturb each other; None if none pays."""
    order = np.argsort(state.groups, kind="stable")
    first = np.searchsorted(state.groups[order], np.arange(state.size + 1))
    rows = []
    for kind, change in enumerate(changes):
        for number in np.flatnonzero((change.gain > 0) & (change.out <= budget)).tolist():
            gain, out = int(change.gain[number]), int(change.out[number])
            rows.append((-gain / out if out else -np.inf, number, kind))
    busy, receives = np.zeros(state.size, bool), np.zeros(state.size, bool)
    groups, changed = state.groups.copy(), False
    for _, number, kind in sorted(rows):
        members = order[first[number] : first[number + 1]]
        targets = changes[kind].targets[members]
        others: Mask = (targets >= 0) & (targets != number)
        out = int(changes[kind].out[number])
        if busy[number] or receives[number] or out > budget or busy[targets[others]].any():
            continue
        busy[number], changed = True, True
        receives[targets[others]] = True
        groups[members] = targets
        budget -= out
    if not changed:
        return None
    after = state.all_groups.copy()
    after[state.chosen] = groups
    return after
