"""The inner loops of the optimal searches, compiled by numba: classes of a recoded table, and what they cost.

Rows are distinct tuples (rows x attributes, positions of values), `labels` what each position becomes (attributes x
positions). Classes are found by hashing and compared label by label, so no number of attributes is too large.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba
import numpy as np

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Compile when first called, and keep the result on disk."""
    made: Any = numba.njit(cache=True, nogil=True)(function)
    return made  # type: ignore[no-any-return]


@compiled
def group(rows: Any, weights: Any, labels: Any, of_row: Any, firsts: Any, sizes: Any, slots: Any) -> int:
    """Number the classes of rows.

    Args:
        rows: Rows x attributes.
        weights: Records of each row.
        labels: Attributes x positions.
        of_row: Takes the class of each row.
        firsts: Takes the first row of each class.
        sizes: Takes the records of each class.
        slots: A power of two of -1, at least twice as many as rows; left as it was.

    Returns:
        The number of classes.
    """
    attributes = rows.shape[1]
    classes = 0
    last = len(slots) - 1
    for row in range(len(rows)):
        code = np.uint64(0)
        for attribute in range(attributes):
            code = code * np.uint64(0x9E3779B97F4A7C15) + np.uint64(labels[attribute, rows[row, attribute]] + 1)
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
                if labels[attribute, rows[row, attribute]] != labels[attribute, rows[other, attribute]]:
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
def bound_classes(sizes: Any, coarse_of: Any, coarse_sizes: Any, k: int, records: int) -> tuple[float, int]:
    """DM: lower bound over everything between two partitions, and the records that are surely suppressed."""
    bound, sure = 0.0, 0
    for index in range(len(sizes)):
        size = sizes[index]
        if coarse_sizes[coarse_of[index]] < k:
            bound += float(size) * records
            sure += size
        else:
            bound += float(size) * max(size, k)
    return bound, sure


@compiled
def cost_classes(sizes: Any, k: int, records: int) -> tuple[float, int]:
    """DM of a partition, and the records that it suppresses."""
    cost, suppressed = 0.0, 0
    for size in sizes:
        if size < k:
            cost += float(size) * records
            suppressed += size
        else:
            cost += float(size) * size
    return cost, suppressed


@compiled
def cost_cells(rows: Any, weights: Any, of_row: Any, sizes: Any, k: int, penalties: Any) -> tuple[float, int]:
    """Sum of penalties (attributes x positions) over the cells of the records in large classes, 1 for the others."""
    cost, suppressed = 0.0, 0
    for row in range(len(rows)):
        if sizes[of_row[row]] < k:
            suppressed += weights[row]
            cost += weights[row]
        else:
            lost = 0.0
            for attribute in range(rows.shape[1]):
                lost += penalties[attribute, rows[row, attribute]]
            cost += weights[row] * lost
    return cost, suppressed


@compiled
def cost_labels(entries: Any, of_entry: Any, counts: Any, large: Any, sizes: Any, kinds: int) -> float:
    """CM: records of large classes that are not of its majority, and all records of the others.

    Args:
        entries: The class (of rows) of each entry.
        of_entry: The class label of each entry.
        counts: Records of each entry.
        large: Which classes are large enough.
        sizes: Records of each class.
        kinds: Number of labels.
    """
    frequencies = np.zeros((len(sizes), kinds), np.int64)
    for entry in range(len(entries)):
        frequencies[entries[entry], of_entry[entry]] += counts[entry]
    cost = 0.0
    for index in range(len(sizes)):
        cost += sizes[index]
        if large[index]:
            cost -= frequencies[index].max()
    return cost


@compiled
def merge_costs(labels: Any, others: Any, buckets: int, sizes: Any, sure: Any, k: int, increase: Any) -> None:
    """DM: half of what joining two values of one attribute adds to the bound.

    Args:
        labels: The value of each class.
        others: A number for all the other values of each class.
        buckets: How many such numbers there are.
        sizes: Records of each class.
        sure: Whether a class is surely suppressed.
        k: The smallest class that is released.
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
                alone = float(size) * max(size, k) + float(sizes[other]) * max(sizes[other], k)
                more = (float(both) * max(both, k) - alone) / 2
                increase[labels[index], labels[other]] += more
                increase[labels[other], labels[index]] += more
            other = following[other]
        following[index] = heads[others[index]]
        heads[others[index]] = index


@compiled
def roll_up(rows: Any, weights: Any, labels: Any, firsts: Any, sizes: Any, keys: Any, slots: Any) -> int:
    """The classes of rows, as `group`, where the sum of a row's labels tells its class.

    Args:
        rows: Rows x attributes.
        weights: Records of each row.
        labels: Attributes x positions.
        firsts: Takes the first row of each class.
        sizes: Takes the records of each class.
        keys: Takes the key of each class.
        slots: A power of two of -1, at least twice as many as rows; left as it was.

    Returns:
        The number of classes.
    """
    classes = 0
    last = len(slots) - 1
    for row in range(len(rows)):
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
    slots[:] = -1
    return classes


@compiled
def base_and_extra(sizes: Any, k: int, records: int) -> tuple[float, float, int]:
    """DM: what the classes cost if each record counts k at least, what suppression adds, and the suppressed records."""
    base, suppressed = 0.0, 0
    for size in sizes:
        base += float(size) * max(size, k)
        if size < k:
            suppressed += size
    return base, float(suppressed) * (records - k), suppressed


@compiled
def extra_cells(rows: Any, sizes: Any, k: int, penalties: Any) -> tuple[float, int]:
    """LM: what suppressing the small classes adds to what their cells cost, and the suppressed records."""
    extra, suppressed = 0.0, 0
    for row in range(len(rows)):
        if sizes[row] < k:
            kept = 1.0
            for attribute in range(rows.shape[1]):
                kept -= penalties[attribute, rows[row, attribute]]
            extra += sizes[row] * kept
            suppressed += sizes[row]
    return extra, suppressed


@compiled
def pack(labels: Any, penalties: Any, joint: Any, enough: Any, shared: bool, used: Any) -> float:
    """Charge small classes for being suppressed unless values of theirs are merged, by what merging costs at least.

    Args:
        labels: Classes x attributes.
        penalties: What suppressing each class adds; 0 for classes that are large enough.
        joint: Attributes x labels x labels, what merging two values costs at least; infinite where they cannot be.
        enough: Classes x attributes, whether merging values of this attribute alone can make the class large.
        shared: Whether what two values are charged must not exceed what merging them costs, else it is one by one.
        used: Attributes x labels, takes what was charged to each value.

    Returns:
        The sum of the charges: classes that stay suppressed and values that are merged cost that much more.
    """
    total = 0.0
    attributes = labels.shape[1]
    size = joint.shape[1]
    slack = np.empty(attributes)
    for turn in range(1, attributes + 1):
        for index in range(len(labels)):
            if penalties[index] <= 0:
                continue
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
            total += 2 * charge
            for attribute in range(attributes):
                if slack[attribute] < np.inf:
                    used[attribute, labels[index, attribute]] += 2 * charge if enough[index, attribute] else charge
    return total
