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
def pack(rows: Any, labels: Any, open_to: Any, penalties: Any, prices: Any, used: Any) -> float:
    """Charge classes for being suppressed unless a value of theirs is merged, by what merging the value costs at least.

    Args:
        rows: One row of each class.
        labels: Attributes x positions.
        open_to: Takes how many values of each class can be merged at all.
        penalties: What suppressing each class adds; 0 for classes that are large enough.
        prices: Attributes x labels, what merging a value costs at least; infinite where it cannot be.
        used: Attributes x labels, takes what was charged of each price.

    Returns:
        The sum of the charges: classes that stay suppressed and values that are merged cost that much more.
    """
    total = 0.0
    attributes = rows.shape[1]
    for index in range(len(rows)):
        open_to[index] = 0
        if penalties[index] > 0:
            for attribute in range(attributes):
                if prices[attribute, labels[attribute, rows[index, attribute]]] < np.inf:
                    open_to[index] += 1
    for turn in range(1, attributes + 1):
        for index in range(len(rows)):
            if open_to[index] != turn:
                continue
            charge = penalties[index]
            for attribute in range(attributes):
                label = labels[attribute, rows[index, attribute]]
                charge = min(charge, prices[attribute, label] - used[attribute, label])
            if charge > 0:
                total += charge
                for attribute in range(attributes):
                    used[attribute, labels[attribute, rows[index, attribute]]] += charge
    return total
