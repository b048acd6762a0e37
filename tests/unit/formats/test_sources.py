"""What every source promises: columns by name, dictionaries where they are cheap, and that a file did not change."""

import pickle

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from incrowd.errors import DataError, UnknownNameError
from incrowd.formats.registry import open_source
from incrowd.formats.sources import as_array, as_dictionary, check_names

KINDS = ("csv", "parquet", "pandas", "polars", "pyarrow")
TABLE = pa.table({"job": ["clerk", "nurse", "clerk"], "age": [30, 40, 50], "wage": [1.5, 2.0, 3.25]})


def opened(kind, folder):
    if kind == "csv":
        pyarrow.csv.write_csv(TABLE, folder / "people.csv")
    elif kind == "parquet":
        pq.write_table(TABLE, folder / "people.parquet")
    else:
        return open_source({"pandas": TABLE.to_pandas(), "polars": pl.from_arrow(TABLE), "pyarrow": TABLE}[kind])
    return open_source(folder / f"people.{kind}")


@pytest.mark.parametrize("kind", KINDS)
class TestEverySource:
    def test_batches_have_the_schema_of_the_source_each_time(self, tmp_path, kind):
        source = opened(kind, tmp_path)
        for _ in range(2):
            read = pa.Table.from_batches(source.batches())
            assert read.schema.equals(source.schema)
            assert read.num_rows == 3
        assert source.columns == ("job", "age", "wage")

    def test_columns_come_in_the_order_that_is_asked_for(self, tmp_path, kind):
        batch = next(opened(kind, tmp_path).batches(["wage", "job"], encoded=["job"]))
        assert batch.schema.names == ["wage", "job"]
        assert batch.schema.field("job").type == pa.dictionary(pa.int32(), pa.string())
        assert batch.column(1).to_pylist() == ["clerk", "nurse", "clerk"]

    def test_an_unknown_column_is_an_error_with_a_hint(self, tmp_path, kind):
        with pytest.raises(UnknownNameError, match=r"no column 'jobb' in .*did you mean 'job'"):
            next(opened(kind, tmp_path).batches(["jobb"]))

    def test_a_pickle_reads_the_same_rows(self, tmp_path, kind):
        source = opened(kind, tmp_path)
        again = pickle.loads(pickle.dumps(source))
        assert again.columns == source.columns
        assert again.fingerprint() == source.fingerprint()
        assert pa.Table.from_batches(again.batches()) == pa.Table.from_batches(source.batches())
        again.check_unchanged()


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_pickle_knows_that_its_file_changed(tmp_path, kind):
    again = pickle.dumps(opened(kind, tmp_path))
    (tmp_path / f"people.{kind}").write_bytes(b"job,age,wage\n")
    with pytest.raises(DataError, match="changed while it was being read"):
        pickle.loads(again).check_unchanged()


def test_every_column_has_a_name_of_its_own():
    check_names(["a", "b"], "people.csv")
    with pytest.raises(DataError, match="without a name, at position 2"):
        check_names(["a", " "], "people.csv")
    with pytest.raises(DataError, match="several columns of the same name: 'a'"):
        check_names(["a", "b", "a"], "people.csv")


@pytest.mark.parametrize(
    "values",
    [
        pa.array(["x", "y", None], pa.large_string()),
        pa.array(["x", "y", None]).dictionary_encode(),
        pa.DictionaryArray.from_arrays(pa.array([0, 1, None], pa.int8()), pa.array(["x", "y"], pa.large_string())),
    ],
)
def test_text_is_a_dictionary_with_32_bit_indices(values):
    found = as_dictionary(values)
    assert found.type == pa.dictionary(pa.int32(), pa.string())
    assert found.to_pylist() == ["x", "y", None]


def test_numbers_stay_numbers():
    assert as_dictionary(pa.array([1, 2])).type == pa.int64()


def test_chunks_with_dictionaries_of_their_own_become_one_array():
    chunks = pa.chunked_array([pa.array(["x", "y"]).dictionary_encode(), pa.array(["y", "z"]).dictionary_encode()])
    assert as_array(chunks).to_pylist() == ["x", "y", "y", "z"]
    assert as_array(pa.array([1])).to_pylist() == [1]


def test_a_pandas_frame_keeps_its_own_kind():
    frame = pd.DataFrame({"a": [1, 2]})
    assert open_source(frame).frame is frame
