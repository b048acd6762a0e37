import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.databases import PEOPLE, WORDS

import incrowd
from incrowd.errors import DataError
from incrowd.formats.registry import open_source


def rows_of(address):
    return pa.Table.from_batches(list(open_source(address).batches())).combine_chunks()


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
    assert rows_of(tmp_path).equals(PEOPLE)
    assert rows_of(tmp_path / "b*.parquet").num_rows == 40
    assert open_source(tmp_path).fingerprint() != open_source(tmp_path / "b*.parquet").fingerprint()


@pytest.mark.parametrize("engine", ["arrow", "duckdb"])
def test_partitions_are_columns_of_text(engine, tmp_path):
    put(tmp_path, "year=2019/city=K%C3%B6ln/a.parquet", PEOPLE.slice(0, 20))
    put(tmp_path, "year=2020/city=__HIVE_DEFAULT_PARTITION__/a.parquet", PEOPLE.slice(20))
    found = rows_of(tmp_path)
    assert found["year"].to_pylist() == ["2019"] * 20 + ["2020"] * 40
    assert found["city"].to_pylist() == ["Köln"] * 20 + [None] * 40
    pattern = rows_of(f"{tmp_path}/year=*/*/*.parquet")
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
