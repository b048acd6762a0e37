"""The inner loops of the optimal searches, compiled by numba: classes of a recoded table, and what they cost.

Rows are distinct tuples (rows x attributes, positions of values), `labels` what each position becomes. Kernels return
numbers and fill arrays that they are given. To return an array numba would call the interpreter, where an interrupt
becomes a SystemError.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from incrowd.search.compiled import compiled

DONE, MORE = 0, 1  # what a kernel says that works in slices
ROUNDS = 6  # of taking shares off the costs of blocks


def group(rows: Any, weights: Any, labels: Any, offsets: Any, slots: Any) -> tuple[Any, Any, Any]:
    """Number the classes of rows: the class of each row, and the first row and the records of each class.

    Args:
        rows: Rows x attributes.
        weights: Records of each row.
        labels: The labels of all positions, one attribute after the other.
        offsets: Where the labels of each attribute start.
        slots: A power of two of -1, at least twice as many as rows; left as it was.
    """
    of_row, firsts, sizes = np.empty((3, len(rows)), np.int64)
    classes = _group(rows, weights, labels, offsets, of_row, firsts, sizes, slots)
    return of_row, firsts[:classes], sizes[:classes]


@compiled
def _group(
    rows: Any, weights: Any, labels: Any, offsets: Any, of_row: Any, firsts: Any, sizes: Any, slots: Any
) -> int:  # fmt: skip
    """By hashing; labels are compared one by one, so no number of attributes is too large."""
    attributes, last, classes = rows.shape[1], len(slots) - 1, 0
    for row in range(len(rows)):
        code = np.uint64(0)
        for attribute in range(attributes):
            label = labels[offsets[attribute] + rows[row, attribute]]
            code = code * np.uint64(0x9E3779B97F4A7C15) + np.uint64(label + 1)
        code ^= code >> np.uint64(29)
        code *= np.uint64(0xBF58476D1CE4E5B9)
        slot = np.int64(code >> np.uint64(32)) & last
        while True:
            found = slots[slot]
            if found < 0:
                slots[slot] = of_row[row] = classes
                firsts[classes], sizes[classes] = row, weights[row]
                classes += 1
                break
            other, same = firsts[found], True
            for attribute in range(attributes):
                offset = offsets[attribute]
                if labels[offset + rows[row, attribute]] != labels[offset + rows[other, attribute]]:
                    same = False
                    break
            if same:
                sizes[found] += weights[row]
                of_row[row] = found
                break
            slot = (slot + 1) & last
    slots[:] = -1
    return classes


@compiled
def cost_cells(rows: Any, weights: Any, of_row: Any, released: Any, penalties: Any) -> tuple[float, int]:
    """Sum of penalties (attributes x positions) over the cells of records in released classes, 1 for the others.

    Also returns how many others there are.
    """
    cost, suppressed = 0.0, 0
    for row in range(len(rows)):
        if released[of_row[row]]:
            lost = 0.0
            for attribute in range(rows.shape[1]):
                lost += penalties[attribute, rows[row, attribute]]
            cost += weights[row] * lost
        else:
            suppressed += weights[row]
            cost += weights[row]
    return cost, suppressed


@compiled
def collect(amounts: Any, column_of: Any, sums: Any) -> None:
    """Add the columns of a matrix that go to the same column; -1 goes nowhere."""
    for row in range(len(amounts)):
        for column in range(len(column_of)):
            if column_of[column] >= 0:
                sums[row, column_of[column]] += amounts[row, column]


@compiled
def _merge(sizes: Any, more: Any, least: int, cost: float, slack: float, merged: Any) -> float:
    """Add up the sizes of classes, and to a cost what that adds for DM, as long as it is below slack."""
    for column in range(len(sizes)):
        if cost >= slack:
            break
        one, two = sizes[column], more[column]
        merged[column] = both = one + two
        if one and two:
            cost += both * max(both, least) - one * max(one, least) - two * max(two, least)
    return cost


@compiled
def cheap_blocks(
    walk: Any, masks: Any, apart: Any, spans: Any, by_size: bool, records: Any, crowds: Any, cells: Any, totals: Any,
    values: Any, least: int, penalty: float, slack: float, scratch: Any, found: Any, place: Any,
    amount: int,
) -> int:  # fmt: skip
    """The blocks of one attribute that cost less than slack over what their values cost at least.

    Columns are the classes that the other attributes make. Blocks come as the lines of a walk: a line adds one tree
    node to the block of the last line with a lower depth. What a block costs over the least of its values only grows
    with the block, so where merging alone costs too much, all lines that begin with the block are skipped.

    DM (`by_size`): each record of a class costs as much as the class has records, `least` at least. HDM and NCP: the
    records of a block pay what they pay alone, and a rate times what the span of the block is more than that of their
    value. A value that nearly all records have makes that a small difference of large numbers, so it is summed by
    itself, and is exactly 0 for a block of one value.

    Args:
        walk: Lines x (depth, node, the first line that does not begin with this block, whether the block is allowed).
        masks: The block of each line.
        apart: Of each node, the positions that none of its own may share a block with.
        spans: Of each line, the span of its block.
        by_size: Whether the cost is DM.
        records: Nodes x columns, by the finest partitions of the other attributes; for DM.
        crowds: Nodes x columns, records by the coarsest partitions.
        cells: Nodes x columns of `crowds` x (paid alone, rate, rate times own span); for HDM and NCP.
        totals: Nodes x (rate, rate times own span), summed over columns.
        values: Of each node, what its values cost at least.
        least: A class of fewer records is not good, all others are.
        penalty: What a suppressed record costs.
        slack: What a block must cost less than over the least of its values.
        scratch: Depths x columns of `records`, of `crowds`, of `cells`, and depths x 2: sums on the way to a line.
        found: Takes the lines, what each block costs over the least of its values, the records that it suppresses.
        place: The next line and the number of blocks found, 0 before.
        amount: How many cells may be looked at before it must pause.

    Returns:
        DONE, or MORE if it is to be called again.
    """
    sizes, crowd, sums, paid = scratch
    lines, costs, losses = found
    line, count = place[0], place[1]
    joined = (records * np.maximum(records, least)).sum(axis=1) - values  # what merging the values of a node adds
    while line < len(masks):
        if amount <= 0:
            place[0], place[1] = line, count
            return MORE
        depth, node = walk[line, 0], walk[line, 1]
        amount -= 1
        if apart[node] & masks[line]:
            line = walk[line, 2]
            continue
        if by_size:
            amount -= records.shape[1]
            cost = _merge(sizes[depth], records[node], least, paid[depth, 0] + joined[node], slack, sizes[depth + 1])
            paid[depth + 1, 0] = cost
        else:
            paid[depth + 1, 0] = paid[depth, 0] + totals[node, 0]
            paid[depth + 1, 1] = paid[depth, 1] + totals[node, 1]
            cost = paid[depth + 1, 0] * spans[line] - paid[depth + 1, 1]
        if cost >= slack:
            line = walk[line, 2]
            continue
        lost = np.int64(0)
        amount -= crowds.shape[1] if by_size else 4 * crowds.shape[1]
        for column in range(crowds.shape[1]):
            size = crowd[depth, column] + crowds[node, column]
            crowd[depth + 1, column] = size
            if not by_size:
                for part in range(3):
                    sums[depth + 1, column, part] = sums[depth, column, part] + cells[node, column, part]
            if 0 < size < least:
                lost += size
                if by_size:
                    cost += size * (penalty - max(size, least))
                else:
                    alone, rate, own = sums[depth + 1, column]
                    cost += size * penalty - alone - (rate * spans[line] - own)
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
    """Take off the costs of blocks what every partition pays, and leave out the blocks that are too expensive.

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
        taken: One number, takes what was taken off altogether: no partition costs less.

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
