"""What counts as missing, and what becomes of rows that have it."""

import pyarrow as pa
import pytest

import incrowd
from incrowd.table.missing import is_missing

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
    release = incrowd.anonymize(TABLE, quasi_identifiers=["age"], k=2, missing="drop", method=method, **words)
    released = release.data.to_pylist()
    assert not {2, 6} & {row["row"] for row in released}
    assert all(row["age"] for row in released)
    assert release.table.records == 5


@pytest.mark.parametrize("method", ABLE)
def test_a_recoding_drops_such_rows_of_new_tables_too(method, tmp_path):
    words = {} if method == "cover" else {"suppress": 0.3}
    release = incrowd.anonymize(TABLE, quasi_identifiers=["age"], k=2, missing="drop", method=method, **words)
    again = release.recoding.apply(TABLE).to_pylist()
    assert sorted(row["row"] for row in again) == sorted(row["row"] for row in release.data.to_pylist())
