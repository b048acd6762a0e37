"""What the full-domain baselines refuse and say, and all baselines on shipped data."""

import pyarrow as pa
import pytest

import incrowd
from incrowd.errors import PolicyError
from incrowd.search.baselines import lattice

GERMAN = ["age", "job", "housing", "personal-status-sex"]


@pytest.fixture(scope="module")
def people():
    return pa.table({"age": [20, 21, 40, 41, 60, 61], "job": list("aabbcc")})


@pytest.mark.parametrize("method", ["incognito", "samarati"])
def test_class_labels_need_a_target(people, method):
    with pytest.raises(PolicyError, match="'cost' parameter must be dm or ncp"):
        incrowd.anonymize(people, quasi_identifiers=["age", "job"], k=2, method=method, cost="cm")


def test_a_lattice_that_is_too_large_names_other_methods(people, monkeypatch):
    monkeypatch.setattr(lattice, "MOST_NODES", 10)
    with pytest.raises(PolicyError, match=r"too many to search;.*datafly"):
        incrowd.anonymize(people, quasi_identifiers=["age", "job"], k=2, method="incognito")


def test_a_table_without_suppression_is_not_emptied(people):
    """Six records, k = 6: Datafly may leave out six, but releases something."""
    release = incrowd.anonymize(people, quasi_identifiers=["age", "job"], k=6, method="datafly")
    assert release.data.num_rows == 6


def test_datafly_leaves_out_as_many_as_the_smallest_k_by_default():
    table = pa.table({"a": [1, 2, 3, 4] * 10, "b": list("wxyz") * 10})
    qids = [incrowd.QuasiIdentifier(["a"], 2), incrowd.QuasiIdentifier(["b"], 9)]
    found = incrowd.anonymize(table, quasi_identifiers=qids, method="datafly").found
    assert found.facts["records_allowed"] == 2
