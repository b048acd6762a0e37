import tomllib

import pyarrow as pa

import incrowd
from incrowd.policy.making import make_policy
from incrowd.recodings.learned_hierarchies import learned_hierarchies_file
from incrowd.release.files import ReleaseFiles


def test_a_grown_hierarchy_can_be_fed_back(tmp_path):
    """The cuts of the release are the finest level, the first cut the highest; given back, it is a taxonomy."""
    words = {"quasi_identifiers": ["age", "sex"], "k": 50, "target": "income", "method": "tdr", "keep": ["fnlwgt"]}
    release = incrowd.anonymize(incrowd.datasets.adult(), **words)
    rule = release.grown["age"]
    assert rule.bounds == release.recoding["age"].bounds
    first = next(step for step in release.steps if step.attribute == "age")
    assert first.children[0] == f"<{rule.coarser[-1][0]}"
    assert len(rule.coarser[-1]) == 1

    release.write(tmp_path / "release.csv")
    text = ReleaseFiles.of(tmp_path / "release.csv").grown.read_text()
    assert text == learned_hierarchies_file(release.grown)
    given = tomllib.loads(text)["taxonomies"]
    assert make_policy(quasi_identifiers=["age"], k=2, taxonomies=given).taxonomies["age"] == rule
    again = incrowd.anonymize(incrowd.datasets.adult(), **words, taxonomies=given)
    assert set(again.released_values["age"]) <= set(rule.build([str(n) for n in range(17, 91)]).labels)


def test_nothing_was_grown_for_text_or_without_steps():
    words = {"quasi_identifiers": ["age", "job"], "k": 50, "keep": ["credit-amount"]}
    assert incrowd.anonymize(incrowd.datasets.german(), **words, method="mondrian").grown == {}


def test_numbers_beyond_what_a_rule_may_have_are_not_given_back(tmp_path):
    """They could not be read again; the release itself is written as any other."""
    table = pa.table({"x": [2**53 + 1, 2**63 - 9, 2**63 - 5, 2**63 - 1] * 5})
    release = incrowd.anonymize(table, quasi_identifiers=["x"], k=3, method="tdr")
    assert release.steps
    assert release.grown == {}
    release.write(tmp_path / "out.csv")
