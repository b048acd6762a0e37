"""The ladder of a given taxonomy whose children need not generalize all at once.

- Groups: below every node, of all pairs of children the two that lose least by it (class information, weighted by
  records, or NCP without a target) become one group, then the same with groups, until all children are one: the node.
  Of equals those with fewest records are joined, then the first. Where a node has very many children, the rarest ones
  are first run together, so that pairs stay few.
- Suppressed values: those that are rare leave their place in the tree. They become `*`, rarest first, as in a column
  without a taxonomy (the first two at once, together with those that nobody has), and the others generalize without
  them. All meet at the root.

A node with one child only is that child. Missing values are a child of the root like the others.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from incrowd.recodings.steps import Generalization, JoinSets, Suppress
from incrowd.search.bottom_up.merges import CellJoint, InformationJoint
from incrowd.search.exact import ABSOLUTE
from incrowd.search.information import entropy
from incrowd.table.attributes import TaxonomyAttribute
from incrowd.table.grouping import Counts

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Siblings:
    """Values that are one from some point on: a node of the ladder, and the codes below it, ascending."""

    node: int
    codes: tuple[int, ...]


class CellPairs:
    """What joining two sets of values loses of the cells, as a whole number.

    Args:
        counts: Records of each code.
    """

    def __init__(self, counts: Counts) -> None:
        self._counts = counts

    def of(self, one: Siblings, others: Sequence[Siblings], number: int) -> Iterator[CellJoint]:
        """The joints of a set with others, numbered from some number on."""
        for place, other in enumerate(others, number):
            own, theirs = self._records(one), self._records(other)
            both, many, more = own + theirs, len(one.codes), len(other.codes)
            lost = both * (many + more - 1) - own * (many - 1) - theirs * (more - 1)
            yield CellJoint(lost, both, _places(one, other, place))

    def _records(self, some: Siblings) -> int:
        return int(self._counts[list(some.codes)].sum())


class InformationPairs:
    """What joining two sets of values loses of the information about labels.

    Args:
        label_counts: codes x labels.
    """

    def __init__(self, label_counts: Counts) -> None:
        self._label_counts = label_counts
        self._error = ABSOLUTE * float(label_counts.sum())

    def of(self, one: Siblings, others: Sequence[Siblings], number: int) -> Iterator[InformationJoint]:
        """The joints of a set with others, numbered from some number on."""
        if not others:
            return
        own = self._labels(one)
        theirs = np.stack([self._labels(other) for other in others])  # others x labels
        lost = _bits(own + theirs) - _bits(own[None]) - _bits(theirs)
        for place, (other, labels, bits) in enumerate(zip(others, theirs, lost.tolist(), strict=True), number):
            yield InformationJoint(bits, self._error, (own.tolist(), labels.tolist()), _places(one, other, place))

    def _labels(self, some: Siblings) -> Counts:
        return np.asarray(self._label_counts[list(some.codes)].sum(axis=0))


Pairs = CellPairs | InformationPairs


def _bits(labels: Counts) -> npt.NDArray[np.float64]:
    return np.asarray(labels.sum(axis=1) * entropy(labels))


def _places(one: Siblings, other: Siblings, number: int) -> tuple[int, int, int]:
    """Where two sets begin, the first one first."""
    first, second = sorted((one.codes[0], other.codes[0]))
    return first, second, number


class PartialTree:
    """The inner nodes of a ladder, children before parents; the leaves are the codes.

    Args:
        attribute: The attribute.
        counts: Records of each code.
        pairs: What joining two sets loses; None if children join all at once.
        most: How many children of a node are looked at pair by pair.
    """

    def __init__(self, attribute: TaxonomyAttribute, counts: Counts, pairs: Pairs | None, most: int) -> None:
        self._taxonomy, self._counts, self._pairs, self._most = attribute.taxonomy, counts, pairs, most
        self._size = attribute.size
        self.below: list[tuple[int, ...]] = []
        self.changes: list[Generalization] = []

    def grow(self, atoms: Sequence[tuple[int, ...]]) -> None:
        """Make all nodes.

        Args:
            atoms: Rare values that become suppressed, those that do at once together; none if there are none.
        """
        suppressed = self._suppressed(atoms)
        rare = {code for atom in atoms for code in atom}
        made: dict[int, list[Siblings]] = {}
        for node in reversed(range(len(self._taxonomy.labels))):  # children come after their parents
            below = [some for child in self._taxonomy.children[node] for some in made.pop(child)]
            if not self._taxonomy.children[node]:
                code = int(self._taxonomy.start[node])
                made[node] = [] if code in rare else [Siblings(code, (code,))]
            elif node == 0 and suppressed is not None:
                top = below if self._pairs is None else [*self._one(below)]
                self._add([*top, suppressed], JoinSets(tuple(some.codes for some in top), more=True))
            else:
                made[node] = [*self._one(below)]

    def _suppressed(self, atoms: Sequence[tuple[int, ...]]) -> Siblings | None:
        """The suppressed values, growing."""
        made: Siblings | None = None
        for codes in atoms:
            parts = [*([made] if made else []), *(Siblings(code, (code,)) for code in codes)]
            made = self._add(parts, Suppress(codes, made is not None))
        return made

    def _add(self, parts: Sequence[Siblings], change: Generalization) -> Siblings:
        self.below.append(tuple(part.node for part in parts))
        self.changes.append(change)
        codes = tuple(sorted(code for part in parts for code in part.codes))
        return Siblings(self._size + len(self.below) - 1, codes)

    def _join(self, parts: Sequence[Siblings]) -> Siblings:
        """One of several sets, which come in the order of their first values."""
        ordered = sorted(parts, key=lambda part: part.codes[0])
        return self._add(ordered, JoinSets(tuple(part.codes for part in ordered))) if len(ordered) > 1 else ordered[0]

    def _one(self, parts: Sequence[Siblings]) -> Iterator[Siblings]:
        """One of the children of a node, if it has any: all at once, or two by two."""
        if self._pairs is None or len(parts) < 3:
            if parts:
                yield self._join(parts)
            return
        alive = {part.node: part for part in self._few(parts)}
        waiting: list[CellJoint | InformationJoint] = []
        offered: list[tuple[int, int]] = []
        for place, part in enumerate(list(alive.values())):
            self._offer(part, list(alive.values())[:place], waiting, offered)
        while len(alive) > 1:
            one, other = offered[heapq.heappop(waiting).places[2]]
            if one in alive and other in alive:
                joined = self._join([alive.pop(one), alive.pop(other)])
                self._offer(joined, list(alive.values()), waiting, offered)
                alive[joined.node] = joined
        yield from alive.values()

    def _offer(
        self, one: Siblings, others: Sequence[Siblings], waiting: list[CellJoint | InformationJoint],
        offered: list[tuple[int, int]],
    ) -> None:  # fmt: skip
        assert self._pairs is not None
        for joint in self._pairs.of(one, others, len(offered)):
            heapq.heappush(waiting, joint)  # all are of one kind
        offered += [(one.node, other.node) for other in others]

    def _few(self, parts: Sequence[Siblings]) -> list[Siblings]:
        """The children of a node, the rarest of them run together where there are too many."""
        if len(parts) <= self._most:
            return list(parts)
        records = {part.node: int(self._counts[list(part.codes)].sum()) for part in parts}
        rarest = sorted(parts, key=lambda part: (records[part.node], part.codes[0]))
        spare = len(parts) - self._most + 1
        return [self._join(rarest[:spare]), *rarest[spare:]]
