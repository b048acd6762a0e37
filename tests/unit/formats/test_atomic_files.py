"""Files that appear complete or not at all: whatever goes wrong, the old one stays and nothing is left behind."""

import errno
import os

import pytest

from incrowd.errors import OutputError
from incrowd.formats.atomic_files import AtomicFiles, check_output


def left(folder):
    return sorted(path.name for path in folder.iterdir())


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

    def test_a_report_that_does_not_fit(self, tmp_path):
        def attempt():
            with AtomicFiles() as files:
                files.open(tmp_path / "report.html")
                raise OSError(errno.ENOSPC, "No space left on device")

        with pytest.raises(OutputError, match="No space left"):
            attempt()
        assert left(tmp_path) == []
