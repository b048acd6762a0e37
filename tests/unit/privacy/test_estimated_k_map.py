"""k-map without a population table: how large crowds have to be, by the definition, and who says so."""

from fractions import Fraction
from math import comb

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples

import incrowd
from incrowd.errors import PolicyError
from incrowd.policy.making import make_policy
from incrowd.privacy.population import EstimatedKMap
from incrowd.verification.counts import Promise, reached

SHARES = st.sampled_from(["0.01", "0.1", "0.3", "0.5", "0.9"])


def shows(people, records, share):
    """How likely a class of that many people shows that many records or more, if any."""
    chances = [comb(people, n) * share**n * (1 - share) ** (people - n) for n in range(people + 1)]
    return sum(chances[records:]) / sum(chances[1:])


def defined(k, share, error):
    return next(n for n in range(1, k + 1) if n == k or shows(k - 1, n, share) <= error)


@examples(100)
@given(st.integers(2, 40), SHARES, st.sampled_from(["0.01", "0.05", "0.2"]))
def test_crowds_are_as_large_as_the_definition_asks_for_model_and_witness(k, share, error):
    model = EstimatedKMap(k, float(share), float(error))
    needed = defined(k, Fraction(share), Fraction(error))
    assert model.records == model.threshold == model.least_size == needed
    found, bad = reached(Promise(**model.promise()), np.array([needed - 1, needed, needed + 1]), {})
    assert bad.tolist() == [True, False, False]
    assert found == needed - 1


def test_a_worked_example():
    """Four people, each drawn with 1/2: 15/16 show someone, 4 records 1/15 of those, 3 or more 5/15."""
    assert EstimatedKMap(5, 0.5, 0.07).records == 4
    assert EstimatedKMap(5, 0.5, 0.05).records == 5
    assert EstimatedKMap(5, 0.5, 0.34).records == 3
    assert EstimatedKMap(5, 1).records == 5  # everyone is in the table


def test_every_face_says_it_alike():
    words = {"quasi_identifiers": ["age"], "k_map": 5, "sampling_fraction": 0.5, "k_map_error": 0.07}
    (model,) = make_policy(**words).requirements[0].models
    assert str(model) == "k-map=5 (estimated: crowds of 4)"
    again = make_policy(quasi_identifiers=["age"], privacy=[incrowd.EstimatedKMap(5, 0.5, 0.07)])
    assert again.to_json() == make_policy(**words).to_json()


def test_the_release_and_its_certificate():
    people = pa.table({"age": [1, 1, 2, 2, 3, 3, 3, 3]})
    release = incrowd.anonymize(people, quasi_identifiers=["age"], k_map=5, sampling_fraction=0.5, k_map_error=0.07)
    (finding,) = release.certificate.verification["quasi_identifiers"]
    assert [model["name"] for model in finding["models"]] == ["estimated k-map"]
    assert min(release.data.group_by("age").aggregate([([], "count_all")])["count_all"].to_pylist()) >= 4
    assert not incrowd.verify(people, quasi_identifiers=["age"], k_map=5, sampling_fraction=0.5).holds


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"k_map": 5}, "give its table as population_table, or for k_map alone"),
        ({"delta_presence": 0.5, "sampling_fraction": 0.1}, "give its table as population_table"),
        ({"k": 5, "sampling_fraction": 0.1}, "says nothing by itself. Give population_uniqueness or k_map"),
        ({"k": 5, "k_map_error": 0.1}, "says nothing by itself. Give k_map"),
        ({"k_map": 5, "sampling_fraction": 0.1, "unit": "person"}, "leave out it or the unit"),
        ({"average_risk": 0.1, "unit": "person"}, "leave out it or the unit"),
        ({"average_risk": 0.1, "ledger": "folder"}, "leave out it or the ledger"),
        ({"average_risk": 0.1, "estimator": "snb"}, "The 'estimator' parameter says nothing by itself"),
        ({"population_uniqueness": 0.1}, "give the share of the population that is in the table as sampling_fraction"),
        ({"population_uniqueness": 0.1, "sampling_fraction": 0.1, "estimator": "ewens"}, "must be one of dankar"),
    ],
)
def test_what_contradicts_itself_is_refused(words, message):
    with pytest.raises(PolicyError, match=message):
        make_policy(quasi_identifiers=["age"], **words)
