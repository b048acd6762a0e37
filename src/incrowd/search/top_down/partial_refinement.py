"""Refines values of a given taxonomy whose children need not be separated all at once.

A released value is a node, or what is left of one: several of its children, released as a set. Two things can be done
with it: all its children are separated, as in the papers, or one child is shown, and the others stay together. Below a
child that is shown the same begins again. Whatever is done, sets get smaller, and what is made is finer than it was: a
refinement that was invalid once is invalid for good, as in every top-down search.

Of two children neither can be shown alone. A node with one child is that child. A child that nobody has is never shown
by itself, so a set does not show which of its values occur. Of very many children only the most frequent ones can be.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import TypeGuard

import numpy as np

from incrowd.recodings.steps import Change, SplitSet
from incrowd.search.top_down.candidates import NOBODY, Candidates
from incrowd.search.top_down.gains import Gain
from incrowd.search.top_down.groups import Groups, Rows
from incrowd.search.top_down.promises import Promises, rest
from incrowd.search.top_down.refiners import Refiner
from incrowd.table.attributes import Attribute, TaxonomyAttribute, categorical
from incrowd.table.class_counts import ClassCounts
from incrowd.table.grouping import Codes, Counts

SIBLINGS = 128  # children of a node that can be shown by themselves, the most frequent ones
ALL = 0  # in place of a child: all of them; the root is nobody's child


def can_be_partial(attribute: Attribute) -> TypeGuard[TaxonomyAttribute]:
    """Whether a taxonomy is given, and has a node of which a child could be shown while others stay.

    What goes down to the top of a taxonomy goes all the way.
    """
    if isinstance(attribute, TaxonomyAttribute) and attribute.top:
        return False
    return attribute.is_public and any(len(children) > 2 for children in categorical(attribute).taxonomy.children)


class PartialRefiner(Refiner):
    """Separates children of nodes, all or one at a time.

    A value is known by its node. Every child that it still holds counts its own records, for all values at once: what
    one child leaves is what they have together without it.
    """

    def __init__(
        self,
        index: int,
        attribute: TaxonomyAttribute,
        codes: Mapping[int, Codes],
        counts: Counts,
        gain: Gain,
        candidates: Candidates,
        promises: Promises,
    ) -> None:
        super().__init__(index, attribute.size, codes, gain, candidates, promises)
        self._attribute, self._counts = attribute, counts
        taxonomy, nodes = attribute.taxonomy, len(attribute.taxonomy.labels)
        self._start, self._stop = taxonomy.start.astype(np.int64), taxonomy.stop.astype(np.int64)
        self._held: dict[int, Codes] = {}  # the children that a value still holds, by node
        self._candidate: dict[int, tuple[int, int]] = {}  # the value and the child of each place
        self._place = np.full((2, nodes), NOBODY)  # of showing all children of a node; of showing a node by itself
        self._node = np.full(nodes, -1)  # the value that holds a child
        self._child_of_code = np.zeros(attribute.size, np.int64)  # 0 for codes that nothing can be done about
        self._open(0)

    def idle(self) -> bool:
        return not self._candidate

    def change(self, place: int) -> Change:
        node, child = self._candidate[place]
        held = self._held[node].tolist()
        if child == ALL:
            return SplitSet(tuple(self._codes([each]) for each in held))
        return SplitSet((self._codes([child]), self._codes([each for each in held if each != child])))

    def exact_gains(self, places: Codes) -> Iterator[tuple[Codes, Fraction]]:
        for place in places.tolist():
            node, child = self._candidate[place]
            held = self._held[node]
            one = None if child == ALL else int(np.searchsorted(held, child))
            yield np.array([place]), self._gain.exact_apart(self._start[held], self._stop[held], one)

    def parts(self, place: int, requirement: int) -> tuple[Rows, Codes, int]:
        """The records of the value; the child that is shown is child 0, the others child 1, or each is its own."""
        node, child = self._candidate[place]
        rows = self._records[requirement].under(int(self._start[node]), int(self._stop[node]))
        children = self._child_of_code.take(self._records[requirement].of(rows))
        here = self._node.take(children) == node
        if not here.all():
            inside = np.flatnonzero(here)
            rows, children = inside if isinstance(rows, slice) else rows.take(inside), children.take(inside)
        if child == ALL:
            held = self._held[node]
            return rows, np.searchsorted(held, children), len(held)
        return rows, (children != child).astype(np.int64), 2

    def refine(self, place: int) -> None:
        """Show a child, or all of them; places are given back last, so that none changes hands in a step."""
        node, child = self._candidate[place]
        shown = self._held[node] if child == ALL else np.array([child])
        left = np.setdiff1d(self._held[node], shown)
        useful = len(left) > 0 and self._gain.beneficial(self._start[left], self._stop[left])
        gone = [
            each
            for each in self._of_value(node)
            if not useful or each == place or (len(left) == 2 and self._candidate[each][1] != ALL)
        ]
        for each in shown.tolist():
            self._child_of_code[self._start[each] : self._stop[each]] = 0
            self._open(each)
        self._held[node] = left
        for each in gone:
            self.close(each)
        if node in self._held:
            self._update_gains(node)

    def close(self, place: int) -> None:
        """Forget a candidate; a value about which nothing can be done any more is not counted."""
        node, child = self._candidate.pop(place)
        self._place[int(child != ALL), child or node] = NOBODY
        self._candidates.remove(place)
        if node in self._held and not self._of_value(node):
            for each in self._held.pop(node).tolist():
                self._child_of_code[self._start[each] : self._stop[each]] = 0

    def made(self, requirement: int, groups: Groups) -> Iterator[tuple[Codes, ClassCounts]]:
        if self.idle():
            return
        children, inside = self._child_of_code.take(self._records[requirement].of(groups.rows)), groups
        if not children.all():
            chosen = np.flatnonzero(children)
            children, inside = children.take(chosen), groups.some(chosen)
        held = np.concatenate(list(self._held.values()))
        keys = inside.numbers * np.int64(len(held)) + self._ranks(held).take(children)
        distinct, shown = self._promises.classes(requirement, keys, groups.size * len(held), inside)
        group, child = distinct // len(held), held.take(distinct % len(held))
        yield self._place[0].take(self._node.take(child)), shown
        alone = self._place[1].take(child)
        if not alone.any():
            return
        yield alone, shown
        values = np.array(list(self._held))
        value = self._ranks(values).take(self._node)  # of each child
        keys = inside.numbers * np.int64(len(values)) + value.take(children)
        whose, together = self._promises.classes(requirement, keys, groups.size * len(values), inside)
        beside, others = rest(together, shown, np.searchsorted(whose, group * len(values) + value.take(child)))
        yield alone[beside], others

    def _open(self, node: int) -> None:
        node = self._end(node)
        held = np.array([self._end(child) for child in self._attribute.taxonomy.children[node]], np.int64)
        start, stop = self._start[held], self._stop[held]
        if not len(held) or not self._gain.beneficial(start, stop):
            return
        self._held[node] = held
        self._node[held] = node
        self._child_of_code[self._start[node] : self._stop[node]] = np.repeat(held, stop - start)
        for child in (ALL, *(self._frequent(held) if len(held) > 2 else ())):
            place = self._candidates.add(self._index, child or node, 0.0, None)
            self._candidate[place] = node, child
            self._place[int(child != ALL), child or node] = place
        self._update_gains(node)

    def _end(self, node: int) -> int:
        """The last of a chain of nodes that have one child."""
        children = self._attribute.taxonomy.children
        while len(children[node]) == 1:
            node = children[node][0]
        return node

    def _frequent(self, held: Codes) -> list[int]:
        """The children that can be shown by themselves."""
        records = np.array([self._counts[self._start[child] : self._stop[child]].sum() for child in held.tolist()])
        most = np.argsort(-records, kind="stable")[:SIBLINGS]
        return sorted(held[most[records[most] > 0]].tolist())

    def _of_value(self, node: int) -> list[int]:
        """The places of the candidates of a value."""
        held = self._held.get(node, np.zeros(0, np.int64))
        places = [int(self._place[0, node]), *self._place[1].take(held).tolist()]
        return [place for place in places if place != NOBODY]

    def _update_gains(self, node: int) -> None:
        held = self._held[node]
        start, stop = self._start[held], self._stop[held]
        whole, alone = int(self._place[0, node]), self._place[1].take(held)
        there = alone != NOBODY
        self._candidates.gain[whole] = self._gain.apart(start, stop)
        self._candidates.gain[alone[there]] = self._gain.each_apart(start, stop)[there]
        self._candidates.exact[[whole, *alone.tolist()]] = -1

    def _ranks(self, nodes: Codes) -> Codes:
        """The place of each of some nodes among them, by node."""
        ranks = np.zeros(len(self._node), np.int64)
        ranks[nodes] = np.arange(len(nodes))
        return ranks

    def _codes(self, nodes: list[int]) -> tuple[int, ...]:
        """The codes below some nodes, ascending."""
        return tuple(code for node in nodes for code in range(int(self._start[node]), int(self._stop[node])))
