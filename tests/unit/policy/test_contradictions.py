"""What is given and can have no effect, or contradicts itself, is refused in one line with exit code 2."""

import pytest
from tests.command_line import GOOD, only_line, run

import incrowd
from incrowd.errors import PolicyError
from incrowd.policy.options import typed
from incrowd.taxonomies.rules import rule_of

QI = ("--qi", "age,sex,job", "--k", "5", "--identifiers", "name")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text(GOOD)
    (tmp_path / "job.csv").write_text("clerk;office;*\nnurse;care;*\n")
    return tmp_path


@pytest.mark.parametrize(
    "words",
    [
        {"flat": False},
        {"flat": 0},
        {"widths": [5], "prefix": [3]},
        {"bounds": [5], "widths": [3]},
        {"frequent": ["a"], "flat": True},
        {"calendar": ["year"], "domain": "country"},
        {"prefix": [3], "origin": 1},
        {"prefix": [3], "comma": True},
        {"bounds": [3], "origin": 1},
        {"flat": True, "other": "x"},
        {"widths": [5], "order": "dmy"},
        {"domain": "country", "comma": False},
        {"frequent": ["a"], "order": "ymd"},
        {"calendar": ["year"], "other": "x"},
        {"origin": 5},
        {"comma": True},
        {"widths": [5], "origin": 1e308},
        {"widths": [5], "origin": -(10**20)},
        {"widths": [1e300]},
        {"bounds": [1, 1e200]},
        {},
    ],
    ids=str,
)
def test_a_rule_says_one_thing(words):
    with pytest.raises(PolicyError) as found:
        rule_of("zip", words)
    assert "\n" not in str(found.value)


@pytest.mark.parametrize(
    "words",
    [{"flat": True}, {"widths": [5], "origin": 2, "comma": True}, {"bounds": [5], "comma": True}, {"prefix": [3]}],
    ids=str,
)
def test_a_rule_with_what_belongs_to_it(words):
    assert rule_of("zip", words) is not None


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--sensitive", "income", "--l", "2", "--harmless", "hihg"), "harmless value 'hihg' in column 'income'"),
        (("--sensitive", "income", "--l", "2", "--harmless", "high,clerk"), "harmless value 'clerk'"),
        (("--master", "local[2]"), "cluster of the engine spark"),
        (("--master", "local[2]", "--engine", "duckdb"), "cluster of the engine spark"),
        (("--memory-limit", "1GB", "--engine", "arrow"), "no effect on the engine arrow"),
        (("--spill-folder", ".", "--engine", "arrow"), "no effect on the engine arrow"),
        (("--encoding", "idna"), "no encoding 'idna'"),
        (("--encoding", "punycode"), "no encoding 'punycode'"),
        (("--encoding", "unicode_escape"), "no encoding"),
        (("--taxonomy", "age=widths:1e308"), "widths"),
        (("--range", "age=0:99", "--taxonomy", "age=widths:5"), "leave one out"),
        (("--harmless", "high"), "sensitive"),
        (("--t-distance", "ordered"), "sensitive"),
        (("--k-map", "5"), "population"),
        (("--population-table", "people.csv"), "k_map"),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, tuple) else "",
)
def test_options_that_contradict_each_other(folder, arguments, said):
    found = run("anonymize", "people.csv", "-o", "r.csv", *QI, "--method", "tdr", *arguments)
    assert said in only_line(found.stderr)
    assert found.exit_code == 2
    assert not (folder / "r.csv").exists()


@pytest.mark.parametrize("form", ["apart", "joined"])
@pytest.mark.parametrize(
    ("command", "option"),
    [
        ("anonymize", "--taxonomies"),
        ("anonymize", "--policy"),
        ("anonymize", "--output"),
        ("anonymize", "-o"),
        ("anonymize", "--population-table"),
        ("anonymize", "--spill-folder"),
        ("verify", "--certificate"),
        ("verify", "--policy"),
        ("verify", "--recoding"),
        ("inspect", "--write"),
        ("apply", "--output"),
    ],
)
def test_a_path_without_a_name(command, option, form):
    if form == "joined" and option == "-o":
        return
    given = (option, "") if form == "apart" else (f"{option}=",)
    given = given if option in ("-o", "--output") or command != "anonymize" else (*given, "-o", "release.csv")
    found = run(command, "people.csv", *(["people.csv"] if command == "apply" else []), *given)
    assert "a path that is not empty" in only_line(found.stderr)
    assert found.exit_code == 2


def test_a_harmless_value_that_is_there_is_taken(folder):
    arguments = ("--sensitive", "income", "--l", "2", "--harmless", "high")
    found = run("anonymize", "people.csv", "-o", "r.csv", *QI, "--method", "tdr", *arguments)
    assert found.exit_code == 0, found.stderr


def test_in_python_too():
    words = {"quasi_identifiers": ["age", "sex"], "k": 5, "identifiers": ["name"], "method": "tdr"}
    for more in ({"master": "local[1]"}, {"engine": "arrow", "memory_limit": "1GB"}, {"encoding": "idna"}):
        with pytest.raises(PolicyError):
            incrowd.anonymize("people.csv", **words, **more)
    with pytest.raises(PolicyError, match="harmless"):
        incrowd.anonymize("people.csv", **words, sensitive={"income": {"l": 2, "harmless": ["none"]}})
    assert typed({"quasi_identifiers": "age", "taxonomies": None})["quasi_identifiers"]
