"""Taking back generalizations that a bottom-up search turned out not to need.

A search from the bottom stops when the policy holds, and a late step often makes an early one needless. From where it
stopped, the generalization that lost most is taken back, if every class stays large enough, then the next, until none
can be. It ends, since every generalization is looked at once: taking others back only makes classes smaller, so what
cannot be taken back now never can. Ties are broken as in the search.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from incrowd.search.ladders import Ladder, Losses
from incrowd.table import Codes, CompressedTable, Counts

Ints = npt.NDArray[np.int64]


class Grouping:
    """The classes of one quasi-identifier: the group of each tuple that is released.

    Args:
        attributes: Positions of its attributes.
        k: The crowd that everyone needs.
        groups: The group of each tuple.
        counts: Records per tuple.
    """

    def __init__(self, attributes: tuple[int, ...], k: int, groups: Codes, counts: Counts) -> None:
        self.attributes = attributes
        self._k = k
        self._groups: Ints = np.unique(groups, return_inverse=True)[1]
        self._counts = counts
        self._size = int(self._groups.max()) + 1
        self.anonymity = int(np.bincount(self._groups, counts).min())

    def split(self, rows: Ints, values: Ints) -> tuple[Ints, int] | None:
        """The new groups of some tuples that take different values from now on, and the size of the smallest.

        None if that is too small.
        """
        keys = self._groups[rows] * (int(values.max(initial=0)) + 1) + values
        groups = np.unique(keys, return_inverse=True)[1]
        smallest = int(np.bincount(groups, self._counts[rows]).min(initial=self.anonymity))
        return None if smallest < self._k else (groups, smallest)

    def regroup(self, rows: Ints, groups: Ints, smallest: int) -> None:
        """Put tuples, whole groups of them, in new groups."""
        self._groups[rows] = groups + self._size
        self._size += int(groups.max(initial=-1)) + 1
        self.anonymity = smallest


class Tightening:
    """Takes back what is not needed.

    Args:
        table: The table.
        ladders: What the values of each attribute can be generalized to.
        losses: What each generalization loses.
        performed: Per attribute, whether each node of its ladder was generalized to; kept up to date.
        kept: The tuples that are released.
        groupings: Their classes, per quasi-identifier.
    """

    def __init__(
        self,
        table: CompressedTable,
        ladders: Sequence[Ladder],
        losses: Sequence[Losses],
        performed: Sequence[npt.NDArray[np.bool_]],
        kept: Ints,
        groupings: Sequence[Grouping],
    ) -> None:
        self._ladders = ladders
        self._losses = losses
        self._performed = performed
        self._groupings = groupings
        self._names = [attribute.name for attribute in table.attributes]
        self._codes = [codes[kept] for codes in table.codes]
        on_cut = [ladder.cut(done) for ladder, done in zip(ladders, performed, strict=True)]
        self._values = [nodes[codes] for nodes, codes in zip(on_cut, self._codes, strict=True)]
        self._queue: list[tuple[float, str, int, int, int]] = []
        for attribute, nodes in enumerate(on_cut):
            self._offer(attribute, np.unique(nodes).tolist())

    def _offer(self, attribute: int, nodes: Iterable[int]) -> None:
        first, share = self._ladders[attribute].first, self._losses[attribute].share
        for node in nodes:
            if self._performed[attribute][node]:
                entry = (-float(share[node]), self._names[attribute], int(first[node]), attribute, node)
                heapq.heappush(self._queue, entry)

    def run(self) -> Iterator[tuple[int, int]]:
        """Take back all that can be: attribute and node of each generalization, as it happens."""
        while self._queue:
            *_, attribute, node = heapq.heappop(self._queue)
            rows = np.flatnonzero(self._values[attribute] == node)
            values = self._ladders[attribute].below(node, self._codes[attribute][rows])
            touched = [grouping for grouping in self._groupings if attribute in grouping.attributes]
            splits = [grouping.split(rows, values) for grouping in touched]
            if any(new is None for new in splits):
                continue
            for grouping, new in zip(touched, splits, strict=True):
                assert new is not None
                grouping.regroup(rows, *new)
            self._values[attribute][rows] = values
            self._performed[attribute][node] = False
            self._offer(attribute, self._ladders[attribute].children[node])
            yield attribute, node
