import errno
import gzip
import hashlib
import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from incrowd.engines import output
from incrowd.engines.output import AtomicFiles, check_output, open_writer
from incrowd.engines.sources import open_source
from incrowd.errors import OutputError


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
    return writer.fingerprint


def left(folder):
    return sorted(path.name for path in folder.iterdir() if path.name != "in")


class TestCheckOutput:
    @pytest.mark.parametrize("name", ["x.csv", "x.tsv", "x.TXT", "x.csv.gz", "x.parquet", "x.pq"])
    def test_good(self, tmp_path, name):
        assert check_output(str(tmp_path / name), inputs=[tmp_path / "nobody.csv"]) == tmp_path / name

    @pytest.mark.parametrize("name", ["x", "x.xlsx", "x.gz", "x.parquet.gz", "csv"])
    def test_unknown_suffix(self, tmp_path, name):
        with pytest.raises(OutputError, match=r"suffix; use \.csv"):
            check_output(tmp_path / name)

    def test_directories(self, tmp_path):
        (tmp_path / "x.csv").mkdir()
        with pytest.raises(OutputError, match="is a directory"):
            check_output(tmp_path / "x.csv", overwrite=True)
        with pytest.raises(OutputError, match="no directory"):
            check_output(tmp_path / "nowhere" / "x.csv")

    def test_exists(self, tmp_path):
        (tmp_path / "x.csv").touch()
        with pytest.raises(OutputError, match="exists"):
            check_output(tmp_path / "x.csv")
        check_output(tmp_path / "x.csv", overwrite=True)

    @pytest.mark.parametrize("link", [lambda old, new: None, os.link, os.symlink])
    def test_the_input_is_never_overwritten(self, tmp_path, link):
        old, new = tmp_path / "old.csv", tmp_path / "new.csv"
        old.touch()
        link(old, new)
        target = new if new.exists() else tmp_path / "." / "old.csv"
        with pytest.raises(OutputError, match="is the input"):
            check_output(target, inputs=[old], overwrite=True)

    def test_no_regular_file(self, tmp_path):
        os.mkfifo(tmp_path / "pipe.csv")
        with pytest.raises(OutputError, match="not a regular file"):
            check_output(tmp_path / "pipe.csv", overwrite=True)

    def test_no_permission(self, tmp_path, monkeypatch):
        monkeypatch.setattr(os, "access", lambda *_: False)
        with pytest.raises(OutputError, match="permission denied"):
            check_output(tmp_path / "x.csv")


class TestAtomicFiles:
    def test_nothing_is_there_before_the_end(self, tmp_path):
        with AtomicFiles() as files:
            hidden = files.open(tmp_path / "x.csv.gz")
            assert hidden.name.startswith(".")
            assert hidden.name.endswith(".csv.gz")
            hidden.write_text("new")
            files.open(tmp_path / "report.html").write_text("report")
            assert not (tmp_path / "x.csv.gz").exists()
        assert left(tmp_path) == ["report.html", "x.csv.gz"]
        assert (tmp_path / "x.csv.gz").read_text() == "new"

    @pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, OutputError])
    def test_on_any_exception_the_old_file_stays(self, tmp_path, error):
        (tmp_path / "x.csv").write_text("old")

        def attempt():
            with AtomicFiles() as files:
                files.open(tmp_path / "x.csv").write_text("new")
                files.open(tmp_path / "y.csv").write_text("new")
                raise error

        with pytest.raises(error):
            attempt()
        assert left(tmp_path) == ["x.csv"]
        assert (tmp_path / "x.csv").read_text() == "old"

    def test_interrupted_while_writing_rows(self, tmp_path, source):
        def attempt(name):
            with AtomicFiles() as files, open_writer(files.open(tmp_path / name), source.schema, source) as writer:
                writer.write(next(source.batches()))
                raise KeyboardInterrupt

        for name in ("x.csv", "x.csv.gz", "x.parquet"):
            (tmp_path / name).write_text("old")
            with pytest.raises(KeyboardInterrupt):
                attempt(name)
            assert (tmp_path / name).read_text() == "old"
        assert left(tmp_path) == ["x.csv", "x.csv.gz", "x.parquet"]

    @pytest.mark.parametrize("step", ["fsync", "replace"])
    @pytest.mark.parametrize("error", [OSError(errno.EIO, "secret"), KeyboardInterrupt()])
    def test_a_failure_at_the_end(self, tmp_path, monkeypatch, step, error):
        (tmp_path / "x.csv").write_text("old")

        def fail(*_):
            raise error

        monkeypatch.setattr(os, step, fail)
        files = AtomicFiles()
        with pytest.raises((OutputError, KeyboardInterrupt)), files:
            files.open(tmp_path / "x.csv").write_text("new")
        assert left(tmp_path) == ["x.csv"]
        assert (tmp_path / "x.csv").read_text() == "old"

    def test_a_failure_between_two_moves_says_what_was_moved(self, tmp_path, monkeypatch):
        move = os.replace

        def fail_on_second(hidden, target):
            if target.name == "y.csv":
                raise OSError(errno.EACCES, "x")
            move(hidden, target)

        def attempt():
            with AtomicFiles() as files:
                files.open(tmp_path / "x.csv").write_text("new")
                files.open(tmp_path / "y.csv").write_text("new")

        monkeypatch.setattr(os, "replace", fail_on_second)
        with pytest.raises(OutputError, match=r"already replaced: x\.csv$"):
            attempt()
        assert left(tmp_path) == ["x.csv"]

    @pytest.mark.parametrize("mask", [0o022, 0o077])
    def test_the_mode_is_that_of_open(self, tmp_path, mask):
        before = os.umask(mask)
        try:
            with AtomicFiles() as files:
                files.open(tmp_path / "x.csv").touch()
        finally:
            os.umask(before)
        assert (tmp_path / "x.csv").stat().st_mode & 0o777 == 0o666 & ~mask

    def test_the_mode_of_a_file_that_is_replaced_is_kept(self, tmp_path):
        (tmp_path / "x.csv").touch(mode=0o600)
        with AtomicFiles() as files:
            files.open(tmp_path / "x.csv").write_text("new")
        assert (tmp_path / "x.csv").stat().st_mode & 0o777 == 0o600

    def test_a_link_stays_a_link(self, tmp_path):
        (tmp_path / "there").mkdir()
        (tmp_path / "x.csv").symlink_to(tmp_path / "there" / "x.csv")
        with AtomicFiles() as files:
            files.open(tmp_path / "x.csv").write_text("new")
        assert (tmp_path / "x.csv").is_symlink()
        assert (tmp_path / "there" / "x.csv").read_text() == "new"

    def test_the_same_file_twice(self, tmp_path):
        def attempt():
            with AtomicFiles() as files:
                files.open(tmp_path / "x.csv")
                files.open(tmp_path / "." / "x.csv")

        with pytest.raises(OutputError, match="twice"):
            attempt()
        assert left(tmp_path) == []

    def test_a_directory_that_is_gone(self, tmp_path):
        files = AtomicFiles()
        with pytest.raises(OutputError, match="No such file or directory"), files:
            files.open(tmp_path / "nowhere" / "x.csv")


class TestFullDisk:
    @pytest.mark.parametrize("name", ["x.csv", "x.csv.gz", "x.parquet"])
    @pytest.mark.parametrize("late", [False, True])
    def test_one_line_and_no_file(self, tmp_path, source, monkeypatch, name, late):
        class FullFile(output._HashedFile):
            written = 0

            def write(self, data):
                if self._abandoned:
                    return len(data)
                self.written += 1
                if not late or self.written > 1:
                    raise OSError(errno.ENOSPC, "x;y")
                return super().write(data)

        monkeypatch.setattr(output, "_HashedFile", FullFile)
        (tmp_path / name).write_text("old")
        with pytest.raises(OutputError, match=r"^cannot write in .*: No space left on device; nothing was written$"):
            write(source, tmp_path / name)
        assert left(tmp_path) == [name]
        assert (tmp_path / name).read_text() == "old"

    @pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
    def test_a_device_that_is_always_full(self, tmp_path, source):
        def attempt(name):
            with open_writer(tmp_path / name, source.schema, source) as writer:
                for batch in source.batches():
                    writer.write(batch)

        for name in ("x.csv", "x.csv.gz", "x.parquet"):
            (tmp_path / name).symlink_to("/dev/full")
            with pytest.raises(OutputError, match="No space left"):
                attempt(name)

    def test_a_report_that_does_not_fit(self, tmp_path):
        def attempt():
            with AtomicFiles() as files:
                files.open(tmp_path / "report.html")
                raise OSError(errno.ENOSPC, "No space left on device")

        with pytest.raises(OutputError, match="No space left"):
            attempt()
        assert left(tmp_path) == []


class TestWriters:
    def test_csv_is_written_as_it_was_read(self, tmp_path, source):
        assert write(source, tmp_path / "x.csv") == source.fingerprint()
        assert (tmp_path / "x.csv").read_bytes() == source.path.read_bytes()

    def test_the_fingerprint_is_that_of_the_file(self, tmp_path, source):
        for name in ("x.csv", "x.csv.gz", "x.parquet"):
            found = write(source, tmp_path / name)
            assert found == "sha256:" + hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()
            assert found == write(source, tmp_path / name)

    def test_gzip(self, tmp_path, source):
        write(source, tmp_path / "x.csv.gz")
        assert gzip.decompress((tmp_path / "x.csv.gz").read_bytes()) == source.path.read_bytes()
        assert open_source(tmp_path / "x.csv.gz").dialect == source.dialect

    def test_the_suffix_tsv_means_tabs(self, tmp_path, source):
        write(source, tmp_path / "x.tsv")
        assert (tmp_path / "x.tsv").read_bytes() == b"a\tb\r\nx;y\t1\r\nz\t2\r\n"

    def test_a_frame_to_csv_and_parquet(self, tmp_path):
        table = pa.table({"a": ["x", None], "b": [1, 2]})
        write(open_source(table), tmp_path / "x.csv")
        assert (tmp_path / "x.csv").read_bytes() == b"a,b\nx,1\n,2\n"
        write(open_source(table), tmp_path / "x.parquet")
        assert pq.read_table(tmp_path / "x.parquet") == table

    def test_columns_are_taken_by_name(self, tmp_path, source):
        schema = pa.schema([("b", pa.string())])
        for name in ("x.csv", "x.parquet"):
            with open_writer(tmp_path / name, schema, source) as writer:
                for batch in source.batches(encoded=["b"]):
                    writer.write(batch)
        assert (tmp_path / "x.csv").read_bytes() == b"b\r\n1\r\n2\r\n"
        assert pq.read_table(tmp_path / "x.parquet").to_pydict() == {"b": ["1", "2"]}

    def test_no_fingerprint_before_the_end(self, tmp_path, source):
        with open_writer(tmp_path / "x.csv", source.schema, source) as writer, pytest.raises(ValueError, match="close"):
            _ = writer.fingerprint

    def test_unknown_suffix(self, tmp_path, source):
        with pytest.raises(OutputError, match="suffix"):
            open_writer(tmp_path / "x.xlsx", source.schema, source)

    def test_text_that_cannot_be_encoded_leaves_no_file(self, tmp_path):
        (tmp_path / "in.csv").write_bytes(b"a,b\nx,\xe9\n")
        source = open_source(tmp_path / "in.csv", encoding="cp1252")
        batch = pa.RecordBatch.from_pydict({"a": ["名"], "b": ["x"]})
        files = AtomicFiles()
        with (
            pytest.raises(OutputError, match="column 'a'"),
            files,
            open_writer(files.open(tmp_path / "x.csv"), source.schema, source) as writer,
        ):
            writer.write(batch)
        assert left(tmp_path) == ["in.csv"]
