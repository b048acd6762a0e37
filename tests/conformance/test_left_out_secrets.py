"""Being left out of a release must not tell a secret, though everyone with a register sees who is not in it."""

import random

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from benchmarks.register import guessed
from tests.examples import spread

import incrowd
from incrowd.errors import PolicyError
from incrowd.key import Key
from incrowd.search.leaving_out import MOST
from incrowd.search.registry import METHODS

LEAVING_OUT = [name for name, method in METHODS.items() if "suppress" in method.options and name != "optimal"]
K, L = 5, 2
COLUMNS = (("age", "xyz"), ("job", "pqrs"), ("town", "uvw"), ("secret", ("no", "no", "no", "no", "yes")))

pytestmark = pytest.mark.filterwarnings("ignore::incrowd.errors.ReleaseWarning")


def hospital():
    draw = np.random.default_rng(3)
    zips, causes = [f"12{number:03d}" for number in range(40)], ["flu", "hip", "asthma", "cancer", "hiv"]
    columns = {"age": draw.integers(20, 90, 1500), "zip": draw.choice(zips, 1500), "sex": draw.choice(["f", "m"], 1500)}
    return pa.table({**columns, "diagnosis": draw.choice(causes, 1500, p=[0.5, 0.25, 0.15, 0.08, 0.02])})


def census():
    table = pyarrow.csv.read_csv(incrowd.datasets.adult())
    return table.take(np.random.default_rng(3).choice(len(table), 1500, replace=False))


TABLES = {
    "census": (census, ["age", "education", "marital-status", "race", "sex"], "income"),
    "credit": (lambda: pyarrow.csv.read_csv(incrowd.datasets.german()), ["age", "job", "housing", "purpose"], "credit"),
    "hospital": (hospital, ["age", "zip", "sex"], "diagnosis"),
}


def told(name, method, share, **words):
    """The release, and what being left out of it tells."""
    make, columns, secret = TABLES[name]
    table = make().select([*columns, secret])
    table = table.append_column("row", pa.array(range(len(table))))
    words = {"quasi_identifiers": columns, "k": K, "sensitive": [secret], "l": L, "keep": ["row"], **words}
    if share is not None:
        words["suppress"] = share
    release = incrowd.anonymize(table, method=method, **words)
    return release, guessed(table, release.data, secret, "row")


@pytest.mark.parametrize(("method", "name"), spread(LEAVING_OUT, list(TABLES)))
def test_a_guess_from_being_left_out_is_little_better_than_the_prior(method, name):
    for share in (0.02, 0.1):
        release, found = told(name, method, share)
        assert found.people <= share * release.table.records
        assert found.excess <= MOST


@pytest.mark.parametrize(("method", "seed"), [("tdr", 6), ("bug", 21), ("tdr", 41)])
def test_classes_of_another_quasi_identifier_that_become_too_small_are_left_out_as_well(method, seed):
    draw = random.Random(seed)
    table = pa.table({name: [draw.choice(values) for _ in range(60)] for name, values in COLUMNS})
    several = [["age", "job"], ["job", "town"]]
    words = {"quasi_identifiers": several, "k": 3, "sensitive": ["secret"], "l": 2, "suppress": 0.3}
    release = incrowd.anonymize(table, method=method, key=Key.for_experiments(seed), **words)
    assert len(release.data) > 0  # which the witness has counted


def test_also_where_a_method_leaves_out_as_many_as_it_likes():
    assert told("census", "genetic", None, evaluations=60)[1].excess <= MOST


def test_without_more_that_is_left_out_it_would_tell(monkeypatch):
    """So the attack is one, and the decoys are what stops it; the steward is told of them."""
    release, found = told("census", "incognito", 0.2)
    assert found.people > 0
    assert any("so that being left out does not tell 'income'" in note for note in release.notes)
    monkeypatch.setattr("incrowd.search.leaving_out._reveals", lambda *words: False)
    assert told("census", "incognito", 0.2)[1].excess > MOST


@pytest.mark.parametrize("seed", range(10))
def test_classes_much_larger_than_those_that_are_bad_are_no_decoys(seed):
    """Two towns of ten hide two people who both have it; the city of 400, whom nobody would suspect, stays."""
    towns = [("village", 2, 2), *((f"town {number}", 10, 1) for number in range(12)), ("city", 400, 40)]
    rows = [(name, "yes" if number < ill else "no") for name, size, ill in towns for number in range(size)]
    table = pa.table(dict(zip(("town", "ill"), zip(*rows, strict=True), strict=True)))
    words = {"quasi_identifiers": ["town"], "k": 2, "sensitive": ["ill"], "l": 2, "method": "incognito"}
    release = incrowd.anonymize(table, suppress=0.1, key=Key.for_experiments(seed), **words)
    assert len(table) - len(release.data) == 22
    assert release.data["town"].to_pylist().count("city") == 400


def test_what_is_left_out_follows_from_the_key():
    first, again = (told("census", "incognito", 0.2)[0] for _ in range(2))
    assert first.data.equals(again.data)


def test_no_earlier_step_is_released():
    release, _ = told("census", "tdr", 0.1)
    with pytest.raises(PolicyError, match="only the last step"):
        release.at(1)
