"""Formats by name: which file is whose, and that every registered one can be read and written."""

from pathlib import Path

import pyarrow as pa
import pytest

from incrowd.errors import DataError, OutputError, PolicyError
from incrowd.formats.registry import (
    FORMATS,
    SUFFIXES,
    WRITTEN_SUFFIXES,
    format_of,
    open_source,
    open_writer,
    output_of,
)

TABLE = pa.table({"age": ["30", "40"], "note": ["a,b", "line\nline"]})


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("x.csv", "csv"),
        ("X.CSV", "csv"),
        ("x.tsv", "csv"),
        ("x.txt.gz", "csv"),
        ("x.parquet", "parquet"),
        ("x.y.PQ", "parquet"),
        ("x.parquet.gz", None),
        ("x.gz", None),
        ("x.xlsx", "excel"),
        ("csv", None),
    ],
)
def test_a_name_says_the_format(name, known):
    assert format_of(Path(name)) is (None if known is None else FORMATS[known])


@pytest.mark.parametrize(
    "suffix",
    [
        suffix + compressed
        for known in FORMATS.values()
        if known.writer
        for suffix in known.suffixes
        for compressed in ("", *known.compressed)
    ],
)
def test_what_is_written_in_a_registered_format_is_read_back(tmp_path, suffix):
    path = tmp_path / f"people{suffix}"
    with open_writer(path, TABLE.schema, open_source(TABLE)) as writer:
        for batch in TABLE.to_batches():
            writer.write(batch)
    source = open_source(path)
    assert source.columns == ("age", "note")
    assert pa.Table.from_batches(source.batches()).to_pylist() == TABLE.to_pylist()
    assert source.fingerprint() == writer.fingerprint


def test_messages_list_every_suffix(tmp_path):
    (tmp_path / "x.docx").touch()
    for known in FORMATS.values():
        assert all(suffix in SUFFIXES for suffix in (*known.suffixes, *known.compressed))
    with pytest.raises(DataError) as reading:
        open_source(tmp_path / "x.docx")
    with pytest.raises(OutputError) as writing:
        open_writer(tmp_path / "x.docx", TABLE.schema, open_source(TABLE))
    assert SUFFIXES in str(reading.value)
    assert WRITTEN_SUFFIXES in str(writing.value)


@pytest.mark.parametrize("words", [{"separator": ";"}, {"quote": "'"}, {"encoding": "cp1252"}, {"header": False}])
def test_only_a_csv_file_has_a_dialect(tmp_path, words):
    with open_writer(tmp_path / "x.parquet", TABLE.schema, open_source(TABLE)) as writer:
        writer.write(TABLE.to_batches()[0])
    for data in (TABLE, tmp_path / "x.parquet"):
        with pytest.raises(PolicyError, match="CSV"):
            open_source(data, **words)


@pytest.mark.parametrize(
    "address", ["s3://bucket/people.csv", "hdfs://host/people.parquet", "https://me:word@host/a.csv"]
)
@pytest.mark.parametrize("kind", [str, Path])
def test_addresses_that_only_a_cluster_reads_are_one_clear_error_without_what_they_may_hide(address, kind):
    begins = address.partition("://")[0]
    with pytest.raises(DataError, match=f"what begins with {begins}:// is read by clusters alone") as read:
        open_source(kind(address))
    with pytest.raises(OutputError, match=f"what begins with {begins}:// is written by clusters alone") as written:
        output_of(kind(address), overwrite=False)
    assert "word" not in f"{read.value}{written.value}"
