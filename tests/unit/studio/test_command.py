"""`incrowd studio`: what is wrong is one line, before anything is served."""

import os
import sys

import pytest
from tests.command_line import GOOD, only_line, run

from incrowd.studio.project import Project


@pytest.fixture
def folder(workplace):
    (workplace / "people.csv").write_text(GOOD)
    return workplace


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("nothing.csv",), 1, "no file nothing.csv"),
        (("people.csv", "--port", "70000"), 2, "The 'port' parameter must be an integer from 0 to 65535. Got 70000."),
        (("people.csv", "--port", "-1"), 2, "The 'port' parameter must be an integer from 0 to 65535. Got -1."),
        (("link.csv",), 1, "leads through a link"),
        ((".",), 1, "is a directory"),
    ],
)
def test_what_is_wrong_is_one_line(folder, words, code, told):
    os.symlink("people.csv", folder / "link.csv")
    result = run("studio", *words, "--no-browser")
    assert result.exit_code == code
    assert told in only_line(result.stderr)


def test_what_has_to_be_installed(folder, monkeypatch):
    for name in [name for name in sys.modules if name.startswith("incrowd.studio.serve")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    result = run("studio", "people.csv", "--no-browser")
    assert "the studio needs uvicorn; run: pip install 'incrowd[studio]'" in only_line(result.stderr)
    assert not (folder / "people.studio").exists()


def test_a_project_that_another_studio_has_open(folder):
    other = Project.at(folder, "people.csv")
    result = run("studio", "people.csv", "--no-browser")
    other.close()
    assert "another studio has people.studio open" in only_line(result.stderr)
    assert result.exit_code == 1


def test_what_is_served(folder, monkeypatch):
    served = []
    monkeypatch.setattr(
        "incrowd.studio.serve.serve",
        lambda project, port, *, browser, say: served.append((project.table, port, browser)),
    )
    assert run("studio", "people.csv", "--port", "8123").exit_code == 0
    assert run("studio", "--no-browser").exit_code == 0
    assert served == [("people.csv", 8123, True), (None, 0, False)]
    assert sorted(path.name for path in folder.iterdir()) == ["incrowd.studio", "people.csv", "people.studio"]
