"""The stories in `examples/` run, each at a small size, and leave what they promise."""

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from docs.site.stories import notebook
from tests.examples import EFFORT, check

from incrowd.engines.registry import ENGINES

EXAMPLES = Path(__file__).parents[2] / "examples"
STORIES = {
    "hospital_visits": (300, "release.csv", "release.confidential/report.html", "public-report.html"),
    "survey_with_weights": (400, "north.parquet", "island.parquet", "north.confidential/report.html"),
    "open_data": (1000, "release.csv", "about-the-data.html"),
    "table_to_train_on": (240, "release.csv", "release.confidential/report.html"),
    "monthly_extracts": (900, "extract-01.csv", "extract-12.csv", "year.svg"),
    "billion_rows": (3000, "release.parquet", "release.certificate.json"),
}


def told(name, folder, **words):
    """What a story prints."""
    rows, *files = STORIES[name]
    environment = {**os.environ, "ROWS": str(rows), "FOLDER": str(folder), **words}
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / f"{name}.py")],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env=environment,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    for file in files:
        assert (folder / file).exists(), file
    return done.stdout


@pytest.mark.parametrize("name", STORIES)
def test_a_story_runs(name, tmp_path):
    if name == "table_to_train_on":
        pytest.importorskip("sklearn")
    assert told(name, tmp_path, ENGINE="arrow")


@pytest.mark.parametrize("name", ["hospital_visits"] if EFFORT == "test" else STORIES)
def test_a_story_runs_as_a_notebook(name, tmp_path, monkeypatch):
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    rows, *files = STORIES[name]
    for word, value in {"ROWS": str(rows), "FOLDER": str(tmp_path), "ENGINE": "arrow"}.items():
        monkeypatch.setenv(word, value)
    made = nbformat.reads(notebook(EXAMPLES / f"{name}.py"), as_version=4)
    nbformat.validate(made)
    client = nbclient.NotebookClient(made, timeout=300, resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    assert all((tmp_path / file).exists() for file in files)


@pytest.mark.skipif("spark" not in ENGINES or find_spec("pyspark") is None, reason="Spark is not installed")
@check
def test_the_story_of_a_cluster_runs_on_spark(tmp_path):
    assert "engine spark" in told("billion_rows", tmp_path, ENGINE="spark")


def test_the_page_names_every_story():
    page = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\(([a-z_]+)\.py\)", page)) == set(STORIES) == {path.stem for path in EXAMPLES.glob("*.py")}
