"""Rows of codes: sorting, numbering and counting the distinct ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[Any]
Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_CACHED = 1 << 17  # rows whose keys stay in the cache
_PIECE, _PIECES = 256, 4096  # of rows that are sorted: how long they are, about, and how many there may be


def count(keys: Codes, size: int, weights: npt.NDArray[Any] | None) -> Counts:
    """How many records (or how much weight) each key below `size` has."""
    counted = np.bincount(keys, weights, minlength=size)
    return counted if weights is None else counted.astype(np.int64)


def tallied(rows: int, size: int, keys: Callable[[slice], tuple[Codes, npt.NDArray[Any] | None]]) -> Counts:
    """The same for keys that are made piece by piece: what is made of a piece stays in the processor's cache."""
    piece = max(_CACHED, size)
    found = np.zeros(size, np.int64)
    for start in range(0, rows, piece):
        made, weights = keys(slice(start, min(start + piece, rows)))
        found += count(made, size, weights)
    return found


def summed(counts: Counts | None, order: Codes, starts: Codes) -> Counts:
    """The records of each run of rows in some order, where each row is some records (one if None)."""
    if counts is None:
        return np.diff(np.append(starts, len(order)))
    return np.add.reduceat(counts[order], starts)


def sort_tuples(columns: Sequence[Codes], sizes: Sequence[int]) -> tuple[Codes, Codes]:
    """Sort rows of codes lexicographically.

    As many columns as fit are packed into one integer; where more are left, they are packed in turn, and sorted only
    among rows that are equal so far, which are few where there are many columns.

    Returns:
        The order of the rows, and where in that order each distinct tuple starts.
    """
    key, packed = _pack(columns, sizes, room_for(len(columns[0])))
    order = order_of(key, math.prod(sizes[:packed]))
    new = changes([key.take(order)])
    while packed < len(columns):
        tied = ~new
        tied[:-1] |= tied[1:]
        places = np.flatnonzero(tied)
        rows = order[places]
        room = room_for(len(rows)) // max(len(order), 1)
        key, more = _pack([column.take(rows) for column in columns[packed:]], sizes[packed:], room)
        if len(rows):
            width = math.prod(sizes[packed : packed + more])
            key += np.cumsum(new)[places] * np.int64(width)
            inner = order_of(key, (len(order) + 1) * width)
            order[places], new[places] = rows[inner], changes([key[inner]])
        packed += more
    return order, np.flatnonzero(new)


def room_for(rows: int) -> int:
    """What keys of this many rows may be below, for `order_of` to be fast."""
    return (1 << 62 - rows.bit_length()) * max(min(rows // _PIECE, _PIECES), 1)


def order_of(keys: Codes, room: int) -> Codes:
    """The order in which keys ascend."""
    rows = len(keys)
    bits = rows.bit_length()
    pieces = min(rows // _PIECE, _PIECES)
    width = -(-room // max(pieces, 1))
    if width << bits >= 1 << 63:
        return np.argsort(keys)
    order = np.arange(rows)
    ends = [rows]
    if pieces > 1:
        piece = (keys // width).astype(np.uint16)
        order = np.argsort(piece, kind="stable")  # by counting, as there are few
        keys = keys.take(order) - np.repeat(np.arange(pieces) * width, held := np.bincount(piece, minlength=pieces))
        ends = np.cumsum(held).tolist()
    keyed = (keys << bits) + order
    for start, end in pairwise([0, *ends]):
        keyed[start:end].sort()
    keyed &= (1 << bits) - 1
    return keyed


def ascending(keys: Codes, room: int) -> Codes:
    """Keys in order; sorted in pieces as in `order_of`, where there are many of them."""
    pieces = min(len(keys) // _PIECE, _PIECES)
    if pieces < 2:
        return np.sort(keys)
    piece = (keys // keys.dtype.type(-(-room // pieces))).astype(np.uint16)
    keys = keys.take(np.argsort(piece, kind="stable"))
    for start, end in pairwise([0, *np.cumsum(np.bincount(piece, minlength=pieces)).tolist()]):
        keys[start:end].sort()
    return keys


def _pack(columns: Sequence[Codes], sizes: Sequence[int], room: int) -> tuple[Codes, int]:
    """The first columns as one integer per row, below `room` if one column is; and how many columns those are."""
    used, packed = sizes[0], 1
    while packed < len(columns) and used * sizes[packed] <= room:
        used *= sizes[packed]
        packed += 1
    return _packed(columns[:packed], sizes[:packed], np.dtype(np.int64)), packed


def changes(columns: Sequence[Codes]) -> npt.NDArray[np.bool_]:
    """Where a row differs from the one before; the first row does."""
    changed = np.ones(len(columns[0]), bool)
    changed[1:] = False
    for column in columns:
        changed[1:] |= column[1:] != column[:-1]
    return changed


def group(columns: Sequence[Codes], widths: Sequence[int]) -> tuple[Codes, Codes]:
    """Number the distinct rows of some columns of codes.

    Returns:
        The number of each row, and for each number a row that has it.
    """
    if _are_few(columns, widths):
        keys, first = _firsts(columns, widths)
        present = first >= 0
        return (present.cumsum() - 1).take(keys), first[present]
    order, starts = sort_tuples(columns, widths)
    number = np.zeros(len(order), np.int64)  # of each row in that order
    number[starts[1:]] = 1
    groups = np.empty_like(number)
    groups[order] = np.cumsum(number, out=number)
    return groups, order[starts]


def distinct_rows(
    columns: Sequence[Codes], widths: Sequence[int], weights: npt.NDArray[Any] | None
) -> tuple[list[Codes], npt.NDArray[Any]]:
    """Count the distinct rows of some columns of codes.

    Returns:
        The distinct rows in ascending order, column by column, and how many rows are equal to each, or their weight.
    """
    room = math.prod(widths)
    if _are_few(columns, widths):

        def keys(part: slice) -> tuple[Codes, npt.NDArray[Any] | None]:
            some = [column[part] for column in columns]
            return _packed(some, widths, np.dtype(np.int64)), None if weights is None else weights[part]

        counts = tallied(len(columns[0]), room, keys)
        present = np.flatnonzero(counts)
        return _unpacked(present, columns, widths), counts[present]
    if weights is None and room <= 1 << 62:  # then keys need not be followed to their rows
        in_order = ascending(_packed(columns, widths, np.min_scalar_type(room)), room)
        starts = np.flatnonzero(changes([in_order]))
        return _unpacked(in_order[starts], columns, widths), np.diff(np.append(starts, len(in_order)))
    order, starts = sort_tuples(columns, widths)
    return [column.take(order[starts]) for column in columns], summed(weights, order, starts)


def sums_of_rows(
    columns: Sequence[Codes], widths: Sequence[int], amounts: Sequence[Counts]
) -> tuple[list[Codes], list[Counts]]:
    """Sum up amounts over rows with equal codes; of every row there is some amount.

    Returns:
        The distinct rows in ascending order, column by column, and the sums of each amount.
    """
    if not _are_few(columns, widths):
        groups, firsts = group(columns, widths)
        return [column.take(firsts) for column in columns], [count(groups, len(firsts), each) for each in amounts]
    keys, room = _packed(columns, widths, np.dtype(np.int64)), math.prod(widths)
    tables = [count(keys, room, amount) for amount in amounts]
    present = np.flatnonzero(reduce(np.add, tables))
    return _unpacked(present, columns, widths), [table[present] for table in tables]


def _packed(columns: Sequence[Codes], widths: Sequence[int], kind: np.dtype[Any]) -> Codes:
    keys = columns[0].astype(kind)
    for column, width in zip(columns[1:], widths[1:], strict=True):
        if width > 1:
            keys *= kind.type(width)
            np.add(keys, column, out=keys, casting="unsafe")  # there is room for all of them
    return keys


def _unpacked(keys: Codes, columns: Sequence[Codes], widths: Sequence[int]) -> list[Codes]:
    found: list[Codes] = []
    for column, width in zip(reversed(columns), reversed(widths), strict=True):
        above = keys // keys.dtype.type(width)
        found.append((keys - above * keys.dtype.type(width)).astype(column.dtype))
        keys = above
    return found[::-1]


def _are_few(columns: Sequence[Codes], widths: Sequence[int]) -> bool:
    """Whether there are so few combinations of codes that rows need not be sorted."""
    return math.prod(widths) <= 4 * len(columns[0]) + 65536


def _firsts(columns: Sequence[Codes], widths: Sequence[int]) -> tuple[Codes, Codes]:
    keys = _packed(columns, widths, np.dtype(np.int64))
    first = np.full(math.prod(widths), -1)
    first[keys[::-1]] = np.arange(len(keys) - 1, -1, -1)
    return keys, first
