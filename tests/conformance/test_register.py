"""An attacker with a register of everyone's quasi-identifiers cannot rebuild which record went where."""

import hashlib

import numpy as np
import pyarrow.csv
import pytest
from benchmarks.register import undone

import incrowd
from incrowd.key import Key

COLUMNS = ["workclass", "education", "marital-status", "occupation", "race", "sex"]
K = 3

pytestmark = [pytest.mark.real_keys, pytest.mark.filterwarnings("ignore::incrowd.errors.ReleaseWarning")]


@pytest.fixture(scope="module")
def people():
    table = pyarrow.csv.read_csv(incrowd.datasets.adult())
    return table.take(np.random.default_rng(1).choice(len(table), 2_000, replace=False))


def released(people, method, **options):
    taxonomies = {name: path for name, path in incrowd.datasets.taxonomies("adult").items() if name in COLUMNS}
    others = [name for name in people.column_names if name not in COLUMNS]
    words = {"quasi_identifiers": COLUMNS, "k": K, "taxonomies": taxonomies, "method": method, "keep": others}
    return incrowd.anonymize(people, **words, **options)


@pytest.fixture(scope="module", params=["kaca", "cover"])
def release(request, people):
    return released(people, request.param, **({"effort": 0} if request.param == "cover" else {}))


def from_the_register(mapping, seed):
    """A key made of all that she knows: the tuples, how often each occurs, the labels, and a number."""
    digest = hashlib.blake2b(str(seed).encode(), digest_size=32)
    digest.update(np.ascontiguousarray(mapping.tuples).tobytes())
    digest.update(np.add.reduceat(mapping.part_records, mapping.first_part[:-1]).tobytes())
    for hierarchy in mapping.hierarchies:
        digest.update(repr(hierarchy.taxonomy.labels).encode())
    return digest.digest()


def test_with_the_key_of_the_steward_the_attack_would_work(release):
    """So it is an attack, and the key is worth keeping."""
    found = undone(release.data, release.recoding, release.recoding.key, K)
    assert not found.refuted
    assert found.below > 0


def test_no_key_that_can_be_rebuilt_gives_more_than_a_wrong_one(release):
    mapping = release.recoding.mapping
    rebuilt = [from_the_register(mapping, seed) for seed in range(3)]
    rebuilt += [type(release.recoding).of(mapping, Key.for_experiments(seed)).key for seed in range(3)]
    wrong = undone(release.data, release.recoding, bytes(32), K)
    assert (wrong.below, wrong.unique) == (0, 0)
    assert [undone(release.data, release.recoding, key, K) for key in rebuilt] == [wrong] * len(rebuilt)


def test_two_releases_of_one_table_deal_differently(people):
    first, second = (released(people, "cover", effort=0) for _ in range(2))
    assert not first.data.equals(second.data)
    assert released(people, "cover", effort=0, key=first.key).data.equals(first.data)
