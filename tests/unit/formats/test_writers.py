"""Writers of released rows: every format, its fingerprint, a full disk, an interrupt."""

import errno

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from incrowd.errors import OutputError
from incrowd.formats import writers
from incrowd.formats.atomic_files import AtomicFiles
from incrowd.formats.registry import open_source, open_writer


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "people.csv").write_bytes(b'a;b\r\n"x;y";1\r\nz;2\r\n')
    return open_source(folder / "people.csv")


def write(source, target):
    """Release a copy of the source the way the pipeline does."""
    with AtomicFiles() as files, open_writer(files.open(target), source.schema, source) as writer:
        for batch in source.batches():
            writer.write(batch)
        writer.finish()
        return writer.fingerprint


def left(folder):
    return sorted(path.name for path in folder.iterdir() if path.name != "in")


class TestFullDisk:
    @pytest.mark.parametrize("name", ["x.csv", "x.csv.gz", "x.parquet"])
    @pytest.mark.parametrize("late", [False, True])
    def test_one_line_and_no_file(self, tmp_path, source, monkeypatch, name, late):
        class FullFile(writers._OutputFile):
            written = 0

            def write(self, data):
                if self.abandoned:
                    return len(data)
                self.written += 1
                if not late or self.written > 1:
                    raise OSError(errno.ENOSPC, "x;y")
                return super().write(data)

        monkeypatch.setattr(writers, "_OutputFile", FullFile)
        (tmp_path / name).write_text("old")
        with pytest.raises(OutputError, match=r"^cannot write to .*: No space left on device; nothing was written$"):
            write(source, tmp_path / name)
        assert left(tmp_path) == [name]
        assert (tmp_path / name).read_text() == "old"


class TestWriters:
    def test_the_suffix_tsv_means_tabs(self, tmp_path, source):
        write(source, tmp_path / "x.tsv")
        assert (tmp_path / "x.tsv").read_bytes() == b"a\tb\r\nx;y\t1\r\nz\t2\r\n"

    def test_columns_are_taken_by_name(self, tmp_path, source):
        schema = pa.schema([("b", pa.string())])
        for name in ("x.csv", "x.parquet"):
            with open_writer(tmp_path / name, schema, source) as writer:
                for batch in source.batches(encoded=["b"]):
                    writer.write(batch)
        assert (tmp_path / "x.csv").read_bytes() == b"b\r\n1\r\n2\r\n"
        assert pq.read_table(tmp_path / "x.parquet").to_pydict() == {"b": ["1", "2"]}

    def test_no_fingerprint_before_the_end(self, tmp_path, source):
        writer = open_writer(tmp_path / "x.csv", source.schema, source)
        with writer, pytest.raises(ValueError, match="finish"):
            _ = writer.fingerprint
