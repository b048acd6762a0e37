"""The cheapest partition of one attribute, given those of all the others, found without enumerating them.

Once the other attributes are fixed, every cost of `costs` that is a sum over classes is a sum over the blocks of the
last one, and a partition is allowed if each of its blocks is. So the search need not visit the partitions of one
attribute at all: it looks at blocks, of which there are far fewer (15 values have 1.4e9 partitions and 32,767 blocks),
and puts the cheapest partition together.

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
from incrowd.search.optimal import kernels
from incrowd.search.optimal.blocks import Apart, Labels, Tree, bits, labels_of
from incrowd.search.optimal.costs import Costs
from incrowd.search.optimal.partitions import LevelSpace, TreeSpace
from incrowd.table.class_counts import ClassCounts
from incrowd.table.grouping import Counts, Floats
from incrowd.table.grouping import group as distinct

FEW_PARTITIONS = 4  # not worth the effort
MOST_BITS = 62  # of a mask
MOST_MEMBERS = 8_000_000  # values in all blocks together: sets of 18 values, intervals of 200
MOST_CELLS = 10_000_000  # values times tuples of the other attributes
NARROW = 64  # ways that are followed at first
ALL_WAYS = 2**62
SOME_BLOCKS = 10_000
SOME_CELLS = 10_000_000  # of a slice, each a few nanoseconds
SOME_WAYS = 2_000_000  # times blocks, looked at together


class RunOver(Exception):
    """The run was over in the middle of a node. This is not an error: the search gives the best that it has."""


def ask(run: Run) -> None:
    """Go on only if the run does."""
    if not run.should_continue():
        raise RunOver


def innermost_of(costs: Costs) -> int | None:
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
    return sum(count * mask.bit_count() for count, mask in pairs) <= MOST_MEMBERS


def most_blocks(space: TreeSpace) -> int:
    """How many blocks a space has at most."""
    return sum(_blocks_below(space))


def _blocks_below(space: TreeSpace) -> list[int]:
    """How many blocks the children of each node make at most."""
    return [1 << len(below) if space.mode == "set" else len(below) ** 2 for below in space.tree.children]


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
    """Solves one attribute given the others; its cost must not be CM.

    Raises:
        RunOver: The run is over; all of its methods may raise that.
    """

    def __init__(self, costs: Costs, index: int, limit: int, run: Run) -> None:
        space = costs.domains[index].space
        assert isinstance(space, TreeSpace)
        self.index, self._costs, self._limit, self._space, self._run = index, costs, limit, space, run
        self._others = [other for other in range(len(costs.domains)) if other != index]
        self._tuples, of_row = self._other_tuples()
        cells = costs.rows[:, index] * len(self._tuples) + of_row
        counts = np.bincount(cells, costs.weights, space.size * len(self._tuples))
        self._records = counts.astype(np.int64).reshape(space.size, len(self._tuples))
        sizes = [costs.domains[other].space.size for other in self._others]
        self._offsets, self._totals = np.cumsum([0, *sizes])[:-1], self._records.sum(axis=0)
        self._slots = np.full(1 << (2 * len(self._tuples)).bit_length(), -1, np.int64)
        lines = walk(space)
        ask(run)
        self._blocks = [line[0] for line in lines]
        self._walk = np.array([line[1:] for line in lines], np.int64)
        ask(run)
        self._depths, self._runs = int(self._walk[:, 0].max()) + 2, space.mode != "set"
        self._found = (np.empty(len(lines), np.int64), np.empty(len(lines)), np.empty(len(lines), np.int64))
        self._masks = np.array(self._blocks if space.size <= MOST_BITS else [0] * len(lines), np.int64)
        self._starts, self._members = map(np.ascontiguousarray, members_of(self._blocks, space.size))
        ask(run)
        self._keys = self._members[self._starts[1:] - 1] + 1 if self._runs else self._masks
        self._spans = self._spans_of(self._blocks)
        self._alone = self._spans_of([1 << position for position in range(space.size)])
        leaves = {mask: node for node, mask in enumerate(space.tree.masks) if not space.tree.children[node]}
        self._leaves = [leaves[1 << position] for position in range(space.size)]

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
            chosen, narrowed = cheapest_cover(blocks, begins, self._runs, slack - taken, found.limit, width, self._run)
            if len(chosen):
                good = places[chosen]
                slack = float(found.costs[good].sum())
            if not narrowed:
                break
        return good

    def bound(self, fine: Sequence[Labels], coarse: Sequence[Labels], apart: Apart, best: float) -> float:
        """What a release costs at least where each of the other attributes lies between two partitions.

        Infinite if nothing there beats the best.
        """
        found = self._cheap_blocks(fine, coarse, apart, best)
        if found is None:
            return np.inf
        places, _, taken = self._reduced(found, found.slack)
        return found.least + taken if len(places) else np.inf

    def _reduced(self, found: CheapBlocks, slack: float) -> tuple[Counts, Floats, float]:
        """The places of blocks that can be part of a good partition, what they cost over what all pay, and that."""
        return kernels.reduce(found.lines, found.costs, self._starts, self._members, slack)

    def _cheap_blocks(
        self, fine: Sequence[Labels], coarse: Sequence[Labels], apart: Apart, best: float
    ) -> CheapBlocks | None:
        """The blocks that may be part of a partition that beats the best; None if none does."""
        costs, by_size = self._costs, self._costs.cost == "dm"
        of_tuple, sizes = self._classes(coarse)
        good = costs.requirement.good(ClassCounts(sizes))
        lost = int(sizes[~good].sum())  # even if all values are merged; these classes have no column
        crowd_of = np.where(good, np.cumsum(good) - 1, -1)[of_tuple]
        crowds = _collected(self._records, crowd_of)
        records, cells = np.zeros((self._space.size, 0), np.int64), np.zeros((self._space.size, 0, 3))
        if by_size:
            finest = of_tuple if fine is coarse else self._classes(fine)[0]
            records = _collected(self._records, np.where(crowd_of >= 0, finest, -1))
            records = records[:, np.argsort(-records.sum(axis=0))]  # those with most records first, to give up early
            least = (records * np.maximum(records, costs.least)).sum(axis=1).astype(np.float64)
        else:
            cells = self._cells(fine, crowds, crowd_of)
            least = cells[:, :, 0].sum(axis=1)
        summed = (records, crowds, cells, cells[:, :, 1:].sum(axis=1), least)
        records, crowds, cells, totals, least = map(self._of_nodes, summed)
        base, limit = float(least[0]) + lost * costs.penalty, self._limit - lost
        slack = costs.below(best) - base
        if limit < 0 or not slack > 0:
            return None
        joined = (records * np.maximum(records, costs.least)).sum(axis=1) - least
        limits = np.array([np.inf if self._limit == 0 else costs.penalty, slack])
        scratch = [np.zeros((self._depths, *of.shape[1:]), of.dtype) for of in (records, crowds, cells, totals)]
        blocks = (self._walk, self._masks, self._bad(apart), self._spans, by_size)
        place = np.zeros(2, np.int64)
        given = (records, crowds, cells, totals, joined, costs.least, limits, *scratch, *self._found, place)
        state = kernels.Blocks(*blocks, *given)
        while kernels.cheap_blocks(state, SOME_CELLS) == kernels.MORE:
            ask(self._run)
        count = int(place[1])
        losses = self._found[2][:count].copy()
        if self._limit >= costs.records:
            losses[:] = 0
        return CheapBlocks(self._found[0][:count].copy(), self._found[1][:count].copy(), losses, base, slack, limit)

    def _cells(self, fine: Sequence[Labels], crowds: Counts, crowd_of: Counts) -> Floats:
        """HDM and NCP, values x columns of `crowds`: what is paid alone, per span of a block, and for the own span."""
        costs = self._costs
        paid = np.zeros(len(self._tuples))
        for place, other in enumerate(self._others):
            paid += costs.penalties(other, fine[other])[self._tuples[:, place]]
        alone = _collected(self._records * paid, crowd_of)
        rates = crowds / costs.divisors[self.index]
        if costs.cost == "hdm":
            rates /= np.maximum(1, costs.records - costs.value_counts[self.index])[:, None]
        else:
            alone += rates * self._alone[:, None]
        return np.stack([alone, rates, rates * self._alone[:, None]], axis=2)

    def _classes(self, partitions: Sequence[Labels]) -> tuple[Counts, Counts]:
        """The class of each tuple of the other attributes, and the sizes of these classes."""
        labels = np.concatenate([np.empty(0, np.int64), *(partitions[other] for other in self._others)])
        of_tuple, _, sizes = kernels.group(self._tuples, self._totals, labels, self._offsets, self._slots)
        return of_tuple, sizes

    def _spans_of(self, blocks: Sequence[int]) -> Floats:
        """HDM and NCP: how much of the attribute each block takes, in the unit of the rates."""
        costs, domain = self._costs, self._costs.domains[self.index]
        if costs.cost == "dm":
            return np.zeros(len(blocks))
        if costs.cost == "ncp":
            losses: list[float] = []
            for start in range(0, len(blocks), SOME_BLOCKS):
                ask(self._run)
                losses += map(domain.loss, blocks[start : start + SOME_BLOCKS])
            return np.array(losses)
        starts, members = members_of(blocks, self._space.size)
        return np.add.reduceat(costs.value_counts[self.index][members], starts[:-1])

    def _of_nodes(self, of_position: Any) -> Any:
        """What holds for positions, summed up for the nodes of the tree."""
        tree = self._space.tree
        grown = np.zeros((len(tree.children), *of_position.shape[1:]), of_position.dtype)
        grown[self._leaves] = of_position
        for node in range(len(tree.children) - 1, -1, -1):
            if children := tree.children[node]:
                grown[node] = grown[list(children)].sum(axis=0)
        return grown

    def _bad(self, apart: Apart) -> Counts:
        """Of each node of the tree, the positions that none of its own may share a block with."""
        bad = [0] * len(self._space.tree.masks)
        if any(apart) and self._space.size <= MOST_BITS:
            for node, mask in enumerate(self._space.tree.masks):
                for position in bits(mask):
                    bad[node] |= apart[position]
        return np.array(bad, np.int64)


def _collected(amounts: Any, column_of: Counts) -> Any:
    sums = np.zeros((len(amounts), column_of.max() + 1), amounts.dtype)
    collect = kernels.collect_counts if amounts.dtype == np.int64 else kernels.collect_costs
    collect(amounts, column_of, sums)
    return sums


def cheapest_cover(
    blocks: tuple[Counts, Floats, Counts],
    begins: Counts,
    runs: bool,
    slack: float,
    limit: int,
    width: int,
    run: Run,
) -> tuple[Counts, bool]:
    """The cheapest way to cover all positions by disjoint blocks.

    Positions are covered one after the other. Of all ways that lead to the same covered positions only those stay that
    no other beats in both cost and loss.

    Args:
        blocks: The positions of each block (as a bit mask; of runs, the position after it), what it costs, and what it
            loses; in the order of their first positions.
        begins: The blocks that begin at a position lie between `begins` of it and of the next.
        runs: Whether all blocks are runs of positions.
        slack: What the sum of costs must be lower than.
        limit: What the sum of losses must not exceed.
        width: How many ways are followed at most, the cheapest ones.
        run: Asked now and then whether to go on.

    Returns:
        The numbers of the chosen blocks, none if there is no such way; and whether any way was not followed.
    """
    keys, prices, losses = blocks
    if not len(keys):
        return np.empty(0, np.int64), False
    covered, spent, lost = np.zeros(1, np.int64), np.zeros(1), np.zeros(1, np.int64)
    history: list[tuple[Counts, Counts]] = []  # of each way after a position, the way and the block that it comes from
    narrowed = False
    for position in range(len(begins) - 1):
        here = np.arange(begins[position], begins[position + 1])
        is_open = covered <= position if runs else covered >> position & 1 == 0
        if not is_open.any():
            continue
        from_way, taken = [np.flatnonzero(~is_open)], [np.full((~is_open).sum(), -1)]
        waiting, some = np.flatnonzero(is_open), max(1, SOME_WAYS // max(1, len(here)))
        for start in range(0, len(waiting), some):
            ask(run)
            ways, added = (each.ravel() for each in np.meshgrid(waiting[start : start + some], here, indexing="ij"))
            fit = (spent[ways] + prices[added] < slack) & (lost[ways] + losses[added] <= limit)
            if not runs:
                fit &= covered[ways] & keys[added] == 0
            from_way.append(ways[fit])
            taken.append(added[fit])
        parents, block = np.concatenate(from_way), np.concatenate(taken)
        is_new, old = block >= 0, covered[parents]
        covered = np.where(is_new, keys[block] if runs else keys[block] | old, old)
        spent = spent[parents] + np.where(is_new, prices[block], 0.0)
        lost = lost[parents] + np.where(is_new, losses[block], 0)
        kept = _unbeaten(covered, spent, lost, limit)
        if len(kept) > width:
            kept, narrowed = kept[np.lexsort((covered[kept], spent[kept]))[:width]], True
        covered, spent, lost = covered[kept], spent[kept], lost[kept]
        history.append((parents[kept], block[kept]))
    chosen: list[int] = []
    if len(spent):
        way = int(spent.argmin())
        for parents, block in reversed(history):
            chosen += [int(block[way])] if block[way] >= 0 else []
            way = int(parents[way])
    return np.array(chosen, np.int64), narrowed


def _unbeaten(covered: Counts, spent: Floats, lost: Counts, limit: int) -> Counts:
    """The ways that no other one which covers the same beats in both cost and loss."""
    order = np.lexsort((lost, spent, covered))
    is_first = np.append(True, np.diff(covered[order]) != 0)[: len(order)]
    level = lost[order] - np.cumsum(is_first) * (limit + 1)  # lower than all that cover something else before
    lowest = np.minimum.accumulate(level)
    return np.asarray(order[np.append(True, level[1:] < lowest[:-1])[: len(order)]])


Line = tuple[int, int, int, int, bool]


def members_of(blocks: Sequence[int], size: int) -> tuple[Counts, Counts]:
    """Where the positions of each block start in one list of them all, and that list."""
    width = (size + 7) // 8
    rows = np.frombuffer(b"".join(block.to_bytes(width, "little") for block in blocks), np.uint8)
    is_in = np.unpackbits(rows.reshape(len(blocks), width), axis=1, bitorder="little")  # blocks x positions
    return np.append(0, np.cumsum(is_in.sum(axis=1, dtype=np.int64))), np.nonzero(is_in)[1]


def walk(space: TreeSpace) -> list[Line]:
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
