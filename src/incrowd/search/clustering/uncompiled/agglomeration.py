"""The loop of KACA1 without compiled code: merge small classes with their nearest, or with a stub of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.privacy.size_rule import SizeRule, could_be_two, is_good, lacking
from incrowd.run import Run
from incrowd.search.clustering.forest import Forest
from incrowd.search.clustering.uncompiled.joining import FARTHEST, Shared

Array = npt.NDArray[Any]
Parts = tuple[Array, Array, Array]

EVERY = 2**62
_OFTEN = 100  # units of work in one step
_MASK = 2**64 - 1


def agglomerated(
    forest: Forest,
    roots: Array,
    nodes: Array,
    counts: Array,
    needs: SizeRule,
    run: Run,
    bucket: int,
    looks: int = EVERY,
) -> Parts:
    """Run KACA1; the same parts as the compiled loop gives, class by class.

    Args:
        forest: The hierarchies.
        roots: The root of each attribute.
        nodes: The tuples, as nodes of the forest: tuples x attributes.
        counts: Records of each tuple.
        needs: What a class needs.
        run: Asked in between whether to go on; its key gives the random choices.
        bucket: Of no use here, as there is no index.
        looks: Of no use either: all classes are looked at, which are few.
    """
    state = _Clustering(forest, nodes, counts, needs, run.key.number("clustering"))
    small = len(state.small)

    def join(amount: int) -> bool:
        while amount > 0 and state.small:
            state.join()
            amount -= _OFTEN
        run.amount(small - len(state.small), small, "small classes joined")
        return not state.small

    run.in_slices(join)
    return state.parts()


class _Clustering:
    """Classes with their members: how many records of which tuple, in the order in which they came."""

    def __init__(self, forest: Forest, nodes: Array, counts: Array, needs: SizeRule, seed: int) -> None:
        self.forest, self.needs, self.random = forest, needs, seed % 2**63
        self.rows, self.size = nodes.astype(np.int64), counts.astype(np.int64)
        self.held = forest.detail[self.rows].sum(axis=1)  # detail of each class
        self.alive = np.ones(len(counts), bool)
        self.members = [[(number, records)] for number, records in enumerate(self.size.tolist())]
        self.key, self.small, self.place = np.zeros(len(counts), np.uint64), list[int](), dict[int, int]()
        self.shared = Shared(forest)
        for number in range(len(counts)):
            self._add(number)

    def _draw(self) -> int:
        """The next number of SplitMix64."""
        self.random = z = (self.random + 0x9E3779B97F4A7C15) & _MASK
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
        return z ^ (z >> 31)

    def _add(self, number: int) -> None:
        """Give a class a key, and put it among the small ones if it is one."""
        self.key[number] = self._draw()
        if not is_good(self.needs, self.size[number]):
            self.place[number] = len(self.small)
            self.small.append(number)

    def _forget(self, number: int) -> None:
        """Take a class from the small ones; the last of them moves to its place."""
        last, place = self.small.pop(), self.place.pop(number)
        if last != number:
            self.small[place], self.place[last] = last, place

    def join(self) -> None:
        """One step of KACA1: a small class takes its nearest, or a stub of it."""
        number = self.small[self._draw() % len(self.small)]
        self._forget(number)
        other, size = self._nearest(number), self.size
        if could_be_two(self.needs, size[number] + size[other]):
            taken = int(lacking(self.needs, size[number]))
        else:
            taken, self.alive[other] = int(size[other]), False
            if other in self.place:
                self._forget(other)
        self._take(number, other, taken)
        size[number] += taken
        size[other] -= taken
        self.rows[number] = self.shared.above(self.rows[number], self.rows[other])
        self.held[number] = self.forest.detail[self.rows[number]].sum()
        self._add(number)

    def _nearest(self, number: int) -> int:
        """The class with the smallest distance; of equals the one with the smallest key."""
        own, size = self.size[number], self.size
        common = self.shared.with_all(self.rows[number], self.rows)
        others = np.where(could_be_two(self.needs, own + size), lacking(self.needs, own), size)
        distance = own * (self.held[number] - common) + others * (self.held - common)
        distance[~self.alive] = FARTHEST
        distance[number] = FARTHEST
        nearest = np.flatnonzero(distance == distance.min())
        return int(nearest[np.argmin(self.key[nearest])])

    def _take(self, number: int, other: int, wanted: int) -> None:
        """Move records from the front of one class's members to the end of another's."""
        source, target = self.members[other], self.members[number]
        while wanted:
            one, records = source.pop(0)
            if records > wanted:
                source.insert(0, (one, records - wanted))
                records = wanted
            target.append((one, records))
            wanted -= records

    def parts(self) -> Parts:
        """Tuple, class and records of each member, class by class."""
        rows = [(one, number, n) for number, members in enumerate(self.members) for one, n in members]
        matrix = np.array(rows, np.int64)
        return matrix[:, 0], matrix[:, 1], matrix[:, 2]
