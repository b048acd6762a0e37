"""Compressed files: what a name says, several parts, and files that end early."""

import bz2
import gzip

import pyarrow as pa
import pytest

from incrowd.errors import DataError
from incrowd.formats.compression import COMPRESSED, open_bytes, uncompressed
from incrowd.formats.registry import open_source, open_writer

PACKED = {".gz": gzip.compress, ".bz2": bz2.compress, ".zst": lambda data: pa.compress(data, "zstd", asbytes=True)}
EVERY = pytest.mark.parametrize("ending", COMPRESSED)


@pytest.mark.parametrize(
    ("name", "plain"), [("A.CSV.GZ", "a.csv"), ("x.tsv", "x.tsv"), ("x.jsonl.zst", "x.jsonl"), ("x.gz.csv", "x.gz.csv")]
)
def test_what_a_name_says(name, plain):
    assert uncompressed(name) == plain


@EVERY
def test_files_of_several_parts(tmp_path, ending):
    path = tmp_path / f"X.CSV{ending.upper()}"
    path.write_bytes(PACKED[ending](b"a,b\n1,2\n") + PACKED[ending](b"3,4\n"))
    with open_bytes(path) as file:
        assert file.read() == b"a,b\n1,2\n3,4\n"
    assert pa.Table.from_batches(open_source(path).batches())["b"].to_pylist() == ["2", "4"]


@EVERY
@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_a_file_that_ends_early_is_one_line(tmp_path, ending, suffix):
    rows = b'{"a": 1}\n' if suffix == ".jsonl" else b"a,b\n1,2\n"
    path = tmp_path / f"x{suffix}{ending}"
    path.write_bytes(PACKED[ending](rows * 5000)[:-6])
    with pytest.raises(DataError, match=f"cannot read x{suffix}{ending}: it is damaged"):
        list(open_source(path).batches())


@EVERY
def test_what_is_written_is_compressed_once(tmp_path, ending):
    table = pa.table({"a": ["x"] * 10_000})
    with open_writer(tmp_path / f"x.csv{ending}", table.schema, open_source(table)) as writer:
        writer.write(table.to_batches()[0])
    assert (tmp_path / f"x.csv{ending}").stat().st_size < 300
    with open_bytes(tmp_path / f"x.csv{ending}") as file:
        assert file.read() == b"a\n" + b"x\n" * 10_000
