"""The code blocks of the README and of the guides do what they say."""

import os
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.examples import check

from incrowd import datasets
from incrowd.datasets import demonstration

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
GUIDE = (ROOT / "docs" / "policy.md").read_text()
CHOOSING = (ROOT / "docs" / "compare.md").read_text()
TRAINING = (ROOT / "docs" / "evaluate.md").read_text()


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)


@pytest.fixture
def people(tmp_path, monkeypatch):
    draw = random.Random(7)
    rows = [
        f"Name {i},{draw.randint(18, 90)},{draw.choice('MF')},{draw.choice(['01234', '01299', '02134'])},"
        f"{draw.choice(['low', 'high'])}"
        for i in range(600)
    ]
    (tmp_path / "people.csv").write_text("\n".join(["name,age,sex,zip,income", *rows]) + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def shell(script: str) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["sh", "-e", "-c", script], capture_output=True, text=True, check=False, env={**os.environ, "PATH": path}
    )


def test_the_python_quickstart_runs_and_is_short(people):
    (code,) = blocks(README, "python")
    assert len(code.splitlines()) <= 12
    exec(compile(code, "README.md", "exec"), {})
    assert (people / "people-release.csv").exists()
    assert (people / "people-release.certificate.json").exists()


def test_the_shell_quickstart_runs_and_is_short(people):
    (code,) = blocks(README, "sh")
    assert len(code.splitlines()) <= 12
    done = shell(code)
    assert done.returncode == 0, done.stderr
    exec(compile(blocks(README, "python")[0], "README.md", "exec"), {})  # both in one folder
    again, release = ((people / name).read_text().splitlines() for name in ("again.csv", "release.csv"))
    assert (again[0], len(again)) == (release[0], len(release))  # what new rows become need not be what was released


def test_the_other_commands_of_the_readme_run(people):
    commands = [line.strip() for line in README.splitlines() if line.startswith("    incrowd ")]
    assert commands
    for command in commands:
        if command.startswith("incrowd studio"):  # does not end by itself; has tests of its own
            continue
        done = shell(command)
        assert done.returncode == 0, done.stderr


def test_the_table_of_the_readme_is_what_the_demo_releases(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = shell("COLUMNS=300 incrowd demo")
    assert done.returncode == 0, done.stderr
    told = " ".join(done.stderr.split())
    assert "45,222 records released, each in a crowd of at least 10 on " in told
    assert "NCP 0.0915" in told
    head, _, *rows = [line.strip("| ").split(" | ") for line in README.splitlines() if line.startswith("| ")][:8]
    lines = [re.sub("^(before|after)", "", line).split("  ") for line in done.stderr.splitlines()]
    shown = [[cell.strip() for cell in line if cell.strip()] for line in lines]
    first = next(place for place, line in enumerate(shown) if line[: len(head) - 2] == head[:-2])
    assert set(head) <= set(shown[first])
    wanted = [shown[first].index(name) for name in head]
    seen = [[row[place] for place in wanted] for row in (*shown[first + 1 :][:3], *shown[first + 7 :][:3])]
    assert [row[-len(head) :] for row in rows] == seen


def test_the_command_that_the_demo_prints_does_the_same(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = Path("demo")
    datasets.copy("adult", made)
    command = demonstration.command_of(made / "adult.csv.gz", made / "release.csv", made / "taxonomies", 10)
    done = shell(f"{command} --dry-run")
    assert done.returncode == 0, done.stderr
    assert "mondrian or cover" in done.stdout


def test_the_policy_guide_runs(people):
    (command,) = blocks(GUIDE, "sh")
    assert shell(command).returncode == 0
    for number, toml in enumerate(blocks(GUIDE, "toml")):
        (people / "release.toml").write_text(toml)
        done = shell(f"incrowd anonymize people.csv -o release-{number}.csv --policy release.toml")
        assert done.returncode == 0, done.stderr


@check
def test_the_page_on_training_runs(people, capsys):
    (command,) = blocks(TRAINING, "sh")
    done = shell(command)
    assert done.returncode == 0, done.stderr
    assert "10-fold cross-validation" in done.stdout
    (code,) = blocks(TRAINING, "python")
    exec(compile(code, "evaluate.md", "exec"), {})
    assert capsys.readouterr().out.startswith("[0.")


def test_the_page_on_comparing_runs(people):
    (command,) = blocks(CHOOSING, "sh")
    done = shell(command)
    assert done.returncode == 0, done.stderr
    assert "mondrian" in (people / "comparison" / "results.csv").read_text()
