import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.databases import PEOPLE, WORDS
from tests.files import read

import incrowd
from incrowd.errors import DataError, OutputError
from incrowd.formats.parquet_files import ParquetSource
from incrowd.formats.registry import open_source, open_writer

ENCODED = pa.dictionary(pa.int32(), pa.string())


@pytest.fixture
def table():
    return pa.table(
        {
            "name": pa.array(["Ann", None, "Cem"], pa.large_string()),
            "age": pa.array([31, 42, None], pa.int16()),
            "born": pa.array([datetime.date(1990, 1, 2)] * 3),
            "seen": pa.array([datetime.datetime(2020, 1, 2, 3, 4, 5)] * 3, pa.timestamp("us", "UTC")),
            "kind": pa.array(["x", "y", "x"]).dictionary_encode().cast(pa.dictionary(pa.int8(), pa.string())),
            "tags": pa.array([["a"], [], None], pa.list_(pa.string())),
        }
    ).replace_schema_metadata({"made by": "us"})


@pytest.fixture
def path(table, tmp_path):
    pq.write_table(table, tmp_path / "people.parquet")
    return tmp_path / "people.parquet"


def copy(source, target, schema=None, change=lambda batch: batch):
    with open_writer(target, schema or source.schema, source) as writer:
        for batch in source.batches(schema.names if schema else None):
            writer.write(change(batch))
    return writer


def test_all_columns_come_as_they_are(path, table):
    source = open_source(path)
    assert source.columns == tuple(table.column_names)
    assert source.schema.equals(pq.read_schema(path), check_metadata=True)
    assert source.schema.metadata == {b"made by": b"us"}
    assert read(path) == table


def test_text_is_encoded_and_other_types_stay(path, table):
    found = read(path, encoded=table.column_names)
    assert found.schema.field("name").type == ENCODED
    assert found.schema.field("kind").type == ENCODED
    assert found.schema.field("age").type == pa.int16()
    assert found.to_pylist() == table.to_pylist()


def test_files_of_polars(tmp_path):
    frame = pl.DataFrame({"a": ["x", None, "y"], "c": pl.Series(["p", "q", "p"], dtype=pl.Categorical)})
    frame.write_parquet(tmp_path / "polars.parquet")
    found = read(tmp_path / "polars.parquet", encoded=["a", "c"])
    assert found.schema.types == [ENCODED, ENCODED]
    assert found.to_pylist() == frame.to_dicts()


def test_a_name_that_continues_another_after_a_dot(tmp_path):
    pq.write_table(pa.table({"a.b": ["1"], "a": ["2"]}), tmp_path / "dots.parquet")
    assert read(tmp_path / "dots.parquet", columns=["a"]).to_pylist() == [{"a": "2"}]


def test_damaged_pages(tmp_path):
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"a": [str(number) for number in range(10_000)]}), path)
    data = bytearray(path.read_bytes())
    data[4:3000] = b"\xff" * 2996
    path.write_bytes(data)
    with pytest.raises(DataError, match="damaged"):
        list(open_source(path).batches())


@pytest.mark.parametrize("compliant", [True, False])
def test_a_copy_keeps_fields_and_types_and_no_metadata(table, tmp_path, compliant):
    path = tmp_path / "people.parquet"
    pq.write_table(table, path, use_compliant_nested_type=compliant)
    source = ParquetSource(path)
    copy(source, tmp_path / "copy.parquet")
    found = pq.read_table(tmp_path / "copy.parquet")
    assert found == table
    assert found.schema.equals(pq.read_schema(path))
    assert not found.schema.metadata
    assert not any(field.metadata for field in found.schema)


def test_small_batches_are_gathered_into_row_groups(path, table, tmp_path):
    source = ParquetSource(path)
    with open_writer(tmp_path / "copy.parquet", source.schema, source) as writer:
        for _ in range(50):
            for batch in source.batches():
                writer.write(batch)
    assert pq.ParquetFile(tmp_path / "copy.parquet").metadata.num_row_groups == 1


def test_pandas_reads_back_what_was_replaced_and_what_was_not(tmp_path):
    frame = pd.DataFrame(
        {"id": [1, 2], "age": pd.array([30, None], dtype="Int64"), "sex": pd.Categorical(["f", "m"]), "zip": [5, 6]},
        index=pd.Index(["p", "q"], name="key"),
    )
    frame.to_parquet(tmp_path / "pandas.parquet")
    source = ParquetSource(tmp_path / "pandas.parquet")
    text = pa.field("zip", pa.string())
    schema = pa.schema([text if field.name == "zip" else field for field in source.schema if field.name != "id"])
    place = schema.names.index("zip")
    copy(
        source,
        tmp_path / "copy.parquet",
        schema,
        lambda batch: batch.set_column(place, text, pa.array(["5-9"] * batch.num_rows)),
    )
    expected = frame.reset_index()[["age", "sex", "zip", "key"]].assign(zip=["5-9", "5-9"])
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "copy.parquet"), expected)


def test_a_batch_that_does_not_fit_the_schema(path, tmp_path):
    source = ParquetSource(path)
    schema = pa.schema([("name", pa.int8())])
    with pytest.raises(OutputError, match="column 'name' of type large_string cannot be written as int8"):
        copy(source, tmp_path / "copy.parquet", schema)


def test_text_that_is_none_is_refused(tmp_path):
    """A damaged file, or one that another program wrote wrongly."""
    pq.write_table(
        pa.table({"job": pa.array([b"nurse", b"\xed\xa0\x80", b"clerk"], pa.binary())}), tmp_path / "x.parquet"
    )
    schema = pa.schema([("job", pa.string())])
    table = pa.Table.from_arrays(
        [pq.read_table(tmp_path / "x.parquet")["job"].combine_chunks().view(pa.string())], schema=schema
    )
    pq.write_table(table, tmp_path / "x.parquet")
    with pytest.raises(DataError, match="is damaged; its rows cannot be read"):
        incrowd.anonymize(tmp_path / "x.parquet", quasi_identifiers=["job"], k=2, method="tdr")


def test_memory_does_not_grow_with_the_file(tmp_path):
    """Random numbers, which nothing compresses: 16 MB in 40 row groups."""
    numbers = np.random.default_rng(1).integers(0, 1 << 62, 2_000_000)
    pq.write_table(pa.table({"n": numbers}), tmp_path / "t.parquet", row_group_size=50_000, use_dictionary=False)
    before, held = pa.total_allocated_bytes(), []
    for batch in ParquetSource(tmp_path / "t.parquet").batches():
        held.append(pa.total_allocated_bytes() - before)
        del batch
    assert max(held) < 6_000_000


def put(folder, name, rows):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(rows, path)
    return path


def test_files_follow_each_other_by_name(tmp_path):
    put(tmp_path, "b.parquet", PEOPLE.slice(20))
    put(tmp_path, "a.pq", PEOPLE.slice(0, 20))
    put(tmp_path, ".hidden/c.parquet", PEOPLE)
    put(tmp_path, "_temporary/c.parquet", PEOPLE)
    (tmp_path / "_SUCCESS").write_text("")
    assert read(tmp_path).combine_chunks().equals(PEOPLE)
    assert read(tmp_path / "b*.parquet").num_rows == 40
    assert open_source(tmp_path).fingerprint() != open_source(tmp_path / "b*.parquet").fingerprint()


@pytest.mark.parametrize("engine", ["arrow", "duckdb"])
def test_partitions_are_columns_of_text(engine, tmp_path):
    put(tmp_path, "year=2019/city=K%C3%B6ln/a.parquet", PEOPLE.slice(0, 20))
    put(tmp_path, "year=2020/city=__HIVE_DEFAULT_PARTITION__/a.parquet", PEOPLE.slice(20))
    found = read(tmp_path)
    assert found["year"].to_pylist() == ["2019"] * 20 + ["2020"] * 40
    assert found["city"].to_pylist() == ["Köln"] * 20 + [None] * 40
    pattern = read(f"{tmp_path}/year=*/*/*.parquet")
    assert pattern["year"].to_pylist() == found["year"].to_pylist()
    words = {**WORDS, "quasi_identifiers": ["age", "year", "city"], "engine": engine}
    release = incrowd.anonymize(tmp_path, **words)
    assert release.data.to_pydict() == incrowd.anonymize(found, **{**words, "engine": "arrow"}).data.to_pydict()


def test_files_that_do_not_fit_together(tmp_path):
    put(tmp_path, "a.parquet", PEOPLE)
    put(tmp_path, "b.parquet", PEOPLE.drop_columns("age"))
    with pytest.raises(DataError, match=r"b.parquet of .* has other columns or types than a.parquet"):
        open_source(tmp_path)
    with pytest.raises(DataError, match="no file is called like"):
        open_source(tmp_path / "x*.parquet")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match=r"cannot tell the format|is a directory"):
        open_source(tmp_path / "empty")


def test_a_file_that_changes_is_refused(tmp_path):
    put(tmp_path, "a.parquet", PEOPLE)
    path = put(tmp_path, "b.parquet", PEOPLE)
    source = open_source(tmp_path)
    pq.write_table(PEOPLE.slice(0, 30), path)
    with pytest.raises(DataError, match="changed while it was being read"):
        list(source.batches())
