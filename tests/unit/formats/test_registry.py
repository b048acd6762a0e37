"""Formats by name: which file is whose, and that every registered one can be read and written."""

from pathlib import Path

import pyarrow as pa
import pytest

from incrowd.errors import DataError, OutputError, PolicyError
from incrowd.formats.registry import (
    FORMATS,
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
