"""The code blocks of the README and of the guides do what they say."""

import os
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

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
    assert (people / "release.csv").exists()
    assert (people / "release.certificate.json").exists()


def test_the_shell_quickstart_runs_and_is_short(people):
    (code,) = blocks(README, "sh")
    assert len(code.splitlines()) <= 12
    done = shell(code)
    assert done.returncode == 0, done.stderr
    assert (people / "again.csv").read_bytes() == (people / "release.csv").read_bytes()


def test_the_policy_guide_runs(people):
    (command,) = blocks(GUIDE, "sh")
    assert shell(command).returncode == 0
    for number, toml in enumerate(blocks(GUIDE, "toml")):
        (people / "release.toml").write_text(toml)
        done = shell(f"incrowd anonymize people.csv -o release-{number}.csv --policy release.toml")
        assert done.returncode == 0, done.stderr


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


def test_links_lead_somewhere():
    for page in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")):
        for link in re.findall(r"\]\((?!http)([^)#]+)\)", page.read_text()):
            assert (page.parent / link).exists(), f"{page.name}: {link}"
