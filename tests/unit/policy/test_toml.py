import pytest

import incrowd
from incrowd.errors import PolicyError, UnknownNameError
from incrowd.policy.making import make_policy
from incrowd.policy.options import typed
from incrowd.policy.policy import QuasiIdentifier
from incrowd.policy.toml import read_policy

EVERYTHING = """
target = "income"
identifiers = ["name"]
sensitive = ["disease"]
insensitive = ["note"]
missing = "drop"
missing_values = ["?", "NA"]
method = "tds"
criterion = "gain"
max_steps = 7
k = 5

[[quasi_identifiers]]
attributes = ["age", "zip"]
k = 4

[[quasi_identifiers]]
attributes = ["zip", "sex", "hours", "job"]

[taxonomies]
sex = "trees/sex.csv"
zip = {prefix = [3, 2]}
hours = {widths = [5, 10], bottom = 20, top = 60}
job = {flat = true}

[types]
age = "number"

[ranges]
age = [0, 120]

[csv]
separator = ";"
encoding = "cp1252"
header = true
"""
TYPED = {
    "quasi_identifiers": ["age,zip:4", "zip, sex,hours,job"],
    "k": "5",
    "target": "income",
    "identifiers": "name",
    "sensitive": "disease",
    "insensitive": "note",
    "taxonomy": ["sex=trees/sex.csv", "zip=prefix:3,2", "hours=widths:5,10:bottom:20:top:60", "job=flat"],
    "types": ["age=number"],
    "ranges": ["age=0:120"],
    "missing": "drop",
    "missing_values": ["?", "NA"],
    "method": "tds",
}
OPTIONS = {"options": {"criterion": "gain", "max_steps": 7}}
SPOKEN = {
    "quasi_identifiers": [QuasiIdentifier(["age", "zip"], 4), ["zip", "sex", "hours", "job"]],
    "k": 5,
    "target": "income",
    "identifiers": ["name"],
    "sensitive": ["disease"],
    "insensitive": ["note"],
    "taxonomies": {
        "sex": incrowd.Taxonomy.from_paths([("F", "*"), ("M", "*")]),
        "zip": incrowd.Prefix([3, 2]),
        "hours": incrowd.Intervals([5, 10], bottom=20, top=60),
        "job": incrowd.Flat(),
    },
    "types": {"age": "number"},
    "ranges": {"age": (0, 120)},
    "missing": "drop",
    "missing_values": ["?", "NA"],
    "method": "tds",
    **OPTIONS,
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "trees").mkdir()
    (tmp_path / "trees" / "sex.csv").write_text("F;*\nM;*\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def read(folder, text):
    (folder / "release.toml").write_text(text, encoding="utf-8")
    return read_policy(folder / "release.toml")


def test_the_same_policy_in_python_on_the_command_line_and_in_toml(folder):
    words, dialect = read(folder, EVERYTHING)
    spoken = make_policy(**SPOKEN)
    assert make_policy(**words).to_json() == spoken.to_json()
    assert make_policy(**{**typed(TYPED), **OPTIONS}).to_json() == spoken.to_json()
    assert make_policy(**words).taxonomies == spoken.taxonomies
    assert make_policy(**{**typed(TYPED), **OPTIONS}).taxonomies == spoken.taxonomies
    assert dialect == {"separator": ";", "encoding": "cp1252", "header": True}


def test_taxonomies_are_found_beside_the_policy_file(folder, monkeypatch):
    monkeypatch.chdir("/")
    words, _ = read(folder, 'taxonomies = "trees"')
    assert words["taxonomies"] == folder / "trees"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tagret = 'income'", "no key 'tagret' in .*release.toml; did you mean 'target'"),
        ("max_step = 3", "did you mean 'max_steps'"),
        ("[csv]\nseperator = ';'", r"release.toml \[csv\]; did you mean 'separator'"),
    ],
)
def test_an_unknown_key_gets_did_you_mean(folder, text, message):
    with pytest.raises(UnknownNameError, match=message):
        read(folder, text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("k = x", "release.toml is not valid TOML: .*line 1"),
        ("k = 5\nk = 6", "is not valid TOML"),
        ("csv = 5", "The 'csv' key of .* must be a table. Got 5"),
    ],
)
def test_what_is_no_policy(folder, text, message):
    with pytest.raises(PolicyError, match=message):
        read(folder, text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("quasi_identifiers = ['age']\nk = '5'", "'k' parameter"),
        ("quasi_identifiers = 5\nk = 5", "'quasi_identifiers' parameter"),
        ("quasi_identifiers = [5]\nk = 5", "must name columns by text"),
        ("quasi_identifiers = ['age']\nk = 5\nmissing_values = [-9]", "put quotes around each"),
        ("quasi_identifiers = ['age']\nk = 5\n[ranges]\nage = 5", "range of 'age'"),
        ("quasi_identifiers = ['age']\nk = 5\ntarget = 5", "'target' parameter must be text"),
        ("quasi_identifiers = ['age']\nk = 5\ntaxonomies = 5", "must be a folder, or a table"),
        ("quasi_identifiers = ['zip']\nk = 5\n[taxonomies]\nzip = {prefx = [3]}", "did you mean 'prefix'"),
        ("quasi_identifiers = ['zip']\nk = 5\n[taxonomies]\nzip = {prefix = 5}", "taxonomy of 'zip' must be a file"),
        ("quasi_identifiers = ['zip']\nk = 5\n[taxonomies]\nzip = {prefix = ['a']}", "'lengths' parameter of Prefix"),
    ],
)
def test_toml_values_of_the_wrong_type(folder, text, message):
    words, _ = read(folder, text)
    with pytest.raises(PolicyError, match=message):
        make_policy(**words)


def test_a_file_that_cannot_be_read(tmp_path):
    with pytest.raises(PolicyError, match=r"cannot read the policy .*No such file"):
        read_policy(tmp_path / "release.toml")
    (tmp_path / "latin.toml").write_bytes(b"target = '\xe9'")
    with pytest.raises(PolicyError, match="not valid TOML"):
        read_policy(tmp_path / "latin.toml")


def test_a_ledger_is_next_to_its_policy(tmp_path):
    (tmp_path / "release.toml").write_text('quasi_identifiers = ["age"]\nk = 2\nledger = "ledger"\n')
    assert read_policy(tmp_path / "release.toml")[0]["ledger"] == tmp_path / "ledger"
