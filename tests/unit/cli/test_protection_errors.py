"""Promises that cannot be kept or make no sense: one line, exit code 2 or 4, and nothing is written."""

import pytest
from tests.command_line import contents, only_line, run

ROWS = [(20 + i % 10, "fm"[i % 2], ["flu", "cold", "skin"][i % 3], "same", f"p{i % 12}", 100 * i, 1) for i in range(60)]
PEOPLE = "age,sex,ill,one,person,cost,weight\n" + "".join(",".join(map(str, row)) + "\n" for row in ROWS)
QI = ("--qi", "age,sex", "--keep", "person,cost")
UNIT = ("--qi", "age,sex", "--unit", "person", "--keep", "cost")
ILL = (*QI, "--k", "3", "--sensitive", "ill")
NEGATIVE = PEOPLE.replace("p0,0,1\n", "p0,0,-1\n")

CASES = {
    "l over the values": ((*ILL, "--l", "4"), 2, "asks for more values than 'ill' has, which is 3"),
    "l below 1": ((*ILL, "--l", "0"), 2, "'l' parameter must be an integer of at least 1"),
    "l that is huge": ((*ILL, "--l", "9" * 400), 2, "'l' parameter must be an integer of at least 1"),
    "entropy l over the values": ((*ILL, "--entropy-l", "3.5"), 2, "asks for more values than 'ill' has"),
    "a tree that is not there": (
        (*ILL, "--t", "0.2", "--t-distance", "hierarchical"),
        2,
        "needs a taxonomy of that column",
    ),
    "alpha that cannot be": ((*ILL, "--alpha", "0.2"), 4, "the best possible level is 0.33"),
    "a promise without a column": ((*QI, "--k", "3", "--l", "2"), 2, "and none is named"),
    "a promise for another column": ((*ILL, "--l", "job=2"), 2, "job"),
    "a sensitive quasi-identifier": ((*QI, "--k", "3", "--sensitive", "age", "--l", "2"), 2, "has two roles"),
    "a constant column": ((*QI, "--k", "3", "--sensitive", "one", "--t", "0.2"), 2, "has a single value"),
    "no such column": ((*QI, "--k", "3", "--sensitive", "il", "--l", "2"), 2, "did you mean 'ill'"),
    "more people than there are": ((*UNIT, "--k", "13"), 4, "the best possible level is 12"),
    "all of the population is in the table": (
        (*QI, "--delta-presence", "0.5", "--population-table", "people.csv"),
        4,
        "the best possible level is 1",
    ),
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    (tmp_path / "people.csv").write_text(PEOPLE)
    (tmp_path / "negative.csv").write_text(NEGATIVE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("case", CASES)
def test_it_is_refused_in_one_line_and_nothing_is_written(case, folder):
    options, code, told = CASES[case]
    before = contents(folder)
    result = run("anonymize", "people.csv", "-o", "out.csv", *options)
    assert told in only_line(result.stderr)
    assert result.exit_code == code, result.stderr
    assert contents(folder) == before


def test_weights_that_are_negative():
    assert NEGATIVE != PEOPLE
    result = run("risk", "negative.csv", *QI[:2], "--weights", "weight")
    assert "weight" in only_line(result.stderr)
    assert "negative" in result.stderr or "-1" in result.stderr
    assert result.exit_code == 2


def test_a_target_may_be_sensitive(folder):
    options = (*QI, "--k", "3", "--sensitive", "ill", "--l", "2", "--target", "ill")
    result = run("anonymize", "people.csv", "-o", "out.csv", *options)
    assert result.exit_code == 0, result.stderr
    assert run("verify", "out.csv", *QI[:2], "--k", "3", "--sensitive", "ill", "--l", "2").exit_code == 0


def test_verify_tells_which_promise_does_not_hold(folder):
    result = run("verify", "people.csv", *QI[:2], "--k", "2", "--sensitive", "ill", "--l", "3", "--alpha", "0.1")
    assert result.exit_code == 3
    assert "alpha=0.1 of ill does not hold for age, sex" in only_line(result.stderr)
