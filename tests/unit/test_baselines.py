"""What the baselines refuse and say, and the genetic algorithm on shipped data."""

import pyarrow as pa
import pytest

import incrowd
from incrowd import datasets
from incrowd.errors import PolicyError
from incrowd.search import lattice
from incrowd.taxonomies.taxonomy import Taxonomy

GERMAN = ["age", "job", "housing", "personal-status-sex"]


@pytest.fixture(scope="module")
def people():
    return pa.table({"age": [20, 21, 40, 41, 60, 61], "job": list("aabbcc")})


@pytest.mark.parametrize("method", ["incognito", "samarati"])
def test_class_labels_need_a_target(people, method):
    with pytest.raises(PolicyError, match="'cost' parameter must be dm or loss"):
        incrowd.anonymize(people, quasi_identifiers=["age", "job"], k=2, method=method, cost="cm")


def test_fitness_by_class_labels_needs_a_target(people):
    with pytest.raises(PolicyError, match="'fitness' parameter must be lm"):
        incrowd.anonymize(people, quasi_identifiers=["age", "job"], k=2, method="genetic", fitness="cm")


def test_the_best_of_the_genetic_algorithm_is_the_cost_of_its_release():
    """Shown y is left out; withheld, it is a * like z, and its record stays in: less is lost than bred for."""
    data = pa.table({"job": list("xxxzzy"), "town": ["p"] * 6, "income": list("YYNYNN")})
    stopped_early = {"population": 3, "evaluations": 3}
    mended = 0
    for seed in range(40):
        words = {"k": 2, "method": "genetic", "fitness": "lm", "seed": seed, **stopped_early}
        release = incrowd.anonymize(data, quasi_identifiers=["job", "town"], **words)
        facts = release.found.facts
        assert facts["best"] == pytest.approx(release.measures.total.ncp)
        mended += facts["best"] < facts["improvements"][-1][1] - 1e-9
    assert mended


def test_a_lattice_that_is_too_large_names_other_methods(people, monkeypatch):
    monkeypatch.setattr(lattice, "MOST_NODES", 10)
    with pytest.raises(PolicyError, match=r"too many to search them all.*datafly"):
        incrowd.anonymize(people, quasi_identifiers=["age", "job"], k=2, method="incognito")


def test_a_table_without_suppression_is_not_emptied(people):
    """Six records, k = 6: Datafly may leave out six, but releases something."""
    release = incrowd.anonymize(people, quasi_identifiers=["age", "job"], k=6, method="datafly")
    assert release.data.num_rows == 6


def test_argus_alone_is_not_k_anonymous():
    """Every value occurs twice, every record once: mu-Argus with single values is content, and leaves all alone."""
    rows = [(a, b, (a + b) % 2) for a in range(2) for b in range(2)]
    data = pa.table({name: [str(row[i]) for row in rows] for i, name in enumerate("xyz")})
    taxonomies = {name: Taxonomy.flat(["0", "1"]) for name in "xyz"}
    release = incrowd.anonymize(
        data, quasi_identifiers=list("xyz"), k=2, taxonomies=taxonomies, method="argus", length=1, suppress=0.0
    )
    assert release.found.facts["unsafe_combinations"] == 0
    assert release.found.facts["records_in_small_classes_after_argus"] == 4
    assert release.measures.total.anonymity >= 2


@pytest.mark.parametrize("method", ["datafly", "samarati", "incognito", "argus", "genetic"])
def test_every_baseline_releases_credit_records(method):
    options = {"patience": 60} if method == "genetic" else {}
    taxonomies = {name: path for name, path in datasets.taxonomies("german").items() if name in GERMAN}
    release = incrowd.anonymize(
        datasets.german(),
        quasi_identifiers=GERMAN,
        k=10,
        target="credit",
        taxonomies=taxonomies,
        method=method,
        **options,
    )
    assert release.certificate.verification["holds"]
    assert release.found.facts.get("suppressed_records", 0) == release.measures.total.suppressed
