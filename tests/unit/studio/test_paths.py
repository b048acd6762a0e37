"""Paths that people type stay inside the folder, whatever they look like."""

import os

import pytest

from incrowd.errors import DataError
from incrowd.studio.paths import inside, safe_name, tables

STRANGE = (
    "",
    ".",
    "..",
    "../people.csv",
    "data/../../people.csv",
    "data/..",
    "./people.csv",
    "/etc/passwd",
    "//etc/passwd",
    "data//people.csv",
    "data/",
    "..\\people.csv",
    "data\\people.csv",
    "C:\\people.csv",
    "c:people.csv",
    "people.csv\0.txt",
    "people\n.csv",
    "\u202epeople.csv",
    "%2e%2e/people.csv",
    "~/people.csv",
    "file:///etc/passwd",
    "a" * 600,
    "data/" * 200 + "people.csv",
    "data",
    "no.csv",
)


@pytest.fixture
def folder(tmp_path):
    root = tmp_path.resolve() / "root"
    (root / "data").mkdir(parents=True)
    (root / "people.csv").write_text("a\n1\n")
    (root / "data" / "more.csv").write_text("a\n1\n")
    (tmp_path / "secret.csv").write_text("a\n1\n")
    return root


def test_files_inside(folder):
    assert inside(folder, "people.csv") == folder / "people.csv"
    assert inside(folder, "data/more.csv") == folder / "data" / "more.csv"


@pytest.mark.parametrize("text", STRANGE)
def test_anything_else_is_refused_in_one_line(folder, text):
    with pytest.raises(DataError) as error:
        inside(folder, text)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 700


@pytest.mark.parametrize("target", ["..", "data", "/etc", "../secret.csv", "people.csv"])
def test_links_and_pipes_are_refused(folder, target):
    os.symlink(target, folder / "link.csv")
    os.mkfifo(folder / "pipe.csv")
    for name in ("link.csv", "link.csv/secret.csv", "link.csv/more.csv", "link.csv/passwd", "pipe.csv"):
        with pytest.raises(DataError):
            inside(folder, name)


def test_tables_are_listed_without_links_and_hidden_files(folder):
    os.symlink("../secret.csv", folder / "link.csv")
    os.symlink("..", folder / "up")
    (folder / ".hidden.csv").write_text("a\n")
    (folder / "notes.md").write_text("a\n")
    (folder / "people.studio").mkdir()
    (folder / "people.studio" / "own.csv").write_text("a\n")
    assert tables(folder, folder / "people.studio") == ["data/more.csv", "people.csv"]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("people.csv", "people.csv"),
        ("../../etc/people.csv", "people.csv"),
        ("C:\\Users\\me\\people.csv", "people.csv"),
        ("...people.csv", "people.csv"),
        ("pe<script>ople.csv", "pe_script_ople.csv"),
        ("a\0b.csv", "a_b.csv"),
        ("-rf.csv", "rf.csv"),
        ("größe.parquet", "größe.parquet"),
    ],
)
def test_names_of_uploads(text, name):
    assert safe_name(text) == name


@pytest.mark.parametrize("text", ["", ".csv", "people", "people.exe", "..", "/", "a/", "people.csv/"])
def test_names_that_are_none(text):
    with pytest.raises(DataError, match="does not say what it is"):
        safe_name(text)
