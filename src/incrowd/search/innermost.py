"""The cheapest partition of one attribute, given those of all the others, found without enumerating them.

Once the other attributes are fixed, every cost of `costs` that is a sum over classes is a sum over the blocks of the
last one, and a partition is allowed if each of its blocks is. So the search need not visit the partitions of one
attribute at all, and it leaves out the one that has most: it looks at blocks, of which there are far fewer (15 values
have 1.4e9 partitions and 32,767 blocks), and puts the cheapest partition together.

Few blocks matter. Let `least` be what the values of a block cost at least, each alone and with no class suppressed.
Merging never makes records cheaper, so what a block costs over `least` only grows with the block: where it alone is
more than the best cost leaves, the block is of no use, nor is any block around it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from incrowd.search import innermost_kernels as kernels
from incrowd.search.blocks import Apart, Labels, Tree, bits, labels_of
from incrowd.search.costs import Costs
from incrowd.search.kernels import group
from incrowd.search.partitions import LevelSpace, TreeSpace
from incrowd.table import Counts, Floats

FEW_PARTITIONS = 4  # not worth the effort
MOST_BITS = 62  # of a mask
MOST_MEMBERS = 8_000_000  # values in all blocks together: sets of 18 values, intervals of 200
MOST_CELLS = 10_000_000  # values times tuples of the other attributes

Line = tuple[int, int, int, int, bool]


def innermost_of(costs: Costs) -> int | None:
    """The attribute with most partitions, of those that can be solved; None if there is none."""
    sizes = {i: domain.space.partitions for i, domain in enumerate(costs.domains) if fits(costs, i)}
    return max(sizes, key=lambda index: sizes[index], default=None)


def fits(costs: Costs, index: int) -> bool:
    """Whether an attribute can be solved given the others, and is worth it."""
    space = costs.domains[index].space
    if isinstance(space, LevelSpace) or costs.cost == "cm" or space.partitions < FEW_PARTITIONS:
        return False
    if (space.mode == "set" and space.size > MOST_BITS) or space.size * len(costs.rows) > MOST_CELLS:
        return False
    blocks = [1 << len(below) if space.mode == "set" else len(below) ** 2 for below in space.tree.children]
    members = sum(count * mask.bit_count() for count, mask in zip(blocks, space.tree.masks, strict=True))
    return members <= MOST_MEMBERS


@dataclass(frozen=True)
class Columns:
    """What the values of an attribute have in the classes that the others make; nodes of its tree x classes.

    Args:
        records: Records by the finest classes, large classes first; no classes but for DM.
        crowds: Records by the coarsest classes.
        fixed: By the coarsest classes, what they cost if no value is merged; no classes for DM.
        rates: By the coarsest classes, what they pay per span of the block of their value; no classes for DM.
        own: By the coarsest classes, rates times the span of the value alone; no classes for DM.
        all_rates: Of each node, the sum of its rates; nothing for DM.
        all_own: Of each node, that sum times the span of the value alone; nothing for DM.
        least: Of each node, what its records cost if no value is merged and none is suppressed.
        lost: Records whose class is too small even if all values are merged; they are left out above.
    """

    records: Counts
    crowds: Counts
    fixed: Floats
    rates: Floats
    own: Floats
    all_rates: Floats
    all_own: Floats
    least: Floats
    lost: int


@dataclass(frozen=True)
class CheapBlocks:
    """The blocks of an attribute that may be part of a cheap partition.

    Args:
        lines: The blocks, as lines of the walk.
        costs: What each costs over the least of its values.
        losses: The records that each suppresses.
        least: What all values cost at least.
        slack: What the costs of the blocks must be lower than, together.
        limit: What their losses must not exceed.
    """

    lines: Counts
    costs: Floats
    losses: Counts
    least: float
    slack: float
    limit: int


class Innermost:
    """Solves one attribute given the others.

    Args:
        costs: What is to be low; its cost must not be CM.
        index: The attribute.
        limit: Records that may be suppressed.
    """

    def __init__(self, costs: Costs, index: int, limit: int) -> None:
        space = costs.domains[index].space
        assert isinstance(space, TreeSpace)
        self.index, self._costs, self._limit, self._space = index, costs, limit, space
        self._others = [other for other in range(len(costs.domains)) if other != index]
        tuples, of_row = np.unique(costs.rows[:, self._others], axis=0, return_inverse=True)
        self._tuples = np.ascontiguousarray(tuples)
        cells = costs.rows[:, index] * len(tuples) + of_row.ravel()
        counts = np.bincount(cells, costs.weights, space.size * len(tuples))
        self._records = counts.astype(np.int64).reshape(space.size, len(tuples))
        self._totals = self._records.sum(axis=0)
        self._slots = np.full(1 << (2 * len(tuples)).bit_length(), -1, np.int64)
        lines = _walk(space)
        self._blocks = [line[0] for line in lines]
        self._last_bad: tuple[Apart, Any] = (), None
        self._walk = np.array([line[1:] for line in lines], np.int64)
        self._runs = space.mode != "set"
        has_bits = space.size <= MOST_BITS
        self._masks = np.array(self._blocks if has_bits else [0] * len(lines), np.int64)
        self._spans = self._spans_of(self._blocks)
        members = [list(bits(block)) for block in self._blocks]
        self._starts = np.cumsum([0, *map(len, members)])
        self._members = np.array(list(chain.from_iterable(members)))
        self._keys = np.array([positions[-1] + 1 for positions in members]) if self._runs else self._masks
        self._alone = self._spans_of([1 << position for position in range(space.size)])
        leaves = {mask: node for node, mask in enumerate(space.tree.masks) if not space.tree.children[node]}
        self._leaves = np.array([leaves[1 << position] for position in range(space.size)])

    def cheapest(self, partitions: Sequence[Labels], apart: Apart, best: float) -> Labels | None:
        """The cheapest partition of this attribute given those of the others; None if it does not beat the best.

        Args:
            partitions: Those of all attributes; that of this one plays no part.
            apart: The values that must not be joined.
            best: What must be beaten.
        """
        found = self._cheap_blocks(partitions, partitions, apart, best)
        if found is None:
            return None
        blocks = (self._keys, self._starts, self._members, self._runs)
        chosen = kernels.cheapest_partition(found.lines, found.costs, found.losses, *blocks, found.slack, found.limit)
        masks = [self._blocks[line] for line in found.lines[chosen]]
        return labels_of(masks, self._space.size) if masks else None

    def bound(self, fine: Sequence[Labels], coarse: Sequence[Labels], apart: Apart, best: float) -> float | None:
        """What a release costs at least where each of the other attributes lies between two partitions.

        Args:
            fine: The finest partitions; that of this attribute plays no part.
            coarse: The coarsest partitions.
            apart: The values that must not be joined.
            best: What must be beaten.

        Returns:
            No cost is lower; None if none beats the best.
        """
        found = self._cheap_blocks(fine, coarse, apart, best)
        if found is None:
            return None
        lines, _, taken = kernels.reduced(found.lines, found.costs, self._starts, self._members, found.slack)
        return found.least + float(taken) if len(lines) else None

    def _cheap_blocks(
        self, fine: Sequence[Labels], coarse: Sequence[Labels], apart: Apart, best: float
    ) -> CheapBlocks | None:
        """The blocks that may be part of a partition that beats the best; None if none does."""
        costs = self._costs
        columns = self._columns(fine, coarse)
        limit = self._limit - columns.lost
        base = float(columns.least[0]) + columns.lost * costs.penalty
        slack = costs.below(best) - base
        if limit < 0 or not slack > 0:
            return None
        penalty = np.inf if self._limit == 0 else costs.penalty
        blocks = (self._walk, self._masks, self._bad(apart))
        least, k = columns.least, costs.k
        if costs.cost == "dm":
            counts = (columns.records, columns.crowds)
            found = kernels.cheap_by_size(*blocks, *counts, least, k, penalty, slack)
        else:
            amounts = (columns.crowds, columns.fixed, columns.rates, columns.own, columns.all_rates, columns.all_own)
            found = kernels.cheap_by_cells(*blocks, *amounts, self._spans, k, penalty, slack)
        lines, over, losses = found
        if self._limit >= costs.records:
            losses[:] = 0
        return CheapBlocks(lines, over, losses, base, slack, limit)

    def _columns(self, fine: Sequence[Labels], coarse: Sequence[Labels]) -> Columns:
        costs = self._costs
        of_tuple, sizes = self._classes(coarse)
        large = sizes >= costs.k
        crowd_of = np.where(large, np.cumsum(large) - 1, -1)[of_tuple]
        crowds, none = kernels.collected(self._records, crowd_of), np.zeros((len(self._space.tree.masks), 0))
        lost = int(sizes[~large].sum())
        if costs.cost == "dm":
            finest = of_tuple if fine is coarse else self._classes(fine)[0]
            records = kernels.collected(self._records, np.where(crowd_of >= 0, finest, -1))
            records = records[:, np.argsort(-records.sum(axis=0))]
            least = (records * np.maximum(records, costs.k)).sum(axis=1).astype(np.float64)
            records, crowds, least = map(self._grown, (records, crowds, least))
            return Columns(records, crowds, none, none, none, none, none, least, lost)
        paid = np.zeros(len(self._tuples))
        for place, other in enumerate(self._others):
            paid += costs.penalties(other, fine[other])[self._tuples[:, place]]
        fixed = kernels.collected(self._records * paid, crowd_of)
        rates = crowds / len(costs.domains)
        if costs.cost == "hdm":
            rates /= np.maximum(1, costs.records - costs.value_counts[self.index])[:, None]
        else:
            fixed += rates * self._alone[:, None]
        of_cells = (crowds, fixed, rates, rates * self._alone[:, None])
        of_values = (rates.sum(axis=1), rates.sum(axis=1) * self._alone, fixed.sum(axis=1))
        crowds, fixed, rates, own, all_rates, all_own, least = map(self._grown, (*of_cells, *of_values))
        return Columns(none.astype(np.int64), crowds, fixed, rates, own, all_rates, all_own, least, lost)

    def _classes(self, partitions: Sequence[Labels]) -> tuple[Counts, Counts]:
        """The class of each tuple of the other attributes, and the sizes of these classes."""
        labels = np.zeros((max(1, len(self._others)), self._costs.width), np.int64)
        for place, index in enumerate(self._others):
            labels[place, : len(partitions[index])] = partitions[index]
        of_tuple, firsts, sizes = (np.empty(len(self._tuples), np.int64) for _ in range(3))
        count = group(self._tuples, self._totals, labels, of_tuple, firsts, sizes, self._slots)
        return of_tuple, sizes[:count]

    def _spans_of(self, blocks: Sequence[int]) -> Floats:
        """HDM and LM: how much of the attribute each block takes, in the unit of `Columns.rates`."""
        costs, index = self._costs, self.index
        if costs.cost == "dm":
            return np.zeros(len(blocks))
        if costs.cost == "lm":
            return np.array([costs.domains[index].loss(block) for block in blocks])
        counts = costs.value_counts[index]
        return np.array([counts[list(bits(block))].sum() for block in blocks])

    def _grown(self, of_position: Any) -> Any:
        """What holds for positions, summed up for the nodes of the tree."""
        tree = self._space.tree
        grown = np.zeros((len(tree.children), *of_position.shape[1:]), of_position.dtype)
        grown[self._leaves] = of_position
        for node in range(len(tree.children) - 1, -1, -1):
            if children := tree.children[node]:
                grown[node] = grown[list(children)].sum(axis=0)
        return grown

    def _bad(self, apart: Apart) -> Any:
        """Of each node of the tree, the positions that none of its own may share a block with."""
        if self._last_bad[0] is not apart:
            bad = [0] * len(self._space.tree.masks)
            for node, mask in enumerate(self._space.tree.masks if self._space.size <= MOST_BITS else ()):
                for position in bits(mask):
                    bad[node] |= apart[position]
            self._last_bad = apart, np.array(bad, np.int64)
        return self._last_bad[1]


def _walk(space: TreeSpace) -> list[Line]:
    """All blocks of a space and what they begin with: mask, depth, node that is added, line after, is it of the space.

    A single value is a block; so are two or more children of a node, as the mode allows. One child that is not a value
    is met again as all of its own children.
    """
    lines: list[Line] = []
    for node, children in enumerate(space.tree.children):
        for number, child in enumerate(children):
            if space.mode == "run":
                _add_runs(space.tree, children[number:], lines)
            elif space.mode == "set":
                _add_sets(space.tree, children, number, 0, 0, lines)
            elif not space.tree.children[child]:
                lines.append((space.tree.masks[child], 0, child, len(lines) + 1, True))
        if space.mode == "all" and children:
            lines.append((space.tree.masks[node], 0, node, len(lines) + 1, True))
    return lines


def _add_runs(tree: Tree, children: Sequence[int], lines: list[Line]) -> None:
    """The first child, the first two, the first three and so on."""
    mask, after = 0, len(lines) + len(children)
    for depth, child in enumerate(children):
        mask |= tree.masks[child]
        lines.append((mask, depth, child, after, depth > 0 or not tree.children[child]))


def _add_sets(tree: Tree, children: Sequence[int], number: int, mask: int, depth: int, lines: list[Line]) -> None:
    """The given children, one more, and all sets of later ones besides."""
    child, here = children[number], len(lines)
    mask |= tree.masks[child]
    lines.append((mask, depth, child, 0, depth > 0 or not tree.children[child]))
    for following in range(number + 1, len(children)):
        _add_sets(tree, children, following, mask, depth + 1, lines)
    lines[here] = (mask, depth, child, len(lines), lines[here][4])
