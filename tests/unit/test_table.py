import datetime as dt
from collections import Counter
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.errors import DataError, TaxonomyError
from incrowd.table import (
    CompressedTable,
    FlatAttribute,
    NumberAttribute,
    TaxonomyAttribute,
    encode,
    sort_tuples,
)
from incrowd.taxonomies.rules import Prefix
from incrowd.taxonomies.taxonomy import Taxonomy

EDUCATION = Taxonomy.from_tree({"ANY": {"Secondary": ["9th", "10th"], "University": ["Masters", "Doctorate"]}})
NOON = dt.datetime(2020, 1, 1, 12)


class TestEncode:
    @pytest.mark.parametrize(
        ("values", "kind", "codes"),
        [
            (pa.array([30, 10, 20]), NumberAttribute, [2, 0, 1]),
            (pa.array([0.5, -0.5]), NumberAttribute, [1, 0]),
            (pa.array([Decimal("2.5"), Decimal("1.0")]), NumberAttribute, [1, 0]),
            (pa.array([dt.date(2021, 1, 1), dt.date(2020, 1, 1)]), NumberAttribute, [1, 0]),
            (pa.array([NOON, NOON - dt.timedelta(1)], pa.timestamp("ns")), NumberAttribute, [1, 0]),
            (pa.array([NOON, NOON - dt.timedelta(1)], pa.timestamp("s", "UTC")), NumberAttribute, [1, 0]),
            (pa.array(["10", "9"]), NumberAttribute, [1, 0]),
            (pa.array(["2", "1", "1.0"]), NumberAttribute, [1, 0, 0]),
            (pa.array([True, False]), FlatAttribute, [1, 0]),
            (pa.array(["b", "a", "c"]), FlatAttribute, [1, 0, 2]),
            (pa.array(["01234", "10115"]), FlatAttribute, [0, 1]),
        ],
    )
    @pytest.mark.parametrize("has_missing", [False, True])
    def test_values_are_ranked_and_missing_is_last(self, values, kind, codes, has_missing):
        attribute, found = encode("x", values, has_missing=has_missing)
        assert isinstance(attribute, kind)
        size = max(codes) + 1
        assert attribute.size == size + has_missing
        assert attribute.missing == (size if has_missing else None)
        assert found.tolist() == codes + [size] * has_missing
        assert len(attribute.values()) == attribute.size

    @pytest.mark.parametrize("has_missing", [False, True])
    def test_leaves_of_a_taxonomy(self, has_missing):
        attribute, codes = encode("x", pa.array(["Masters", "9th"]), has_missing=has_missing, taxonomy=EDUCATION)
        assert isinstance(attribute, TaxonomyAttribute)
        assert codes.tolist() == ([2, 0, 4] if has_missing else [2, 0])
        assert attribute.values().to_pylist()[:4] == ["9th", "10th", "Masters", "Doctorate"]

    def test_zip_codes_keep_their_zero(self):
        attribute, _ = encode("zip", pa.array(["01234", "01299"]), has_missing=False, taxonomy=Prefix((2,)))
        assert attribute.taxonomy.path(0) == ("01234", "01***", "*")

    def test_numbers_as_leaves(self):
        codes = Taxonomy.from_tree({"*": {"low": ["1", "2"], "high": ["3"]}})
        assert encode("x", pa.array([3.0, 1.0]), has_missing=False, taxonomy=codes)[1].tolist() == [2, 0]

    def test_at_most_five_unknown_values_are_listed(self):
        with pytest.raises(TaxonomyError) as error:
            encode("x", pa.array([f"u{i}" for i in range(7)]), has_missing=False, taxonomy=EDUCATION)
        assert "7 value(s) of column 'x' are no leaves of its taxonomy: u0, u1, u2, u3, u4 and 2 more" in str(
            error.value
        )

    def test_the_closest_leaf_is_suggested(self):
        with pytest.raises(TaxonomyError, match="did you mean 'Masters'"):
            encode("x", pa.array(["Master"]), has_missing=False, taxonomy=EDUCATION)

    def test_a_public_range_must_hold_all_values(self):
        with pytest.raises(DataError, match="outside its public range, 0 to 99"):
            encode("x", pa.array([1, 100]), has_missing=False, domain=(0, 99))

    def test_text_has_no_range(self):
        with pytest.raises(DataError, match="column 'x' has a public range but holds text"):
            encode("x", pa.array(["a"]), has_missing=False, domain=(0, 99))

    def test_values_read_back_as_the_same_numbers(self):
        values = pa.array([NOON, NOON + dt.timedelta(microseconds=1)], pa.timestamp("us", "Europe/Berlin"))
        attribute, _ = encode("x", values, has_missing=False)
        assert attribute.scale.numbers(attribute.values(), "x").tolist() == attribute.numbers.tolist()


class TestLoss:
    def test_of_a_taxonomy_counts_leaves(self):
        assert TaxonomyAttribute("x", EDUCATION).loss(np.array([0, 0, 1]), np.array([4, 2, 2])).tolist() == [
            1,
            1 / 3,
            0,
        ]

    def test_of_numbers_is_the_width_over_the_range(self):
        attribute = NumberAttribute(
            "x", encode("x", pa.array([10, 20]), has_missing=False)[0].scale, np.array([10, 20])
        )
        assert attribute.loss(np.array([0, 0, 1]), np.array([2, 1, 2])).tolist() == [1, 0.9, 0]

    def test_missing_alone_loses_nothing_and_with_numbers_everything(self):
        attribute, _ = encode("x", pa.array([10, 20]), has_missing=True)
        assert attribute.loss(np.array([2, 0]), np.array([3, 3])).tolist() == [0, 1]

    def test_a_public_range_counts(self):
        attribute, _ = encode("x", pa.array([10, 20]), has_missing=False, domain=(0, 100))
        assert attribute.loss(np.array([0, 1]), np.array([1, 2])).tolist() == [0.19, 0.8]


rows = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 300), st.integers(0, 1)), min_size=1, max_size=40)
attributes = (FlatAttribute("a", ("x", "y", "z")), FlatAttribute("b", tuple(map(str, range(301)))))


class TestCompressedTable:
    @given(rows, st.randoms())
    def test_build_counts_tuples_and_classes(self, rows, random):
        counts = [random.randint(1, 5) for _ in rows]
        a, b, classes = (np.array(column) for column in zip(*rows, strict=True))
        table = CompressedTable.build(attributes, [a, b], np.array(counts), ("n", "y"), classes)
        tuples, entries, histogram = Counter(), Counter(), np.zeros((3, 2), int)
        for (x, y, label), number in zip(rows, counts, strict=True):
            tuples[x, y] += number
            entries[x, y, label] += number
            histogram[x, label] += number
        codes = list(zip(*(column.tolist() for column in table.codes), strict=True))
        assert codes == sorted(tuples)
        assert dict(zip(codes, table.counts.tolist(), strict=True)) == tuples
        found = zip(table.class_tuples, table.class_codes, table.class_counts, strict=True)
        assert {(*codes[t], int(c)): int(n) for t, c, n in found} == entries
        assert table.records == sum(counts)
        assert table.class_histogram(0).tolist() == histogram.tolist()
        assert table.value_counts(0).tolist() == histogram.sum(axis=1).tolist()

    @given(rows)
    def test_build_without_a_target(self, rows):
        a, b, _ = (np.array(column) for column in zip(*rows, strict=True))
        table = CompressedTable.build(attributes, [a, b], np.ones(len(rows), np.int64))
        codes = list(zip(*(column.tolist() for column in table.codes), strict=True))
        assert dict(zip(codes, table.counts.tolist(), strict=True)) == Counter((x, y) for x, y, _ in rows)
        assert not table.has_target
        assert table.index("b") == 1

    @given(rows, st.data())
    def test_class_counts_of_kept_tuples(self, rows, data):
        a, b, classes = (np.array(column) for column in zip(*rows, strict=True))
        table = CompressedTable.build(attributes, [a, b], np.ones(len(rows), np.int64), ("n", "y"), classes)
        kept = np.array(data.draw(st.lists(st.booleans(), min_size=len(table.counts), max_size=len(table.counts))))
        allowed = {(int(x), int(y)) for x, y, keep in zip(*table.codes, kept, strict=True) if keep}
        expected = Counter((x, label) for x, y, label in rows if (x, y) in allowed)
        found = table.class_counts_of(table.codes[0], 3, kept)
        assert {(x, label): int(found[x, label]) for x in range(3) for label in range(2) if found[x, label]} == expected


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
