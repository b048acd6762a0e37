"""Files that appear complete or not at all: whatever goes wrong, the old one stays and nothing is left behind."""

import errno
import json
import os
import subprocess
import sys

import pytest

from incrowd.errors import OutputError
from incrowd.formats import atomic_files
from incrowd.formats.atomic_files import AtomicFiles, check_output
from incrowd.formats.staging import Folder, Manifest, Move, recover_commits

FULL = OSError(errno.ENOSPC, "x")


def contents(folder):
    return {path.name: path.read_text() for path in sorted(folder.iterdir())}


class TestCheckOutput:
    def test_what_is_in_the_way(self, tmp_path):
        (tmp_path / "old.csv").touch()
        (tmp_path / "folder.csv").mkdir()
        (tmp_path / "link.json").symlink_to(tmp_path / "elsewhere")
        os.mkfifo(tmp_path / "pipe.csv")
        json_only = {"suffixes": (".json",), "links": False}
        for name, words, message in (
            ("x.docx", {}, r"suffix; use \.csv"),
            ("old.csv", {"overwrite": False}, "already exists"),
            ("folder.csv", {}, "is a directory"),
            ("nowhere/x.csv", {}, "no directory"),
            ("pipe.csv", {}, "not a regular file"),
            ("link.json", json_only, "is a link"),
            ("link.json", {**json_only, "overwrite": False}, "is a link"),
        ):
            with pytest.raises(OutputError, match=message):
                check_output(tmp_path / name, **{"overwrite": True, **words})
        for name in ("old.csv", "x.csv.gz", "x.pq"):
            assert check_output(str(tmp_path / name), inputs=[tmp_path / "nobody.csv"], overwrite=True).name == name

    @pytest.mark.parametrize("link", [lambda old, new: None, os.link, os.symlink])
    def test_the_input_is_never_overwritten(self, tmp_path, link):
        old, new = tmp_path / "old.csv", tmp_path / "new.csv"
        old.touch()
        link(old, new)
        target = new if new.exists() else tmp_path / "." / "old.csv"
        with pytest.raises(OutputError, match="is the input"):
            check_output(target, inputs=[old], overwrite=True)

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
        (tmp_path / "there").mkdir()
        (tmp_path / "there" / "link.csv").symlink_to(tmp_path / "there" / "x.csv")
        with AtomicFiles() as files:
            hidden = files.open(tmp_path / "x.csv.gz")
            assert hidden.name.endswith(".csv.gz")
            assert hidden.stat().st_mode & 0o777 == 0o600
            hidden.write_text("new")
            for name in ("x.json", "y.json"):
                files.open(tmp_path / "private" / name, mode=0o600, folder=0o700).write_text("new")
            files.open(tmp_path / "there" / "link.csv").write_text("new")
            with pytest.raises(OutputError, match="twice"):
                files.open(tmp_path / "." / "x.csv.gz")
            with pytest.raises(OutputError, match="No such file or directory"):
                files.open(tmp_path / "nowhere" / "x.csv")
            assert os.listdir(tmp_path / "there") == ["link.csv"] or not (tmp_path / "there" / "x.csv").exists()
            assert not (tmp_path / "x.csv.gz").exists()
            assert not (tmp_path / "private").exists()
        assert {path.name for path in tmp_path.iterdir()} == {"private", "there", "x.csv.gz"}
        assert contents(tmp_path / "private") == {"x.json": "new", "y.json": "new"}
        assert (tmp_path / "private").stat().st_mode & 0o777 == 0o700
        assert (tmp_path / "private" / "x.json").stat().st_mode & 0o777 == 0o600
        assert (tmp_path / "there" / "link.csv").is_symlink()
        assert (tmp_path / "there" / "x.csv").read_text() == "new"

    @pytest.mark.parametrize(
        ("step", "error"),
        [
            *(
                (step, error)
                for step in (None, "fsync", "replace")
                for error in (ValueError, KeyboardInterrupt, SystemExit)
            ),
            *((step, FULL) for step in (None, "fsync", "replace", "second replace")),
        ],
    )
    def test_on_any_error_the_old_file_stays(self, tmp_path, monkeypatch, step, error):
        (tmp_path / "x.csv").write_text("old")
        replace = os.replace

        def fail(*_):
            raise error

        def attempt():
            with AtomicFiles() as files:
                for name in ("x.csv", "y.csv"):
                    files.open(tmp_path / name).write_text("new")
                if step is None:
                    fail()
                second = step == "second replace"
                there = (lambda old, new: fail() if new.name == "y.csv" else replace(old, new)) if second else fail
                monkeypatch.setattr(os, step.split()[-1], there)

        with pytest.raises(OutputError if error is FULL else error) as caught:
            attempt()
        assert error is not FULL or "No space left on device; nothing was written" in str(caught.value)
        assert contents(tmp_path) == {"x.csv": "old"}

    @pytest.mark.parametrize("mask", [0o022, 0o077])
    def test_the_mode_is_that_of_open_or_of_the_file_that_is_replaced(self, tmp_path, mask):
        (tmp_path / "old.csv").touch(mode=0o600)
        before = os.umask(mask)
        try:
            with AtomicFiles() as files:
                for name in ("x.csv", "old.csv"):
                    files.open(tmp_path / name).touch()
        finally:
            os.umask(before)
        assert (tmp_path / "x.csv").stat().st_mode & 0o777 == 0o666 & ~mask
        assert (tmp_path / "old.csv").stat().st_mode & 0o777 == 0o600

    def test_without_overwrite_a_file_that_came_meanwhile_stays(self, tmp_path):
        def attempt():
            with AtomicFiles(overwrite=False) as files:
                files.open(tmp_path / "private" / "x.json", folder=0o700).write_text("new")
                for name in ("x.csv", "y.csv"):
                    files.open(tmp_path / name).write_text("new")
                (tmp_path / "y.csv").write_text("old")

        with pytest.raises(OutputError, match="already exists"):
            attempt()
        assert contents(tmp_path) == {"y.csv": "old"}


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
    assert contents(tmp_path) == {"victim": "mine", "x.csv": ""}


def test_a_folder_that_another_run_may_just_have_made_or_somebody_else_is_left_alone(tmp_path):
    folder, target = tmp_path / ".incrowd-0123456789abcdef", tmp_path / "x.csv"
    folder.mkdir(mode=0o700)
    recover_commits(tmp_path)
    assert folder.exists()
    folder.chmod(0o777)  # others may write to it: whoever did could have written its manifest
    (folder / "0").write_text("theirs")
    manifest = {"incrowd": "manifest", "moves": [[str(folder / "0"), str(target), True, None]], "removed": []}
    (folder / "manifest.json").write_text(json.dumps({**manifest, "proof": None}))
    os.utime(folder, (0, 0))
    recover_commits(tmp_path)
    assert (target.exists(), folder.exists()) == (False, True)
    folder.chmod(0o700)
    recover_commits(tmp_path)
    assert contents(tmp_path) == {"x.csv": "theirs"}
    folder.mkdir(mode=0o700)
    os.utime(folder, (0, 0))  # some time later
    recover_commits(tmp_path)
    assert not folder.exists()


KILLED = """
import os, sys
from pathlib import Path
from incrowd.formats import staging

home, moment = Path(sys.argv[1]), sys.argv[2]
folder = staging.Folder(home)
(folder.path / "release").mkdir()
(folder.path / "release" / "part-0").write_text("new")
replace = os.replace

def killed(old, new):
    if Path(new).name == "release":
        os._exit(9)
    replace(old, new)

if moment == "before":
    staging._replace = lambda *paths: os._exit(9)
else:
    os.replace = killed
move = staging.Move(folder.path / "release", home / "release", replace=True)
manifest = staging.Manifest([move])
manifest.write()
manifest.make()
"""


def release(folder, text):
    """A folder with one part."""
    folder.mkdir(parents=True)
    (folder / "part-0").write_text(text)
    return folder


class TestFolders:
    """A release that is a folder: it replaces another as a whole, and a run that is killed in between is completed."""

    def test_a_folder_takes_the_place_of_another(self, tmp_path):
        folder, target = Folder(tmp_path), release(tmp_path / "release", "old")
        staged = release(folder.path / "release", "new")
        with pytest.raises(OutputError, match="already exists"):
            Manifest([Move(staged, target, replace=False)]).make()
        assert contents(target) == {"part-0": "old"}
        Manifest([Move(staged, target, replace=True)]).make()
        folder.remove()
        assert contents(target) == {"part-0": "new"}
        assert os.listdir(tmp_path) == ["release"]

    @pytest.mark.parametrize("moment", ["before", "between"])
    def test_a_run_that_is_killed_while_it_moves_is_completed_by_the_next(self, moment, tmp_path):
        target = release(tmp_path / "release", "old")
        done = subprocess.run([sys.executable, "-c", KILLED, tmp_path, moment], check=False, timeout=60)
        assert done.returncode == 9
        assert target.exists() == (moment == "before")
        recover_commits(tmp_path)
        assert contents(target) == {"part-0": "new"}
        assert os.listdir(tmp_path) == ["release"]

    @pytest.mark.parametrize("old", [True, False])
    def test_folders_come_back_where_a_later_move_fails(self, tmp_path, old):
        folder, target = Folder(tmp_path), tmp_path / "release"
        if old:
            release(target, "old")
        moves = [Move(release(folder.path / "release", "new"), target, replace=True)]
        moves.append(Move(folder.path / "missing", tmp_path / "x.json", replace=True))
        with pytest.raises(FileNotFoundError):
            Manifest(moves).make()
        folder.remove()
        assert [(path.name, contents(path)) for path in tmp_path.iterdir()] == [("release", {"part-0": "old"})][:old]

    @pytest.mark.parametrize("first", ["a", "b"])
    def test_files_that_wait_in_two_folders_are_completed_together_whichever_is_seen_first(self, tmp_path, first):
        """What waits in another folder than the manifest is not a leftover."""
        folders, moves = [], []
        for name in ("a", "b"):
            (tmp_path / name).mkdir()
            folders.append(Folder(tmp_path / name))
            (folders[-1].path / "0").write_text("new")
            moves.append(Move(folders[-1].path / "0", tmp_path / name / "x.json", replace=True))
        Manifest(moves).write()
        for folder in folders:
            folder.remove()  # as if the process had ended: a folder with a manifest stays
            os.utime(folder.path, (0, 0))
        recover_commits(tmp_path / first)
        assert [contents(tmp_path / name) for name in ("a", "b")] == [{"x.json": "new"}] * 2
