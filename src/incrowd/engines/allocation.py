"""Which records of a split tuple go where: a rule that does not depend on the order of rows and reveals nothing.

Records of one tuple are equal on the quasi-identifier, so whichever of them join another class, the classes are the
same. Still the choice must be made by something. By the order of rows it would change when the file is sorted, and show
where in the file a record was. By a column it would reveal that column. So it is made by a hash of the whole row, but
for dropped columns: records of a tuple are ordered by hash, the first ones take the largest part, the next ones the
second, and so on. Rows that are equal throughout are distinguished by a running number, so that they do not all go the
same way; which of them has which number does not matter, since they are equal: the released rows are the same, as a
multiset, for any order of the file.

The hash is keyed. Whoever could compute it could test, for a generalized row, which of the original tuples would
have sent it there. So the key comes from that of the release (`incrowd.key`), which is drawn at random and follows from
nothing that anyone else has; it is kept in the recoding file and in the key file, both confidential.

Memory grows with the distinct rows of the split tuples (about 40 bytes each), not with the table.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from incrowd.errors import DataError
from incrowd.table.arrays import filled, text_array, to_numpy

Hashes = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.int64]
_NULL = np.uint64(0x6E756C6C)
GOLDEN = 0x9E3779B97F4A7C15
MIX_FACTORS = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
MIX_SHIFTS = (30, 27, 31)
_BUFFER = 1 << 20


class RowHash:
    """A keyed hash of rows, the same however the rows are cut into batches."""

    def __init__(self, key: bytes, without: Sequence[str] = ()) -> None:
        self._key = key
        self._without = without

    def __call__(self, batch: pa.RecordBatch) -> Hashes:
        total = np.zeros(len(batch), np.uint64)
        for name in sorted(set(batch.schema.names).difference(self._without)):
            column = _distinct(batch.column(name))
            values = np.array([*(self._value(name, text) for text in _texts(column.dictionary)), _NULL], np.uint64)
            indices = to_numpy(filled(column.indices, len(values) - 1))
            total = mix(total ^ values[indices])
        return total

    def _value(self, name: str, text: str | None) -> int:
        if text is None:
            return int(_NULL)
        digest = hashlib.blake2b(f"{name}\0{text}".encode(), digest_size=8, key=self._key).digest()
        return int.from_bytes(digest, "little")


def _distinct(column: pa.Array) -> pa.DictionaryArray:
    if pa.types.is_nested(column.type):
        column = text_array(None if value is None else repr(value) for value in column.to_pylist())
    return column if pa.types.is_dictionary(column.type) else column.dictionary_encode()


def _texts(values: pa.Array) -> list[str | None]:
    try:
        return list(values.cast(pa.string()).to_pylist())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):  # bytes that are not text
        return [None if value is None else repr(value) for value in values.to_pylist()]


def mix(numbers: Hashes) -> Hashes:
    """The finalizer of SplitMix64: a permutation of 64-bit numbers that leaves no pattern."""
    z = numbers + np.uint64(GOLDEN)
    for shift, factor in zip(MIX_SHIFTS, MIX_FACTORS, strict=False):
        z = (z ^ (z >> np.uint64(shift))) * np.uint64(factor)
    return np.asarray(z ^ (z >> np.uint64(MIX_SHIFTS[-1])))


class Allocation:
    """The part of every row of a split tuple, decided once all of them are known."""

    def __init__(self, first: Numbers, sizes: Numbers, rows: Iterable[tuple[Numbers, Hashes]]) -> None:
        """Decide.

        Args:
            first: Where the parts of each tuple begin, and where the last ones end.
            sizes: How many records each part takes.
            rows: Tuples and hashes of all rows of split tuples, batch by batch.
        """
        tuples, hashes, counts = _collapsed(rows)
        self._salt, order = np.uint64(0), np.arange(len(tuples))
        while len(tuples):  # keys of different rows must differ; once in a million tables it takes another salt
            keys = self._keys(tuples, hashes)
            order = np.argsort(keys)
            if (np.diff(keys[order]) != 0).all():
                break
            self._salt += np.uint64(1)
        tuples, hashes, counts = tuples[order], hashes[order], counts[order]
        self._sorted = self._keys(tuples, hashes)
        self._start = np.concatenate([[0], np.cumsum(counts)])
        self._used = np.zeros(len(counts), np.int64)
        number = np.arange(self._start[-1]) - np.repeat(self._start[:-1], counts)
        drawn = mix(np.repeat(hashes, counts) ^ mix(number.astype(np.uint64)))
        self._parts = _allocated(first, sizes, np.repeat(tuples, counts), drawn)

    def _keys(self, tuples: Numbers, hashes: Hashes) -> Hashes:
        return mix(hashes ^ mix(tuples.astype(np.uint64) + (self._salt << np.uint64(40))))

    def parts(self, tuples: Numbers, hashes: Hashes) -> Numbers:
        """The part of each of the next rows; together, each row that was known must be asked for once."""
        keys = self._keys(tuples, hashes)
        entry = np.searchsorted(self._sorted, keys)
        order = np.argsort(entry, kind="stable")
        ordered = entry[order]
        first = np.flatnonzero(np.diff(ordered, prepend=-1))
        number = np.arange(len(ordered)) - np.repeat(first, np.diff(np.append(first, len(ordered))))
        known = ordered < len(self._sorted)
        known[known] = self._sorted[ordered[known]] == keys[order][known]
        place = np.zeros(len(ordered), np.int64)
        place[known] = self._used[ordered[known]] + number[known]
        known[known] = place[known] < np.diff(self._start)[ordered[known]]
        if not known.all():
            raise DataError("the rows changed while they were being released; run the command again")
        np.add.at(self._used, ordered, 1)
        out = np.empty(len(ordered), np.int64)
        out[order] = self._parts[self._start[ordered] + place]
        return out


def _collapsed(rows: Iterable[tuple[Numbers, Hashes]]) -> tuple[Numbers, Hashes, Numbers]:
    """Distinct pairs of tuple and hash, and how often each occurs."""
    tuples, hashes, counts = np.empty(0, np.int64), np.empty(0, np.uint64), np.empty(0, np.int64)
    waiting: list[tuple[Numbers, Hashes]] = []

    def merged() -> tuple[Numbers, Hashes, Numbers]:
        every = np.concatenate([tuples, *(pair[0] for pair in waiting)])
        hashed = np.concatenate([hashes, *(pair[1] for pair in waiting)])
        counted = np.concatenate([counts, np.ones(len(every) - len(counts), np.int64)])
        order = np.lexsort((hashed, every))
        every, hashed = every[order], hashed[order]
        starts = np.flatnonzero(np.append(True, (np.diff(every) != 0) | (np.diff(hashed) != 0))[: len(every)])
        return every[starts], hashed[starts], np.add.reduceat(counted[order], starts) if len(starts) else counts

    for pair in rows:
        waiting.append(pair)
        if sum(len(numbers) for numbers, _ in waiting) > max(_BUFFER, len(tuples)):
            tuples, hashes, counts = merged()
            waiting.clear()
    return merged()


def _allocated(first: Numbers, sizes: Numbers, tuples: Numbers, drawn: Hashes) -> Numbers:
    """The part of each record: in the order of their draws, the parts of its tuple in turn, any surplus the first."""
    order = np.lexsort((drawn, tuples))
    ordered = tuples[order]
    begins = np.flatnonzero(np.diff(ordered, prepend=-1))
    rank = np.arange(len(ordered)) - np.repeat(begins, np.diff(np.append(begins, len(ordered))))
    until = np.cumsum(sizes)  # over all tuples, so that one search serves all
    begin = np.append(0, until)[first]
    part = np.searchsorted(until, begin[ordered] + rank, side="right")
    surplus = part >= first[ordered + 1]
    part[surplus] = first[ordered[surplus]]
    allocated = np.empty(len(ordered), np.int64)
    allocated[order] = part
    return allocated
