"""The compressed table against plain Python counting: tuples, labels of the target, values of protected columns."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from incrowd.table.attributes import FlatAttribute
from incrowd.table.compressed import CompressedTable

ATTRIBUTES = (FlatAttribute("a", ("x", "y", "z")), FlatAttribute("b", tuple(map(str, range(301)))))
LABELS = ("n", "y")
DISEASES = ("flu", "gout", "cold", None)
CITIES = ("Delft", None)


@st.composite
def rows_with_counts(draw):
    """Rows of a, b, label, disease and city, and how many records each stands for."""
    row = st.tuples(*(st.integers(0, size - 1) for size in (3, 301, len(LABELS), len(DISEASES), len(CITIES))))
    rows = draw(st.lists(row, min_size=1, max_size=40))
    return rows, draw(st.lists(st.integers(1, 5), min_size=len(rows), max_size=len(rows)))


def build(rows, counts, *, target=True, protected=True):
    a, b, label, disease, city = (np.array(column) for column in zip(*rows, strict=True))
    histograms = {"disease": (DISEASES, disease), "city": (CITIES, city)} if protected else None
    labels = (LABELS, label) if target else None
    return CompressedTable.build(ATTRIBUTES, [a, b], np.array(counts), labels, histograms)


def tuples_of(table):
    return list(zip(*(column.tolist() for column in table.codes), strict=True))


def counted(rows, counts, *places):
    """Records by the values at some places of their rows."""
    found = Counter()
    for row, number in zip(rows, counts, strict=True):
        found[tuple(row[place] for place in places)] += number
    return found


def entries_of(table, histogram):
    """Records by tuple and value."""
    tuples = tuples_of(table)
    assert histogram.size == len(tuples)
    keys = list(zip(histogram.tuples.tolist(), histogram.codes.tolist(), strict=True))
    assert keys == sorted(set(keys))
    return {(*tuples[t], code): n for (t, code), n in zip(keys, histogram.counts.tolist(), strict=True)}


class TestBuild:
    @given(rows_with_counts(), st.booleans(), st.booleans())
    def test_every_tuple_is_there_once_in_order_with_its_records(self, problem, target, protected):
        rows, counts = problem
        table = build(rows, counts, target=target, protected=protected)
        tuples = counted(rows, counts, 0, 1)
        assert tuples_of(table) == sorted(tuples)
        assert dict(zip(tuples_of(table), table.counts.tolist(), strict=True)) == tuples
        assert table.records == sum(counts)
        assert table.value_counts(0).tolist() == [counted(rows, counts, 0)[code,] for code in range(3)]
        assert table.has_target == target
        assert table.index("b") == 1

    @given(rows_with_counts(), st.booleans())
    def test_labels_are_counted_in_every_tuple(self, problem, protected):
        rows, counts = problem
        table = build(rows, counts, protected=protected)
        assert table.labels == LABELS
        assert entries_of(table, table.target) == counted(rows, counts, 0, 1, 2)
        of_a = counted(rows, counts, 0, 2)
        assert table.label_counts(0).tolist() == [[of_a[code, label] for label in range(2)] for code in range(3)]

    @given(rows_with_counts(), st.booleans())
    def test_values_of_protected_columns_are_counted_in_every_tuple(self, problem, target):
        rows, counts = problem
        table = build(rows, counts, target=target)
        assert {name: histogram.values for name, histogram in table.protected.items()} == {
            "disease": DISEASES,
            "city": CITIES,
        }
        assert entries_of(table, table.protected["disease"]) == counted(rows, counts, 0, 1, 3)
        assert entries_of(table, table.protected["city"]) == counted(rows, counts, 0, 1, 4)

    def test_a_protected_column_may_be_the_target(self):
        rows, labels = [np.array([0, 0, 1])] * 2, np.array([1, 0, 1])
        table = CompressedTable.build(
            ATTRIBUTES, rows, np.ones(3, np.int64), (LABELS, labels), {"income": (LABELS, labels)}
        )
        income = table.protected["income"]
        assert income.tuples.tolist() == table.target.tuples.tolist() == [0, 0, 1]
        assert income.codes.tolist() == table.target.codes.tolist() == [0, 1, 1]
        assert income.counts.tolist() == table.target.counts.tolist() == [1, 1, 1]


class TestClasses:
    @given(rows_with_counts(), st.data())
    def test_records_labels_and_protected_values_of_kept_tuples(self, problem, data):
        rows, counts = problem
        table = build(rows, counts)
        size = len(table.counts)
        kept = data.draw(st.none() | st.lists(st.booleans(), min_size=size, max_size=size))
        gone = (
            set() if kept is None else {cells for cells, keep in zip(tuples_of(table), kept, strict=True) if not keep}
        )
        stay = [(row, n) for row, n in zip(rows, counts, strict=True) if row[:2] not in gone]
        left = ([row for row, _ in stay], [n for _, n in stay])
        mask = None if kept is None else np.array(kept)
        found = table.class_counts(table.codes[0], 3, mask)
        assert found.records.tolist() == [counted(*left, 0)[code,] for code in range(3)]
        for name, place in ("disease", 3), ("city", 4):
            histogram = found.values[name]
            keys = zip(histogram.tuples.tolist(), histogram.codes.tolist(), strict=True)
            assert dict(zip(keys, histogram.counts.tolist(), strict=True)) == counted(*left, 0, place)
        labels = counted(*left, 0, 2)
        expected = [[labels[code, label] for label in range(2)] for code in range(3)]
        assert table.labels_in(table.codes[0], 3, mask).tolist() == expected
