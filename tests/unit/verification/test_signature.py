"""Signatures: who signed what; whatever differs, the check fails with exit code 3."""

import json
import shutil
import stat
import sys

import pyarrow as pa
import pytest
from tests.command_line import run

import incrowd
from incrowd.cli.sign import certificate_of
from incrowd.errors import NotAnonymousError, OutputError, PolicyError
from incrowd.verification.signature import DOCUMENT, check_signature, new_key, sign

pytest.importorskip("cryptography")
pytestmark = pytest.mark.filterwarnings("ignore::incrowd.errors.ReleaseWarning")  # risks are not the point here
PEOPLE = pa.table({"age": [20, 21, 30, 31] * 5, "sex": ["f", "m"] * 10})


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    incrowd.anonymize(PEOPLE, quasi_identifiers=["age", "sex"], k=4, method="tdr").write(folder / "release.csv")
    signer = new_key(folder / "key.pem")
    sign(folder / "release.csv", folder / "key.pem", folder / "release.certificate.json")
    return folder, signer


@pytest.fixture
def signed(made, tmp_path):
    """A copy to damage: the rows, the arguments of a check."""
    shutil.copytree(made[0], tmp_path / "copy")
    release = tmp_path / "copy" / "release.csv"
    return release, (release.with_name("release.csv.signature.json"), release, made[1], certificate_of(release))


def test_a_signature_says_who_and_what(signed):
    release, arguments = signed
    found = check_signature(*arguments)
    certificate = json.loads(release.with_name("release.certificate.json").read_text())
    assert dict(found.files)["release.csv"] == certificate["output"]
    assert [name for name, _ in found.files] == ["release.csv", "release.certificate.json"]
    assert found.signer == arguments[2]


@pytest.mark.parametrize("damaged", ["release.csv", "release.certificate.json"])
def test_what_was_changed_does_not_hold(signed, damaged):
    path = signed[0].with_name(damaged)
    path.write_bytes(path.read_bytes() + b"\n")
    with pytest.raises(NotAnonymousError):
        check_signature(*signed[1])


def test_without_its_certificate_it_does_not_hold(signed):
    signed[0].with_name("release.certificate.json").unlink()
    with pytest.raises(NotAnonymousError, match="does not hold"):
        check_signature(*signed[1])


@pytest.mark.parametrize("field", ["signed", "files", "public_key", "signature"])
def test_no_field_can_be_changed_even_with_a_new_digest(signed, field):
    path = signed[1][0]
    document = json.loads(path.read_text())
    if field == "files":
        document["files"] = document["files"][:1]
    elif field == "signed":
        document["signed"] = "2020-01-01T00:00:00+00:00"
    else:
        document[field] = document[field].translate(str.maketrans("0123456789abcdef", "123456789abcdef0"))
    content = {name: value for name, value in document.items() if name not in ("incrowd", "format", "digest")}
    path.write_text(json.dumps(DOCUMENT.sealed(content)))
    with pytest.raises(NotAnonymousError, match="does not hold"):
        check_signature(*signed[1])


def test_a_signature_of_somebody_else_or_of_nobody_in_particular_fails(signed, tmp_path):
    path, release, _, certificate = signed[1]
    with pytest.raises(NotAnonymousError, match="proves nothing by itself"):
        check_signature(path, release, None, certificate)
    other = new_key(tmp_path / "other.pem")
    with pytest.raises(NotAnonymousError, match="and not by"):
        check_signature(path, release, other, certificate)


def test_rows_are_not_signed_with_the_certificate_of_others(signed, tmp_path):
    release = signed[0]
    release.write_text(release.read_text() + "x,y\n")
    with pytest.raises(NotAnonymousError, match="other rows"):
        sign(release, release.with_name("key.pem"), certificate_of(release), overwrite=True)


@pytest.mark.skipif(sys.platform == "win32", reason="no such permissions")
def test_a_key_is_for_its_owner_alone_and_stays_where_it_is(signed):
    key = signed[0].with_name("key.pem")
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    with pytest.raises(OutputError, match="exists"):
        new_key(key)
    secret = key.read_text().splitlines()[1]
    assert not any(secret in path.read_text() for path in key.parent.iterdir() if path.is_file() and path != key)
    key.chmod(0o640)
    with pytest.raises(PolicyError, match="others can read the key"):
        sign(signed[0], key, overwrite=True)
    key.chmod(0o600)
    key.write_text("no key")
    with pytest.raises(PolicyError, match="not an Ed25519 key"):
        sign(signed[0], key, overwrite=True)


def test_the_shell_signs_and_checks(signed, tmp_path):
    release, (path, _, signer, _) = signed
    pack = tmp_path / "pack.html"
    pack.write_text("<p>a pack</p>")
    done = run("sign", pack, "--key", tmp_path / "own.pem", "--new-key")
    assert done.exit_code == 0, done.output
    assert (tmp_path / "pack.html.signature.json").exists()
    good = run("verify", release, "--signature", path, "--signer", signer)
    assert good.exit_code == 0, good.output
    assert run("verify", release, "--signature", path).exit_code == 3
    assert run("verify", pack, "--signature", path, "--signer", signer).exit_code == 3
    assert run("verify", release, "--signature", path, "--signer", signer, "--qi", "age").exit_code == 2
