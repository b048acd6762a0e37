"""Which paths are of this machine, and how folders of files are read and written."""

import pickle

import pyarrow as pa
import pyarrow.parquet
import pytest
from tests.spark.session import NEEDS_SPARK, spark_session

import incrowd
from incrowd.engines.spark.source import SparkPath, data_files, for_spark, format_of, local_path
from incrowd.engines.spark.write import HadoopFiles, SparkOutput
from incrowd.errors import DataError, OutputError
from incrowd.formats.registry import open_source

pytestmark = NEEDS_SPARK


def test_addresses(tmp_path):
    assert local_path(str(tmp_path)) == tmp_path
    assert local_path(f"file://{tmp_path}") == tmp_path
    assert local_path(f"file:{tmp_path}") == tmp_path
    assert local_path("hdfs://host/people.parquet") is None
    assert local_path("s3a://bucket/people.parquet") is None
    assert for_spark(tmp_path / "a [1].csv") == f"file://{tmp_path}/a \\[1\\].csv"
    assert [format_of(name) for name in ("a.parquet/", "a.CSV.gz", "a.jsonl", "a.orc", "a")] == [
        "parquet",
        "csv",
        "json",
        "orc",
        None,
    ]


def folder_of(tmp_path):
    """A folder as Spark writes it."""
    folder = tmp_path / "people.parquet"
    folder.mkdir()
    for part in range(3):
        rows = pa.table({"age": [20 + part] * 5, "sex": ["f", "m", "f", "m", None]})
        pa.parquet.write_table(rows, folder / f"part-0000{part}.parquet")
    (folder / "_SUCCESS").touch()
    (folder / ".part.crc").touch()
    return folder


def test_a_folder_is_read_as_one_table_in_the_order_of_its_files(tmp_path):
    folder = folder_of(tmp_path)
    assert [path.name for path in data_files(folder)] == [f"part-0000{part}.parquet" for part in range(3)]
    spark_session()
    release = incrowd.anonymize(str(folder), quasi_identifiers=["age", "sex"], k=3, engine="spark", keep_order=True)
    whole = pa.parquet.read_table(folder)
    expected = incrowd.anonymize(whole, quasi_identifiers=["age", "sex"], k=3, keep_order=True)
    assert release.data.toArrow().to_pydict() == expected.data.to_pydict()
    assert release.source.fingerprint() == open_source(folder).fingerprint()
    source = pickle.loads(pickle.dumps(release.source))
    assert source.fingerprint() == release.source.fingerprint()
    pa.parquet.write_table(whole, folder / "part-00003.parquet")
    with pytest.raises(DataError, match="changed while it was being read"):
        release.source.check_unchanged()


def test_what_cannot_be_read(tmp_path):
    spark_session()
    with pytest.raises(DataError, match=r"no file .*people.parquet; check the path"):
        SparkPath(tmp_path / "people.parquet")
    with pytest.raises(DataError, match="cannot tell the format of people"):
        SparkPath(tmp_path / "people")
    with pytest.raises(DataError, match=r"Spark could not read none\*.parquet: there is no such path"):
        SparkPath(f"{tmp_path}/none*.parquet")


@pytest.mark.parametrize("ragged", ["30", "30,f,more"])
def test_a_ragged_record_is_an_error_and_no_strange_value(ragged, tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("age,sex\n" + "20,f\n" * 30 + f"{ragged}\n")
    spark_session()
    with pytest.raises(DataError, match="a record has too few or too many columns"):
        incrowd.anonymize(path, quasi_identifiers=["age"], k=2, engine="spark")


def test_text_in_another_encoding_stays_what_it_is(tmp_path):
    path = tmp_path / "people.csv"
    path.write_bytes(("town;sex\n" + "K\u00f6ln;f\nUlm;m\n" * 9).encode("latin-1"))
    spark_session()
    release = incrowd.anonymize(path, quasi_identifiers=["town"], k=2, engine="spark", encoding="latin-1")
    assert set(release.data.toArrow().column("town").to_pylist()) == {"K\u00f6ln", "Ulm"}
    release.write(tmp_path / "release.csv")
    (part,) = (tmp_path / "release.csv").glob("part-*")
    assert "K\u00f6ln;f" in part.read_bytes().decode("latin-1").splitlines()


def test_where_a_release_cannot_go(tmp_path):
    with pytest.raises(OutputError, match="cannot tell the format"):
        SparkOutput(tmp_path / "release", overwrite=False)
    with pytest.raises(OutputError, match="no directory"):
        SparkOutput(tmp_path / "none" / "release.parquet", overwrite=False)
    (tmp_path / "release.csv").touch()
    with pytest.raises(OutputError, match="is a file, and Spark writes a folder"):
        SparkOutput(tmp_path / "release.csv", overwrite=True)
    folder = folder_of(tmp_path)
    with pytest.raises(OutputError, match="already exists"):
        SparkOutput(folder, overwrite=False)
    (folder / "diary.txt").touch()
    with pytest.raises(OutputError, match="other files than those of a release"):
        SparkOutput(folder, overwrite=True)


def test_a_release_replaces_another_and_never_its_own_source(tmp_path):
    folder, path = folder_of(tmp_path), tmp_path / "release.parquet"
    spark_session()
    release = incrowd.anonymize(folder, quasi_identifiers=["age", "sex"], k=3, engine="spark")
    with pytest.raises(OutputError, match="is the input"):
        release.write(folder, overwrite=True)
    first = release.write(path)
    with pytest.raises(OutputError, match="already exists"):
        release.write(path)
    second = release.write(path, overwrite=True)
    assert first.to_json()["output"] == second.to_json()["output"]
    assert pa.parquet.read_table(path).num_rows == 15
    assert not [file.name for file in tmp_path.iterdir() if file.name.startswith(".")]


def test_names_at_other_file_systems_are_moved_by_hadoop(tmp_path):
    """There is no cluster with files of its own here, so the files of this machine stand for it."""
    files = HadoopFiles(spark_session())
    old, new = f"file://{tmp_path}/_incrowd-1/release", f"file://{tmp_path}/release"
    (tmp_path / "_incrowd-1" / "release").mkdir(parents=True)
    (tmp_path / "_incrowd-1" / "release" / "part-0").write_text("new")
    (tmp_path / "release").mkdir()
    with pytest.raises(OutputError, match="already exists"):
        files.move(old, new, overwrite=False)
    files.move(old, new, overwrite=True)
    files.remove(f"file://{tmp_path}/_incrowd-1")
    assert (tmp_path / "release" / "part-0").read_text() == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["release"]
    assert files.exists(new)
