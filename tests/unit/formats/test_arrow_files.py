"""Arrow and Feather files: both layouts of the format, types, categories, and no more than the rows hold."""

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pytest
from tests.files import read, written

from incrowd.formats.registry import open_source
from incrowd.formats.sources import BATCH_ROWS

TABLE = pa.table(
    {"age": [30, None, 31], "job": ["a", None, "ä"], "tags": [["x"], None, []]}, metadata={"by": "somebody"}
)


@pytest.mark.parametrize("kind", ["file", "stream", "feather", "polars", "pandas"])
def test_files_of_others_are_read(tmp_path, kind):
    path = tmp_path / "x.arrow"
    if kind in ("file", "stream"):
        with getattr(pa.ipc, f"new_{kind}")(path, TABLE.schema) as writer:
            writer.write_table(TABLE, 2)
    elif kind == "feather":
        pyarrow.feather.write_feather(TABLE, path, compression="zstd")
    elif kind == "polars":
        pl.from_arrow(TABLE).write_ipc(path)
    else:
        TABLE.to_pandas().to_feather(path)
    source = open_source(path)
    assert source.columns == ("age", "job", "tags")
    assert read(path).select(["age", "job"]).to_pydict() == TABLE.select(["age", "job"]).to_pydict()
    encoded = read(path, columns=["job", "age"], encoded=["job"])
    assert encoded.schema.types[0] == pa.dictionary(pa.int32(), pa.string())
    assert encoded.column_names == ["job", "age"]


def test_types_and_categories_stay_and_metadata_does_not(tmp_path):
    kinds = pa.DictionaryArray.from_arrays(pa.array([2, None, 0], pa.int8()), ["c", "secret", "a"], ordered=True)
    table = TABLE.append_column("kind", kinds)
    path = written(tmp_path / "x.feather", table)
    found = pa.ipc.open_file(path).read_all()
    assert not found.schema.metadata
    assert found["kind"].type == kinds.type
    assert found["kind"].chunk(0).dictionary.to_pylist() == ["c", "a"]
    assert found.to_pydict() == table.to_pydict()
    assert pd.read_feather(path)["kind"].tolist()[0] == "a"
    assert pl.read_ipc(path)["age"].to_list() == [30, None, 31]


def test_categories_of_many_batches_share_one_dictionary(tmp_path):
    rows = [pa.array([f"{number}{letter}" for letter in "ab"]).dictionary_encode() for number in range(3)]
    batches = [pa.RecordBatch.from_arrays([part], ["kind"]) for part in rows]
    path = written(tmp_path / "x.arrow", pa.Table.from_batches(batches))
    assert read(path)["kind"].to_pylist() == ["0a", "0b", "1a", "1b", "2a", "2b"]


def test_large_batches_are_given_in_parts(tmp_path):
    path = written(tmp_path / "x.arrow", pa.table({"a": pa.array(range(BATCH_ROWS + 1))}).combine_chunks())
    assert [len(batch) for batch in open_source(path).batches()] == [BATCH_ROWS, 1]
