"""Everything is in files of their owner alone; nothing is lost, whatever happens in between."""

import contextlib
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from tests.studio import SOURCES

from incrowd.errors import DataError, OutputError, PolicyError
from incrowd.studio.project import Project

WORDS = {"quasi_identifiers": ["age"], "k": 5}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "people.csv").write_text("age\n1\n")
    (tmp_path / "other.csv").write_text("age\n1\n")
    return tmp_path


@pytest.fixture
def project(folder):
    found = Project.at(folder, "people.csv")
    found.choose("people.csv")
    yield found
    found.close()


def reopened(project):
    project.close()
    return Project.at(project.root, "people.csv")


def modes(folder):
    return {stat.S_IMODE(path.stat().st_mode) for path in folder.rglob("*") if path.is_file() and path.name != "lock"}


def test_only_the_owner_may_read_it(project):
    project.change(WORDS)
    project.keep("inspection", {"a": 1}, project.made_from())
    project.keep_hierarchy("age", "1;*\n")
    assert project.folder.name == "people.studio"
    assert stat.S_IMODE(project.folder.stat().st_mode) == 0o700
    assert modes(project.folder) == {0o600}


def test_tomorrow_everything_is_there(project):
    project.change(WORDS, {"zip": {"types": "text"}})
    project.keep("inspection", {"a": 1}, project.made_from())
    again = reopened(project)
    assert (again.table, again.settings(), again.parked) == ("people.csv", WORDS, {"zip": {"types": "text"}})
    assert again.result("inspection")["data"] == {"a": 1}
    assert again.revision >= 2
    again.close()


def test_undo_and_redo(project):
    for k in (5, 6, 7):
        project.change({**WORDS, "k": k})
    project.undo()
    assert project.settings()["k"] == 6
    again = reopened(project)
    again.undo()
    assert again.settings()["k"] == 5
    again.redo()
    again.redo()
    assert again.settings()["k"] == 7
    assert not again.can_redo
    again.undo()
    again.change({**WORDS, "k": 9})
    assert not again.can_redo
    again.undo()
    assert again.settings()["k"] == 6
    again.close()


def test_a_policy_edited_by_hand_is_taken_and_a_bad_one_can_be_undone(project):
    project.change(WORDS)
    project.policy_path.write_text('quasi_identifiers = ["age"]\nk = 8\n')
    assert project.settings()["k"] == 8
    project.change(WORDS)
    project.change({**WORDS, "k": 6})
    project.policy_path.write_text("k = = 8\n")
    with pytest.raises(PolicyError, match="not valid TOML"):
        project.settings()
    project.undo()
    assert project.settings()["k"] == 5


def test_another_table_begins_anew(project):
    project.change(WORDS)
    project.keep("release", {"a": 1}, project.made_from())
    project.choose("other.csv")
    assert (project.settings(), project.result("release"), project.can_undo) == ({}, None, False)


def test_a_result_knows_whether_it_is_out_of_date(project):
    project.change(WORDS)
    before = project.made_from()
    project.change({**WORDS, "k": 6})
    assert project.made_from() != before
    project.undo()
    assert project.made_from() == before
    (project.root / "people.csv").write_text("age\n1\n2\n")
    assert project.made_from() != before


def test_files_of_a_result_take_the_place_of_those_before_when_they_are_whole(project):
    first = project.fresh("release")
    (first / "release.csv").write_text("old")
    project.whole("release", first)
    second = project.fresh("release")
    (second / "release.csv").write_text("half")
    assert (project.made("release") / "release.csv").read_text() == "old"
    third = project.fresh("release")
    assert not second.exists()
    (third / "release.csv").write_text("new")
    project.whole("release", third)
    assert (project.made("release") / "release.csv").read_text() == "new"
    assert [path.name for path in project.folder_of("release").iterdir()] == ["made"]


def test_a_damaged_result_is_none(project):
    project.keep("release", {"a": 1}, project.made_from())
    path = project.folder / "results" / "release.json"
    path.write_text(path.read_text().replace('"a":1', '"a":2'))
    assert project.result("release") is None


def test_a_damaged_project_is_refused_in_one_line(project):
    path = project.folder / "project.json"
    path.write_text(path.read_text().replace("people.csv", "../../etc"))
    project.close()
    with pytest.raises(DataError, match="was changed after it was written"):
        Project.at(project.root, "people.csv")


def test_one_studio_at_a_time(project):
    with pytest.raises(OutputError, match=r"another studio has people\.studio open"):
        Project.at(project.root, "people.csv")
    reopened(project).close()


@pytest.mark.parametrize("target", ["elsewhere", "file"])
def test_a_project_folder_that_is_none(folder, target):
    (folder / "elsewhere").mkdir()
    if target == "file":
        (folder / "people.studio").write_text("mine")
    else:
        os.symlink("elsewhere", folder / "people.studio")
    with pytest.raises(OutputError, match="not a folder of its own"):
        Project.at(folder, "people.csv")


def test_a_table_that_is_gone_is_said_in_one_line(project):
    (project.root / "people.csv").unlink()
    with pytest.raises(DataError, match=r"no file people\.csv"):
        _ = project.table_path
    assert project.table_state() is None


def test_a_kill_at_any_moment_leaves_one_policy_or_the_other(folder):
    """The writer is killed without a warning while it changes the policy; what is there can be read and is whole."""
    script = (
        "import sys, os\nfrom pathlib import Path\nfrom incrowd.studio.project import Project\n"
        "p = Project.at(Path.cwd(), 'people.csv'); p.choose('people.csv'); print('ready', flush=True)\n"
        "k = 2\nwhile True:\n    p.change({'quasi_identifiers': ['age'], 'k': k}); k += 1\n"
        "    print(k, flush=True)\n"
    )
    environment = {**os.environ, "PYTHONPATH": SOURCES}
    for lines in (2, 5, 9):
        process = subprocess.Popen(
            [sys.executable, "-c", script], cwd=folder, env=environment, stdout=subprocess.PIPE, text=True
        )
        for _ in range(lines):
            process.stdout.readline()
        process.kill()
        process.communicate()
        project = Project.at(folder, "people.csv")
        words = project.settings()
        assert words["quasi_identifiers"] == ["age"]
        project.undo()
        assert project.settings() == {} or project.settings()["k"] < words["k"]
        project.close()


def test_what_a_killed_studio_has_left_is_gone_when_it_is_opened_again(folder):
    project = Project(folder, folder / "people.studio")
    (project.fresh("release") / "release.confidential").mkdir()
    (project.fresh("export") / "report.html").write_text("secret")
    project.close()
    again = Project(folder, folder / "people.studio")
    assert [path for path in (again.folder / "results").rglob("*") if path.is_file() or "next" in path.name] == []
    again.close()


@pytest.mark.parametrize("moment", ["before", "between", "after"])
@pytest.mark.parametrize("name", ["release", "export"])
def test_files_that_take_the_place_of_others_are_the_old_or_the_new_ones_wherever_it_was_killed(
    folder, name, moment, monkeypatch
):
    project = Project(folder, folder / "people.studio")
    for text in ("old", "new"):
        files = project.fresh(name)
        (files / "text").write_text(text)
        if text == "new":
            calls, rename = iter(range(9)), Path.rename

            def killed(path, target, calls=calls, rename=rename):
                if next(calls) == {"before": 0, "between": 1, "after": 9}[moment]:
                    raise SystemExit
                return rename(path, target)

            monkeypatch.setattr(Path, "rename", killed)
            monkeypatch.setattr("incrowd.studio.project._remove", lambda path: None)
        with contextlib.suppress(SystemExit):
            project.whole(name, files)
    monkeypatch.undo()
    project.close()
    again = Project(folder, folder / "people.studio")
    assert (again.made(name) / "text").read_text() == ("new" if moment == "after" else "old")
    beside = [path for path in (*again.made(name).parent.iterdir(), *again.folder.iterdir()) if "before" in path.name]
    assert [*beside, *again.folder_of(name).glob("next-*")] == []
    again.close()
