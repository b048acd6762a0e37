"""The certificate: what it commits to, what it shows, and what a recipient can check of it."""

import contextlib
import hashlib
import json
import random
from dataclasses import replace

import pyarrow as pa
import pytest
from tests.command_line import contents, run
from tests.faults.mutations import mutations

import incrowd
from incrowd.errors import DataError, NotAnonymousError
from incrowd.schemas.documents import digest_of
from incrowd.verification.certificate import Certificate, Commitment

POLICY = {"quasi_identifiers": ["age", "sex"], "k": 3, "identifiers": ["name"], "sensitive": ["ill"], "l": 2}


def people(rows=60, seed=3):
    draw = random.Random(seed)
    return pa.table(
        {
            "name": [f"person {number}" for number in range(rows)],
            "age": [draw.randrange(20, 30) for _ in range(rows)],
            "sex": [draw.choice("fm") for _ in range(rows)],
            "ill": [draw.choice(["flu", "cold", "none"]) for _ in range(rows)],
        }
    )


@pytest.fixture
def folder(workplace):
    table = people()
    lines = [",".join(table.column_names), *(",".join(map(str, row.values())) for row in table.to_pylist())]
    (workplace / "people.csv").write_text("\n".join(lines) + "\n")
    incrowd.anonymize(workplace / "people.csv", **POLICY).write(workplace / "out.csv")
    return workplace


class TestCommitment:
    def test_who_has_the_salt_and_the_original_can_show_it(self, folder):
        certificate, secret = (
            Certificate.read("out.certificate.json"),
            Commitment.read("out.confidential/commitment.json"),
        )
        digest = "sha256:" + hashlib.sha256((folder / "people.csv").read_bytes()).hexdigest()
        assert certificate.commits_to(digest, secret.salt)
        assert not certificate.commits_to(digest.replace("a", "b"), secret.salt)
        assert not certificate.commits_to(digest, bytes(32))

    def test_a_guess_of_the_original_is_not_confirmed_by_what_goes_out(self, folder):
        digest = hashlib.sha256((folder / "people.csv").read_bytes()).hexdigest()
        salt = Commitment.read("out.confidential/commitment.json").salt
        confidential = ("people.csv", "commitment.json")
        for data in (data for name, data in contents(folder).items() if name not in confidential):
            assert digest.encode() not in data
            assert salt.hex().encode() not in data

    def test_two_certificates_of_one_release_differ_by_their_salts(self):
        first, second = (incrowd.anonymize(people(), **POLICY).certificate for _ in range(2))
        assert first.commitment != second.commitment
        assert replace(first, commitment=second.commitment) == second

    def test_the_secret_is_not_shown(self):
        certificate = incrowd.anonymize(people(), **POLICY).certificate
        salt = certificate.secret.salt
        for text in (repr(certificate), str(certificate), json.dumps(certificate.to_json()), repr(certificate.secret)):
            assert salt.hex() not in text
            assert repr(salt)[2:-1] not in text

    def test_a_given_salt_makes_the_same_certificate(self):
        assert Commitment.to("sha256:x", b"1" * 32).public == Commitment.to("sha256:x", b"1" * 32).public


class TestCheck:
    def test_every_claim_of_a_release_holds(self, folder):
        found = incrowd.check_certificate("out.certificate.json", "out.csv")
        assert found.holds
        assert found.require() is found
        claims = [claim.claim for claim in found.claims]
        assert "the release is the one that was certified" in claims
        assert "these columns were dropped: name" in claims
        assert "k=3 holds for age, sex" in claims
        assert any("l=2" in claim for claim in claims)
        assert all(claim.holds for claim in found.claims)

    def test_the_steward_can_check_the_original_too(self, folder):
        words = {"commitment": "out.confidential/commitment.json"}
        assert incrowd.check_certificate("out.certificate.json", "out.csv", original="people.csv", **words).holds
        (folder / "other.csv").write_text((folder / "people.csv").read_text() + "x,20,f,flu\n")
        found = incrowd.check_certificate("out.certificate.json", "out.csv", original="other.csv", **words)
        assert [claim.claim for claim in found.claims if claim.holds is False] == ["it was made from this original"]

    def test_a_changed_row_is_noticed(self, folder):
        text = (folder / "out.csv").read_text().splitlines()
        (folder / "out.csv").write_text("\n".join([*text[:-1], "99,f,flu"]) + "\n")
        found = incrowd.check_certificate("out.certificate.json", "out.csv")
        assert not found.holds
        assert {claim.claim for claim in found.claims if claim.holds is False} >= {
            "the release is the one that was certified",
            "k=3 holds for age, sex",
        }
        with pytest.raises(NotAnonymousError, match="the certificate does not hold: the release is the one that was"):
            found.require()

    def test_a_certificate_that_lies_is_noticed(self, folder):
        data = json.loads((folder / "out.certificate.json").read_text())
        data["policy"]["quasi_identifiers"][0]["k"] = 40
        data["verification"]["quasi_identifiers"][0]["anonymity"] = 40
        data["digest"] = digest_of(data)
        (folder / "lie.json").write_text(json.dumps(data))
        found = incrowd.check_certificate("lie.json", "out.csv")
        false = [claim.claim for claim in found.claims if claim.holds is False]
        assert "k=40 holds for age, sex" in false
        assert "size of the smallest class of age, sex: 40" in false

    def test_what_the_rows_cannot_show_is_said_to_be_so(self):
        table = people().append_column("who", pa.array([f"p{number // 2}" for number in range(60)]))
        release = incrowd.anonymize(table, quasi_identifiers=["age", "sex"], k=3, identifiers=["name"])
        certificate = replace(release.certificate, policy={**release.certificate.policy, "unit": "who"})
        found = incrowd.check_certificate(certificate, release.data.drop_columns("who"))
        assert [claim.holds for claim in found.claims if "people" in claim.claim] == [None]

    def test_a_unit_that_is_an_identifier_too_is_named_once(self):
        release = incrowd.anonymize(people(), **POLICY, unit="name")
        claims = [claim.claim for claim in incrowd.check_certificate(release.certificate, release.data).claims]
        assert "these columns were dropped: name" in claims

    def test_a_frame(self):
        release = incrowd.anonymize(people(), **POLICY)
        assert incrowd.check_certificate(release.certificate, release.data).holds


class TestCommand:
    def test_it_holds(self, folder):
        result = run("verify", "out.csv", "--certificate", "out.certificate.json")
        assert result.exit_code == 0, result.output
        assert "k=3 holds for age, sex" in result.output

    def test_it_does_not(self, folder):
        (folder / "out.csv").write_text((folder / "out.csv").read_text() + "99,f,flu\n")
        result = run("verify", "out.csv", "--certificate", "out.certificate.json", "--json")
        assert result.exit_code == 3
        assert not json.loads(result.stdout)["result"]["holds"]
        assert result.stderr.startswith("error: the certificate does not hold: ")

    def test_no_certificate(self, folder):
        result = run("verify", "out.csv", "--certificate", "people.csv")
        assert result.exit_code == 1
        assert "is not a certificate written by incrowd" in result.stderr

    def test_two_questions_at_once(self, folder):
        result = run("verify", "out.csv", "--certificate", "out.certificate.json", "--qi", "age")
        assert result.exit_code == 2


def test_a_changed_field_is_refused_or_checked(tmp_path):
    """With its digest renewed it is refused in one line, or its claims are checked."""
    release = incrowd.anonymize(people(), **POLICY)
    original, path, problems, tried = release.certificate.to_json(), tmp_path / "x.certificate.json", [], 0
    for what, document in mutations(original):
        with contextlib.suppress(UnicodeEncodeError):
            document = {**document, "digest": digest_of(document)} if what[0] != "digest" else document
        path.write_text(json.dumps(document))
        tried += 1
        try:
            incrowd.check_certificate(path, release.data)
        except (DataError, incrowd.PolicyError) as error:
            if "\n" in str(error) or len(str(error)) > 800:
                problems.append((what, str(error)[:100]))
        except Exception as error:
            problems.append((what, repr(error)[:200]))
    assert tried > 1000
    assert problems == []
