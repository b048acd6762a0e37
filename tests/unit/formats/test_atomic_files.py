"""Files that appear complete or not at all: whatever goes wrong, the old one stays and nothing is left behind."""

import errno
import json
import os

import pytest

from incrowd.errors import OutputError
from incrowd.formats import atomic_files
from incrowd.formats.atomic_files import AtomicFiles, check_output
from incrowd.formats.staging import recover_commits


def left(folder):
    return sorted(path.name for path in folder.iterdir())


class TestCheckOutput:
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

    def test_links_where_they_are_not_allowed(self, tmp_path):
        (tmp_path / "x.json").symlink_to(tmp_path / "elsewhere")
        for overwrite in (False, True):
            with pytest.raises(OutputError, match="is a link"):
                check_output(tmp_path / "x.json", overwrite=overwrite, suffixes=(".json",), links=False)

    def test_no_permission(self, tmp_path, monkeypatch):
        monkeypatch.setattr(os, "access", lambda *_: False)
        with pytest.raises(OutputError, match="permission denied"):
            check_output(tmp_path / "x.csv")


@pytest.fixture(params=["unnamed", "hidden"])
def where(request, monkeypatch):
    """Files without a name, and what is done where the system has none."""
    if request.param == "hidden":
        monkeypatch.setattr(atomic_files, "unnamed", lambda *_: None)


@pytest.mark.usefixtures("where")
class TestAtomicFiles:
    def test_nothing_is_there_before_the_end(self, tmp_path):
        with AtomicFiles() as files:
            hidden = files.open(tmp_path / "x.csv.gz")
            assert hidden.name.endswith(".csv.gz")
            assert hidden.stat().st_mode & 0o777 == 0o600
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

    def test_a_failure_between_two_moves_brings_the_first_one_back(self, tmp_path, monkeypatch):
        (tmp_path / "x.csv").write_text("old")
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
        with pytest.raises(OutputError, match="Permission denied; nothing was written"):
            attempt()
        assert left(tmp_path) == ["x.csv"]
        assert (tmp_path / "x.csv").read_text() == "old"

    @pytest.mark.parametrize("mask", [0o022, 0o077])
    def test_the_mode_is_that_of_open(self, tmp_path, mask):
        before = os.umask(mask)
        try:
            with AtomicFiles() as files:
                files.open(tmp_path / "x.csv").touch()
        finally:
            os.umask(before)
        assert (tmp_path / "x.csv").stat().st_mode & 0o777 == 0o666 & ~mask

    def test_a_folder_appears_with_its_files(self, tmp_path):
        with AtomicFiles() as files:
            files.open(tmp_path / "x.csv").write_text("new")
            files.open(tmp_path / "private" / "x.json", mode=0o600, folder=0o700).write_text("new")
            files.open(tmp_path / "private" / "y.json", mode=0o600, folder=0o700).write_text("new")
            assert not (tmp_path / "private").exists()
        assert left(tmp_path / "private") == ["x.json", "y.json"]
        assert (tmp_path / "private").stat().st_mode & 0o777 == 0o700

    def test_a_folder_does_not_stay_without_its_files(self, tmp_path):
        def attempt():
            with AtomicFiles(overwrite=False) as files:
                files.open(tmp_path / "private" / "x.json", folder=0o700).write_text("new")
                files.open(tmp_path / "x.csv").write_text("new")
                (tmp_path / "x.csv").write_text("old")

        with pytest.raises(OutputError, match="already exists"):
            attempt()
        assert left(tmp_path) == ["x.csv"]

    def test_without_overwrite_a_file_that_came_meanwhile_stays(self, tmp_path):
        def attempt():
            with AtomicFiles(overwrite=False) as files:
                files.open(tmp_path / "x.csv").write_text("new")
                files.open(tmp_path / "y.csv").write_text("new")
                (tmp_path / "y.csv").write_text("old")

        with pytest.raises(OutputError, match="already exists"):
            attempt()
        assert left(tmp_path) == ["y.csv"]
        assert (tmp_path / "y.csv").read_text() == "old"

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


def test_a_file_that_somebody_put_in_the_way_is_never_written_through(tmp_path, monkeypatch):
    """Where files lie in a hidden folder, each is made anew: what is there already is not opened."""
    monkeypatch.setattr("incrowd.formats.atomic_files.unnamed", lambda *_: None)
    (tmp_path / "victim").write_text("mine")
    with AtomicFiles() as files:
        first = files.open(tmp_path / "x.csv")
        assert first.stat().st_mode & 0o777 == 0o600
        assert first.parent.stat().st_mode & 0o777 == 0o700
        (first.parent / "new-1.csv").symlink_to(tmp_path / "victim")
        with pytest.raises(OutputError, match="cannot write"):
            files.open(tmp_path / "y.csv")
    assert (tmp_path / "victim").read_text() == "mine"
    assert left(tmp_path) == ["victim", "x.csv"]


def test_a_folder_that_another_run_may_just_have_made_is_left_alone(tmp_path):
    folder = tmp_path / ".incrowd-0123456789abcdef"
    folder.mkdir(mode=0o700)
    recover_commits(tmp_path)
    assert folder.exists()
    os.utime(folder, (0, 0))  # some time later
    recover_commits(tmp_path)
    assert not folder.exists()


def test_a_folder_of_somebody_else_is_left_alone(tmp_path):
    """One that others may write to: whoever did could have written its manifest."""
    folder = tmp_path / ".incrowd-0123456789abcdef"
    folder.mkdir()
    folder.chmod(0o777)
    (folder / "0").write_text("theirs")
    target = tmp_path / "x.csv"
    moves = [[str(folder / "0"), str(target), None]]
    (folder / "manifest.json").write_text(json.dumps({"incrowd": "manifest", "overwrite": True, "moves": moves}))
    os.utime(folder, (0, 0))
    recover_commits(tmp_path)
    assert not target.exists()
    assert folder.exists()
