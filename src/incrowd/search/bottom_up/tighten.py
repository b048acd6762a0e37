"""Taking back generalizations that a bottom-up search turned out not to need.

A search from the bottom stops when the policy holds, and a late step often makes an early one needless. From where it
stopped, the generalization that lost most is taken back, if every class stays good, then the next, until none can be.
It ends, since every generalization is looked at once: taking others back only splits classes, and a union of good ones
is good, so what cannot be taken back now never can. Ties are broken as in the search.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from incrowd.privacy.model import Requirement
from incrowd.run import Run
from incrowd.search.bottom_up.generalization_trees import GeneralizationTree
from incrowd.search.bottom_up.merging_counts import MergingCounts
from incrowd.table.class_counts import ClassCounts
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import Codes

Ints = npt.NDArray[np.int64]


class Grouping:
    """The classes of one quasi-identifier: the group of each tuple that is released."""

    def __init__(
        self, attributes: tuple[int, ...], requirement: Requirement, groups: Codes, tuples: ClassCounts
    ) -> None:
        self.attributes = attributes
        self._requirement = requirement
        self._groups: Ints = np.unique(groups, return_inverse=True)[1]
        self._counts = MergingCounts(tuples, requirement.columns)
        self._size = int(self._groups.max()) + 1
        self.anonymity = requirement.anonymity(self._classes(np.arange(len(self._groups)), self._groups))

    def _classes(self, rows: Ints, groups: Ints) -> ClassCounts:
        order = np.argsort(groups, kind="stable")
        return self._counts.merged(rows[order], np.flatnonzero(np.diff(groups[order], prepend=-1)))

    def split(self, rows: Ints, values: Ints) -> tuple[Ints, int] | None:
        """The new groups of some tuples that take different values from now on, and how anonymous that leaves all.

        None if one of the groups is not good.
        """
        keys = self._groups[rows] * (int(values.max(initial=0)) + 1) + values
        groups = np.unique(keys, return_inverse=True)[1]
        if not len(rows):
            return groups, self.anonymity
        classes = self._classes(rows, groups)
        if not self._requirement.good(classes).all():
            return None
        return groups, min(self.anonymity, self._requirement.anonymity(classes))

    def regroup(self, rows: Ints, groups: Ints, anonymity: int) -> None:
        """Put tuples, whole groups of them, in new groups."""
        self._groups[rows] = groups + self._size
        self._size += int(groups.max(initial=-1)) + 1
        self.anonymity = anonymity


class Tightening:
    """Takes back what is not needed. `performed` says which nodes were generalized to, and is kept up to date."""

    def __init__(
        self,
        table: CompressedTable,
        trees: Sequence[GeneralizationTree],
        ranks: Sequence[Ints],
        performed: Sequence[npt.NDArray[np.bool_]],
        kept: Ints,
        groupings: Sequence[Grouping],
    ) -> None:
        self._trees = trees
        self._ranks = ranks
        self._performed = performed
        self._groupings = groupings
        self._names = [attribute.name for attribute in table.attributes]
        self._codes = [codes[kept] for codes in table.codes]
        on_cut = [tree.cut(done) for tree, done in zip(trees, performed, strict=True)]
        self._values = [nodes[codes] for nodes, codes in zip(on_cut, self._codes, strict=True)]
        self._queue: list[tuple[int, str, int, int, int]] = []
        for attribute, nodes in enumerate(on_cut):
            self._offer(attribute, np.unique(nodes).tolist())

    def _offer(self, attribute: int, nodes: Iterable[int]) -> None:
        first, ranks = self._trees[attribute].first, self._ranks[attribute]
        for node in nodes:
            if self._performed[attribute][node]:
                entry = (-int(ranks[node]), self._names[attribute], int(first[node]), attribute, node)
                heapq.heappush(self._queue, entry)

    def taken_back(self, run: Run) -> Iterator[tuple[int, int]]:
        """Take back all that can be: attribute and node of each generalization, as it happens."""
        while self._queue:
            run.check()
            *_, attribute, node = heapq.heappop(self._queue)
            rows = np.flatnonzero(self._values[attribute] == node)
            values = self._trees[attribute].below(node, self._codes[attribute][rows])
            touched = [grouping for grouping in self._groupings if attribute in grouping.attributes]
            splits = [grouping.split(rows, values) for grouping in touched]
            if any(new is None for new in splits):
                continue
            for grouping, new in zip(touched, splits, strict=True):
                assert new is not None
                grouping.regroup(rows, *new)
            self._values[attribute][rows] = values
            self._performed[attribute][node] = False
            self._offer(attribute, self._trees[attribute].children[node])
            yield attribute, node
