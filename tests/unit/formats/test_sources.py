"""What every source promises: columns by name, dictionaries where they are cheap, and that a file did not change."""

import pickle

import polars as pl
import pyarrow as pa
import pytest
from tests.files import written

from incrowd.errors import DataError, UnknownNameError
from incrowd.formats.registry import FORMATS, open_source
from incrowd.formats.sources import as_array, as_dictionary, check_names

TABLE = pa.table({"job": ["clerk", "nurse", "clerk"], "age": [30, 40, 50], "wage": [1.5, 2.0, 3.25]})


FRAMES = {"pandas": TABLE.to_pandas, "polars": lambda: pl.from_arrow(TABLE), "pyarrow": lambda: TABLE}
FILES = [f"people{known.suffixes[0]}" for known in FORMATS.values() if known.writer]


def opened(kind, folder):
    return open_source(FRAMES[kind]() if kind in FRAMES else written(folder / kind, TABLE))


@pytest.mark.parametrize("kind", [*FRAMES, *FILES])
def test_every_source_gives_its_rows_as_often_and_in_the_columns_that_are_asked_for(tmp_path, kind):
    source = opened(kind, tmp_path)
    assert source.columns == ("job", "age", "wage")
    for each in (source, source, pickle.loads(pickle.dumps(source))):
        found = pa.Table.from_batches(each.batches())
        assert found.schema.equals(source.schema)
        assert found["job"].to_pylist() == ["clerk", "nurse", "clerk"]
        assert each.fingerprint() == source.fingerprint()
        each.check_unchanged()
    batch = next(source.batches(["wage", "job"], encoded=["job"]))
    assert batch.schema.names == ["wage", "job"]
    assert batch.schema.field("job").type == pa.dictionary(pa.int32(), pa.string())
    assert batch.column(1).to_pylist() == ["clerk", "nurse", "clerk"]
    assert [(batch.num_rows, batch.num_columns) for batch in source.batches([])] == [(3, 0)]
    with pytest.raises(UnknownNameError, match=r"no column 'jobb' in .*did you mean 'job'"):
        next(source.batches(["jobb"]))


@pytest.mark.parametrize("kind", FILES)
def test_a_file_that_changes_is_noticed_also_by_a_copy_of_its_source(tmp_path, kind):
    source = opened(kind, tmp_path)
    again, begun = pickle.dumps(source), source.batches()
    next(begun)
    (tmp_path / kind).write_bytes(b"job,age,wage\n")
    copied = pickle.loads(again)
    for use in (source.check_unchanged, copied.check_unchanged, lambda: list(source.batches()), lambda: list(begun)):
        with pytest.raises(DataError, match="changed while it was being read"):
            use()


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


def test_chunks_with_dictionaries_of_their_own_become_one_array():
    chunks = pa.chunked_array([pa.array(["x", "y"]).dictionary_encode(), pa.array(["y", "z"]).dictionary_encode()])
    assert as_array(chunks).to_pylist() == ["x", "y", "y", "z"]
    assert as_array(pa.array([1])).to_pylist() == [1]
