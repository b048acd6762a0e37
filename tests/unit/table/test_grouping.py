"""Rows of codes against plain Python: sorted, numbered, counted."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.table.grouping import ascending, changes, count, distinct_rows, group, order_of, sort_tuples


class TestSortTuples:
    @given(st.lists(st.integers(1, 2**31), min_size=1, max_size=8), st.data())
    def test_order_and_starts_are_those_of_sorted(self, sizes, data):
        values = st.tuples(*(st.sampled_from(sorted({0, size // 2, size - 1})) for size in sizes))
        rows = data.draw(st.lists(values, min_size=1, max_size=30))
        columns = [np.array(column) for column in zip(*rows, strict=True)]
        order, starts = sort_tuples(columns, sizes)
        ordered = [rows[i] for i in order]
        assert ordered == sorted(rows)
        assert [ordered[start] for start in starts] == sorted(set(rows))

    def test_twenty_columns_of_a_billion_codes(self):
        size = 10**9
        rows = [(size - 1,) * 19 + (last,) for last in (3, 1, 2, 1)] + [(0,) * 20]
        columns = [np.array(column, np.uint32) for column in zip(*rows, strict=True)]
        order, starts = sort_tuples(columns, [size] * 20)
        assert [rows[i] for i in order] == sorted(rows)
        assert starts.tolist() == [0, 1, 3, 4]

    def test_many_groups_of_rows_that_are_equal_in_what_fits_into_one_integer(self):
        rows = [(group, 0, last, group % 2) for group in range(9) for last in (2**31 - 1, 5, 2**30)]
        columns = [np.array(column, np.uint32) for column in zip(*rows, strict=True)]
        order, starts = sort_tuples(columns, [2**31] * 4)
        assert [rows[i] for i in order] == sorted(rows)
        assert len(starts) == len(rows)


class TestOrderOf:
    @pytest.mark.parametrize("rows", [0, 1, 255, 512, 2_000, 70_000])
    @pytest.mark.parametrize("room", [1, 7, 1_000, 1 << 40, 1 << 54, 1 << 62])
    def test_keys_ascend_whether_they_are_sorted_in_pieces_or_whole(self, rows, room):
        keys = np.random.default_rng(rows).integers(0, room, rows)
        keys[rows // 2 :] = keys[: rows - rows // 2]  # every key twice
        order = order_of(keys, room)
        assert keys[order].tolist() == sorted(keys.tolist())
        assert sorted(order.tolist()) == list(range(rows))
        assert ascending(keys, room).tolist() == sorted(keys.tolist())

    def test_all_keys_in_one_piece(self):
        keys = np.random.default_rng(1).integers(0, 50, 5_000)
        assert keys[order_of(keys, 1 << 50)].tolist() == sorted(keys.tolist())


pairs = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9)), min_size=1, max_size=40)


class TestGroup:
    @pytest.mark.parametrize("widths", [(4, 10), (4 << 20, 10 << 20)], ids=["all combinations", "sorted"])
    @given(rows=pairs)
    def test_equal_rows_have_the_same_number_and_numbers_follow_the_rows(self, rows, widths):
        groups, firsts = group([np.array(column) for column in zip(*rows, strict=True)], widths)
        distinct = sorted(set(rows))
        assert [distinct[number] for number in groups] == rows
        assert [rows[first] for first in firsts] == distinct

    @pytest.mark.parametrize("widths", [(4, 10), (4 << 20, 10 << 20), (4 << 40, 10 << 20), (4 << 40, 10 << 40)])
    @given(rows=pairs)
    def test_distinct_rows_ascend_with_how_many_there_are_or_what_they_weigh(self, rows, widths):
        columns = [np.array(column) for column in zip(*rows, strict=True)]
        for weights in (None, np.arange(1, len(rows) + 1) * 2.0):
            weighed = Counter()
            for row, weight in zip(rows, [1] * len(rows) if weights is None else weights.tolist(), strict=True):
                weighed[row] += weight
            found, counted = distinct_rows(columns, widths, weights)
            assert list(zip(*(column.tolist() for column in found), strict=True)) == sorted(weighed)
            assert counted.tolist() == [weighed[row] for row in sorted(weighed)]
            assert [column.dtype for column in found] == [column.dtype for column in columns]


class TestCount:
    @given(pairs)
    def test_records_and_weights(self, rows):
        keys, weights = (np.array(column) for column in zip(*rows, strict=True))
        weighed = Counter()
        for key, weight in rows:
            weighed[key] += weight
        assert count(keys, 4, None).tolist() == [sum(key == wanted for key, _ in rows) for wanted in range(4)]
        found = count(keys, 4, weights)
        assert found.tolist() == [weighed[key] for key in range(4)]
        assert found.dtype == np.int64


@given(pairs)
def test_a_row_that_differs_from_the_one_before_is_a_change(rows):
    found = changes([np.array(column) for column in zip(*rows, strict=True)])
    assert found.tolist() == [place == 0 or row != rows[place - 1] for place, row in enumerate(rows)]
