"""Promises about all classes together: each method keeps them, counted in the released rows, or refuses in one line."""

from random import Random

import pyarrow as pa
import pytest
from tests.examples import paired
from tests.reference import table_risk as reference

import incrowd
from incrowd.errors import NotAnonymousError, PolicyError
from incrowd.policy.making import make_policy
from incrowd.policy.options import typed
from incrowd.policy.toml import read_policy
from incrowd.policy.toml_text import policy_text
from incrowd.privacy.registry import OF_TABLE
from incrowd.search.registry import METHODS

pytestmark = pytest.mark.filterwarnings("ignore::incrowd.errors.ReleaseWarning")

DRAW = Random(11)
PEOPLE = pa.table(
    {
        "age": [int(DRAW.gauss(40, 15)) for _ in range(300)],
        "sex": DRAW.choices("fm", k=300),
        "ill": DRAW.choices(["flu", "cold", "gout"], k=300),
    }
)
COLUMNS = ["age", "sex"]
ABLE = [name for name, method in METHODS.items() if method.whole_tables]
PROMISES = {
    "average_risk": {"average_risk": 0.05},
    "sample_uniqueness": {"sample_uniqueness": 0.004},
    "population_uniqueness": {"population_uniqueness": 0.002, "sampling_fraction": 0.2, "estimator": "zayatz"},
}
WITH = {
    "alone": {},
    "k": {"k": 2},
    "a share left out": {"suppress": 0.05},
    "sensitive": {"sensitive": ["ill"], "l": 2},
}


def release(method, **words):
    if words.get("suppress") is not None and "suppress" not in METHODS[method].options:
        pytest.skip("it leaves nobody out")
    words = {"insensitive": ["ill"], **words} if "sensitive" not in words else words
    return incrowd.anonymize(PEOPLE, quasi_identifiers=COLUMNS, method=method, **words)


def kept(rows, name, words):
    if name == "average_risk":
        return reference.average_risk(rows) <= words[name]
    if name == "sample_uniqueness":
        return reference.sample_uniqueness(rows) <= words[name]
    sizes = [rows.count(row) for row in set(rows)]
    people = round(len(rows) / words["sampling_fraction"])
    return 1 not in sizes or reference.zayatz(sizes, people) <= words[name] * people * (1 + 1e-6)


def test_every_promise_is_tried():
    assert PROMISES.keys() == OF_TABLE.keys()


@pytest.mark.parametrize(("method", "name", "others"), paired(ABLE, list(PROMISES), list(WITH)))
def test_the_released_rows_keep_the_promise(method, name, others):
    words = {**PROMISES[name], **WITH[others]}
    found = release(method, **words)
    rows = list(zip(*(found.data[column].to_pylist() for column in COLUMNS), strict=True))
    assert kept(rows, name, words)
    assert len(rows) >= 300 * (1 - words.get("suppress", 0.05))
    original = list(zip(*(PEOPLE[column].to_pylist() for column in COLUMNS), strict=True))
    assert not kept(original, name, words)  # it was not kept before
    said = incrowd.verify(found.data, quasi_identifiers=COLUMNS, **PROMISES[name])
    assert said.holds


@pytest.mark.parametrize("method", [name for name in METHODS if name not in ABLE])
def test_other_methods_refuse_in_one_line_that_names_those_which_can(method):
    with pytest.raises(PolicyError) as refused:
        release(method, average_risk=0.05)
    text = str(refused.value)
    assert "\n" not in text
    assert method in text
    assert all(name in text for name in ABLE)


@pytest.mark.parametrize("name", PROMISES)
def test_the_original_rows_fail_the_witness(name):
    with pytest.raises(NotAnonymousError, match=f"{name.replace('_', ' ')}.*classes together reach"):
        incrowd.verify(PEOPLE, quasi_identifiers=COLUMNS, **PROMISES[name]).require()


@pytest.mark.parametrize("name", PROMISES)
def test_it_is_the_same_in_every_face_and_a_recipient_can_recount_it(name, tmp_path):
    words = PROMISES[name]
    asked = make_policy(quasi_identifiers=COLUMNS, **words)
    by_hand = {option: str(value) for option, value in words.items()}
    (tmp_path / "release.toml").write_text(policy_text({"quasi_identifiers": COLUMNS, **words}))
    others = [
        make_policy(quasi_identifiers=COLUMNS, **typed(by_hand)),
        make_policy(quasi_identifiers=COLUMNS, privacy=asked.models_of_table),
        make_policy(**read_policy(tmp_path / "release.toml")[0]),
    ]
    assert [other.to_json() for other in others] == [asked.to_json()] * 3
    release("auto", **words).write(tmp_path / "release.csv")
    (written,) = tmp_path.rglob("*certificate.json")
    checked = incrowd.check_certificate(written, tmp_path / "release.csv")
    release("auto", **words).report(tmp_path / "report.md", public=True)
    assert "together keep" in (tmp_path / "report.md").read_text()
    assert checked.holds
    assert any(name.replace("_", " ") in claim.claim for claim in checked.claims)


def test_auto_takes_a_method_that_counts_whole_tables():
    assert release("auto", average_risk=0.05).policy.method == "incognito"


def test_several_quasi_identifiers_each_keep_it():
    for method in ABLE:
        found = incrowd.anonymize(PEOPLE, quasi_identifiers=[["age"], ["sex", "ill"]], method=method, average_risk=0.03)
        for attributes in (["age"], ["sex", "ill"]):
            rows = list(zip(*(found.data[column].to_pylist() for column in attributes), strict=True))
            assert reference.average_risk(rows) <= 0.03
