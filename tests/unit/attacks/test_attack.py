"""`attack` in Python and in the shell: what may be given, what comes back, what is refused."""

import json

import pandas as pd
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import incrowd
from incrowd.attacks.registry import ATTACKS
from incrowd.cli.commands import app
from incrowd.errors import DataError, NotAnonymousError, PolicyError
from incrowd.report.schema import read_summary

PEOPLE = {"age": [31, 32, 41, 42], "zip": ["12345", "12346", "12345", "12399"], "ill": ["no", "yes", "no", "yes"]}
SAFE = {"age": ["[30-40)"] * 2 + ["[40-50)"] * 2, "zip": ["123**"] * 4, "ill": ["no", "yes"] * 2}
UNSAFE = {**SAFE, "zip": ["123**", "123**", "123**", "12399"]}
WORDS = {"quasi_identifiers": ["age", "zip"], "k": 2, "sensitive": ["ill"]}


def run(*words):
    return CliRunner().invoke(app, ["attack", *map(str, words)])


@pytest.fixture
def files(tmp_path):
    for name, data in {"people": PEOPLE, "safe": SAFE, "unsafe": UNSAFE}.items():
        pd.DataFrame(data).to_csv(tmp_path / f"{name}.csv", index=False)
    (tmp_path / "policy.toml").write_text(
        'quasi_identifiers = ["age", "zip"]\nk = 2\nsensitive = ["ill"]\n'
        '[attack]\nmax_excess = 0.05\nonly = "linking"\n'
    )
    return tmp_path


def test_nobody_is_below_k_in_a_safe_release():
    found = incrowd.attack(pa.table(SAFE), pa.table(PEOPLE), **WORDS)["linking"]
    assert (found.worst.trials, found.worst.successes, found.is_leak) == (4, 0, False)
    assert found.worst.facts["right_first_guesses"] == 0.5


def test_who_is_below_k_is_counted():
    found = incrowd.attack(pa.table(UNSAFE), pd.DataFrame(PEOPLE), **WORDS)["linking"]
    assert (found.worst.successes, found.worst.facts["smallest"]) == (1, 1)
    assert found.worst.facts["right_first_guesses"] == (0.5 + 0.5 + 1 / 1 + 1 / 2) / 4  # 42 in 12399 fits two records
    assert found.is_leak


def test_a_release_attacks_itself():
    people = incrowd.datasets.german()
    words = {"quasi_identifiers": ["age", "job"], "k": 5, "keep": ["credit-amount"], "sensitive": ["credit"], "l": 2}
    release = incrowd.anonymize(people, **words)
    found = release.attack(trials=50)
    assert found["linking"].worst.successes == 0
    assert found.people == 1000
    assert {*found.skipped, *(result.attack.name for result in found.results)} == {*ATTACKS}
    again = release.attack(trials=50)
    assert found.to_json() == again.to_json()
    assert len(found.to_frame()) == len(found.results)
    assert "a low score is not a proof" in str(found)


def test_a_policy_file_says_what_is_played_and_how_much_is_too_much(files):
    found = incrowd.attack(files / "unsafe.csv", files / "people.csv", policy=files / "policy.toml")
    assert [result.attack.name for result in found.results] == ["linking"]
    with pytest.raises(NotAnonymousError, match="linking"):
        found.require()
    assert incrowd.attack(files / "safe.csv", files / "people.csv", policy=files / "policy.toml").require()


def test_the_shell_prints_a_table_or_json_and_its_exit_code_says_whether_it_is_too_much(files):
    words = ("--original", files / "people.csv", "--policy", files / "policy.toml")
    assert run(files / "safe.csv", *words).exit_code == 0
    failed = run(files / "unsafe.csv", *words, "--json")
    assert failed.exit_code == 3
    told = json.loads(failed.stdout)["result"]
    assert not told["holds"]
    assert told["attacks"][0]["name"] == "linking"
    table = run(files / "unsafe.csv", *words, "--max-excess", "0.9", "--variants")
    assert table.exit_code == 0
    assert "LEAK" in table.stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ({"only": ["lynking"]}, "did you mean 'linking'"),
        ({"trials": 3}, "'trials' parameter must be an integer of at least 10"),
        ({"max_excess": 2}, "'max_excess' parameter must be a number from 0 to 1"),
        ({"quasi_identifiers": ["name"]}, "share no quasi-identifier"),
        ({"original": None}, "give it as original"),
        ({"control": pa.table({"age": [1]})}, "lacks columns of the release: zip, ill"),
    ],
)
def test_what_makes_no_sense_is_refused(words, told):
    given = {"original": pa.table(PEOPLE), **WORDS, **words}
    with pytest.raises(PolicyError, match=told):
        incrowd.attack(pa.table(SAFE), **given)


def test_a_label_that_cannot_be_read_is_named_once():
    table = pa.table({**SAFE, "zip": ["north", "south"] * 2})
    with pytest.raises(DataError, match=r"'north'.*give a taxonomy of the column, or the .recoding.json"):
        incrowd.attack(table, pa.table(PEOPLE), **WORDS)


def test_a_codebook_explains_labels(tmp_path):
    lines = ["column,label,value", "zip,north,12345", "zip,north,12346", "zip,south,12399"]
    (tmp_path / "codebook.csv").write_text("\n".join(lines))
    table = pa.table({**SAFE, "zip": ["north", "north", "north", "south"]})
    found = incrowd.attack(table, pa.table(PEOPLE), codebook=tmp_path / "codebook.csv", **WORDS)
    assert found["linking"].worst.successes == 2


@pytest.mark.parametrize("method", ["cover", "mondrian", "tdr"])
def test_the_codebook_of_a_release_covers_everybody(tmp_path, method):
    """Labels of a local method cover one another, and some stand for parts of the world that no row names."""
    lands = ["France", "Spain", "Italy", "Japan", "China", "India"]
    rows = {"age": [20 + i * 7 % 40 for i in range(120)], "land": [lands[i * i % 6] for i in range(120)]}
    release = incrowd.anonymize(pa.table(rows), quasi_identifiers=["age", "land"], k=6, method=method)
    release.write(tmp_path / "release.csv")
    words = {"quasi_identifiers": ["age", "land"], "k": 6, "only": ["linking"]}
    book = tmp_path / "release.recoding.json"
    (found,) = incrowd.attack(tmp_path / "release.csv", pa.table(rows), codebook=book, **words).to_json()["attacks"]
    assert [(each["successes"], each["facts"]["smallest"] >= 6) for each in found["variants"]] == [(0, True)] * 2


def test_reports_tell_the_steward_what_was_found_and_others_only_what_was_played(tmp_path):
    words = {"quasi_identifiers": ["age", "job"], "k": 5, "keep": ["credit-amount"], "sensitive": ["credit"], "l": 2}
    release = incrowd.anonymize(incrowd.datasets.german(), **words)
    found = release.attack(trials=50, only=["linking", "auxiliary"], max_excess=0.1)
    for name, public in (("own.html", False), ("own.md", False), ("own.json", False), ("public.html", True)):
        release.report(tmp_path / name, public=public, attacks=found)
    for name in ("own.html", "own.md"):
        assert "95 % interval" in (tmp_path / name).read_text()
    assert "Excess of each attack over its control" in (tmp_path / "own.html").read_text()
    assert read_summary(tmp_path / "own.json")["safe"]["attacks"][0]["attack"] == "linking"
    told = (tmp_path / "public.html").read_text()
    assert "Linking with a register: knows the quasi-identifiers of everybody" in told
    assert "Excess" not in told
    assert found["auxiliary"].worst.variant not in told


def test_a_page_shows_the_picture(files):
    words = ("--original", files / "people.csv", "--policy", files / "policy.toml", "--max-excess", "1")
    assert run(files / "unsafe.csv", *words, "--report", files / "page.html").exit_code == 0
    assert "<svg" in (files / "page.html").read_text()
    assert run(files / "unsafe.csv", *words, "--report", files / "page.html").exit_code == 1


def test_labels_that_explain_few_people_are_doubted():
    people = {"born": ["1951-02-03", "1952-03-04", "1961-04-05", "1962-05-06"]}
    found = incrowd.attack(
        pa.table({"born": ["1950", "1950", "1960", "1960"]}), pa.table(people), quasi_identifiers=["born"]
    )
    assert any("no label of 'born' stands for the values of 100% of people" in note for note in found.notes)
    safe = incrowd.attack(pa.table(SAFE), pa.table(PEOPLE), **WORDS)
    assert safe.notes == ()
