"""The inner loops of `innermost`: which blocks of one attribute are worth a look, and the cheapest partition of them.

Columns are the classes that the other attributes make. `grown` at a tree node sums what the records below it are in
each column. Blocks come as the lines of a walk: a line adds one tree node to the block of the last line with a lower
depth; `after` is the first line that does not begin with the block of this one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from incrowd.search.kernels import compiled


@compiled
def cheap_blocks(
    walk: Any,
    masks: Any,
    apart: Any,
    records: Any,
    fixed: Any,
    rates: Any,
    spans: Any,
    least: Any,
    k: int,
    penalty: float,
    slack: float,
) -> tuple[Any, Any, Any]:
    """The blocks that cost less than slack over what their values cost at least.

    A class costs `fixed` and `rates` times the span of its block (HDM, LM); where these have no columns, each record
    costs as much as the class has records, k at least (DM).

    Args:
        walk: Lines x (depth, node, after, whether the block is one of the space).
        masks: The block of each line.
        apart: Of each node, the positions that none of its own may share a block with.
        records: Nodes x columns.
        fixed: Nodes x columns, what records pay whatever their block.
        rates: Nodes x columns, what they pay per span of their block.
        spans: Of each line, the span of its block.
        least: Of each node, what its values cost at least.
        k: The smallest class that is released.
        penalty: What a suppressed record costs.
        slack: What a block may cost over the least of its values, at most.

    Returns:
        The lines, what each block costs over the least of its values, and the records that it suppresses.
    """
    columns, by_cells = records.shape[1], fixed.shape[1] > 0
    sums = np.zeros((len(least) + 1, columns), np.int64)
    paid, paying = np.zeros((len(least) + 1, fixed.shape[1])), np.zeros((len(least) + 1, fixed.shape[1]))
    bases = np.zeros(len(least) + 1)
    found, costs, losses = [np.int64(0) for _ in range(0)], [0.0 for _ in range(0)], [np.int64(0) for _ in range(0)]
    line = 0
    while line < len(masks):
        depth, node = walk[line, 0], walk[line, 1]
        if apart[node] & masks[line]:
            line = walk[line, 2]
            continue
        merged = suppressed = 0.0
        lost = np.int64(0)
        for column in range(columns):
            size = sums[depth, column] + records[node, column]
            sums[depth + 1, column] = size
            if by_cells:
                paid[depth + 1, column] = paid[depth, column] + fixed[node, column]
                paying[depth + 1, column] = paying[depth, column] + rates[node, column]
                cost = paid[depth + 1, column] + paying[depth + 1, column] * spans[line]
            else:
                cost = float(size) * max(size, k)
            merged += cost
            if 0 < size < k:
                suppressed += size * penalty - cost
                lost += size
        bases[depth + 1] = bases[depth] + least[node]
        merged -= bases[depth + 1]
        if merged >= slack:
            line = walk[line, 2]
            continue
        if walk[line, 3] and merged + suppressed < slack:
            found.append(np.int64(line))
            costs.append(merged + suppressed)
            losses.append(lost)
        line += 1
    return np.array(found), np.array(costs), np.array(losses)


@compiled
def cheapest_partition(masks: Any, costs: Any, losses: Any, size: int, slack: float, limit: int) -> Any:
    """The cheapest way to cover positions 0 to size - 1 by disjoint blocks that lose no more than limit together.

    Positions are covered one after the other; of all ways that lead to the same covered positions only those stay that
    no other beats in both cost and loss.

    Args:
        masks: The blocks.
        costs: What each costs; none negative.
        losses: What each loses.
        size: Number of positions.
        slack: What the sum must be lower than.
        limit: What the losses must not exceed.

    Returns:
        The numbers of the blocks; none if there is no such way.
    """
    covered, spent, gone = np.zeros(1, np.int64), np.zeros(1), np.zeros(1, np.int64)
    parents, blocks = [np.zeros(1, np.int64)], [np.full(1, -1)]
    for position in range(size):
        bit = np.int64(1) << position
        room = 0
        for state in range(len(covered)):
            room += 1 if covered[state] & bit else len(masks)
        above, taken = np.empty(room, np.int64), np.empty(room, np.int64)
        masks_now, spent_now, gone_now = np.empty(room, np.int64), np.empty(room), np.empty(room, np.int64)
        count = 0
        for state in range(len(covered)):
            if covered[state] & bit:
                above[count], taken[count] = state, -1
                masks_now[count], spent_now[count], gone_now[count] = covered[state], spent[state], gone[state]
                count += 1
                continue
            for block in range(len(masks)):
                if masks[block] & -masks[block] != bit or masks[block] & covered[state]:
                    continue
                if spent[state] + costs[block] >= slack or gone[state] + losses[block] > limit:
                    continue
                above[count], taken[count] = state, block
                masks_now[count] = covered[state] | masks[block]
                spent_now[count], gone_now[count] = spent[state] + costs[block], gone[state] + losses[block]
                count += 1
        kept = _unbeaten(masks_now[:count], spent_now[:count], gone_now[:count])
        covered, spent, gone = masks_now[kept], spent_now[kept], gone_now[kept]
        parents.append(above[kept])
        blocks.append(taken[kept])
    chosen = np.empty(size, np.int64)
    count = 0
    if len(covered):
        state = int(np.argmin(spent))
        for layer in range(size, 0, -1):
            if blocks[layer][state] >= 0:
                chosen[count] = blocks[layer][state]
                count += 1
            state = parents[layer][state]
    return chosen[:count]


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
