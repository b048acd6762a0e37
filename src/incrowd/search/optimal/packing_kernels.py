"""The inner loops of `packing`: a simplex method for packings, and a packing of whole numbers.

A packing gives every cut an amount such that no row, which is a join or a class, gets more from the cuts that name it
than its limit. Rows are few and cuts are many, so the inverse of the basis is kept in full.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from incrowd.search.compiled import compiled, compiled_within
from incrowd.search.optimal.slices import DONE, MORE

SMALL = 1e-7  # a gain that counts as none
TINY = 1e-9  # a pivot that counts as none


@compiled_within
def _entering(gains: Any, weights: Any, prices: Any, row_weights: Any, basis_of: Any, basis_of_row: Any) -> Any:
    """The cut that gains most for its weight, -1 minus a row whose price is negative, or, if none, how many cuts."""
    best, chosen = 0.0, len(gains)
    for cut in range(len(gains)):
        if gains[cut] > SMALL and basis_of[cut] < 0:
            score = gains[cut] * gains[cut] / weights[cut]
            if score > best:
                best, chosen = score, cut
    for row in range(len(prices)):
        if prices[row] < -SMALL and basis_of_row[row] < 0:
            score = prices[row] * prices[row] / row_weights[row]
            if score > best:
                best, chosen = score, -1 - row
    return chosen


@compiled_within
def _leaving(step: Any, amounts: Any) -> Any:
    """The place of the basis that is used up first; -1 if none is."""
    best, chosen = np.inf, -1
    for place in range(len(step)):
        if step[place] > TINY:
            ratio = amounts[place] / step[place]
            if ratio < best - TINY or (ratio < best + TINY and step[place] > step[chosen]):
                best, chosen = ratio, place
    return chosen


@compiled_within
def _priced(
    starts: Any, entries: Any, row: Any, share: float, pivot: float, weight: float, gains: Any, weights: Any,
    row_weights: Any,
) -> None:  # fmt: skip
    """Lower the gains of cuts by what a pivot takes off them, and raise their weights (devex)."""
    for cut in range(len(gains)):
        part = 0.0
        for place in range(starts[cut], starts[cut + 1]):
            part += row[entries[place]]
        if part != 0.0:
            gains[cut] -= share * part
            weights[cut] = max(weights[cut], part / pivot * (part / pivot) * weight)
    for other in range(len(row)):
        if row[other] != 0.0:
            row_weights[other] = max(row_weights[other], row[other] / pivot * (row[other] / pivot) * weight)


@compiled_within
def _add_up(inverse: Any, rows: Any, step: Any) -> None:
    """What a little more of a cut with some rows takes from each place of the basis."""
    step[:] = 0.0
    for row in rows:
        for place in range(len(step)):
            step[place] += inverse[row, place]


@compiled_within
def _turn(inverse: Any, prices: Any, row: Any, step: Any, gain: float, leaving: int) -> None:
    """Bring the inverse and the prices up to date after a pivot."""
    for other in range(len(row)):
        if row[other] != 0.0:
            part = row[other] / step[leaving]
            column = inverse[other]
            for place in range(len(step)):
                column[place] -= part * step[place]
            column[leaving] = part
            prices[other] += gain * part


@compiled
def pack(
    starts: Any, entries: Any, basis: Any, inverse: Any, amounts: Any, prices: Any, gains: Any, weights: Any,
    row_weights: Any, basis_of: Any, basis_of_row: Any, total: Any, target: float, pivots: Any, amount: int,
) -> int:  # fmt: skip
    """Pack as much as possible, by the simplex method.

    Args:
        starts: Of each cut, where its rows start in `entries`.
        entries: The rows of all cuts.
        basis: The cuts of the basis, or -1 minus a row that is not used up.
        inverse: Rows x places of the basis, the inverse of the basis by its columns.
        amounts: What each place of the basis gets.
        prices: Of each row, what a little more of its limit would add.
        gains: Of each cut, what a little more of it would add; 1 less the prices of its rows.
        weights: Of each cut, for choosing among them; 1 before.
        row_weights: Of each row, likewise.
        basis_of: Of each cut, its place in the basis, -1 if it has none.
        basis_of_row: Of each row, likewise.
        total: One number, what is packed; kept up to date.
        target: As much is enough.
        pivots: One number, how many pivots may be made; counted down.
        amount: How many steps may be taken before it must pause.

    Returns:
        DONE or MORE.
    """
    rows = len(prices)
    step, row = np.empty(rows), np.empty(rows)
    while pivots[0] > 0 and total[0] < target:
        if amount <= 0:
            return MORE
        amount -= rows * rows + len(entries)
        pivots[0] -= 1
        entering = _entering(gains, weights, prices, row_weights, basis_of, basis_of_row)
        if entering == len(gains):
            return DONE
        if entering >= 0:
            gain, weight = gains[entering], weights[entering]
            _add_up(inverse, entries[starts[entering] : starts[entering + 1]], step)
        else:
            gain, weight = -prices[-1 - entering], row_weights[-1 - entering]
            step[:] = inverse[-1 - entering]
        leaving = _leaving(step, amounts)
        if leaving < 0:
            return DONE
        pivot, more = step[leaving], max(0.0, amounts[leaving] / step[leaving])
        for other in range(rows):
            row[other] = inverse[other, leaving]
        _priced(starts, entries, row, gain / pivot, pivot, weight, gains, weights, row_weights)
        gone, left = basis[leaving], max(weight / (pivot * pivot), 1.0)
        if gone >= 0:
            basis_of[gone], weights[gone] = -1, left
        else:
            basis_of_row[-1 - gone], row_weights[-1 - gone] = -1, left
        for other in range(rows):
            amounts[other] -= more * step[other]
        amounts[leaving] = more
        _turn(inverse, prices, row, step, gain, leaving)
        basis[leaving] = entering
        if entering >= 0:
            basis_of[entering] = leaving
        else:
            basis_of_row[-1 - entering] = leaving
        total[0] += gain * more
    return DONE


@compiled
def pack_whole(starts: Any, entries: Any, owners: Any, wanted: Any, left: Any, left_of_cell: Any, packed: Any) -> int:
    """Give each cut in turn the whole number that is wanted, or what is left of its rows and its cell; the sum."""
    total = 0
    for cut in range(len(wanted)):
        most = min(wanted[cut], left_of_cell[owners[cut]])
        for place in range(starts[cut], starts[cut + 1]):
            most = min(most, left[entries[place]])
        packed[cut] = most
        total += most
        left_of_cell[owners[cut]] -= most
        for place in range(starts[cut], starts[cut + 1]):
            left[entries[place]] -= most
    return total
