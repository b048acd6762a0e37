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
from typing import Any

import numpy as np

from incrowd.run import Run
from incrowd.search.optimal import innermost_kernels as kernels
from incrowd.search.optimal.blocks import Apart, Labels, bits, labels_of
from incrowd.search.optimal.costs import Costs
from incrowd.search.optimal.covers import ALL_WAYS, cheapest_cover
from incrowd.search.optimal.kernels import group
from incrowd.search.optimal.partitions import LevelSpace, TreeSpace
from incrowd.search.optimal.slices import RunOver, in_slices
from incrowd.search.optimal.walks import members_of, walk
from incrowd.table.class_counts import ClassCounts
from incrowd.table.grouping import Counts, Floats
from incrowd.table.grouping import group as distinct

FEW_PARTITIONS = 4  # not worth the effort
MOST_BITS = 62  # of a mask
MOST_MEMBERS = 8_000_000  # values in all blocks together: sets of 18 values, intervals of 200
MOST_CELLS = 10_000_000  # values times tuples of the other attributes
NARROW = 64  # ways that are followed at first
SOME_BLOCKS = 10_000

Cheap = tuple[Counts, Floats, Counts]  # lines, costs, losses


def innermost_of(costs: Costs) -> int | None:
    """The attribute with most partitions, of those that can be solved; None if there is none."""
    sizes = {i: domain.space.partitions for i, domain in enumerate(costs.domains) if fits(costs, i)}
    return max(sizes, key=lambda index: sizes[index], default=None)


def most_even(costs: Costs) -> int | None:
    """The attribute over whose values records are spread most evenly, of those that can be solved; None if none."""
    spread = {i: float((costs.value_counts[i] ** 2).sum()) for i in range(len(costs.domains)) if fits(costs, i)}
    return min(spread, key=lambda index: spread[index], default=None)


def fits(costs: Costs, index: int) -> bool:
    """Whether an attribute can be solved given the others, and is worth it."""
    space, requirement = costs.domains[index].space, costs.requirement
    if requirement.columns or not requirement.upward_closed:  # the kernels count records, and nothing else
        return False
    if isinstance(space, LevelSpace) or costs.cost == "cm" or space.partitions < FEW_PARTITIONS:
        return False
    if (space.mode == "set" and space.size > MOST_BITS) or space.size * len(costs.rows) > MOST_CELLS:
        return False
    pairs = zip(_blocks_below(space), space.tree.masks, strict=True)
    members = sum(count * mask.bit_count() for count, mask in pairs)
    return members <= MOST_MEMBERS


def most_blocks(space: TreeSpace) -> int:
    """How many blocks a space has at most."""
    return sum(_blocks_below(space))


def _blocks_below(space: TreeSpace) -> list[int]:
    """How many blocks the children of each node make at most."""
    return [1 << len(below) if space.mode == "set" else len(below) ** 2 for below in space.tree.children]


@dataclass(frozen=True)
class Columns:
    """What the values of an attribute have in the classes that the others make; nodes of its tree x classes.

    Args:
        records: Records by the finest classes, those with most records first; no classes but for DM.
        crowds: Records by the coarsest classes.
        fixed: By the coarsest classes, what they cost if no value is merged; no classes for DM.
        rates: By the coarsest classes, what they pay per span of the block of their value; no classes for DM.
        own: By the coarsest classes, rates times the span of the value alone; no classes for DM.
        all_rates: Of each node, the sum of its rates; nothing for DM.
        all_own: Of each node, that sum times the span of the value alone; nothing for DM.
        least: Of each node, what its records cost if no value is merged and none is suppressed.
        lost: Records whose class is not good even if all values are merged; they are left out above.
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
    """Solves one attribute given the others; `blocks` are those of its space, `runs` says if they are runs of values.

    Args:
        costs: What is to be low; its cost must not be CM.
        index: The attribute.
        limit: Records that may be suppressed.
        run: Asked now and then whether to go on.

    Raises:
        RunOver: The run is over; all of its methods may raise that.
    """

    def __init__(self, costs: Costs, index: int, limit: int, run: Run) -> None:
        space = costs.domains[index].space
        assert isinstance(space, TreeSpace)
        self.index, self._costs, self._limit, self._space = index, costs, limit, space
        self._needs, self._run = costs.requirement.needs, run
        self._others = [other for other in range(len(costs.domains)) if other != index]
        self._tuples, of_row = self._other_tuples()
        cells = costs.rows[:, index] * len(self._tuples) + of_row
        counts = np.bincount(cells, costs.weights, space.size * len(self._tuples))
        self._records = counts.astype(np.int64).reshape(space.size, len(self._tuples))
        sizes = [costs.domains[other].space.size for other in self._others]
        self._offsets, self._no_labels = np.cumsum([0, *sizes])[:-1], np.empty(0, np.int64)
        self._totals = self._records.sum(axis=0)
        self._slots = np.full(1 << (2 * len(self._tuples)).bit_length(), -1, np.int64)
        lines = walk(space)
        self._ask()
        self._blocks = [line[0] for line in lines]
        self._last_bad: tuple[Apart, Any] = (), None
        self._walk = np.array([line[1:] for line in lines], np.int64)
        self._ask()
        self._depths = int(self._walk[:, 0].max()) + 2
        self._room: Cheap = (np.empty(len(lines), np.int64), np.empty(len(lines)), np.empty(len(lines), np.int64))
        self.runs = space.mode != "set"
        self.blocks = [line[0] for line in lines if line[4]]
        has_bits = space.size <= MOST_BITS
        self._masks = np.array(self._blocks if has_bits else [0] * len(lines), np.int64)
        self._ask()
        self._starts, self._members = members_of(self._blocks, space.size)
        self._ask()
        self._keys = self._members[self._starts[1:] - 1] + 1 if self.runs else self._masks
        self._spans = self._spans_of(self._blocks)
        self._ask()
        self._alone = self._spans_of([1 << position for position in range(space.size)])
        leaves = {mask: node for node, mask in enumerate(space.tree.masks) if not space.tree.children[node]}
        self._leaves = np.array([leaves[1 << position] for position in range(space.size)])

    def _other_tuples(self) -> tuple[Counts, Counts]:
        """The distinct tuples of the other attributes, and which of them each row has."""
        rows = self._costs.rows
        if not self._others:
            return np.zeros((1, 0), np.int64), np.zeros(len(rows), np.int64)
        widths = [self._costs.domains[other].space.size for other in self._others]
        of_row, firsts = distinct([rows[:, other] for other in self._others], widths)
        return np.ascontiguousarray(rows[firsts][:, self._others]), of_row

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
        masks = [self._blocks[line] for line in found.lines[self._cheapest_partition(found)]]
        return labels_of(masks, self._space.size) if masks else None

    def _cheapest_partition(self, found: CheapBlocks) -> Counts:
        """The places of the blocks of the cheapest partition; none if there is no partition of them.

        A narrow search finds a good one; then only blocks that could be part of a better one are searched in full.
        """
        good, slack = np.empty(0, np.int64), found.slack
        for width in (NARROW, ALL_WAYS):
            places, prices, taken = self._reduced(found, slack)
            firsts = self._members[self._starts[found.lines[places]]]
            order = np.argsort(firsts, kind="stable")
            places, prices = places[order], prices[order]
            begins = np.searchsorted(firsts[order], np.arange(self._space.size + 1))
            blocks = (self._keys[found.lines[places]], prices, found.losses[places])
            chosen, narrowed = cheapest_cover(blocks, begins, self.runs, slack - taken, found.limit, width, self._run)
            if len(chosen):
                good = places[chosen]
                slack = float(found.costs[good].sum())
            if not narrowed:
                break
        return good

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
        places, _, taken = self._reduced(found, found.slack)
        return found.least + taken if len(places) else None

    def _reduced(self, found: CheapBlocks, slack: float) -> tuple[Counts, Floats, float]:
        """The places of blocks that can be part of a good partition, what they cost over what all pay, and that."""
        places, prices, taken = np.empty(len(found.lines), np.int64), np.empty(len(found.lines)), np.zeros(1)
        count = kernels.reduce(found.lines, found.costs, self._starts, self._members, slack, places, prices, taken)
        return places[:count], prices[:count], float(taken[0])

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
        if costs.cost == "dm":
            lines, over, losses = self._cheap_by_size(columns, blocks, penalty, slack)
        else:
            lines, over, losses = self._cheap_by_cells(columns, blocks, penalty, slack)
        if self._limit >= costs.records:
            losses[:] = 0
        return CheapBlocks(lines, over, losses, base, slack, limit)

    def _cheap_by_size(self, columns: Columns, blocks: Any, penalty: float, slack: float) -> Cheap:
        records, crowds, least = columns.records, columns.crowds, self._costs.least
        sizes, crowd = (np.zeros((self._depths, counts.shape[1]), np.int64) for counts in (records, crowds))
        place = np.zeros(2, np.int64)
        needs = (self._needs, least, penalty, slack)
        scratch = (sizes, crowd, np.zeros(self._depths), self._room, place)
        in_slices(self._run, kernels.cheap_by_size, *blocks, records, crowds, columns.least, *needs, *scratch)
        return self._found(int(place[1]))

    def _cheap_by_cells(self, columns: Columns, blocks: Any, penalty: float, slack: float) -> Cheap:
        amounts = (columns.crowds, columns.fixed, columns.rates, columns.own, columns.all_rates, columns.all_own)
        shape = (self._depths, columns.crowds.shape[1])
        place = np.zeros(2, np.int64)
        needs = (self._spans, self._needs, penalty, slack)
        scratch = (np.zeros(shape, np.int64), np.zeros((*shape, 3)), np.zeros((self._depths, 2)), self._room, place)
        in_slices(self._run, kernels.cheap_by_cells, *blocks, *amounts, *needs, *scratch)
        return self._found(int(place[1]))

    def _found(self, count: int) -> Cheap:
        lines, costs, losses = self._room
        return lines[:count].copy(), costs[:count].copy(), losses[:count].copy()

    def _columns(self, fine: Sequence[Labels], coarse: Sequence[Labels]) -> Columns:
        costs = self._costs
        of_tuple, sizes = self._classes(coarse)
        good = costs.requirement.good(ClassCounts(sizes))
        crowd_of = np.where(good, np.cumsum(good) - 1, -1)[of_tuple]
        crowds, none = kernels.collected(self._records, crowd_of), np.zeros((len(self._space.tree.masks), 0))
        lost = int(sizes[~good].sum())
        if costs.cost == "dm":
            finest = of_tuple if fine is coarse else self._classes(fine)[0]
            records = kernels.collected(self._records, np.where(crowd_of >= 0, finest, -1))
            records = records[:, np.argsort(-records.sum(axis=0))]
            least = (records * np.maximum(records, costs.least)).sum(axis=1).astype(np.float64)
            records, crowds, least = map(self._grown, (records, crowds, least))
            return Columns(records, crowds, none, none, none, none, none, least, lost)
        paid = np.zeros(len(self._tuples))
        for place, other in enumerate(self._others):
            paid += costs.penalties(other, fine[other])[self._tuples[:, place]]
        fixed = kernels.collected(self._records * paid, crowd_of)
        rates = crowds / costs.divisors[self.index]
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
        labels = np.concatenate([self._no_labels, *(partitions[other] for other in self._others)])
        of_tuple, _, sizes = group(self._tuples, self._totals, labels, self._offsets, self._slots)
        return of_tuple, sizes

    def _spans_of(self, blocks: Sequence[int]) -> Floats:
        """HDM and NCP: how much of the attribute each block takes, in the unit of `Columns.rates`."""
        costs, index = self._costs, self.index
        if costs.cost == "dm":
            return np.zeros(len(blocks))
        if costs.cost == "ncp":
            return np.array([self._loss(block, number) for number, block in enumerate(blocks)])
        starts, members = members_of(blocks, self._space.size)
        return np.add.reduceat(costs.value_counts[index][members], starts[:-1])

    def _loss(self, block: int, number: int) -> float:
        """The loss of a block, of which there are so many that the run is asked in between."""
        if number % SOME_BLOCKS == 0:
            self._ask()
        return self._costs.domains[self.index].loss(block)

    def _ask(self) -> None:
        """Go on only if the run does."""
        if not self._run.should_continue():
            raise RunOver

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
