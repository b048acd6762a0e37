"""Packs for boards: figures of the release, answers of the steward, and blanks that nobody fills in for them."""

import json
import stat
from datetime import date

import pyarrow as pa
import pyarrow.csv
import pytest
from tests.command_line import run

import incrowd
from incrowd.errors import OutputError, PolicyError
from incrowd.policy.context import CONTEXT, PACKS
from incrowd.policy.toml import read_context, read_policy
from incrowd.policy.toml_text import policy_text
from incrowd.report.packs.pack import Answer, Case, Grid
from incrowd.report.packs.registry import REGISTRY
from incrowd.report.packs.texts import WRITERS
from incrowd.report.summary import steward_summary

pytestmark = pytest.mark.filterwarnings("ignore::incrowd.errors.ReleaseWarning")  # risks are not the point here

PEOPLE = pa.table(
    {
        "name": [f"Person {row}" for row in range(24)],
        "age": [20, 21, 30, 31] * 6,
        "sex": ["f", "m"] * 12,
        "ill": ["flu", "cold", "ache"] * 8,
        "ward": ["<b>A</b>", "B"] * 12,
    }
)
ROLES = {"quasi_identifiers": ["age", "sex"], "identifiers": ["name"], "sensitive": {"ill": {"l": 2}}}
ROLES |= {"insensitive": ["ward"], "method": "tdr"}


@pytest.fixture(scope="module")
def release():
    return incrowd.anonymize(PEOPLE, **ROLES, k=4)


@pytest.fixture(scope="module")
def case(release):
    return Case(steward_summary(release), release.certificate.policy, {})


def items(filled, kind):
    return [item for section in filled["sections"] for item in section["items"] if isinstance(item, kind)]


def test_every_body_has_a_template_that_names_its_sources():
    assert REGISTRY.keys() == PACKS.keys()
    for name, pack in REGISTRY.items():
        assert pack.name == name
        assert pack.version >= 1
        assert pack.sources
        assert pack.sections


@pytest.mark.parametrize("name", PACKS)
def test_what_nobody_answered_is_a_marked_blank(case, name):
    filled = REGISTRY[name].filled(case)
    assert all(answer.text is None for answer in items(filled, Answer))
    blanks = len(items(filled, Answer)) + sum(
        cell is None for grid in items(filled, Grid) for row in grid.rows for cell in row
    )
    assert filled["blanks"] == blanks > 0
    assert WRITERS[".html"](REGISTRY[name], case).count('<span class="blank">') == blanks
    assert WRITERS[".md"](REGISTRY[name], case).count("\\[to be filled in\\]") == blanks


@pytest.mark.parametrize("name", PACKS)
def test_every_answer_of_the_steward_stands_there_as_it_was_given(case, name):
    answers = {question: f"answer <{question}> & more" for question in CONTEXT}
    filled = REGISTRY[name].filled(Case(case.summary, case.policy, answers))
    told = {answer.text for answer in items(filled, Answer)} - {None}
    assert told <= set(answers.values())
    assert {answers["approver"], answers["approved"], answers["expires"], answers["threshold_reason"]} <= told
    page = WRITERS[".html"](REGISTRY[name], Case(case.summary, case.policy, answers))
    assert "answer &lt;approver&gt; &amp; more" in page
    assert "<approver>" not in page


@pytest.mark.parametrize("name", PACKS)
def test_every_column_has_one_technique(case, name):
    grids = items(REGISTRY[name].filled(case), Grid)
    rows = next(grid.rows for grid in grids if "Technique" in grid.titles)
    assert {row[0]: row[1] for row in rows} == {
        "name": "Direct identifier",
        "age": "Quasi-identifier",
        "sex": "Quasi-identifier",
        "ill": "Sensitive",
        "ward": "Harmless",
    }
    assert sorted(row[0] for row in rows) == sorted(PEOPLE.column_names)
    told = {row[0]: row for row in rows}
    column = case.summary["cost"]["columns"][0]
    assert told["age"][3:] == (str(column["original_values"]), str(column["released_values"]))
    assert "l=2" in told["ill"][2]


def test_the_figures_are_those_of_the_summary(case):
    page = WRITERS[".md"](REGISTRY["gdpr"], case)
    risk = case.summary["safe"]["risks"][0]
    smallest = f"| age, sex | 4 | 25 % | {risk['smallest_crowd']} |"
    assert smallest in page
    assert case.summary["check"]["release"] in page


def test_attacks_that_were_played_take_the_place_of_the_blank(release, tmp_path):
    found = release.attack(only=["singling-out"], trials=20)
    page = release.report(tmp_path / "pack.md", pack="gdpr", attacks=found).read_text(encoding="utf-8")
    assert "Results of attacks" not in page
    assert "A success counts only above a control" in page


def test_packs_appear_with_the_release_for_its_owner_alone(release, tmp_path):
    target = tmp_path / "release.csv"
    certificate = release.write(target, packs=["ema", "gdpr"], context={"recipient": "The registry"})
    folder = tmp_path / "release.confidential"
    names = {"pack-ema.html", "pack-ema.md", "pack-gdpr.html", "pack-gdpr.md"}
    assert {path.name for path in folder.glob("pack-*")} == names
    for name in names:
        assert stat.S_IMODE((folder / name).stat().st_mode) == 0o600
        text = (folder / name).read_text(encoding="utf-8")
        assert certificate.output in text
        assert "The registry" in text
    public = target.with_suffix(".certificate.json").read_text(encoding="utf-8")
    assert "The registry" not in public
    release.write(target, overwrite=True)  # other rows: the packs were about those before
    assert not list(folder.glob("pack-*"))


def test_nothing_appears_if_a_pack_is_unknown_or_an_answer_is_wrong(release, tmp_path):
    with pytest.raises(PolicyError, match="no pack 'emaa'; did you mean 'ema'"):
        release.write(tmp_path / "release.csv", packs=["emaa"])
    with pytest.raises(PolicyError, match="no question 'recipiant'"):
        release.write(tmp_path / "release.csv", packs=["ema"], context={"recipiant": "x"})
    with pytest.raises(PolicyError, match=r"context.expires.*a day such as"):
        release.write(tmp_path / "release.csv", packs=["ema"], context={"expires": "soon"})
    with pytest.raises(PolicyError, match="cannot be public"):
        release.report(tmp_path / "pack.html", pack="ema", public=True)
    with pytest.raises(OutputError, match=r"use \.html or \.md"):
        release.report(tmp_path / "pack.json", pack="ema")
    assert not list(tmp_path.iterdir())


def test_answers_are_kept_in_the_policy_and_change_nothing_of_the_release(tmp_path):
    pa.csv.write_csv(PEOPLE, tmp_path / "people.csv")
    answers = {"recipient": 'the "north" registry\nroom 2', "approved": date(2026, 11, 18)}
    settings = {"quasi_identifiers": ["age", "sex"], "k": 4, "identifiers": ["name"], "insensitive": ["ward", "ill"]}
    file = tmp_path / "release.toml"
    file.write_text(policy_text({**settings, "method": "tdr", "context": answers}))
    assert read_context(file) == {**answers, "approved": "2026-11-18"}
    assert "context" not in str(read_policy(file))
    made = run("anonymize", tmp_path / "people.csv", "-o", tmp_path / "out.csv", "--policy", file, "--pack", "ema,gdpr")
    assert made.exit_code == 0, made.output
    assert "room 2" in (tmp_path / "out.confidential" / "pack-ema.html").read_text()
    assert "context" not in json.loads((tmp_path / "out.certificate.json").read_text())["policy"]
    file.write_text(file.read_text() + 'harmm = "x"\n')
    wrong = run("anonymize", tmp_path / "people.csv", "-o", tmp_path / "b.csv", "--policy", file, "--pack", "ema")
    assert wrong.exit_code == 2
    assert "no key 'harmm'" in wrong.stderr


def test_the_shell_writes_a_pack_alone(tmp_path):
    pa.csv.write_csv(PEOPLE.drop_columns("name"), tmp_path / "people.csv")
    words = ("report", tmp_path / "people.csv", "--qi", "age,sex", "--k", "4", "-o", tmp_path / "pack.md")
    assert run(*words, "--pack", "hipaa").exit_code == 0
    assert (tmp_path / "pack.md").read_text().startswith("# Documentation for an expert determination")
    assert run(*words, "--pack", "hipaa", "--public", "--overwrite").exit_code == 2
