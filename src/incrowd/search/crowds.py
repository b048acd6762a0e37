"""The classes of one quasi-identifier while values are generalized: how large they are, and what would merge them.

This is what the TEA index of the bottom-up paper is for. Classes are rows of arrays; every attribute keeps the classes
under each value of its cut, so a generalization reads and writes only the classes that it touches, and finds those that
become equal by sorting one integer key each.

The size of the smallest class never falls, since classes only merge, and a merged class is larger than its parts. So
the smallest classes are looked for only when all earlier ones are gone: at most k times.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from incrowd.search.ladders import Ladder
from incrowd.table import Codes, CompressedTable, Counts, sort_tuples

Ints = npt.NDArray[np.int64]
_ROOM = 2**62
_PROBES = 8  # smallest classes whose partners are looked for one by one, before the others


@dataclass(frozen=True)
class Merge:
    """A generalization tried out.

    Args:
        attribute: Position of the attribute.
        node: Its new value.
        touched: The classes that have a child of it, those that become equal next to each other.
        starts: Where in `touched` each new class starts.
        counts: Records of each new class.
        gain: By how much it raises the size of the smallest class, up to k.
    """

    attribute: int
    node: int
    touched: Ints
    starts: Ints
    counts: Counts
    gain: int


class Crowds:
    """The classes of one quasi-identifier.

    Args:
        attributes: Positions of its attributes.
        k: The crowd that everyone needs.
        ladders: What the values of each attribute of the table can be generalized to.
        codes: The code of each tuple of the table, per attribute of the table.
        counts: Records per tuple.
    """

    def __init__(
        self, attributes: Sequence[int], k: int, ladders: Sequence[Ladder], codes: Sequence[Codes], counts: Counts
    ) -> None:
        self.attributes = tuple(attributes)
        self.k = k
        self._ladders = ladders
        sizes = [len(ladders[index].leaves) for index in attributes]
        order, starts = sort_tuples([codes[index] for index in attributes], sizes)
        self._counts: Counts = np.add.reduceat(counts[order], starts)
        self._alive = np.ones(len(starts), bool)
        self._under = {}
        self._values: dict[int, Ints] = {}  # node of each class, by attribute
        self._words, self._strides = _words(self.attributes, sizes)
        self._keys = np.zeros((max(self._words.values()) + 1, len(starts)), np.int64)
        for index in attributes:
            column = codes[index][order[starts]]
            self._values[index] = ladders[index].leaves[column]
            self._under[index] = _Lists(column, ladders[index])
            self._keys[self._words[index]] += ladders[index].first[self._values[index]] * self._strides[index]
        self._sizes = np.bincount(np.minimum(self._counts, k), minlength=k + 1)  # classes by size, all from k on as one
        self.small = int(self._counts[self._counts < k].sum())
        self._find_smallest()

    @property
    def holds(self) -> bool:
        """Whether everyone stands in a crowd of k."""
        return self.anonymity >= self.k

    def _find_smallest(self) -> None:
        counts = np.where(self._alive, self._counts, np.iinfo(np.int64).max)
        self.anonymity = int(counts.min())
        self._smallest = np.flatnonzero(counts == self.anonymity)  # classes that are gone are dropped when it is read

    def critical(self, attribute: int, valid: Container[int]) -> int | None:
        """The only node of an attribute to which a generalization could make all the smallest classes larger.

        Every smallest class must have a partner to merge with. That is looked up for some of them here, and for all
        when the generalization is tried out; it is sharper than the segments of the paper, which share only the values
        of the attributes above in the index.

        Args:
            attribute: Position of the attribute.
            valid: The nodes that its values may be generalized to.
        """
        probes = self._some_smallest()
        parents = self._ladders[attribute].parent[self._values[attribute][probes]]
        node = int(parents[0])
        if node not in valid or (parents != node).any():
            return None
        if not all(self._has_partner(one, attribute, node) for one in probes.tolist()):
            return None
        return self.above_smallest(attribute)

    def above_smallest(self, attribute: int) -> int | None:
        """The node that has a child in every smallest class: by Theorem 1 no other can be critical."""
        parent, values = self._ladders[attribute].parent, self._values[attribute]
        above = parent[values[self._all_smallest()]]
        return None if above[0] < 0 or (above != above[0]).any() else int(above[0])

    def _all_smallest(self) -> Ints:
        """The smallest classes."""
        self._smallest = self._smallest[self._is_smallest(self._smallest)]
        return self._smallest

    def _some_smallest(self) -> Ints:
        """A few of the smallest classes, from all over the table."""
        some = self._smallest[:: -(-len(self._smallest) // _PROBES)]
        some = some[self._is_smallest(some)]
        return some if len(some) else self._all_smallest()[:_PROBES]

    def _is_smallest(self, classes: Ints) -> npt.NDArray[np.bool_]:
        return np.asarray(self._alive[classes] & (self._counts[classes] == self.anonymity))

    def _has_partner(self, one: int, attribute: int, node: int) -> bool:
        """Whether another class would equal this one after a generalization."""
        ladder, values = self._ladders[attribute], self._values[attribute]
        lists = [self._under[index] for index in self.attributes if index != attribute]
        own = [int(self._values[index][one]) for index in self.attributes if index != attribute]
        if lists:
            under, value = min(zip(lists, own, strict=True), key=lambda pair: pair[0].length(pair[1]))
            others = under.classes([value], self._alive)
        else:
            others = self._under[attribute].classes(ladder.children[node], self._alive)
        others = others[(ladder.parent[values[others]] == node) & (others != one)]
        word, stride = self._words[attribute], self._strides[attribute]
        equal = np.ones(len(others), bool)
        for number, keys in enumerate(self._keys):
            key, own_key = keys[others], keys[one]
            if number == word:
                key = key - ladder.first[values[others]] * stride
                own_key = own_key - ladder.first[values[one]] * stride
            equal &= key == own_key
        return bool(equal.any())

    def attempt(self, attribute: int, node: int) -> Merge:
        """Try a generalization out: read the classes that it touches, and change nothing."""
        ladder, values = self._ladders[attribute], self._values[attribute]
        touched = self._under[attribute].classes(ladder.children[node], self._alive)
        keys = self._keys[:, touched]
        keys[self._words[attribute]] += (ladder.first[node] - ladder.first[values[touched]]) * self._strides[attribute]
        order = np.argsort(keys[0]) if len(keys) == 1 else np.lexsort(keys)
        keys, touched = keys[:, order], touched[order]
        new = np.ones(len(touched), bool)
        new[1:] = (keys[:, 1:] != keys[:, :-1]).any(axis=0)
        starts = np.flatnonzero(new)
        before = self._counts[touched]
        after = np.add.reduceat(before, starts) if len(starts) else before
        return Merge(attribute, node, touched, starts, after, self._gain(before, after))

    def _gain(self, before: Counts, after: Counts) -> int:
        """P(G): the smallest of the new classes and of those not touched, less the smallest now, counted up to k."""
        if self.holds:
            return 0
        untouched = self._sizes - np.bincount(np.minimum(before, self.k), minlength=self.k + 1)
        smallest = min(int(np.argmax(untouched > 0)) or self.k, int(after.min(initial=self.k)))
        return smallest - self.anonymity

    def perform(self, merge: Merge) -> None:
        """Make a generalization permanent."""
        attribute, k = merge.attribute, self.k
        before, kept = self._counts[merge.touched], merge.touched[merge.starts]
        self._sizes -= np.bincount(np.minimum(before, k), minlength=k + 1)
        self._sizes += np.bincount(np.minimum(merge.counts, k), minlength=k + 1)
        self.small += int(merge.counts[merge.counts < k].sum()) - int(before[before < k].sum())
        first, values = self._ladders[attribute].first, self._values[attribute]
        self._keys[self._words[attribute], kept] += (first[merge.node] - first[values[kept]]) * self._strides[attribute]
        values[kept] = merge.node
        self._alive[merge.touched] = False
        self._alive[kept] = True
        self._counts[kept] = merge.counts
        self._under[attribute].replace(self._ladders[attribute].children[merge.node], merge.node, kept)
        if not (self._sizes[self.anonymity] if self.anonymity < k else len(self._all_smallest())):
            self._find_smallest()


class _Lists:
    """The classes under each value of the cut of one attribute; classes that are gone are dropped when read."""

    def __init__(self, column: Codes, ladder: Ladder) -> None:
        order = np.argsort(column, kind="stable")
        ends = np.bincount(column, minlength=len(ladder.leaves)).cumsum()
        present = np.flatnonzero(np.diff(ends, prepend=0))
        lists = np.split(order, ends[present][:-1])
        self._lists: dict[int, Ints] = dict(zip(ladder.leaves[present].tolist(), lists, strict=True))
        self._none = np.empty(0, np.int64)

    def length(self, node: int) -> int:
        return len(self._lists[node])

    def classes(self, nodes: Sequence[int], alive: npt.NDArray[np.bool_]) -> Ints:
        """The classes under some values."""
        found = [self._none]
        for node in nodes:
            if node in self._lists:
                listed = self._lists[node]
                self._lists[node] = listed[alive[listed]]
                found.append(self._lists[node])
        return np.concatenate(found)

    def replace(self, nodes: Sequence[int], node: int, classes: Ints) -> None:
        """Put classes under a value that takes the place of others."""
        for child in nodes:
            self._lists.pop(child, None)
        if len(classes):
            self._lists[node] = classes


def _words(attributes: Sequence[int], sizes: Sequence[int]) -> tuple[dict[int, int], dict[int, int]]:
    """How the values of a class are packed into as few integers as will hold them: word and stride by attribute."""
    words: dict[int, int] = {}
    strides: dict[int, int] = {}
    word, room = 0, 1
    for attribute, size in zip(attributes, sizes, strict=True):
        if room * size >= _ROOM:
            word, room = word + 1, 1
        words[attribute], strides[attribute] = word, room
        room *= size
    return words, strides


def suppressed(groups: Sequence[Codes], ks: Sequence[int], table: CompressedTable) -> npt.NDArray[np.bool_]:
    """The tuples to leave out so that every class that is left is large enough.

    Leaving out the small classes of one quasi-identifier can make those of another too small, so it is done over and
    over, until nothing changes.

    Args:
        groups: Per quasi-identifier the class of each tuple.
        ks: The crowd that each needs.
        table: The table.
    """
    out = np.zeros(len(table.counts), bool)
    before = -1
    while (now := int(out.sum())) > before:
        before = now
        for group, k in zip(groups, ks, strict=True):
            out |= np.bincount(group, table.counts * ~out)[group] < k
    return out
