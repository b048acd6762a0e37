"""Who is in a table, without saying who: keyed hashes of a unit, or of whole records where there is none.

Whoever has the ledger but not its key cannot try out guesses; the key lies in the ledger's folder, which only its owner
may read. A hash has 128 bits, so that no two people of any table share one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from incrowd.engines.allocation import Hashes, RowHash, mix
from incrowd.key import Key

PERSON = pa.binary(16)
_HALVES = (b"first", b"second")


@dataclass(frozen=True)
class People:
    """Whose row each row of a table is.

    Args:
        persons: The hash of each row's person, as 16 bytes.
        contents: A hash of what the row holds; of equal rows it is the same.
    """

    persons: npt.NDArray[np.void]  # rows, dtype V16
    contents: Hashes


def people_of(table: pa.Table, key: Key, unit: str | None, holds: tuple[str, ...]) -> People:
    """The people of a table.

    Args:
        table: The original rows, with all their columns.
        key: The key of the ledger.
        unit: The column that says whose record it is; None where every record is a person of its own, who is then known
            by all that the record holds. Equal records are told apart by a running number: which is which makes no
            difference.
        holds: The columns whose change is a change of the record.
    """
    own = [unit] if unit is not None else table.column_names
    halves = [_hashes(table.select(own), key.derived("ledger person", half)) for half in _HALVES]
    if unit is None:
        numbers = mix(_numbers(halves[0]).astype(np.uint64))
        halves = [mix(half ^ numbers) for half in halves]
    persons = np.stack(halves, axis=1).view("V16").ravel()
    return People(persons, _hashes(table.select(list(holds)), key.derived("ledger record")))


def _hashes(table: pa.Table, secret: bytes) -> Hashes:
    hashed = RowHash(secret)
    return np.concatenate([hashed(batch) for batch in table.combine_chunks().to_batches()])


def _numbers(hashes: Hashes) -> npt.NDArray[np.int64]:
    """A running number among equal hashes."""
    order = np.argsort(hashes, kind="stable")
    ordered = hashes[order]
    begins = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)])
    numbers = np.empty(len(ordered), np.int64)
    numbers[order] = np.arange(len(ordered)) - np.repeat(begins, np.diff(np.append(begins, len(ordered))))
    return numbers
