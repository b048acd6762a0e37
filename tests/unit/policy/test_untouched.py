"""No column slips through: each has a role or is listed as passed through untouched, and risky ones are named."""

import json

import pyarrow as pa
import pyarrow.csv
import pytest
from tests.command_line import anonymize, only_line, run

import incrowd
from incrowd.errors import PolicyError

PEOPLE = pa.table(
    {
        "name": [f"Ann{number} Smith{number}" for number in range(60)],
        "mail": [f"p{number}@example.org" for number in range(60)],
        "age": [20 + number % 6 for number in range(60)],
        "diagnosis": ["flu", "cold", "none"] * 20,
        "wage": [number % 4 for number in range(60)],
    }
)
WORDS = {"quasi_identifiers": ["age"], "k": 5}


def test_columns_without_a_role_are_listed_everywhere():
    release = incrowd.anonymize(PEOPLE, **WORDS, sensitive=["diagnosis"])
    assert release.untouched == ("name", "mail", "wage")
    assert release.certificate.untouched == release.untouched
    assert release.to_json()["untouched"] == ["name", "mail", "wage"]


def test_risky_columns_are_named():
    warnings = " ".join(incrowd.anonymize(PEOPLE, **WORDS, sensitive=["diagnosis"]).warnings)
    assert "'mail'" in warnings
    assert "'name'" in warnings
    assert "'wage'" not in warnings
    assert "example.org" not in warnings  # nobody's value


def test_columns_with_a_role_are_not_untouched():
    words = {"identifiers": ["name", "mail"], "insensitive": ["wage"], "target": "diagnosis"}
    release = incrowd.anonymize(PEOPLE, **WORDS, **words, strict=True)
    assert release.untouched == ()
    assert release.warnings == ()


def test_strict_refuses_until_every_column_has_a_role():
    with pytest.raises(PolicyError, match="have no role: name, mail, diagnosis, wage; name each as"):
        incrowd.anonymize(PEOPLE, **WORDS, strict=True)
    with pytest.raises(PolicyError, match="The 'strict' parameter must be true or false"):
        incrowd.anonymize(PEOPLE, **WORDS, strict="yes")


class TestCommand:
    @pytest.fixture(autouse=True)
    def table(self, workplace):
        pa.csv.write_csv(PEOPLE, workplace / "people.csv")

    def test_the_summary_lists_and_warns(self):
        result = run(*anonymize("--qi", "age", "--k", 5, "--sensitive", "diagnosis"))
        assert result.exit_code == 0
        told = " ".join(result.stderr.split())
        assert "passed through untouched: name, mail, wage" in told
        assert "warning: column 'mail'" in told
        with open("out.certificate.json", encoding="utf-8") as file:
            assert json.load(file)["untouched"] == ["name", "mail", "wage"]

    def test_strict_is_an_option_and_a_word_of_a_policy_file(self, workplace):
        result = run(*anonymize("--qi", "age", "--k", 5, "--strict"))
        assert result.exit_code == 2
        assert "have no role: name, mail, diagnosis, wage" in only_line(result.stderr)
        (workplace / "release.toml").write_text('quasi_identifiers = ["age"]\nk = 5\nstrict = true\n')
        assert run(*anonymize("--policy", "release.toml")).exit_code == 2
