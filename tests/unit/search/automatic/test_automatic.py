"""Auto: which method it takes, that it says so, and that the release is that of the method."""

import numpy as np
import pyarrow as pa
import pytest

import incrowd
from incrowd.search.automatic import automatic


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(3)
    return pa.table(
        {
            "age": rng.integers(20, 60, 400),
            "sex": rng.choice(["f", "m"], 400),
            "job": rng.choice(["a", "b", "c"], 400),
            "ill": rng.choice(["flu", "cold"], 400),
        }
    )


QI = ["age", "sex", "job"]


def test_without_a_target_the_local_method_that_loses_least(people):
    release = incrowd.anonymize(people, quasi_identifiers=QI, k=5)
    losses = {
        name: incrowd.anonymize(people, quasi_identifiers=QI, k=5, method=name, **options).measures.total.ncp
        for name, options in (("mondrian", {}), ("cover", {"effort": 0}))
    }
    best = min(losses, key=losses.__getitem__)
    assert release.policy.method == best
    assert release.measures.total.ncp == losses[best]
    other = "cover" if best == "mondrian" else "mondrian"
    (note,) = [note for note in release.notes if note.startswith("the method is")]
    assert note == (
        f"the method is {best}: without a target a local method loses least: NCP {losses[best]:.4f}, "
        f"{other} {losses[other]:.4f}"
    )


def test_the_same_release_as_by_the_method_it_names(people):
    auto = incrowd.anonymize(people, quasi_identifiers=QI, k=5)
    named = {"method": auto.policy.method, **auto.policy.options}
    assert auto.data.equals(incrowd.anonymize(people, quasi_identifiers=QI, k=5, **named).data)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ({"target": "ill"}, "a target is given"),
        ({"quasi_identifiers": [["age", "sex"], ["sex", "job"]]}, "there are several quasi-identifiers"),
    ],
)
def test_top_down_for_a_target_and_for_several_quasi_identifiers(people, words, reason):
    release = incrowd.anonymize(people, **{"quasi_identifiers": QI, "k": 5, **words})
    assert release.policy.method == "tdr"
    assert any(f"the method is tdr: {reason}" in note for note in release.notes)


@pytest.mark.parametrize(("limit", "name"), [("COVER", "mondrian"), ("LOCAL", "tdr")])
def test_a_large_table_gets_a_quicker_method(people, monkeypatch, limit, name):
    monkeypatch.setattr(automatic, limit, 10)
    assert incrowd.anonymize(people, quasi_identifiers=QI, k=5).policy.method == name


def test_options_are_given_on_and_methods_without_them_left_out(people):
    release = incrowd.anonymize(people, quasi_identifiers=QI, k=5, suppress=0.05)
    assert release.measures.total.suppressed <= 20
    assert release.policy.options["suppress"] == 0.05
    weighed = incrowd.anonymize(people, quasi_identifiers=QI, k=5, priorities={"age": 5})
    assert weighed.measures.total.anonymity >= 5


@pytest.mark.parametrize(("limit", "names"), [("COVER", ("mondrian",)), ("LOCAL", ("tdr",))])
def test_what_is_tried_follows_from_the_size(people, monkeypatch, limit, names):
    table = incrowd.anonymize(people, quasi_identifiers=QI, k=5, method="tdr").table
    assert automatic.choices(table, [None])[0] == ("mondrian", "cover")
    monkeypatch.setattr(automatic, limit, 1)
    assert automatic.choices(table, [None])[0] == names
