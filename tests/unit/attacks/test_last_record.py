"""The last record, by hand: a range that ends where people end tells who is at its ends."""

import json
import random

import pyarrow as pa
import pytest
from typer.testing import CliRunner

import incrowd
from incrowd.attacks import last_record
from incrowd.attacks.attack import attack
from incrowd.cli import app

TABLE = pa.table({"age": [1, 5, 9]})
WORDS = {"quasi_identifiers": ["age"], "k": 2, "only": ["last-record"]}


def within_exact_bounds(table):
    ages = table["age"].to_pylist()
    return pa.table({"age": [f"[{min(ages)}-{max(ages)}]"] * len(ages)})


def within_round_bounds(table):
    return pa.table({"age": ["[0-10)"] * table.num_rows})


def test_the_ends_of_a_range_are_certain_and_the_middle_is_not():
    """Only 1 and only 9 give the same range; in the middle, 1, 5 and 9 do."""
    found = attack(within_exact_bounds(TABLE), TABLE, again=within_exact_bounds, **WORDS)["last-record"].worst
    assert (found.successes, found.control_successes) == (pytest.approx(1 + 1 + 1 / 3), pytest.approx(1))


def test_nothing_is_learned_where_every_guess_gives_the_same_release():
    found = attack(within_round_bounds(TABLE), TABLE, again=within_round_bounds, **WORDS)["last-record"]
    assert found.worst.successes == found.worst.control_successes == pytest.approx(1)
    assert not found.is_leak


def test_it_needs_the_method():
    assert "again=" in attack(within_round_bounds(TABLE), TABLE, **WORDS).skipped["last-record"]


def test_it_ends_with_its_budget(monkeypatch):
    monkeypatch.setattr(last_record, "BUDGET", -1.0)
    found = attack(within_exact_bounds(TABLE), TABLE, again=within_exact_bounds, **WORDS)
    assert "CPU time" in found.skipped["last-record"]


def people():
    draw = random.Random(1)
    return pa.table({"age": [str(draw.randint(20, 69)) for _ in range(250)], "sex": ["f", "m"] * 125})


def test_a_release_knows_how_it_was_made():
    release = incrowd.anonymize(people(), quasi_identifiers=["age", "sex"], k=5, method="mondrian")
    found = release.attack(only=["last-record"])
    assert found["last-record"].worst.trials > 10
    assert found.to_json() == release.attack(only=["last-record"]).to_json()
    assert "last-record" in release.attack(only=["last-record"], again=None).skipped


def test_the_shell_makes_a_release_again_if_it_has_its_certificate(workplace):
    policy = 'quasi_identifiers = ["age", "sex"]\nk = 5\nmethod = "mondrian"\n'
    (workplace / "release.toml").write_text(policy)
    rows = people().to_pylist()
    (workplace / "people.csv").write_text("\n".join(["age,sex", *(f"{r['age']},{r['sex']}" for r in rows)]) + "\n")

    def shell(*words):
        done = CliRunner().invoke(app, [*words, "--policy", "release.toml"])
        assert done.exit_code == 0, done.output
        return done.stdout

    shell("anonymize", "people.csv", "-o", "release.csv")
    words = ("attack", "release.csv", "--original", "people.csv", "--only", "last-record", "--json")
    assert [each["name"] for each in json.loads(shell(*words))["result"]["attacks"]] == ["last-record"]
    (workplace / "release.certificate.json").unlink()
    assert "certificate" in json.loads(shell(*words))["result"]["skipped"]["last-record"]
