"""A release that is a folder: it replaces another as a whole, and a run that is killed in between is completed."""

import os
import subprocess
import sys

import pytest

from incrowd.errors import OutputError
from incrowd.formats.staging import Folder, heal, move_folder

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
staging.move_folder(folder, folder.path / "release", home / "release", overwrite=True)
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
        move_folder(folder, staged, target, overwrite=False)
    assert (target / "part-0").read_text() == "old"
    move_folder(folder, staged, target, overwrite=True)
    folder.remove()
    assert (target / "part-0").read_text() == "new"
    assert os.listdir(tmp_path) == ["release"]


@pytest.mark.parametrize("moment", ["before", "between"])
def test_a_run_that_is_killed_while_it_moves_is_completed_by_the_next(moment, tmp_path):
    target = release(tmp_path / "release", "old")
    done = subprocess.run([sys.executable, "-c", KILLED, tmp_path, moment], check=False, timeout=60)
    assert done.returncode == 9
    assert target.exists() == (moment == "before")
    heal(tmp_path)
    assert (target / "part-0").read_text() == "new"
    assert os.listdir(tmp_path) == ["release"]
