"""The classes of one quasi-identifier while values are generalized: how good they are, and what would merge them.

This is what the TEA index of the bottom-up paper is for. Classes are rows of arrays; every attribute keeps the classes
under each value of its cut, so a generalization reads and writes only the classes that it touches, and finds those that
become equal by sorting one integer key each.

The worst level of a privacy model never falls, since classes only merge, and a union is never worse than its worse
part. So the worst classes are looked for only when all earlier ones are gone: with k-anonymity at most k times.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from incrowd.privacy.model import Requirement
from incrowd.search.bottom_up.generalization_trees import GeneralizationTree
from incrowd.search.bottom_up.merging_counts import MergingCounts
from incrowd.search.bottom_up.worst import Worst
from incrowd.table.class_counts import ClassCounts
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import Codes, sort_tuples

Ints = npt.NDArray[np.int64]
_ROOM = 2**62
_PROBES = 8  # worst classes whose partners are looked for one by one, before the others


@dataclass(frozen=True)
class Merge:
    """A generalization tried out."""

    attribute: int
    node: int  # its new value
    touched: Ints  # the classes that have a child of it, those that become equal next to each other
    starts: Ints  # where in `touched` each new class starts
    counts: ClassCounts  # what each new class has
    gain: float  # P(G): by how much it raises the worst level of each model, up to its threshold, in all


class ClassIndex:
    """The classes of one quasi-identifier."""

    def __init__(self, requirement: Requirement, trees: Sequence[GeneralizationTree], table: CompressedTable) -> None:
        self.requirement = requirement
        self.attributes = attributes = tuple(table.index(name) for name in requirement.attributes)
        self._trees = trees
        sizes = [len(trees[index].leaves) for index in attributes]
        order, starts = sort_tuples([table.codes[index] for index in attributes], sizes)
        classes = _class_counts(table, order, starts, requirement)
        self._counts = MergingCounts(classes, requirement.columns)
        self._alive = np.ones(len(starts), bool)
        self._under = {}
        self._values: dict[int, Ints] = {}  # node of each class, by attribute
        self._words, self._strides = _words(attributes, sizes)
        self._keys = np.zeros((max(self._words.values()) + 1, len(starts)), np.int64)
        for index in attributes:
            column = table.codes[index][order[starts]]
            self._values[index] = trees[index].leaves[column]
            self._under[index] = _Lists(column, trees[index])
            self._keys[self._words[index]] += trees[index].first[self._values[index]] * self._strides[index]
        self._worst = [Worst(requirement, model, classes, self._alive) for model in requirement.models]
        self._bad: int | None = None

    @property
    def bad(self) -> int:
        """Records in bad classes; kept up to date once it was asked for."""
        if self._bad is None:
            self._bad = self._bad_records(self._counts.of(np.flatnonzero(self._alive)))
        return self._bad

    def _bad_records(self, classes: ClassCounts) -> int:
        return int(classes.records[~self.requirement.good(classes)].sum())

    @property
    def holds(self) -> bool:
        return all(worst.holds for worst in self._worst)

    @property
    def anonymity(self) -> int:
        """The worst level of the first model."""
        level: int = self._worst[0].level
        return level

    def critical(self, attribute: int, valid: Container[int]) -> Iterator[int]:
        """The nodes of an attribute to which a valid generalization could make all the worst classes better.

        There is at most one for each model that does not hold. Every worst class must have a partner to merge with.
        That is looked up for some of them here, and for all when the generalization is tried out; it is sharper than
        the segments of the paper, which share only the values of the attributes above in the index.
        """
        for worst in self._worst:
            if not worst.holds and (node := self._critical(worst, attribute, valid)) is not None:
                yield node

    def _critical(self, worst: Worst, attribute: int, valid: Container[int]) -> int | None:
        probes = worst.some(_PROBES)
        parents = self._trees[attribute].parent[self._values[attribute][probes]]
        node = int(parents[0])
        if node not in valid or (parents != node).any():
            return None
        if not all(self._has_partner(one, attribute, node) for one in probes.tolist()):
            return None
        return self.above_worst(attribute, worst)

    def above_worst(self, attribute: int, worst: Worst | None = None) -> int | None:
        """The node that has a child in every worst class, of the first model: by Theorem 1 no other can be critical."""
        parent, values = self._trees[attribute].parent, self._values[attribute]
        above = parent[values[(worst or self._worst[0]).all()]]
        return None if above[0] < 0 or (above != above[0]).any() else int(above[0])

    def _has_partner(self, one: int, attribute: int, node: int) -> bool:
        """Whether another class would equal this one after a generalization."""
        tree, values = self._trees[attribute], self._values[attribute]
        lists = [self._under[index] for index in self.attributes if index != attribute]
        own = [int(self._values[index][one]) for index in self.attributes if index != attribute]
        if lists:
            under, value = min(zip(lists, own, strict=True), key=lambda pair: pair[0].length(pair[1]))
            others = under.classes([value], self._alive)
        else:
            others = self._under[attribute].classes(tree.children[node], self._alive)
        others = others[(tree.parent[values[others]] == node) & (others != one)]
        word, stride = self._words[attribute], self._strides[attribute]
        equal = np.ones(len(others), bool)
        for number, keys in enumerate(self._keys):
            key, own_key = keys[others], keys[one]
            if number == word:
                key = key - tree.first[values[others]] * stride
                own_key = own_key - tree.first[values[one]] * stride
            equal &= key == own_key
        return bool(equal.any())

    def attempt(self, attribute: int, node: int) -> Merge:
        """Try a generalization out: read the classes that it touches, and change nothing."""
        tree, values = self._trees[attribute], self._values[attribute]
        touched = self._under[attribute].classes(tree.children[node], self._alive)
        keys = self._keys[:, touched]
        keys[self._words[attribute]] += (tree.first[node] - tree.first[values[touched]]) * self._strides[attribute]
        order = np.argsort(keys[0]) if len(keys) == 1 else np.lexsort(keys)
        keys, touched = keys[:, order], touched[order]
        new = np.ones(len(touched), bool)
        new[1:] = (keys[:, 1:] != keys[:, :-1]).any(axis=0)
        starts = np.flatnonzero(new)
        after = self._counts.merged(touched, starts)
        gain = sum(worst.rise(touched, after) for worst in self._worst)
        return Merge(attribute, node, touched, starts, after, gain)

    def perform(self, merge: Merge) -> None:
        attribute = merge.attribute
        kept = merge.touched[merge.starts]
        if self._bad is not None:
            self._bad += self._bad_records(merge.counts) - self._bad_records(self._counts.of(merge.touched))
        first, values = self._trees[attribute].first, self._values[attribute]
        self._keys[self._words[attribute], kept] += (first[merge.node] - first[values[kept]]) * self._strides[attribute]
        values[kept] = merge.node
        self._alive[merge.touched] = False
        self._alive[kept] = True
        self._counts.replace(merge.touched, kept, merge.counts)
        self._under[attribute].replace(self._trees[attribute].children[merge.node], merge.node, kept)
        for worst in self._worst:
            worst.replace(merge.touched, kept, merge.counts)


def _class_counts(table: CompressedTable, order: Ints, starts: Ints, requirement: Requirement) -> ClassCounts:
    """What the models ask of the classes at the start, which are runs of sorted tuples."""
    records = np.add.reduceat(table.counts[order], starts)
    if not requirement.columns:
        return ClassCounts(records)
    groups = np.empty(len(order), np.int64)
    groups[order] = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(order))))
    return ClassCounts(records, {n: table.protected[n].grouped(groups, len(starts)) for n in requirement.columns})


class _Lists:
    """The classes under each value of the cut of one attribute; classes that are gone are dropped when read."""

    def __init__(self, column: Codes, tree: GeneralizationTree) -> None:
        order = np.argsort(column, kind="stable")
        ends = np.bincount(column, minlength=len(tree.leaves)).cumsum()
        present = np.flatnonzero(np.diff(ends, prepend=0))
        lists = np.split(order, ends[present][:-1])
        self._lists: dict[int, Ints] = dict(zip(tree.leaves[present].tolist(), lists, strict=True))
        self._none = np.empty(0, np.int64)

    def length(self, node: int) -> int:
        return len(self._lists[node])

    def classes(self, nodes: Sequence[int], alive: npt.NDArray[np.bool_]) -> Ints:
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
