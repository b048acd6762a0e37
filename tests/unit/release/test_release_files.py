"""The files of a release: what lies beside it is public, what is confidential is for its owner only."""

import json
import stat

import pyarrow as pa
import pytest
from tests.command_line import contents

import incrowd
from incrowd.errors import NotAnonymousError, OutputError
from incrowd.recodings.reading import read_recoding
from incrowd.release.apply import apply_to_file
from incrowd.run import Run

PEOPLE = pa.table(
    {"age": [20, 21, 30, 31, 40, 41] * 3, "sex": ["f", "m"] * 9, "pay": [number // 2 for number in range(18)]}
)

LOCAL = [
    "out.certificate.json",
    "out.confidential/commitment.json",
    "out.confidential/key.json",
    "out.csv",
    "out.recoding.json",
]


def release(method):
    return incrowd.anonymize(PEOPLE, quasi_identifiers=["age", "sex"], k=3, target="pay", method=method)


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def names(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_a_global_method_has_a_public_recoding_and_confidential_steps(tmp_path):
    release("tdr").write(tmp_path / "out.csv")
    secret = [f"out.confidential/{name}" for name in ("commitment.json", "key.json", "steps.json", "taxonomies.toml")]
    assert names(tmp_path) == ["out.certificate.json", *secret, "out.csv", "out.recoding.json"]


def test_a_local_method_keeps_its_tuples_only_on_request(tmp_path):
    release("mondrian").write(tmp_path / "out.csv")
    assert names(tmp_path) == LOCAL
    release("mondrian").write(tmp_path / "asked.csv", confidential=True)
    assert read_recoding(tmp_path / "asked.confidential" / "recoding.json").is_confidential
    for name in ("out", "asked"):
        assert not read_recoding(tmp_path / f"{name}.recoding.json").is_confidential
        text = (tmp_path / f"{name}.recoding.json").read_text()
        assert not {"tuples", "key"} & json.loads(text).keys()


def test_only_the_owner_may_read_what_is_confidential(tmp_path):
    release("mondrian").write(tmp_path / "out.csv", confidential=True)
    folder = tmp_path / "out.confidential"
    assert mode(folder) == 0o700
    assert {mode(path) for path in folder.iterdir()} == {0o600}


def test_a_folder_that_was_open_to_others_is_closed(tmp_path):
    (tmp_path / "out.confidential").mkdir(mode=0o755)
    old = tmp_path / "out.confidential" / "steps.json"
    old.write_text("[]")
    old.chmod(0o644)
    release("tdr").write(tmp_path / "out.csv", overwrite=True)
    assert (mode(old.parent), mode(old)) == (0o700, 0o600)


@pytest.mark.parametrize("word", ["recoding.json", "certificate.json", "confidential/steps.json"])
def test_no_file_is_replaced_unasked(tmp_path, word):
    (tmp_path / "out.confidential").mkdir()
    (tmp_path / (f"out.{word}")).write_text("old")
    before = contents(tmp_path)
    with pytest.raises(OutputError, match="overwrite"):
        release("tdr").write(tmp_path / "out.csv")
    assert contents(tmp_path) == before


def test_files_of_an_earlier_release_that_are_wrong_now_are_removed(tmp_path):
    release("tdr").write(tmp_path / "out.csv")
    release("mondrian").write(tmp_path / "out.csv", overwrite=True)
    assert names(tmp_path) == LOCAL


def test_rows_without_sidecars_do_not_stay_beside_those_of_an_earlier_release(tmp_path):
    release("tdr").write(tmp_path / "out.csv")
    release("mondrian").write(tmp_path / "out.csv", overwrite=True, sidecars=False)
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["out.csv"]


def test_new_rows_do_not_get_the_certificate_of_an_earlier_release(tmp_path):
    release("tdr").write(tmp_path / "out.csv")
    recoding = read_recoding(tmp_path / "out.recoding.json")
    apply_to_file(recoding, PEOPLE, tmp_path / "out.csv", Run(), overwrite=True)
    assert not (tmp_path / "out.certificate.json").exists()
    assert (tmp_path / "out.recoding.json").exists()


def test_a_link_is_no_place_for_confidential_files(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out.confidential").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OutputError, match="not a directory of its own"):
        release("tdr").write(tmp_path / "out.csv")


def test_nothing_stays_behind_where_rows_fail(tmp_path):
    made = incrowd.anonymize(PEOPLE, quasi_identifiers=["age", "sex"], k=5, method="bug")
    assert len(made.steps) > 1
    with pytest.raises(NotAnonymousError):
        made.at(1).write(tmp_path / "out.csv")
    assert not list(tmp_path.iterdir())


def test_what_lies_beside_a_release_of_a_local_method_has_no_original_tuple(tmp_path):
    release("mondrian").write(tmp_path / "out.csv")
    assert "tuples" not in json.loads((tmp_path / "out.certificate.json").read_text())
