"""Hashes of rows, and the order that follows from them."""

import datetime as dt
import decimal
from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples

import incrowd
from incrowd.engines import row_order
from incrowd.engines.row_order import Numbering, distinct, order_of, row_hashes

COLUMNS = {
    "text": pa.array(["a", "b", None, "", "a longer text of more than eight bytes", "a", "ä" * 400, "ä" * 401]),
    "large": pa.array(["a", "b", None, "", "longer than eight", "a", "x" * 256, "x" * 257], pa.large_string()),
    "view": pa.array(["a", "b", None, "", "longer than eight", "a", "y", "z"], pa.string_view()),
    "bytes": pa.array([b"a", b"b", None, b"", b"\xff" * 9, b"a", b"\0", b"\0\0"]),
    "integer": pa.array([1, 2, None, 0, -1, 1, 2**62, 2**62 + 1]),
    "unsigned": pa.array([1, 2, None, 0, 2**64 - 1, 1, 2**63, 2**63 + 1], pa.uint64()),
    "fraction": pa.array([1.0, 2.5, None, 0.0, -0.0, 1.0, float("inf"), 5e-324]),
    "single": pa.array([1.0, 2.5, None, 0.0, -0.0, 1.0, float("inf"), 0.1], pa.float32()),
    "day": pa.array([dt.date(2020, 1, day) if day else None for day in (1, 2, 0, 3, 4, 1, 5, 6)]),
    "time": pa.array([1, 2, None, 0, -1, 1, 5, 6], pa.timestamp("ns", "UTC")),
    "decimal": pa.array(
        [decimal.Decimal(text) if text else None for text in "1.50 2 | 0 3 1.5 4 5".replace("|", "").split(" ")]
    ),
    "list": pa.array([["a"], ["b"], None, [], ["a", "b"], ["a"], [None], ["a", None]]),
    "encoded": pa.array(["a", "b", None, "", "longer than eight", "a", "y", "z"]).dictionary_encode(),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_equal_values_have_equal_hashes_and_no_others(name):
    column = COLUMNS[name]
    batch = pa.RecordBatch.from_arrays([column], names=["a"])
    hashes = row_hashes(batch)
    assert hashes[0] == hashes[5]
    assert len(set(hashes.tolist())) == 7
    again = pa.RecordBatch.from_arrays([pa.concat_arrays([column, column])], names=["a"]).slice(3, 9)
    assert row_hashes(again).tolist() == [*hashes[3:], *hashes[:4]]
    assert (row_hashes(pa.RecordBatch.from_arrays([column], names=["b"])) != hashes).all()


def test_the_layout_does_not_matter():
    texts = COLUMNS["text"]
    layouts = (texts, texts.cast(pa.large_string()), texts.cast(pa.string_view()), texts.dictionary_encode())
    found = {tuple(row_hashes(pa.RecordBatch.from_arrays([column], names=["a"])).tolist()) for column in layouts}
    assert len(found) == 1
    narrow, wide = (pa.array([1, -2, None], kind) for kind in (pa.int8(), pa.int64()))
    assert len({tuple(row_hashes(pa.RecordBatch.from_arrays([c], names=["a"])).tolist()) for c in (narrow, wide)}) == 1


ROWS = st.lists(st.sampled_from("abcdefgh"), max_size=60)


@examples(60)
@given(ROWS, st.randoms(use_true_random=False), st.sampled_from([1, 3, 1 << 18]))
def test_the_order_follows_from_the_rows_as_a_multiset(texts, draw, most):
    before, row_order.MOST_DISTINCT = row_order.MOST_DISTINCT, most
    try:
        mixed = draw.sample(texts, len(texts))
        orders = []
        for rows in (texts, mixed):
            hashes = row_hashes(pa.RecordBatch.from_arrays([pa.array(rows, pa.string())], names=["a"]))
            orders.append([rows[place] for place in order_of(hashes)])
    finally:
        row_order.MOST_DISTINCT = before
    assert orders[0] == orders[1]
    assert Counter(orders[0]) == Counter(texts)


def test_different_rows_with_one_hash_stay_rows_of_their_own():
    hashes = np.zeros(5, np.uint64)
    assert sorted(order_of(hashes).tolist()) == [0, 1, 2, 3, 4]


def test_equal_rows_are_numbered_over_batches():
    hashes = np.array([5, 9, 5, 5, 9, 7], np.uint64)
    whole = Numbering().spread(hashes)
    known = Numbering(distinct(hashes))
    pieces = np.concatenate([known.spread(hashes[:2]), known.spread(hashes[2:])])
    assert sorted(pieces.tolist()) == sorted(whole.tolist())
    assert len(set(whole.tolist())) == 6


def test_long_texts_are_told_apart_to_their_last_byte():
    texts = ["x" * 300 + end for end in "abc"]
    hashes = row_hashes(pa.RecordBatch.from_pydict({"note": [*texts, texts[0]]}))
    assert len(set(hashes.tolist())) == 3
    assert hashes[0] == hashes[3]


@pytest.mark.parametrize("name", ["people.csv", "people.parquet"])
def test_rows_of_a_file_that_are_held_in_memory_leave_in_an_order_of_their_own(tmp_path, name):
    table = pa.table({"age": sorted(range(20, 60)) * 5, "row": [str(number) for number in range(200)]})
    found = []
    for number, rows in enumerate((table, table.take(pa.array(range(199, -1, -1))))):
        path = tmp_path / str(number) / name
        path.parent.mkdir()
        (pyarrow.csv.write_csv if name.endswith("csv") else pq.write_table)(rows, path)
        found.append(
            incrowd.anonymize(path, quasi_identifiers=["age"], k=5, keep=["row"], method="tdr").data.to_pylist()
        )
    assert found[0] == found[1]
    assert [row["row"] for row in found[0]] != [str(number) for number in range(200)]


@pytest.mark.parametrize("bits", [64, 40, 9, 1])
@pytest.mark.parametrize("rows", [0, 1, 700, 5_000])
def test_hashes_ascend_however_many_bits_they_have_in_common(rows, bits):
    draw = np.random.default_rng(rows)
    hashes = draw.integers(0, 1 << 64, rows, np.uint64) >> np.uint64(64 - bits)
    hashes |= np.uint64(1 << 63)
    order = row_order.ascending(hashes)
    assert hashes[order].tolist() == sorted(hashes.tolist())
    assert sorted(order.tolist()) == list(range(rows))


def test_hashes_that_differ_in_their_last_bits_only():
    hashes = np.append(np.arange(4_000, dtype=np.uint64)[::-1], np.uint64(2**64 - 1))
    assert row_order.ascending(hashes).tolist() == [*range(3_999, -1, -1), 4_000]
