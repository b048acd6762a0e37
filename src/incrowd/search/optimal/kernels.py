"""The inner loops of the optimal searches: classes of a recoded table, and what they cost; `native/optimal.c` has them.

Rows are distinct tuples (rows x attributes, positions of values), `labels` what each position becomes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from incrowd.search.native.kernels import Float64, Int64, Mask, kernel

MORE = 1  # what a kernel says that is to be called again


class Blocks(NamedTuple):
    """The blocks of one attribute that cost less than slack over what their values cost at least, as they are found.

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
        joined: Of each node, what merging its values adds, for DM.
        least: A class of fewer records is not good, all others are.
        limits: What a suppressed record costs, and the slack: what a block must cost less than over its values.
        sizes, crowd, sums, paid: Depths x columns of `records`, `crowds`, `cells`, and depths x 2: sums on the way.
        lines, costs, losses: Take the lines, what each block costs over the least of its values, and the records that
            it suppresses.
        place: The next line and the number of blocks found, 0 before.
    """

    walk: Int64
    masks: Int64
    apart: Int64
    spans: Float64
    by_size: bool
    records: Int64
    crowds: Int64
    cells: Float64
    totals: Float64
    joined: Float64
    least: int
    limits: Float64
    sizes: Int64
    crowd: Int64
    sums: Float64
    paid: Float64
    lines: Int64
    costs: Float64
    losses: Int64
    place: Int64


cheap_blocks = kernel("cheap_blocks", Blocks, int)  # with how many cells may be looked at; MORE if some are left
group_rows = kernel("group_rows", *[Int64] * 8)
cost_rows = kernel("cost_rows", Int64, Int64, Int64, Mask, Float64, Float64)
collect_counts = kernel("collect_counts", Int64, Int64, Int64)
collect_costs = kernel("collect_costs", Float64, Int64, Float64)
reduce_blocks = kernel("reduce_blocks", Int64, Float64, Int64, Int64, Int64, Float64, Float64, Float64)


def group(rows: Int64, weights: Int64, labels: Int64, offsets: Int64, slots: Int64) -> tuple[Int64, Int64, Int64]:
    """Number the classes of rows: the class of each row, and the first row and the records of each class.

    Args:
        rows: Rows x attributes.
        weights: Records of each row.
        labels: The labels of all positions, one attribute after the other.
        offsets: Where the labels of each attribute start.
        slots: A power of two of -1, at least twice as many as rows; left as it was.
    """
    of_row, firsts, sizes = np.empty((3, len(rows)), np.int64)
    classes = group_rows(rows, weights, labels, offsets, of_row, firsts, sizes, slots)
    return of_row, firsts[:classes], sizes[:classes]


def cost_cells(rows: Int64, weights: Int64, of_row: Int64, released: Mask, penalties: Float64) -> tuple[float, int]:
    """Sum of penalties (attributes x positions) over the cells of records in released classes, 1 for the others.

    Also returns how many others there are.
    """
    total = np.zeros(1)
    suppressed = cost_rows(rows, weights, of_row, released, penalties, total)
    return float(total[0]), suppressed


def reduce(
    lines: Int64, costs: Float64, starts: Int64, members: Int64, slack: float
) -> tuple[Int64, Float64, float]:  # fmt: skip
    """Take off the costs of blocks what every partition pays, and leave out the blocks that are too expensive.

    Every position costs at least the lowest share of any block around it. These shares are taken off as long as that
    leaves fewer blocks; what is cheapest stays the same.

    Args:
        lines: The blocks, as lines of the walk.
        costs: What each costs; none negative.
        starts: Of each line of the walk, where its positions start in `members`.
        members: The positions of all lines, ascending in each.
        slack: What a partition must cost less than.

    Returns:
        The places of the blocks that can be part of such a partition, what is left of their costs, and what was taken
        off altogether: no partition costs less.
    """
    places, prices, taken = np.empty(len(lines), np.int64), np.empty(len(lines)), np.array([0, slack], float)
    shares = np.empty(int(members.max()) + 1)
    count = reduce_blocks(lines, costs, starts, members, places, prices, shares, taken)
    return places[:count], prices[:count], float(taken[0])
