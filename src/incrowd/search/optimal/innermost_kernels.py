"""The inner loops of `innermost`: which blocks of one attribute are worth a look, and the cheapest partition of them.

Columns are the classes that the other attributes make. Blocks come as the lines of a walk: a line adds one tree node to
the block of the last line with a lower depth; `after` is the first line that does not begin with the block of this one.

What may take long works in slices: it is called again and again with an amount of work, keeps in arrays of the caller
where it is, and says when it is done. Where it is cut plays no part in what comes out.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from incrowd.privacy.compiled import SizeRule, is_good
from incrowd.search.compiled import compiled
from incrowd.search.optimal.slices import DONE, FULL, MORE, WIDE

ROUNDS = 6  # of taking shares off the costs of blocks


def collected(amounts: Any, column_of: Any) -> Any:
    """Sum the columns of a matrix that go to the same column, -1 to none."""
    sums = np.zeros((len(amounts), column_of.max() + 1), amounts.dtype)
    _collect(amounts, column_of, sums)
    return sums


@compiled
def _collect(amounts: Any, column_of: Any, sums: Any) -> None:
    for row in range(len(amounts)):
        for column in range(len(column_of)):
            if column_of[column] >= 0:
                sums[row, column_of[column]] += amounts[row, column]


@compiled
def cheap_by_size(
    walk: Any, masks: Any, apart: Any, records: Any, crowds: Any, values: Any, needs: SizeRule, least: int,
    penalty: float, slack: float, sizes: Any, crowd: Any, paid: Any, found: Any, place: Any, amount: int,
) -> int:  # fmt: skip
    """DM: the blocks that cost less than slack over what their values cost at least.

    Each record of a class costs as much as the class has records, `least` at least.

    Args:
        walk: Lines x (depth, node, after, whether the block is one of the space).
        masks: The block of each line.
        apart: Of each node, the positions that none of its own may share a block with.
        records: Nodes x columns, by the finest partitions of the other attributes.
        crowds: Nodes x columns, records by the coarsest ones.
        values: Of each node, what its values cost at least.
        needs: What a class needs to be good.
        least: No class of fewer records is good.
        penalty: What a suppressed record costs.
        slack: What a block may cost over the least of its values, at most.
        sizes: Depths x columns of `records`, zero before: those of the blocks that lead to a line.
        crowd: Depths x columns of `crowds`, likewise.
        paid: Depths, likewise: what merging costs.
        found: Takes the result: the lines, what each block costs over the least of its values, the records that it
            suppresses.
        place: The next line and the number of blocks found, 0 before.
        amount: How many cells may be looked at before it must pause.

    Returns:
        DONE or MORE.
    """
    lines, costs, losses = found
    line, count = place[0], place[1]
    joined = (records * np.maximum(records, least)).sum(axis=1) - values  # what merging the values of a node adds
    while line < len(masks):
        if amount <= 0:
            place[0], place[1] = line, count
            return MORE
        depth, node = walk[line, 0], walk[line, 1]
        merged = slack if apart[node] & masks[line] else paid[depth] + joined[node]
        amount -= 1 + records.shape[1]
        for column in range(records.shape[1]):
            if merged >= slack:
                break
            old, more = sizes[depth, column], records[node, column]
            sizes[depth + 1, column] = old + more
            if old and more:
                merged += (old + more) * max(old + more, least) - old * max(old, least) - more * max(more, least)
        if merged >= slack:
            line = walk[line, 2]
            continue
        paid[depth + 1] = merged
        cost, lost = merged, np.int64(0)
        amount -= crowds.shape[1]
        for column in range(crowds.shape[1]):
            size = crowd[depth, column] + crowds[node, column]
            crowd[depth + 1, column] = size
            if size > 0 and not is_good(needs, size):
                lost += size
                cost += size * (penalty - max(size, least))
        if walk[line, 3] and cost < slack:
            lines[count], costs[count], losses[count] = line, cost, lost
            count += 1
        line += 1
    place[0], place[1] = line, count
    return DONE


@compiled
def cheap_by_cells(
    walk: Any, masks: Any, apart: Any, crowds: Any, fixed: Any, rates: Any, own: Any, all_rates: Any, all_own: Any,
    spans: Any, needs: SizeRule, penalty: float, slack: float, crowd: Any, sums: Any, all_sums: Any, found: Any,
    place: Any, amount: int,
) -> int:  # fmt: skip
    """HDM and NCP: the blocks that cost less than slack over what their values cost at least.

    The records of a block pay `fixed`, and `rates` times what the span of the block is more than that of their value.
    A value that nearly all records have makes the latter a small difference of large numbers, so it is kept apart, and
    is exactly 0 for a block of one value.

    Args:
        walk: See `cheap_by_size`, as all that is not named here.
        masks: See there.
        apart: See there.
        crowds: See there.
        fixed: Nodes x columns of `crowds`, what records pay whatever their block.
        rates: Nodes x columns of `crowds`, what they pay per span of their block.
        own: Nodes x columns of `crowds`, rates times the span of the value alone.
        all_rates: Of each node, the sum of its rates.
        all_own: Of each node, that sum times the span of the value alone.
        spans: Of each line, the span of its block.
        needs: See there.
        penalty: See there.
        slack: See there.
        crowd: See there.
        sums: Depths x columns x (fixed, rates, own), zero before: those of the blocks that lead to a line.
        all_sums: Depths x (rates, own), likewise.
        found: See there.
        place: See there.
        amount: See there.

    Returns:
        See there.
    """
    lines, costs, losses = found
    line, count = place[0], place[1]
    while line < len(masks):
        if amount <= 0:
            place[0], place[1] = line, count
            return MORE
        depth, node = walk[line, 0], walk[line, 1]
        all_sums[depth + 1, 0] = all_sums[depth, 0] + all_rates[node]
        all_sums[depth + 1, 1] = all_sums[depth, 1] + all_own[node]
        cost = all_sums[depth + 1, 0] * spans[line] - all_sums[depth + 1, 1]
        amount -= 1
        if cost >= slack or apart[node] & masks[line]:
            line = walk[line, 2]
            continue
        amount -= 4 * crowds.shape[1]
        lost = np.int64(0)
        for column in range(crowds.shape[1]):
            size = crowd[depth, column] + crowds[node, column]
            crowd[depth + 1, column] = size
            paid = sums[depth, column, 0] + fixed[node, column]
            rate = sums[depth, column, 1] + rates[node, column]
            kept = sums[depth, column, 2] + own[node, column]
            sums[depth + 1, column, 0], sums[depth + 1, column, 1], sums[depth + 1, column, 2] = paid, rate, kept
            if size > 0 and not is_good(needs, size):
                lost += size
                cost += size * penalty - paid - (rate * spans[line] - kept)
        if walk[line, 3] and cost < slack:
            lines[count], costs[count], losses[count] = line, cost, lost
            count += 1
        line += 1
    place[0], place[1] = line, count
    return DONE


@compiled
def reduce(
    lines: Any, costs: Any, starts: Any, members: Any, slack: float, places: Any, prices: Any, taken: Any
) -> int:  # fmt: skip
    """Take off the costs of blocks what every partition pays, and leave out the blocks that are too dear.

    Every position costs at least the lowest share of any block around it. These shares are taken off as long as that
    leaves fewer blocks; what is cheapest stays the same.

    Args:
        lines: The blocks, as lines of the walk.
        costs: What each costs; none negative.
        starts: Of each line of the walk, where its positions start in `members`.
        members: The positions of all lines, ascending in each.
        slack: What a partition must cost less than.
        places: Takes the places of the blocks that can be part of such a partition.
        prices: Takes what is left of their costs.
        taken: One number, takes what was taken off in all: no partition costs less.

    Returns:
        The number of these blocks.
    """
    for place in range(len(lines)):
        places[place], prices[place] = place, costs[place]
    count, shares = len(lines), np.empty(members.max() + 1)
    for _ in range(ROUNDS):
        shares[:] = np.inf
        for place in range(count):
            line = lines[places[place]]
            share = prices[place] / (starts[line + 1] - starts[line])
            for position in members[starts[line] : starts[line + 1]]:
                shares[position] = min(shares[position], share)
        taken[0] += shares.sum()
        if taken[0] >= slack or taken[0] == np.inf:
            return 0
        before, count = count, 0
        for place in range(before):
            line = lines[places[place]]
            price = prices[place]
            for position in members[starts[line] : starts[line + 1]]:
                price -= shares[position]
            if taken[0] + price < slack:
                places[count], prices[count] = places[place], max(0.0, price)
                count += 1
        if count == before:
            break
    return count


@compiled
def cover(
    blocks: Any, begins: Any, runs: bool, slack: float, limit: int, width: int, ways: Any, heads: Any, place: Any,
    amount: int,
) -> int:  # fmt: skip
    """Cover positions one after the other: every way that leaves one open goes on with each block that begins there.

    Of all ways that cover the same positions only those stay that no other beats in both cost and loss; of two that are
    equal in both, the one whose beginning comes first in covered positions, cost and loss. So the order of ways plays
    no part.

    Args:
        blocks: What each block covers, costs and loses. Covered positions are a bit mask; where blocks are runs, the
            position after them.
        begins: The blocks that begin at a position lie between `begins` of it and of the next.
        runs: Whether all blocks are runs of positions.
        slack: What a way must cost less than.
        limit: What it must not lose more than.
        width: How many ways may go on.
        ways: What each way covers, costs and loses (-1 if it was beaten), the way and the block that it comes from (-1
            for none), and the next way in its list. The first one covers nothing; takes all others.
        heads: The first way of each list, -1 before; a power of two.
        place: The position, the first way that covers all before it and the first that covers it as well, the next way
            and the next block to go on with, the number of ways, and how many cover the position and are not beaten.
        amount: How many steps may be taken before it must pause.

    Returns:
        DONE; MORE; FULL if there is no room for more ways; WIDE if more ways cover a position than may go on.
    """
    keys, prices, losses = blocks
    masks, costs, lost = ways[0], ways[1], ways[2]
    while place[0] < len(begins) - 1:
        position, way, block = place[0], place[3], place[4]
        while way < place[2]:
            is_open = not (masks[way] > position if runs else masks[way] >> position & 1)
            stop = begins[position + 1] if is_open else begins[position] + 1
            while lost[way] >= 0 and block < stop:
                if amount <= 0 or place[5] == len(masks):
                    place[3], place[4] = way, block
                    return MORE if amount <= 0 else FULL
                amount -= 1
                key, cost, loss = masks[way], costs[way], lost[way]
                if is_open:
                    cost, loss = cost + prices[block], loss + losses[block]
                    if (not runs and keys[block] & key) or loss > limit or cost >= slack:
                        block += 1
                        continue
                    key = keys[block] if runs else keys[block] | key
                amount -= _add(ways, heads, place, key, cost, loss, way, block if is_open else -1)
                block += 1
            way, block = way + 1, begins[position]
        if place[6] > width:
            place[3] = way
            return WIDE
        _go_on(heads, begins, place)
    return DONE


@compiled
def _go_on(heads: Any, begins: Any, place: Any) -> None:
    """To the next position."""
    place[0] += 1
    place[1], place[2], place[3] = place[2], place[5], place[2]
    place[4], place[6] = begins[place[0]], 0
    heads[:] = -1


@compiled
def _list_of(key: int, lists: int) -> Any:
    """The number of the list of ways that cover some positions."""
    return np.int64((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)) & (lists - 1)


@compiled
def _add(
    ways: Any, heads: Any, place: Any, key: int, cost: float, loss: int, parent: int, block: int
) -> int:  # fmt: skip
    """Take a way among the others unless one of them beats it; the number of ways that it was compared with."""
    masks, costs, losses, parents, taken, following = ways
    here = _list_of(key, len(heads))
    before, way, steps = -1, heads[here], 0
    while way >= 0:
        steps += 1
        after = following[way]
        if masks[way] == key:
            if costs[way] <= cost and losses[way] <= loss:
                if costs[way] == cost and losses[way] == loss and _is_first(ways, parent, parents[way]):
                    parents[way], taken[way] = parent, block
                return steps
            if cost <= costs[way] and loss <= losses[way]:
                losses[way] = -1
                place[6] -= 1
                if before < 0:
                    heads[here] = after
                else:
                    following[before] = after
                way = after
                continue
        before, way = way, after
    way = place[5]
    masks[way], costs[way], losses[way], parents[way], taken[way] = key, cost, loss, parent, block
    following[way], heads[here] = heads[here], way
    place[5] += 1
    place[6] += 1
    return steps


@compiled
def _is_first(ways: Any, one: int, other: int) -> Any:
    """Whether a way comes before another in covered positions, cost and loss."""
    masks, costs, losses = ways[0], ways[1], ways[2]
    if masks[one] != masks[other]:
        return masks[one] < masks[other]
    if costs[one] != costs[other]:
        return costs[one] < costs[other]
    return losses[one] < losses[other]


@compiled
def listed(ways: Any, start: int, stop: int, heads: Any) -> None:
    """Put the ways that were not beaten into lists again, after there was more room."""
    masks, losses, following = ways[0], ways[2], ways[5]
    for way in range(start, stop):
        if losses[way] >= 0:
            here = _list_of(masks[way], len(heads))
            following[way], heads[here] = heads[here], way
