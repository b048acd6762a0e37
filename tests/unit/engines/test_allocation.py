"""Allocation records of one tuple to several classes: all parts filled, by a keyed hash, in any batches."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from incrowd.engines.allocation import Allocation, RowHash
from incrowd.errors import DataError

FIRST, SIZES = np.array([0, 2, 5]), np.array([3, 2, 4, 2, 1])  # two tuples with two and three parts
TUPLES = np.array([0] * 5 + [1] * 7)
ROWS = pa.RecordBatch.from_pydict({"age": [40] * 5 + [50] * 7, "ill": [f"ill {n % 4}" for n in range(12)]})


def dealt(hashes, batches=1, tuples=TUPLES):
    """The part of each row."""
    dealing = Allocation(FIRST, SIZES, [(tuples, hashes)])
    pieces = np.array_split(np.arange(len(tuples)), batches)
    return np.concatenate([dealing.parts(tuples[piece], hashes[piece]) for piece in pieces])


@pytest.mark.parametrize("same", [False, True], ids=["all rows differ", "all rows are equal"])
@pytest.mark.parametrize("batches", [1, 2, 12])
def test_every_part_gets_as_many_records_as_it_should(same, batches):
    hashes = np.full(12, 7, np.uint64) if same else np.arange(12).astype(np.uint64)
    assert Counter(dealt(hashes, batches).tolist()) == dict(enumerate(SIZES.tolist()))


def test_equal_rows_do_not_all_go_the_same_way_as_their_order():
    """Of many equal rows, which go to the second part is drawn; it is not simply the last ones."""
    first, sizes = np.array([0, 2]), np.array([500, 500])
    dealing = Allocation(first, sizes, [(np.zeros(1000, np.int64), np.zeros(1000, np.uint64))])
    parts = dealing.parts(np.zeros(1000, np.int64), np.zeros(1000, np.uint64))
    assert 150 < (parts[:500] == 0).sum() < 350


def test_records_that_are_more_than_planned_go_to_the_first_part():
    hashes = np.arange(14).astype(np.uint64)
    parts = dealt(hashes, tuples=np.array([0] * 7 + [1] * 7))
    assert Counter(parts.tolist()) == {0: 5, 1: 2, 2: 4, 3: 2, 4: 1}


def test_a_row_that_was_not_there_before_is_noticed():
    dealing = Allocation(FIRST, SIZES, [(TUPLES, np.arange(12).astype(np.uint64))])
    with pytest.raises(DataError, match="the rows changed"):
        dealing.parts(np.array([0]), np.array([99], np.uint64))


def test_a_row_that_comes_once_too_often_is_noticed():
    hashes = np.arange(12).astype(np.uint64)
    dealing = Allocation(FIRST, SIZES, [(TUPLES, hashes)])
    dealing.parts(TUPLES, hashes)
    with pytest.raises(DataError, match="the rows changed"):
        dealing.parts(TUPLES[:1], hashes[:1])


def test_the_hash_depends_on_its_key_and_not_on_dropped_columns():
    first, second = RowHash(b"one" * 8)(ROWS), RowHash(b"two" * 8)(ROWS)
    assert not (first == second).any()
    changed = ROWS.set_column(1, "ill", pa.array(["other"] * 12))
    assert (RowHash(b"one" * 8, ["ill"])(ROWS) == RowHash(b"one" * 8, ["ill"])(changed)).all()
    assert not (first == RowHash(b"one" * 8)(changed)).any()
