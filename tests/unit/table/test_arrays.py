"""Arrays between numpy, Python and Arrow: as pyarrow makes them, but without pandas."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.table.arrays import text_array, to_arrow, to_numpy

NUMBERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64")


@pytest.mark.parametrize("kind", [*NUMBERS, "bool"])
@pytest.mark.parametrize("rows", [0, 7, 9, 100])
def test_arrays_are_as_pyarrow_makes_them(kind, rows):
    draws = np.random.default_rng(rows)
    values, missing = draws.integers(0, 2 if kind == "bool" else 100, rows).astype(kind), draws.random(rows) < 0.3
    for given_, lacking in ((values, None), (values[::2], missing[::2]), (values, missing)):
        made = to_arrow(given_, lacking)
        made.validate(full=True)
        assert made.type == pa.array(values).type
        assert made.equals(pa.array(given_, mask=lacking))
    for column in (pa.array(values), pa.array(values)[rows // 3 :], to_arrow(values)[1:]):
        back = to_numpy(column)
        assert back.dtype == kind
        assert np.array_equal(back, column.to_numpy(zero_copy_only=False))


def test_what_comes_from_arrow_without_a_copy_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        to_numpy(to_arrow(np.arange(3)))[0] = 1


def test_not_a_number_is_no_null_and_null_is_not_a_number():
    assert to_arrow(np.array([0.5, np.nan])).null_count == 0
    assert np.isnan(to_numpy(pa.array([1, None]))).tolist() == [False, True]


def test_all_else_goes_the_usual_way():
    days = np.array(["2020-01-01", "NaT"], "datetime64[D]")
    assert to_arrow(days).equals(pa.array(days))
    assert to_numpy(pa.array(["a", None])).tolist() == ["a", None]
    swapped = np.arange(3).astype(">i4")
    assert to_arrow(swapped.astype("<i4")).to_pylist() == [0, 1, 2]


@given(st.lists(st.none() | st.text(st.characters(exclude_categories=["Cs"]))))
def test_texts_are_as_pyarrow_makes_them(values):
    made = text_array(values)
    made.validate(full=True)
    assert made.equals(pa.array(values, pa.string()))


RELEASE = """
import sys
import incrowd
rows, output, method = sys.argv[1:]
words = {"target": "ill", "method": method, "missing_values": ["?"]}
release = incrowd.anonymize(rows, quasi_identifiers=["age", "zip", "sex"], k=5, **words)
release.write(output)
release.measures, release.warnings
assert "pandas" not in sys.modules
"""


@pytest.mark.parametrize(("suffix", "method"), [("csv", "tdr"), ("parquet", "mondrian")])
def test_no_release_of_a_file_imports_pandas(tmp_path, suffix, method):
    pytest.importorskip("pandas")
    rows = {
        "age": [i * 7 % 90 for i in range(900)],
        "zip": [str(i * 13 % 100) for i in range(900)],
        "sex": ["?" if i % 50 == 0 else "fm"[i % 2] for i in range(900)],
        "note": ["NA", "none", "some", "more", "much"] * 180,
        "ill": ["no" if i % 3 else "yes" for i in range(900)],
    }
    path = tmp_path / f"rows.{suffix}"
    if suffix == "csv":
        import pyarrow.csv

        pyarrow.csv.write_csv(pa.table(rows), path)
    else:
        import pyarrow.parquet

        pyarrow.parquet.write_table(pa.table(rows), path)
    output = tmp_path / f"out.{suffix}"
    subprocess.run([sys.executable, "-c", RELEASE, path, output, method], check=True, timeout=300)
