"""What counts as missing, and what becomes of rows that have it."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples

import incrowd
from incrowd.table.missing import encoded_in_any_order, is_missing

TABLE = pa.table({"age": [30, 30, None, 40, 40, 40, None], "row": list(range(7))})
ABLE = ["tdr", "bug", "incognito", "samarati", "datafly", "mondrian", "argus", "cover"]


def test_nulls_and_not_a_numbers_and_named_texts_are_missing():
    assert is_missing(pa.array([1.0, None, float("nan")]), ()).tolist() == [False, True, True]
    assert is_missing(pa.array(["a", None, "?"]), ("?",)).tolist() == [False, True, True]
    assert is_missing(pa.array([-9, 3]), ("-9",)).tolist() == [True, False]


@pytest.mark.parametrize("method", ABLE)
@pytest.mark.parametrize("suppress", [None, 0.3])
def test_rows_with_a_missing_value_are_dropped_where_records_are_left_out_too(method, suppress):
    words = {} if suppress is None or method == "cover" else {"suppress": suppress}
    release = incrowd.anonymize(
        TABLE, quasi_identifiers=["age"], k=2, missing="drop", keep=["row"], method=method, **words
    )
    released = release.data.to_pylist()
    assert not {2, 6} & {row["row"] for row in released}
    assert all(row["age"] for row in released)
    assert release.table.records == 5


@pytest.mark.parametrize("method", ABLE)
def test_a_recoding_drops_such_rows_of_new_tables_too(method, tmp_path):
    words = {} if method == "cover" else {"suppress": 0.3}
    release = incrowd.anonymize(
        TABLE, quasi_identifiers=["age"], k=2, missing="drop", keep=["row"], method=method, **words
    )
    again = incrowd.apply(release.recoding, TABLE, keep=["row"]).to_pylist()
    assert sorted(row["row"] for row in again) == sorted(row["row"] for row in release.data.to_pylist())


@examples(100)
@given(st.data(), st.sampled_from([pa.int8(), pa.uint8(), pa.int32(), pa.uint32(), pa.int64(), pa.uint64()]))
def test_whole_numbers_are_the_same_values_in_any_order_however_far_apart(data, kind):
    bits = kind.bit_width
    least, most = (0, 2**bits - 1) if pa.types.is_unsigned_integer(kind) else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    begin = data.draw(st.sampled_from([least, max(least, -100), 0, most - 300 if bits > 8 else 0]))
    near = st.integers(begin, min(most, begin + data.draw(st.sampled_from([0, 3, 260]))))
    values = data.draw(st.lists(st.one_of(near, st.integers(least, most), st.none()), min_size=1, max_size=300))
    column = pa.array(values, kind)
    found = encoded_in_any_order(column, "x")
    assert found.to_pylist() == values
    assert len(set(found.dictionary.to_pylist())) == len(found.dictionary)
    assert found.dictionary.type == kind
    near_only = pa.array([value for value in values if value is not None and value <= begin + 260] * 300, kind)
    assert encoded_in_any_order(near_only, "x").to_pylist() == near_only.to_pylist()
