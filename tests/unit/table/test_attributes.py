"""Attributes: values to codes and back, and what a range of codes loses."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from incrowd.errors import DataError, TaxonomyError
from incrowd.table.attributes import FlatAttribute, NumberAttribute, TaxonomyAttribute, encode
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

    def test_one_unknown_value_is_named(self):
        with pytest.raises(TaxonomyError) as error:
            encode("x", pa.array([f"u{i}" for i in range(7)]), has_missing=False, taxonomy=EDUCATION)
        assert "7 values of column 'x' are not leaves of its taxonomy, such as 'u0'; add it" in str(error.value)
        assert "u1" not in str(error.value)

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
