"""Sparse histograms against plain Python: every entry counted record by record."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from incrowd.table.class_counts import Histogram

VALUES = ("flu", "gout", None)
TUPLES, GROUPS = 4, 3


def histogram_of(counted, size=TUPLES):
    """The histogram of records counted by (tuple, value)."""
    entries = sorted(key for key, records in counted.items() if records)
    tuples, codes = (np.array([entry[place] for entry in entries], np.int64) for place in (0, 1))
    return Histogram(VALUES, tuples, codes, np.array([counted[entry] for entry in entries], np.int64), size)


def entries_of(histogram):
    """What a histogram says, and that it says it in order, with no empty entry."""
    keys = list(zip(histogram.tuples.tolist(), histogram.codes.tolist(), strict=True))
    assert keys == sorted(set(keys))
    assert (histogram.counts > 0).all()
    return dict(zip(keys, histogram.counts.tolist(), strict=True))


counts = st.dictionaries(
    st.tuples(st.integers(0, TUPLES - 1), st.integers(0, len(VALUES) - 1)), st.integers(1, 3), max_size=12
)
groupings = st.lists(st.integers(0, GROUPS - 1), min_size=TUPLES, max_size=TUPLES)
kepts = st.none() | st.lists(st.booleans(), min_size=TUPLES, max_size=TUPLES)


def grouped(counted, groups, kept):
    """Records by (group, value), one record after the other."""
    found = Counter()
    for (tuple_, value), records in counted.items():
        for _ in range(records):
            if kept is None or kept[tuple_]:
                found[groups[tuple_], value] += 1
    return found


class TestHistogram:
    @given(counts, groupings, kepts)
    def test_table_counts_every_record_of_a_group(self, counted, groups, kept):
        mask = None if kept is None else np.array(kept)
        found = histogram_of(counted).table(np.array(groups), GROUPS, mask)
        expected = grouped(counted, groups, kept)
        assert found.tolist() == [[expected[group, value] for value in range(len(VALUES))] for group in range(GROUPS)]

    @given(counts, groupings, kepts)
    def test_grouped_counts_every_record_of_a_group(self, counted, groups, kept):
        mask = None if kept is None else np.array(kept)
        found = histogram_of(counted).grouped(np.array(groups), GROUPS, mask)
        assert entries_of(found) == dict(grouped(counted, groups, kept))
        assert (found.values, found.size, found.width) == (VALUES, GROUPS, len(VALUES))
        assert found.records == sum(grouped(counted, groups, kept).values())

    def test_as_many_entries_as_tuples_need_not_be_one_each(self):
        """One tuple has two values, another none."""
        found = histogram_of({(0, 0): 1, (0, 1): 1}, size=2).table(np.array([0, 1]), 2)
        assert found.tolist() == [[1, 1, 0], [0, 0, 0]]

    @given(st.lists(st.integers(0, GROUPS - 1), min_size=24, max_size=24), st.integers(2, 5))
    def test_a_few_entries_of_several_records_among_many_of_one(self, groups, several):
        counted = {(tuple_, tuple_ % 3): 1 for tuple_ in range(24)} | {(7, 1): several, (9, 0): several + 1}
        expected = grouped(counted, groups, None)
        found = histogram_of(counted, size=24).table(np.array(groups), GROUPS)
        assert found.tolist() == [[expected[group, value] for value in range(len(VALUES))] for group in range(GROUPS)]
