"""No column slips through: each has a role or is listed as untouched, and what names people stops the run."""

import json

import pyarrow as pa
import pyarrow.csv
import pytest
from tests.command_line import anonymize, contents, only_line, run

import incrowd
from incrowd.errors import NamesPeopleError, PolicyError

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
KEPT = {"sensitive": ["diagnosis"], "l": 2, "keep": ["name", "mail"]}


def test_columns_without_a_role_are_listed_everywhere():
    release = incrowd.anonymize(PEOPLE, **WORDS, **KEPT)
    assert release.untouched == ("wage",)
    assert release.certificate.untouched == release.untouched
    assert release.to_json()["untouched"] == ["wage"]
    assert release.certificate.policy["keep"] == ["name", "mail"]
    assert release.warnings == ()
    assert "kept on purpose, though they may name people: name, mail" in release.summary()


def test_what_names_people_stops_the_run_before_the_search():
    events = []
    with pytest.raises(NamesPeopleError) as stopped:
        incrowd.anonymize(PEOPLE, **WORDS, progress=events.append)
    assert isinstance(stopped.value, PolicyError)
    assert list(stopped.value.columns) == ["name", "mail"]
    told = str(stopped.value)
    assert "--identifiers name,mail, in Python identifiers" in told
    assert "--keep name,mail, in Python keep" in told
    assert "example.org" not in told  # nobody's value
    assert "Smith" not in told
    assert events == []
    with pytest.raises(NamesPeopleError, match="'mail' looks like e-mail addresses"):
        incrowd.anonymize(PEOPLE, **WORDS, keep="name")


def test_a_column_that_is_called_harmless_sensitive_or_the_target_is_looked_at_too():
    for role in ({"insensitive": ["mail"]}, {"sensitive": ["mail"], "l": 2}, {"target": "mail"}):
        with pytest.raises(NamesPeopleError, match="'mail' looks like e-mail addresses"):
            incrowd.anonymize(PEOPLE.drop(["name"]), **WORDS, **role)
        release = incrowd.anonymize(PEOPLE.drop(["name"]), **WORDS, **role, keep=["mail"])
        assert "mail" not in release.untouched


@pytest.mark.parametrize("role", ["quasi_identifiers", "identifiers", "unit"])
def test_what_does_not_leave_as_it_is_cannot_be_kept(role):
    words = {"quasi_identifiers": ["wage"], "k": 5, role: "age" if role == "unit" else ["age"]}
    with pytest.raises(PolicyError, match=f"column 'age' has two roles, {role} and keep; choose one"):
        incrowd.anonymize(PEOPLE, **words, keep=["age"])
    with pytest.raises(PolicyError, match="no column 'wages'"):
        incrowd.anonymize(PEOPLE, **WORDS, keep=["wages"])


def test_columns_with_a_role_are_not_untouched():
    words = {"identifiers": ["name", "mail"], "insensitive": ["wage"], "target": "diagnosis"}
    release = incrowd.anonymize(PEOPLE, **WORDS, **words, strict=True)
    assert release.untouched == ()
    assert release.warnings == ()


def test_strict_refuses_until_every_column_has_a_role():
    with pytest.raises(PolicyError, match="have no role: name, mail, diagnosis, wage; name each as"):
        incrowd.anonymize(PEOPLE, **WORDS, strict=True)
    with pytest.raises(PolicyError, match="have no role: diagnosis, wage; name each as"):
        incrowd.anonymize(PEOPLE, **WORDS, strict=True, keep=["name", "mail"])
    with pytest.raises(PolicyError, match="The 'strict' parameter must be true or false"):
        incrowd.anonymize(PEOPLE, **WORDS, strict="yes")


def test_rows_are_handed_out_and_written_only_if_somebody_has_looked(tmp_path):
    """Also where a release was put together by hand: the public files are of what was checked."""
    from dataclasses import replace

    from incrowd.settled import Settled

    release = incrowd.anonymize(PEOPLE, **WORDS, keep=["name", "mail"])
    unseen = replace(release, look=None, settled=Settled(replace(release.policy, keep=())))
    with pytest.raises(NamesPeopleError):
        unseen.write(tmp_path / "out.csv")
    with pytest.raises(NamesPeopleError):
        unseen.data  # noqa: B018
    assert contents(tmp_path) == {}
    replace(release, look=None).write(tmp_path / "out.csv")


class TestCommand:
    @pytest.fixture(autouse=True)
    def table(self, workplace):
        pa.csv.write_csv(PEOPLE, workplace / "people.csv")

    def test_it_stops_in_one_line_and_nothing_is_written(self, workplace):
        before = contents(workplace)
        for more in ((), ("--dry-run",)):
            result = run(*anonymize("--qi", "age", "--k", 5, *more))
            assert result.exit_code == 2
            told = only_line(result.stderr)
            assert "'name' looks like names of people" in told
            assert "'mail' looks like e-mail addresses" in told
            assert "drop them (--identifiers name,mail" in told
            assert "keep one on purpose (--keep name,mail" in told
        assert contents(workplace) == before

    def test_both_ways_out(self, workplace):
        assert run(*anonymize("--qi", "age", "--k", 5, "--identifiers", "name,mail")).exit_code == 0
        assert (workplace / "out.csv").read_text().splitlines()[0].replace('"', "") == "age,diagnosis,wage"
        (workplace / "release.toml").write_text('quasi_identifiers = ["age"]\nk = 5\nkeep = ["name", "mail"]\n')
        for words in (("--qi", "age", "--k", 5, "--keep", "name,mail"), ("--policy", "release.toml")):
            assert run(*anonymize(*words, "--overwrite")).exit_code == 0
            certificate = json.loads((workplace / "out.certificate.json").read_text())
            assert certificate["policy"]["keep"] == ["name", "mail"]

    def test_the_summary_lists_and_warns_once(self):
        kept = ("--keep", "name,mail", "--sensitive", "diagnosis", "--l", 1)
        result = run(*anonymize("--qi", "age", "--k", 5, *kept))
        assert result.exit_code == 0
        told = " ".join(result.stderr.split())
        assert "passed through untouched: wage" in told
        assert told.count("nothing is promised about the sensitive column 'diagnosis'") == 1
        with open("out.certificate.json", encoding="utf-8") as file:
            assert json.load(file)["untouched"] == ["wage"]

    def test_new_rows_are_looked_at_too(self, workplace):
        assert run(*anonymize("--qi", "age", "--k", 5, "--identifiers", "name", "--keep", "mail")).exit_code == 0
        recoding = "out.recoding.json"
        if not (workplace / recoding).exists():
            words = ("--method", "tdr", "--overwrite", "--identifiers", "name", "--keep", "mail")
            assert run(*anonymize("--qi", "age", "--k", 5, *words)).exit_code == 0
        stopped = run("apply", recoding, "people.csv", "-o", "new.csv")
        assert stopped.exit_code == 2
        assert "'mail' looks like e-mail addresses" in only_line(stopped.stderr)
        assert not (workplace / "new.csv").exists()
        assert run("apply", recoding, "people.csv", "-o", "new.csv", "--keep", "mail").exit_code == 0
        assert run("apply", recoding, "people.csv", "-o", "less.csv", "--identifiers", "mail").exit_code == 0
        assert "mail" not in (workplace / "less.csv").read_text()
