"""In which order released rows leave: one that says nothing of the order in which they came.

Rows that leave as they came can be linked: in a file sorted by age, neighbours undo the generalization, and in one
sorted by name they tell who is who. So rows are ordered by a hash of all that is released of them. The order follows
from the released rows alone, as a multiset: whoever has them could have put them in this order himself, so it says no
more than they do, and the same rows in any order, on any engine, give the same file. A secret key would be weaker: one
made from the data confirms guesses about the data, and a random one makes a release that nobody can make again.

Equal rows have equal hashes and would stand together, which serves neither a reader of the first lines nor a
cross-validation over blocks. So rows are spread by a second hash, of the first one and a running number among equals.
The numbers need a count per distinct row; to keep memory bounded, that is done in parts: rows of more than
`MOST_DISTINCT` distinct hashes are first cut into 256 parts by the first byte of their hash, each of these that still
has more by the second byte, and so on; parts follow each other. Where two different rows have the same hash, by chance
(once in a million tables of five million rows), their order is left open, and nothing else.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from incrowd.engines.allocation import Hashes, mix
from incrowd.table import grouping
from incrowd.table.arrays import filled, text_array, to_numpy
from incrowd.table.grouping import room_for

Places = npt.NDArray[np.int64]
MOST_DISTINCT = 1 << 18
LEVELS = 8  # bytes of a hash
PARTS = 256
_HASHED_WORDS = 32  # of eight bytes; the rest of a longer text is hashed as a whole
_NULL = 0x6E756C6C
_BYTES_KEPT = np.array([(1 << 8 * count) - 1 for count in range(9)], np.uint64)


def row_hashes(batch: pa.RecordBatch) -> Hashes:
    """A hash of each row: the same for equal rows, in whatever batches or layouts they come."""
    total = np.zeros(len(batch), np.uint64)
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        total += _value_hashes(column, seed_of(name))
    return total


def seed_of(name: str) -> np.uint64:
    """What the hashes of a column's values are drawn by."""
    return np.uint64(int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "little"))


def hash_of_nothing(seed: np.uint64) -> Hashes:
    """The hash of a missing value, in an array of one."""
    return mix(np.array([seed ^ np.uint64(_NULL)]))


def _value_hashes(column: pa.Array, seed: np.uint64) -> Hashes:
    """A hash of each value, drawn by the column's seed, so that a row's may be added up."""
    if isinstance(column, pa.ExtensionArray):
        column = column.storage
    nothing = hash_of_nothing(seed)
    if pa.types.is_dictionary(column.type):
        values = np.append(_value_hashes(column.dictionary, seed), nothing)
        if len(values) == 2 and not column.null_count:
            return np.broadcast_to(values[:1], len(column))
        return np.asarray(values.take(to_numpy(filled(column.indices, len(values) - 1))))
    numbers = _bits(column)
    hashes = mix(numbers ^ seed) if numbers is not None else _text_hashes(_bytes(column), seed)
    if column.null_count:
        hashes[to_numpy(pc.is_null(column))] = nothing
    return hashes


def _bits(column: pa.Array) -> Hashes | None:
    """Values of a fixed width as numbers, whatever that width is; None for others."""
    kind = column.type
    if pa.types.is_boolean(kind):
        column = column.cast(pa.uint8())
    elif pa.types.is_floating(kind):
        column = column.cast(pa.float64()).view(pa.int64())
    elif pa.types.is_temporal(kind) and kind.bit_width in (32, 64):
        column = column.view(pa.int32() if kind.bit_width == 32 else pa.int64())
    elif not pa.types.is_integer(kind):
        return None
    values = to_numpy(filled(column, 0))
    return np.asarray(values.astype(np.uint64 if values.dtype == np.uint64 else np.int64).view(np.uint64))


def _bytes(column: pa.Array) -> pa.Array:
    kind = column.type
    if pa.types.is_binary(kind) or pa.types.is_string(kind):
        return column
    if not pa.types.is_nested(kind) and not pa.types.is_null(kind):
        try:
            return column.cast(pa.large_binary() if pa.types.is_binary(kind) else pa.large_string())
        except pa.ArrowException:
            pass
    return text_array(None if value is None else repr(value) for value in column.to_pylist())


def _text_hashes(column: pa.Array, seed: np.uint64) -> Hashes:
    """The hash of each text, eight bytes of all texts at a time."""
    wide = pa.types.is_large_string(column.type) or pa.types.is_large_binary(column.type)
    _, places, held = column.buffers()
    offsets = np.frombuffer(places, np.int64 if wide else np.int32)[column.offset : column.offset + len(column) + 1]
    first, last = (int(offsets[0]), int(offsets[-1])) if len(column) else (0, 0)
    data = bytes(held.slice(first, last - first)) if last > first else b""
    starts, lengths = (offsets[:-1] - first).astype(np.int64), np.diff(offsets).astype(np.int64)
    words: Any = np.ndarray((len(data) + 1,), "<u8", data + bytes(8), strides=(1,))  # the word from each byte on
    hashes = mix(lengths.astype(np.uint64) ^ seed)
    at: Any = slice(None)
    for word in range(_HASHED_WORDS):
        left = lengths - 8 * word
        if (more := left > 0).all():
            at, there = slice(None), starts
        else:
            at = np.flatnonzero(more)
            there, left = starts[at], left[at]
        if not len(left):
            break
        taken = words[there + 8 * word] & _BYTES_KEPT[np.minimum(left, 8)]
        hashes[at] = mix(hashes[at] ^ taken)
    for row in np.flatnonzero(lengths > 8 * _HASHED_WORDS).tolist():
        digest = hashlib.blake2b(data[starts[row] : starts[row] + lengths[row]], digest_size=8).digest()
        hashes[row] ^= np.uint64(int.from_bytes(digest, "little"))
    return hashes


def order_of(hashes: Hashes, level: int = 0) -> Places:
    """The order in which rows leave: the place of the first one, of the second one, and so on.

    Args:
        hashes: The hash of each row.
        level: How many bytes they are known to have in common.
    """
    order = ascending(hashes)
    if level < LEVELS and len(hashes) > MOST_DISTINCT and np.count_nonzero(_begins(hashes.take(order))) > MOST_DISTINCT:
        parts = [chosen[order_of(hashes[chosen], level + 1)] for chosen in split(hashes, level)]
        return np.concatenate(parts)
    return ascending(Numbering().spread(hashes, order))


def ascending(hashes: Hashes) -> Places:
    """The order in which hashes ascend: first by as many of their bits as are sorted fast, which nearly always do."""
    if not len(hashes):
        return np.empty(0, np.int64)
    above = hashes - hashes.min()
    most = int(above.max())
    shift = max(0, most.bit_length() + 1 - room_for(len(hashes)).bit_length())
    order = grouping.order_of((above >> np.uint64(shift)).astype(np.int64), (most >> shift) + 1)
    ordered = hashes.take(order)
    return order if (ordered[1:] >= ordered[:-1]).all() else np.argsort(hashes)


def _begins(ordered: Hashes) -> npt.NDArray[np.bool_]:
    """Where another hash begins, among those in order."""
    return np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]


def distinct(hashes: Hashes) -> Hashes:
    """The distinct ones, sorted; faster than numpy's own, which hashes what is hashed already."""
    ordered = np.sort(hashes)
    return np.asarray(ordered[_begins(ordered)])


def split(hashes: Hashes, level: int) -> list[Places]:
    bytes_ = (hashes >> np.uint64(56 - 8 * level)).astype(np.uint8)
    order = np.argsort(bytes_, kind="stable")
    return np.split(order, np.cumsum(np.bincount(bytes_, minlength=PARTS))[:-1])


class Numbering:
    """Numbers equal rows as they come, for the second hash; memory grows with the distinct ones."""

    def __init__(self, distinct: Hashes | None = None) -> None:
        """Begin.

        Args:
            distinct: All hashes that will come, sorted, if they come in several batches.
        """
        self._distinct = distinct
        self._used = np.zeros(0 if distinct is None else len(distinct), np.uint64)

    def spread(self, hashes: Hashes, order: Places | None = None) -> Hashes:
        """The second hash of the next rows."""
        order = ascending(hashes) if order is None else order
        ordered = hashes[order]
        begins = np.flatnonzero(_begins(ordered))
        lengths = np.diff(np.append(begins, len(ordered)))
        number = (np.arange(len(ordered)) - np.repeat(begins, lengths)).astype(np.uint64)
        if self._distinct is not None:
            entries = np.searchsorted(self._distinct, ordered[begins])
            number += np.repeat(self._used[entries], lengths)
            self._used[entries] += lengths.astype(np.uint64)
        drawn = np.empty(len(ordered), np.uint64)
        drawn[order] = mix(ordered ^ mix(number))
        return drawn
