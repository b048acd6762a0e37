"""The code blocks of docs/protection.md do what they say."""

import random
from pathlib import Path

import pytest
from tests.unit.test_readme import blocks, shell

from incrowd.policy.options import PROMISED

PAGE = (Path(__file__).parents[2] / "docs" / "protection.md").read_text()
ILLS = ["healthy", "infarct", "angina", "flu", "fracture"]


@pytest.fixture
def hospital(tmp_path, monkeypatch):
    draw = random.Random(3)
    people = [
        (i, draw.randint(18, 90), draw.choice("fm"), draw.choice(["01234", "01299", "02134"]), draw.choice(ILLS))
        for i in range(800)
    ]
    rows = [
        ",".join(map(str, (*person, draw.choice([300, 900, 1200, 4000, 7000, 30000]))))
        for person in people
        for _ in range(draw.randint(1, 2))
    ]
    (tmp_path / "hospital.csv").write_text("\n".join(["patient_id,age,sex,zip,diagnosis,charge", *rows]) + "\n")
    everyone = [",".join(map(str, person[1:4])) for person in people]
    (tmp_path / "everyone.csv").write_text("\n".join(["age,sex,zip", *everyone]) + "\n")
    (tmp_path / "survey.csv").write_text("\n".join(["age,sex,zip", *everyone[::4]]) + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_its_commands_run(hospital):
    for command in blocks(PAGE, "sh"):
        done = shell(command)
        assert done.returncode == 0, done.stderr
    assert "patient_id" not in (hospital / "release.csv").read_text().splitlines()[0]


@pytest.mark.filterwarnings("ignore:column 'diagnosis' hardly ever changes")  # a patient's visits have one diagnosis
def test_its_python_runs(hospital, capsys):
    for code in blocks(PAGE, "python"):
        exec(compile(code, "protection.md", "exec"), {})
    assert "delta-disclosure" in capsys.readouterr().out


def test_its_policies_run(hospital):
    for toml in blocks(PAGE, "toml"):
        (hospital / "release.toml").write_text(toml)
        done = shell("incrowd anonymize hospital.csv -o by-policy.csv --policy release.toml --overwrite")
        assert done.returncode == 0, done.stderr


def test_it_names_every_promise():
    assert [word for word in PROMISED if f"`{word}`" not in PAGE and f"{word}=" not in PAGE.replace(" =", "=")] == []
