"""The inner loops of `cuts`: what joins cost, the cuts of small classes, and cuts of a node in the terms of another."""

from __future__ import annotations

from typing import Any

import numpy as np

from incrowd.search.compiled import compiled, compiled_within
from incrowd.search.optimal.slices import DONE, MORE


@compiled
def join_costs(order: Any, bucket: Any, label: Any, sizes: Any, costs: Any) -> None:
    """Add what joining two values of an attribute costs where nothing else is joined: labels x labels.

    Args:
        order: The classes, those that differ in this attribute alone one after the other.
        bucket: A number for what they have in common, by class.
        label: The value of each class.
        sizes: Records of each class.
        costs: Labels x labels; takes the sums, the same both ways.
    """
    for place in range(len(order)):
        one = order[place]
        for before in range(place - 1, -1, -1):
            other = order[before]
            if bucket[other] != bucket[one]:
                break
            costs[label[one], label[other]] += 2 * sizes[one] * sizes[other]
            costs[label[other], label[one]] = costs[label[one], label[other]]


@compiled_within
def _set_apart(cells: Any, own: int, away: Any) -> None:
    """Count the attributes in which each class differs from one."""
    away[:] = 0
    for attribute in range(len(cells)):
        of_cells, label = cells[attribute], cells[attribute, own]
        for cell in range(len(away)):
            away[cell] += np.uint8(of_cells[cell] != label)


@compiled_within
def _entering(with_value: Any, away: Any, sizes: Any, enough: int) -> int:
    """Records that a box gets with one more value, or enough of them."""
    records = np.int64(0)
    for cell in with_value:
        if away[cell] == 1:
            records += sizes[cell]
            if records >= enough:
                break
    return int(records)


@compiled
def cut(
    cells: Any, sizes: Any, small: Any, starts: Any, lists: Any, near: Any, row_of: Any, ranks: Any, prices: Any,
    cell_prices: Any, masks: Any, good: int, found: Any, place: Any, amount: int,
) -> int:  # fmt: skip
    """For each small class a cut that prices break, if one is found.

    A box begins with the values of the class and takes more, those with the highest price first, as long as fewer
    records are in it than a good class has. So a join with a value that is not in it is needed.

    Args:
        cells: Attributes x classes, labels; bytes.
        sizes: Records of each class.
        small: The classes that are not good.
        starts: Attributes x labels and one more, where the classes with that label start in `lists`.
        lists: Attributes x classes, by label.
        near: Attributes x labels x labels, which may be joined.
        row_of: Attributes x labels x labels, the row of each join; -1 for those that cost nothing.
        ranks: Attributes x labels x labels, small numbers that order joins with equal prices.
        prices: Of each row.
        cell_prices: Of each class.
        masks: Attributes x labels, the values of each label.
        good: Records of a good class.
        found: Takes the cuts, as many as there is room for: the class of each, its box by attributes (room for one
            more), where its rows start (likewise), and these rows.
        place: The next small class, the number of cuts and of their rows, 0 before.
        amount: How many steps may be taken before it must pause.

    Returns:
        DONE or MORE.
    """
    owners, boxes, begins, entries = found
    width, (attributes, count_of_cells) = near.shape[1], cells.shape
    away = np.empty(count_of_cells, np.uint8)  # attributes in which a class lies outside of the box
    which, keys = np.empty(attributes * width, np.int64), np.empty(attributes * width)
    while place[0] < len(small) and place[1] < len(owners):
        if amount <= 0:
            return MORE
        own = small[place[0]]
        place[0] += 1
        count = 0
        for attribute in range(attributes):
            label = cells[attribute, own]
            boxes[place[1], attribute] = masks[attribute, label]
            for other in range(width):
                if near[attribute, label, other]:
                    row = row_of[attribute, label, other]
                    which[count] = attribute * width + other
                    keys[count] = ranks[attribute, label, other] - (1.0 if row < 0 else prices[row])
                    count += 1
        _set_apart(cells, own, away)
        amount -= count_of_cells + 100 * count
        inside, paid, end = sizes[own], cell_prices[own], place[2]
        for chosen in np.argsort(keys[:count]):
            attribute, other = which[chosen] // width, which[chosen] % width
            first, last = starts[attribute, other], starts[attribute, other + 1]
            more = inside + _entering(lists[attribute, first:last], away, sizes, good - inside)
            amount -= last - first
            if more < good:
                inside = more
                boxes[place[1], attribute] |= masks[attribute, other]
                for cell in lists[attribute, first:last]:
                    away[cell] -= 1
                continue
            row = row_of[attribute, cells[attribute, own], other]
            paid += 1.0 if row < 0 else prices[row]
            if paid >= 0.9999:
                break
            entries[end] = row
            end += 1
        if paid < 0.9999:
            owners[place[1]], place[1], place[2] = own, place[1] + 1, end
            begins[place[1]] = end
    return DONE


@compiled
def carried(
    values: Any, boxes: Any, labels: Any, masks: Any, near: Any, row_of: Any, kept: Any, begins: Any, entries: Any
) -> int:  # fmt: skip
    """Cuts of a node in the rows of one below, without those that are kept by all that is below.

    Args:
        values: Cuts x attributes, the values of a class.
        boxes: Cuts x attributes, the values in its box.
        labels: Attributes x values.
        masks: See `cut`.
        near: See `cut`.
        row_of: See `cut`.
        kept: Takes the numbers of the cuts that stay.
        begins: Takes where their rows start; one more.
        entries: Takes these rows.

    Returns:
        How many stay.
    """
    count, end = 0, 0
    for number in range(len(values)):
        holds = False
        end = begins[count]
        for attribute in range(values.shape[1]):
            box, label = boxes[number, attribute], labels[attribute, values[number, attribute]]
            holds = holds or masks[attribute, label] & ~box != 0
            for other in range(near.shape[1]):
                if near[attribute, label, other] and masks[attribute, other] & ~box:
                    row = row_of[attribute, label, other]
                    holds = holds or row < 0
                    entries[end] = row
                    end += 1
        if not holds:
            kept[count] = number
            count += 1
            begins[count] = end
    return count
