"""The inner loops of `probes`, compiled by numba: what the blocks of the solved attribute cost, by line.

A line is a block of the solved attribute; `sums` has the records of each class of the other attributes in each line
(classes x lines). All numbers are whole, so sums in floating point are exact.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from incrowd.search.compiled import compiled


@compiled
def counted(of_row: Any, values: Any, weights: Any, records: Any) -> None:
    """Records of each class in each value of the solved attribute, zero before."""
    for row in range(len(of_row)):
        records[of_row[row], values[row]] += weights[row]


@compiled
def sum_runs(records: Any, firsts: Any, ends: Any, sums: Any) -> None:
    """Records of each class in each line, from those in each value, where lines are runs of values."""
    values = records.shape[1]
    before = np.zeros(values + 1)
    for index in range(len(records)):
        for value in range(values):
            before[value + 1] = before[value] + records[index, value]
        for line in range(len(firsts)):
            sums[index, line] = before[ends[line]] - before[firsts[line]]


@compiled
def sum_sets(records: Any, starts: Any, members: Any, sums: Any) -> None:
    """Records of each class in each line, from those in each value, zero before."""
    for index in range(len(records)):
        for line in range(len(starts) - 1):
            for place in range(starts[line], starts[line + 1]):
                sums[index, line] += records[index, members[place]]


@compiled
def size_costs(sums: Any, least: float, costs: Any) -> None:
    """DM: add what the classes of each line cost, if none is suppressed."""
    for index in range(len(sums)):
        for line in range(sums.shape[1]):
            size = sums[index, line]
            costs[line] += size * max(size, least)


@compiled
def lost_costs(sums: Any, enough: float, least: float, records: float, costs: Any, lost: Any) -> None:
    """DM: add what suppression adds to each line, and the records that are suppressed."""
    for index in range(len(sums)):
        _lose(sums[index], enough, least, records, 1.0, costs, lost)


@compiled
def _lose(sizes: Any, enough: float, least: float, records: float, sign: float, costs: Any, lost: Any) -> None:
    for line in range(len(sizes)):
        size = sizes[line]
        if size < enough:
            costs[line] += sign * size * (records - max(size, least))
            lost[line] += sign * size


@compiled
def joined_costs(sums: Any, order: Any, bucket: Any, is_joined: Any, least: float, costs: Any) -> None:
    """DM: add what it costs to join some values of one attribute.

    Args:
        sums: Classes x lines.
        order: The classes, those with the same values of the other attributes one after the other.
        bucket: A number for these other values, by class.
        is_joined: Whether the value of each class is one of those that are joined.
        least: No class of fewer records is good.
        costs: Of each line.
    """
    lines = sums.shape[1]
    both = np.empty(lines)
    place = 0
    while place < len(order):
        here, together = bucket[order[place]], 0
        first = -1
        while place < len(order) and bucket[order[place]] == here:
            index = order[place]
            place += 1
            if not is_joined[index]:
                continue
            together += 1
            if together == 1:
                first = index
                continue
            if together == 2:
                for line in range(lines):
                    both[line] = sums[first, line]
                    costs[line] -= both[line] * max(both[line], least)
            for line in range(lines):
                size = sums[index, line]
                both[line] += size
                costs[line] -= size * max(size, least)
        if together > 1:
            for line in range(lines):
                costs[line] += both[line] * max(both[line], least)


@compiled
def parted_costs(
    sums: Any, order: Any, bucket: Any, old: Any, new: Any, enough: float, least: float, records: float, crowds: Any,
    costs: Any, lost: Any,
) -> None:  # fmt: skip
    """DM: change what suppression adds to each line where crowds are parted.

    Args:
        sums: Parts of crowds x lines.
        order: The parts, those with the same crowds of the other attributes one after the other.
        bucket: A number for these other crowds, by part.
        old: The crowd of each part within its bucket before, a small number; -1 where nothing changes.
        new: The crowd of each part after.
        enough: The smallest size of a good class.
        least: See `joined_costs`.
        records: Records in all, which is what a suppressed record costs.
        crowds: 2 x small numbers x lines, zero before and after.
        costs: Of each line.
        lost: Records that are suppressed, of each line.
    """
    place = 0
    while place < len(order):
        start, here = place, bucket[order[place]]
        while place < len(order) and bucket[order[place]] == here:
            index = order[place]
            place += 1
            if old[index] >= 0:
                crowds[0, old[index]] += sums[index]
                crowds[1, new[index]] += sums[index]
        for again in range(start, place):
            index = order[again]
            if old[index] >= 0:
                _lose(crowds[0, old[index]], enough, least, records, -1.0, costs, lost)
                _lose(crowds[1, new[index]], enough, least, records, 1.0, costs, lost)
                crowds[0, old[index]] = 0.0
                crowds[1, new[index]] = 0.0


@compiled
def near_crowds(sums: Any, order: Any, bucket: Any, label: Any, near: Any, crowds: Any) -> None:
    """The records around each part of a crowd: those of the parts near it.

    Args:
        sums: Parts of crowds x lines.
        order: See `parted_costs`.
        bucket: See there.
        label: The value of each part.
        near: Values x values, whether they may share a block.
        crowds: Takes the result, parts x lines, zero before.
    """
    start = 0
    for place in range(len(order)):
        if bucket[order[place]] != bucket[order[start]]:
            start = place
        part = order[place]
        crowds[part] += sums[part]
        for other in order[start:place]:
            if near[label[part], label[other]]:
                crowds[part] += sums[other]
                crowds[other] += sums[part]


@compiled
def near_costs(sums: Any, crowds: Any, enough: float, least: float, records: float, costs: Any, lost: Any) -> None:
    """DM: add what suppression adds to each line, where a part is suppressed if there are not enough around it."""
    for part in range(len(sums)):
        for line in range(sums.shape[1]):
            if crowds[part, line] < enough:
                size = sums[part, line]
                costs[line] += size * (records - max(size, least))
                lost[line] += size


@compiled
def far_costs(
    sums: Any, order: Any, bucket: Any, label: Any, crowds: Any, near: Any, kind: Any, enough: float, least: float,
    records: float, costs: Any, lost: Any,
) -> None:  # fmt: skip
    """DM: add what suppression adds to each line if two pieces of a node are kept apart.

    No block then holds values of both. Nor does one hold values within the node, or within one above it, and without:
    it would hold all of that.

    Args:
        sums: See `near_crowds`, as all that is not named here or in `parted_costs`.
        order: See there.
        bucket: See there.
        label: See there.
        crowds: Parts x lines, the records around each part before.
        near: See there, before.
        kind: Of each value, 3 per node around the pieces that it lies in, and 1 or 2 in one of the pieces.
        enough: See there.
        least: See there.
        records: See there.
        costs: See there.
        lost: See there.
    """
    lines, start, stop = sums.shape[1], 0, 0
    less, gone, changes = np.empty(lines), np.zeros(near.shape, np.bool_), np.zeros(len(near), np.bool_)
    for one in range(len(near)):
        for two in range(len(near)):
            together = kind[one] == kind[two] or (kind[one] // 3 == kind[two] // 3 and kind[one] * kind[two] % 3 == 0)
            if near[one, two] and not together:
                gone[one, two] = changes[one] = True
    for place in range(len(order)):
        part = order[place]
        if place == stop:
            start = place
            while stop < len(order) and bucket[order[stop]] == bucket[part]:
                stop += 1
        if not changes[label[part]]:
            continue
        less[:] = crowds[part]
        for other in order[start:stop]:
            if gone[label[part], label[other]]:
                less -= sums[other]
        for line in range(lines):
            if less[line] < enough <= crowds[part, line]:
                size = sums[part, line]
                costs[line] += size * (records - max(size, least))
                lost[line] += size


@compiled
def cheapest_runs(costs: Any, lost: Any, limit: float, begins: Any, ends: Any, order: Any) -> Any:
    """The cheapest way to cover all positions by runs of them, none of which may lose too much.

    Args:
        costs: Of each line.
        lost: Of each line.
        limit: What a line must not lose more than.
        begins: The lines that begin at a position lie between `begins` of it and of the next in `order`.
        ends: The position after each line.
        order: The lines by where they begin.
    """
    positions = len(begins) - 1
    cheapest = np.full(positions + 1, np.inf)
    cheapest[positions] = 0.0
    for position in range(positions - 1, -1, -1):
        for place in range(begins[position], begins[position + 1]):
            line = order[place]
            if lost[line] <= limit:
                cheapest[position] = min(cheapest[position], costs[line] + cheapest[ends[line]])
    return cheapest[0]


@compiled
def cheapest_sets(
    costs: Any, lost: Any, limit: float, kid_starts: Any, kids: Any, line_starts: Any, lines: Any
) -> Any:  # fmt: skip
    """The cheapest way to put sets of children of a node together, at every node of a tree, none losing too much.

    Args:
        costs: Of each line.
        lost: Of each line.
        limit: What a line must not lose more than.
        kid_starts: The children of a node lie between this of it and of the next in `kids`; they come after the node.
        kids: Those of all nodes.
        line_starts: Where the lines of each node start in `lines`.
        lines: By the set of its children (a bit mask), the line of two or more of them together; of a node without
            any, its own.
    """
    nodes = len(kid_starts) - 1
    cheapest = np.empty(nodes)
    ways = np.zeros(len(lines))  # by the set of children, the cheapest way for these
    for node in range(nodes - 1, -1, -1):
        kid, start = kid_starts[node], line_starts[node]
        count = kid_starts[node + 1] - kid
        if count == 0:
            cheapest[node] = costs[lines[start]] if lost[lines[start]] <= limit else np.inf
            continue
        highest = 0
        for chosen in range(1, 1 << count):
            if chosen >> (highest + 1):
                highest += 1
            rest = chosen ^ (1 << highest)
            way = cheapest[kids[kid + highest]] + ways[rest]
            more = rest
            while more:
                line = lines[start + (chosen ^ rest ^ more)]
                if lost[line] <= limit:
                    way = min(way, costs[line] + ways[rest ^ more])
                more = (more - 1) & rest
            ways[chosen] = way
        cheapest[node] = ways[(1 << count) - 1]
    return cheapest[0]
