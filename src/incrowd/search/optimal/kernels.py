"""The inner loops of the optimal searches, compiled by numba: classes of a recoded table, and what they cost.

Rows are distinct tuples (rows x attributes, positions of values), `labels` what each position becomes. Classes are
found by hashing and compared label by label, so no number of attributes is too large. What may take long works in
slices.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from incrowd.search.compiled import compiled
from incrowd.search.optimal.slices import DONE, MORE, ROWS


def group(rows: Any, weights: Any, labels: Any, offsets: Any, slots: Any) -> tuple[Any, Any, Any]:
    """Number the classes of rows.

    Args:
        rows: Rows x attributes.
        weights: Records of each row.
        labels: The labels of all positions, one attribute after the other.
        offsets: Where the labels of each attribute start.
        slots: A power of two of -1, at least twice as many as rows; left as it was.

    Returns:
        The class of each row, and the first row and the records of each class.
    """
    of_row, firsts, sizes = np.empty((3, len(rows)), np.int64)
    classes = 0
    for start in range(0, len(rows), ROWS):
        classes = _group(rows, weights, labels, offsets, of_row, firsts, sizes, slots, start, start + ROWS, classes)
    return of_row, firsts[:classes], sizes[:classes]


@compiled
def _group(
    rows: Any, weights: Any, labels: Any, offsets: Any, of_row: Any, firsts: Any, sizes: Any, slots: Any, start: int,
    stop: int, classes: int,
) -> int:  # fmt: skip
    """The number of classes with these rows, of which there were so many before."""
    attributes = rows.shape[1]
    last = len(slots) - 1
    for row in range(start, min(stop, len(rows))):
        code = np.uint64(0)
        for attribute in range(attributes):
            code = code * np.uint64(0x9E3779B97F4A7C15) + np.uint64(
                labels[offsets[attribute] + rows[row, attribute]] + 1
            )
        code ^= code >> np.uint64(29)
        code *= np.uint64(0xBF58476D1CE4E5B9)
        slot = np.int64(code >> np.uint64(32)) & last
        while True:
            found = slots[slot]
            if found < 0:
                slots[slot] = classes
                firsts[classes] = row
                sizes[classes] = weights[row]
                of_row[row] = classes
                classes += 1
                break
            other = firsts[found]
            same = True
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
    if stop >= len(rows):
        slots[:] = -1
    return classes


@compiled
def bound_classes(sizes: Any, is_sure: Any, least: int, records: int) -> tuple[float, int]:
    """DM: lower bound over everything between two partitions, and the records that are surely suppressed.

    Args:
        sizes: Records of each class of the finest partition.
        is_sure: Which of them are surely suppressed.
        least: No class of fewer records is released.
        records: Records in all, which is what a suppressed record costs.
    """
    bound, sure = 0.0, 0
    for index in range(len(sizes)):
        size = sizes[index]
        if is_sure[index]:
            bound += float(size) * records
            sure += size
        else:
            bound += float(size) * max(size, least)
    return bound, sure


@compiled
def cost_classes(sizes: Any, good: Any, records: int) -> tuple[float, int]:
    """DM of a partition, and the records that it suppresses: those of classes that are not good."""
    cost, suppressed = 0.0, 0
    for index in range(len(sizes)):
        size = sizes[index]
        if good[index]:
            cost += float(size) * size
        else:
            cost += float(size) * records
            suppressed += size
    return cost, suppressed


@compiled
def cost_cells(rows: Any, weights: Any, of_row: Any, released: Any, penalties: Any) -> tuple[float, int]:
    """Sum of penalties (attributes x positions) over the cells of records in released classes, 1 for the others."""
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
def cost_labels(entries: Any, of_entry: Any, counts: Any, released: Any, sizes: Any, kinds: int) -> float:
    """CM: records of released classes that do not have its most frequent label, and all records of the others.

    Args:
        entries: The class (of rows) of each entry.
        of_entry: The label of each entry.
        counts: Records of each entry.
        released: Which classes are not suppressed.
        sizes: Records of each class.
        kinds: Number of labels.
    """
    frequencies = np.zeros((len(sizes), kinds), np.int64)
    for entry in range(len(entries)):
        frequencies[entries[entry], of_entry[entry]] += counts[entry]
    cost = 0.0
    for index in range(len(sizes)):
        cost += sizes[index]
        if released[index]:
            cost -= frequencies[index].max()
    return cost


@compiled
def merge_costs(labels: Any, others: Any, buckets: int, sizes: Any, sure: Any, least: int, increase: Any) -> None:
    """DM: half of what joining two values of one attribute adds to the bound.

    Args:
        labels: The value of each class.
        others: A number for all the other values of each class.
        buckets: How many such numbers there are.
        sizes: Records of each class.
        sure: Whether a class is surely suppressed.
        least: No class of fewer records is released.
        increase: Takes the result, values x values, zero before.
    """
    heads = np.full(buckets, -1, np.int64)
    following = np.empty(len(labels), np.int64)
    for index in range(len(labels)):
        size = sizes[index]
        other = heads[others[index]]
        while other >= 0:
            if not (sure[index] or sure[other]):
                both = size + sizes[other]
                alone = float(size) * max(size, least) + float(sizes[other]) * max(sizes[other], least)
                more = (float(both) * max(both, least) - alone) / 2
                increase[labels[index], labels[other]] += more
                increase[labels[other], labels[index]] += more
            other = following[other]
        following[index] = heads[others[index]]
        heads[others[index]] = index


def roll_up(rows: Any, weights: Any, labels: Any, slots: Any) -> tuple[Any, Any]:
    """The classes of rows, as `group`, where the sum of a row's labels determines its class.

    Args:
        rows: Rows x attributes.
        weights: Records of each row.
        labels: Attributes x positions.
        slots: A power of two of -1, at least twice as many as rows; left as it was.

    Returns:
        The first row and the records of each class.
    """
    firsts, sizes, keys = np.empty((3, len(rows)), np.int64)
    classes = 0
    for start in range(0, len(rows), ROWS):
        classes = _roll_up(rows, weights, labels, firsts, sizes, keys, slots, start, start + ROWS, classes)
    return firsts[:classes], sizes[:classes]


@compiled
def _roll_up(
    rows: Any, weights: Any, labels: Any, firsts: Any, sizes: Any, keys: Any, slots: Any, start: int, stop: int,
    classes: int,
) -> int:  # fmt: skip
    """The number of classes with these rows, of which there were so many before."""
    last = len(slots) - 1
    for row in range(start, min(stop, len(rows))):
        key = np.int64(0)
        for attribute in range(rows.shape[1]):
            key += labels[attribute, rows[row, attribute]]
        slot = np.int64((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)) & last
        while True:
            found = slots[slot]
            if found < 0:
                slots[slot] = classes
                keys[classes] = key
                firsts[classes] = row
                sizes[classes] = weights[row]
                classes += 1
                break
            if keys[found] == key:
                sizes[found] += weights[row]
                break
            slot = (slot + 1) & last
    if stop >= len(rows):
        slots[:] = -1
    return classes


@compiled
def base_and_extra(sizes: Any, good: Any, least: int, records: int) -> tuple[float, float, int]:
    """DM: what classes cost if nothing is suppressed, what suppression adds, and the suppressed records.

    Args:
        sizes: Records of each class.
        good: Which classes are released.
        least: No class of fewer records is released; every record counts as much at least.
        records: Records in all, which is what a suppressed record costs.
    """
    base, extra, suppressed = 0.0, 0.0, 0
    for index in range(len(sizes)):
        size = sizes[index]
        base += float(size) * max(size, least)
        if not good[index]:
            extra += float(size) * (records - max(size, least))
            suppressed += size
    return base, extra, suppressed


@compiled
def extra_cells(rows: Any, sizes: Any, good: Any, penalties: Any) -> tuple[float, int]:
    """NCP: what suppressing the classes that are not good adds to what their cells cost, and the suppressed records."""
    extra, suppressed = 0.0, 0
    for row in range(len(rows)):
        if not good[row]:
            kept = 1.0
            for attribute in range(rows.shape[1]):
                kept -= penalties[attribute, rows[row, attribute]]
            extra += sizes[row] * kept
            suppressed += sizes[row]
    return extra, suppressed


@compiled
def pack(
    labels: Any, penalties: Any, joint: Any, enough: Any, shared: bool, used: Any, total: Any, place: Any, amount: int
) -> int:
    """Charge bad classes for being suppressed unless values of theirs are merged, by what merging costs at least.

    Args:
        labels: Classes x attributes.
        penalties: What suppressing each class adds; 0 for classes that are good.
        joint: Attributes x labels x labels, what merging two values costs at least; infinite where they cannot be.
        enough: Classes x attributes, whether merging values of this attribute alone can make the class good.
        shared: Whether what two values are charged must not exceed what merging them costs, else it is one by one.
        used: Attributes x labels, takes what was charged to each value.
        total: One number, takes the sum of the charges: classes that stay suppressed and values that are merged cost
            that much more.
        place: The turn, less 1, and the class to go on with; 0 before.
        amount: How many steps may be taken before it must pause.

    Returns:
        DONE or MORE.
    """
    attributes = labels.shape[1]
    size = joint.shape[1]
    slack = np.empty(attributes)
    while place[0] < attributes:
        turn = place[0] + 1
        for index in range(place[1], len(labels)):
            if penalties[index] <= 0:
                continue
            if amount <= 0:
                place[1] = index
                return MORE
            amount -= attributes * size
            can = 0
            charge = penalties[index] / 2
            for attribute in range(attributes):
                label = labels[index, attribute]
                slack[attribute] = np.inf
                for other in range(size):
                    cost = joint[attribute, label, other]
                    if cost < np.inf:
                        cost -= used[attribute, label]
                        if shared:
                            cost -= used[attribute, other]
                        slack[attribute] = min(slack[attribute], cost)
                if slack[attribute] < np.inf:
                    can += 1
                    charge = min(charge, slack[attribute] / 2 if enough[index, attribute] else slack[attribute])
            if can != turn or charge <= 0:
                continue
            total[0] += 2 * charge
            for attribute in range(attributes):
                if slack[attribute] < np.inf:
                    used[attribute, labels[index, attribute]] += 2 * charge if enough[index, attribute] else charge
        place[0], place[1] = turn, 0
    return DONE
