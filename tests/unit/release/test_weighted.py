"""The loss with survey weights, against rows repeated as often as their weight says; k stays one of records."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples

import incrowd
from incrowd.errors import PolicyError
from incrowd.measures.measures import measure

WORDS = {"quasi_identifiers": ["age", "sex"], "k": 2}
ROW = st.tuples(st.integers(20, 26), st.sampled_from("fm"), st.integers(1, 4))


def table(rows, times=lambda row: 1):
    repeated = [row for row in rows for _ in range(times(row))]
    age, sex, weight = zip(*repeated, strict=True)
    return pa.table({"age": age, "sex": sex, "weight": weight})


@pytest.mark.parametrize(("method", "options"), [("tdr", {}), ("tdr", {"suppress": 0.3}), ("bug", {})])
@examples(25)
@given(rows=st.lists(ROW, min_size=4, max_size=12))
def test_a_record_loses_for_as_many_people_as_it_stands_for(method, options, rows):
    release = incrowd.anonymize(table(rows), **WORDS, method=method, **options)
    found = release.weighted_loss("weight")
    everyone = incrowd.anonymize(table(rows, lambda row: row[2]), **WORDS, method="tdr").table
    plain = measure(everyone, release.recoding, release.policy.requirements)
    assert found.ncp == pytest.approx(plain.total.ncp, abs=1e-12)
    assert found.people == sum(row[2] for row in rows)
    assert found.left_out == plain.total.suppressed
    assert list(found.attributes.values()) == pytest.approx([part.ncp for part in plain.attributes], abs=1e-12)


@pytest.mark.parametrize("method", ["mondrian", "cover", "argus", "kaca"])
def test_with_equal_weights_it_is_the_plain_loss(method):
    rows = [(20 + i % 7, "fm"[i % 3 == 0], 3) for i in range(30)]
    release = incrowd.anonymize(table(rows), **WORDS, method=method)
    assert release.weighted_loss("weight").ncp == pytest.approx(release.measures.total.ncp, abs=1e-12)


def test_weights_never_count_for_k():
    rows = [(20, "f", 1000), (40, "m", 1), (41, "m", 1)]
    release = incrowd.anonymize(table(rows), **WORDS, insensitive=["weight"])
    assert release.measures.total.anonymity >= 2  # not a crowd of one who stands for many


@pytest.mark.parametrize(
    ("weights", "words"), [("wait", "no column 'wait'"), ("age", "both a quasi-identifier and a weight")]
)
def test_a_column_that_has_no_weights_is_refused(weights, words):
    release = incrowd.anonymize(table([(20, "f", 1)] * 3), **WORDS)
    with pytest.raises(PolicyError, match=words):
        release.weighted_loss(weights)


def test_a_negative_weight_is_refused():
    release = incrowd.anonymize(table([(20, "f", -1)] * 3), **WORDS)
    with pytest.raises(PolicyError, match="negative weight"):
        release.weighted_loss("weight")
