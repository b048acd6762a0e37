"""The inner loops of `innermost`: which blocks of one attribute are worth a look, and the cheapest partition of them.

Columns are the classes that the other attributes make. Blocks come as the lines of a walk: a line adds one tree node to
the block of the last line with a lower depth; `after` is the first line that does not begin with the block of this one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from incrowd.search.kernels import compiled

ROUNDS = 6  # of taking shares off the costs of blocks
NARROW = 64  # ways that are followed at first


@compiled
def collected(amounts: Any, column_of: Any) -> Any:
    """Sum the columns of a matrix that go to the same column, -1 to none."""
    sums = np.zeros((len(amounts), column_of.max() + 1), amounts.dtype)
    for row in range(len(amounts)):
        for column in range(len(column_of)):
            if column_of[column] >= 0:
                sums[row, column_of[column]] += amounts[row, column]
    return sums


@compiled
def cheap_by_size(
    walk: Any, masks: Any, apart: Any, records: Any, crowds: Any, least: Any, k: int, penalty: float, slack: float
) -> tuple[Any, Any, Any]:
    """DM: the blocks that cost less than slack over what their values cost at least.

    Each record of a class costs as much as the class has records, k at least.

    Args:
        walk: Lines x (depth, node, after, whether the block is one of the space).
        masks: The block of each line.
        apart: Of each node, the positions that none of its own may share a block with.
        records: Nodes x columns, by the finest partitions of the other attributes.
        crowds: Nodes x columns, records by the coarsest ones.
        least: Of each node, what its values cost at least.
        k: The smallest class that is released.
        penalty: What a suppressed record costs.
        slack: What a block may cost over the least of its values, at most.

    Returns:
        The lines, what each block costs over the least of its values, and the records that it suppresses.
    """
    sizes = np.zeros((len(least) + 1, records.shape[1]), np.int64)
    crowd = np.zeros((len(least) + 1, crowds.shape[1]), np.int64)
    paid = np.zeros(len(least) + 1)
    joined = (records * np.maximum(records, k)).sum(axis=1) - least
    found, costs, losses = [np.int64(0) for _ in range(0)], [0.0 for _ in range(0)], [np.int64(0) for _ in range(0)]
    line = 0
    while line < len(masks):
        depth, node = walk[line, 0], walk[line, 1]
        merged = slack if apart[node] & masks[line] else paid[depth] + joined[node]
        for column in range(records.shape[1]):
            if merged >= slack:
                break
            old, more = sizes[depth, column], records[node, column]
            sizes[depth + 1, column] = old + more
            if old and more:
                merged += (old + more) * max(old + more, k) - old * max(old, k) - more * max(more, k)
        if merged >= slack:
            line = walk[line, 2]
            continue
        paid[depth + 1] = merged
        lost = np.int64(0)
        for column in range(crowds.shape[1]):
            crowd[depth + 1, column] = crowd[depth, column] + crowds[node, column]
            if crowd[depth + 1, column] < k:
                lost += crowd[depth + 1, column]
        cost = merged + lost * (penalty - k) if lost else merged
        if walk[line, 3] and cost < slack:
            found.append(np.int64(line))
            costs.append(cost)
            losses.append(lost)
        line += 1
    return np.array(found), np.array(costs), np.array(losses)


@compiled
def cheap_by_cells(
    walk: Any, masks: Any, apart: Any, crowds: Any, fixed: Any, rates: Any, own: Any, all_rates: Any, all_own: Any,
    spans: Any, k: int, penalty: float, slack: float,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """HDM and LM: the blocks that cost less than slack over what their values cost at least.

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
        k: See there.
        penalty: See there.
        slack: See there.

    Returns:
        See there.
    """
    depths, columns = len(crowds) + 1, crowds.shape[1]
    crowd = np.zeros((depths, columns), np.int64)
    paid, rate, kept = np.zeros((depths, columns)), np.zeros((depths, columns)), np.zeros((depths, columns))
    all_rate, all_kept = np.zeros(depths), np.zeros(depths)
    found, costs, losses = [np.int64(0) for _ in range(0)], [0.0 for _ in range(0)], [np.int64(0) for _ in range(0)]
    line = 0
    while line < len(masks):
        depth, node = walk[line, 0], walk[line, 1]
        all_rate[depth + 1], all_kept[depth + 1] = all_rate[depth] + all_rates[node], all_kept[depth] + all_own[node]
        cost = all_rate[depth + 1] * spans[line] - all_kept[depth + 1]
        if cost >= slack or apart[node] & masks[line]:
            line = walk[line, 2]
            continue
        lost = np.int64(0)
        for column in range(crowds.shape[1]):
            size = crowd[depth, column] + crowds[node, column]
            crowd[depth + 1, column] = size
            paid[depth + 1, column] = paid[depth, column] + fixed[node, column]
            rate[depth + 1, column] = rate[depth, column] + rates[node, column]
            kept[depth + 1, column] = kept[depth, column] + own[node, column]
            if 0 < size < k:
                lost += size
                more = rate[depth + 1, column] * spans[line] - kept[depth + 1, column]
                cost += size * penalty - paid[depth + 1, column] - more
        if walk[line, 3] and cost < slack:
            found.append(np.int64(line))
            costs.append(cost)
            losses.append(lost)
        line += 1
    return np.array(found), np.array(costs), np.array(losses)


@compiled
def cheapest_partition(
    lines: Any, costs: Any, losses: Any, keys: Any, starts: Any, members: Any, runs: bool, slack: float, limit: int
) -> Any:
    """The cheapest way to cover all positions by disjoint blocks that lose no more than limit together.

    A narrow search finds a good way; then only blocks that could be part of a better one are searched in full.

    Args:
        lines: The blocks, as lines of the walk.
        costs: What each costs; none negative.
        losses: What each loses.
        keys: Of each line of the walk, its positions as a bit mask; where blocks are runs, the position after it.
        starts: Of each line, where its positions start in `members`.
        members: The positions of all lines, ascending in each.
        runs: Whether all blocks are runs of positions.
        slack: What the sum must be lower than.
        limit: What the losses must not exceed.

    Returns:
        The places of the chosen blocks in `lines`; none if there is no such way.
    """
    size = members.max() + 1
    good = np.empty(0, np.int64)
    for width in (NARROW, np.iinfo(np.int64).max):
        places, prices, taken = reduced(lines, costs, starts, members, slack)
        firsts = members[starts[lines[places]]]
        order = np.argsort(firsts, kind="mergesort")
        places, prices = places[order], prices[order]
        begins = np.searchsorted(firsts[order], np.arange(size + 1))
        chosen, narrowed = _cover(
            keys[lines[places]], prices, losses[places], begins, runs, slack - taken, limit, width
        )
        if len(chosen):
            good = places[chosen]
            slack = costs[good].sum()
        if not narrowed:
            break
    return good


@compiled
def _cover(
    keys: Any, prices: Any, losses: Any, begins: Any, runs: bool, slack: float, limit: int, width: int
) -> tuple[Any, bool]:
    """The cheapest way found if only so many are followed at a time, and whether any was not followed.

    Positions are covered one after the other; of all ways that lead to the same covered positions only those stay that
    no other beats in both cost and loss. Blocks come in the order of their first positions; those that begin at a
    position lie between `begins` of it and of the next.
    """
    size = len(begins) - 1
    covered, spent, gone = np.zeros(1, np.int64), np.zeros(1), np.zeros(1, np.int64)
    parents, blocks = [np.zeros(1, np.int64)], [np.full(1, -1)]
    narrowed = False
    for position in range(size):
        here = range(begins[position], begins[position + 1])
        room = len(covered)
        for state in range(len(covered)):
            for block in here:
                room += gone[state] + losses[block] <= limit and spent[state] + prices[block] < slack
        above, taken = np.empty(room, np.int64), np.empty(room, np.int64)
        covered_now, spent_now, gone_now = np.empty(room, np.int64), np.empty(room), np.empty(room, np.int64)
        count = 0
        for state in range(len(covered)):
            if covered[state] > position if runs else covered[state] >> position & 1:
                above[count], taken[count] = state, -1
                covered_now[count], spent_now[count], gone_now[count] = covered[state], spent[state], gone[state]
                count += 1
                continue
            for block in here:
                if not runs and keys[block] & covered[state]:
                    continue
                if gone[state] + losses[block] > limit or spent[state] + prices[block] >= slack:
                    continue
                above[count], taken[count] = state, block
                covered_now[count] = keys[block] if runs else covered[state] | keys[block]
                spent_now[count], gone_now[count] = spent[state] + prices[block], gone[state] + losses[block]
                count += 1
        kept = _unbeaten(covered_now[:count], spent_now[:count], gone_now[:count])
        if len(kept) > width:
            kept = kept[np.argsort(spent_now[kept], kind="mergesort")[:width]]
            narrowed = True
        covered, spent, gone = covered_now[kept], spent_now[kept], gone_now[kept]
        parents.append(above[kept])
        blocks.append(taken[kept])
    return _way_back(spent, parents, blocks), narrowed


@compiled
def _way_back(spent: Any, parents: Any, blocks: Any) -> Any:
    """The blocks of the cheapest way."""
    chosen = np.empty(len(blocks), np.int64)
    count = 0
    if len(spent):
        state = int(np.argmin(spent))
        for layer in range(len(blocks) - 1, 0, -1):
            if blocks[layer][state] >= 0:
                chosen[count] = blocks[layer][state]
                count += 1
            state = parents[layer][state]
    return chosen[:count]


@compiled
def reduced(lines: Any, costs: Any, starts: Any, members: Any, slack: float) -> tuple[Any, Any, float]:
    """Take off the costs of blocks what every partition pays, and leave out the blocks that are too dear.

    Every position costs at least the lowest share of any block around it. These shares are taken off as long as that
    leaves fewer blocks; what is cheapest stays the same.

    Args:
        lines: See `cheapest_partition`, as all others.
        costs: See there.
        starts: See there.
        members: See there.
        slack: See there.

    Returns:
        The places of the blocks that can be part of such a partition, what is left of their costs, and what was taken
        off in all: no partition costs less.
    """
    places, prices, taken = np.arange(len(lines)), costs.copy(), 0.0
    for _ in range(ROUNDS):
        shares = np.full(members.max() + 1, np.inf)
        for place in range(len(places)):
            line = lines[places[place]]
            share = prices[place] / (starts[line + 1] - starts[line])
            for position in members[starts[line] : starts[line + 1]]:
                shares[position] = min(shares[position], share)
        taken += shares.sum()
        if taken >= slack or taken == np.inf:
            return places[:0], prices[:0], taken
        count = 0
        for place in range(len(places)):
            line = lines[places[place]]
            price = prices[place]
            for position in members[starts[line] : starts[line + 1]]:
                price -= shares[position]
            if taken + price < slack:
                places[count], prices[count] = places[place], max(0.0, price)
                count += 1
        fewer = count < len(places)
        places, prices = places[:count], prices[:count]
        if not fewer:
            break
    return places, prices, taken


@compiled
def _unbeaten(masks: Any, costs: Any, losses: Any) -> Any:
    """The numbers of the ways of which no other with the same mask is better in both cost and loss."""
    order = np.argsort(losses, kind="mergesort")
    order = order[np.argsort(costs[order], kind="mergesort")]
    order = order[np.argsort(masks[order], kind="mergesort")]
    kept = np.empty(len(order), np.int64)
    count = 0
    least = np.int64(0)
    for place in range(len(order)):
        way = order[place]
        if place == 0 or masks[way] != masks[order[place - 1]] or losses[way] < least:
            kept[count] = way
            count += 1
            least = losses[way]
    return kept[:count]
