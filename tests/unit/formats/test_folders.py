"""A release that is a folder: it replaces another as a whole, and a run that is killed in between is completed."""

import os
import subprocess
import sys

import pytest

from incrowd.errors import OutputError
from incrowd.formats.staging import Folder, Manifest, Move, recover_commits

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


def test_a_folder_takes_the_place_of_another(tmp_path):
    folder, target = Folder(tmp_path), release(tmp_path / "release", "old")
    staged = release(folder.path / "release", "new")
    with pytest.raises(OutputError, match="already exists"):
        Manifest([Move(staged, target, replace=False)]).make()
    assert (target / "part-0").read_text() == "old"
    Manifest([Move(staged, target, replace=True)]).make()
    folder.remove()
    assert (target / "part-0").read_text() == "new"
    assert os.listdir(tmp_path) == ["release"]


@pytest.mark.parametrize("moment", ["before", "between"])
def test_a_run_that_is_killed_while_it_moves_is_completed_by_the_next(moment, tmp_path):
    target = release(tmp_path / "release", "old")
    done = subprocess.run([sys.executable, "-c", KILLED, tmp_path, moment], check=False, timeout=60)
    assert done.returncode == 9
    assert target.exists() == (moment == "before")
    recover_commits(tmp_path)
    assert (target / "part-0").read_text() == "new"
    assert os.listdir(tmp_path) == ["release"]


def test_folders_come_back_where_a_later_move_fails(tmp_path):
    for old in ("old", None):
        folder, target = Folder(tmp_path), tmp_path / "release"
        if old:
            release(target, old)
        moves = [Move(release(folder.path / "release", "new"), target, replace=True)]
        moves.append(Move(folder.path / "missing", tmp_path / "x.json", replace=True))
        with pytest.raises(FileNotFoundError):
            Manifest(moves).make()
        folder.remove()
        assert [(path.name, (path / "part-0").read_text()) for path in tmp_path.iterdir()] == [("release", "old")][
            : len(old or "")
        ]
        if old:
            (target / "part-0").unlink()
            target.rmdir()


def test_files_that_wait_in_two_folders_are_completed_together_whichever_is_seen_first(tmp_path):
    """What waits in another folder than the manifest is no leftover."""
    for number, first in enumerate(("a", "b")):
        home = tmp_path / str(number)
        for name in ("a", "b"):
            (home / name).mkdir(parents=True)
        folders = {name: Folder(home / name) for name in ("a", "b")}
        moves = []
        for name, folder in folders.items():
            (folder.path / "0").write_text("new")
            moves.append(Move(folder.path / "0", home / name / "x.json", replace=True))
        Manifest(moves).write()
        for folder in folders.values():
            folder.remove()  # as if the process had ended: a folder with a manifest stays
            os.utime(folder.path, (0, 0))
        recover_commits(home / first)
        assert [(home / name / "x.json").read_text() for name in ("a", "b")] == ["new", "new"]
        assert [os.listdir(home / name) for name in ("a", "b")] == [["x.json"], ["x.json"]]
