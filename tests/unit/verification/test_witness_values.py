"""What values count as, as the witness reads them, against what the search takes them for; and a broken search.

The two share no code. Where one of them is broken on purpose, the other notices.
"""

import datetime as dt
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import incrowd
from incrowd.errors import NotAnonymousError
from incrowd.policy import policy as policies
from incrowd.policy.making import make_policy
from incrowd.policy.policy import Policy
from incrowd.privacy.l_diversity import LDiversity
from incrowd.privacy.registry import OF_COLUMNS
from incrowd.table.scales import text_of
from incrowd.verification.counts import BY_COLUMN
from incrowd.verification.promises import meanings, witness_of
from incrowd.verification.values import Meaning, as_text, plain, pointed

TEXTS = st.one_of(
    st.sampled_from(["", "?", "-9", "flu", "cold", "1,5", "1.234,50", "1,2,3", ",5", "10", "20", "9.99", "x,y", "1e3"]),
    st.floats(-50, 50).map(str),
    st.integers(-50, 50).map(str),
    st.text("0123456789.,-", max_size=6),
)
POLICIES = {
    "itself": {},
    "missing": {"missing_values": ["?", "-9"]},
    "groups": {"sensitive": {"s": {"l": 2, "groups": {"ill": ["flu", "cold"], "10": ["20"], "few": ["1,5"]}}}},
    "bins": {"sensitive": {"s": {"l": 2, "bins": [-3, 10, 20.5]}}},
    "commas": {"types": {"s": "comma"}, "missing_values": ["?"]},
    "commas in bins": {"types": {"s": "comma"}, "sensitive": {"s": {"l": 2, "bins": [-3, 1.5, 20]}}},
    "commas in groups": {"types": {"s": "comma"}, "sensitive": {"s": {"l": 2, "groups": {"few": ["1,5", ",5"]}}}},
}


def policy_of(name):
    return make_policy(**{"quasi_identifiers": ["q"], "k": 2, "sensitive": {"s": {"l": 2}}, **POLICIES[name]})


@pytest.mark.parametrize("name", POLICIES)
@given(TEXTS)
def test_both_take_a_value_for_the_same(name, text):
    policy = policy_of(name)
    assert meanings(policy)["s"].counted(text) == policy.counted_as("s", text)


NUMBERS = st.one_of(st.floats(allow_nan=False), st.integers(-(10**23), 10**23).map(float), st.sampled_from([0.0, -0.0]))
COLUMNS = st.one_of(
    st.lists(NUMBERS).map(lambda values: pa.array(values, pa.float64())),
    st.lists(st.floats(width=32, allow_nan=False)).map(lambda values: pa.array(values, pa.float32())),
    st.lists(st.integers(-(2**63), 2**63 - 1)).map(lambda values: pa.array(values, pa.int64())),
    st.lists(st.decimals(-(10**9), 10**9, places=6)).map(lambda values: pa.array(values, pa.decimal128(20, 6))),
    st.lists(st.booleans()).map(lambda values: pa.array(values, pa.bool_())),
    st.lists(st.dates()).map(lambda values: pa.array(values, pa.date32())),
    st.lists(st.times()).map(lambda values: pa.array(values, pa.time64("us"))),
    *(
        st.lists(st.datetimes(dt.datetime(1700, 1, 1), dt.datetime(2200, 1, 1))).map(
            lambda values, unit=unit, zone=zone: pa.array(values, pa.timestamp("us")).cast(
                pa.timestamp(unit, zone), safe=False
            )
        )
        for unit in ("s", "ms", "us", "ns")
        for zone in (None, "UTC", "Europe/Berlin")
    ),
)


@given(COLUMNS)
def test_both_write_a_value_of_any_type_as_the_same_text(column):
    assert [as_text(value) for value in plain(column)] == text_of(column).to_pylist()


def test_definitions():
    assert [as_text(value) for value in (3.0, 0.5, Decimal("1.50"), True, None, "", float("nan"), b"ab")] == [
        "3", "0.5", "1.5", "true", None, None, None, "ab",
    ]  # fmt: skip
    assert [pointed(text) for text in ("1,5", "1.234,5", "1,2,3", "a,b", "1.5", ",5")] == [
        "1.5", "1234.5", "1,2,3", "a,b", "1.5", ".5",
    ]  # fmt: skip
    meaning = Meaning(("?",), False, {"ill": ("flu", "cold")}, (10, 20.5))
    assert [meaning.counted(text) for text in ("?", "flu", "x", "3", 10, 10.0, "20.4", "20.5", None)] == [
        None, "ill", "x", "<10", "[10-20.5)", "[10-20.5)", "[10-20.5)", ">=20.5", None,
    ]  # fmt: skip


# Breaking what the search goes by: the release that it finds keeps no promise, and its own witness says so.

SEXES = ["f", "m"] * 30


def table(values):
    return pa.table({"sex": SEXES, "age": [row // 20 for row in range(60)], "ill": values})


def one_value_each(*values):
    """A value for each of three ages: no class of one age has two."""
    return table([values[row // 20] for row in range(60)])


def released(rows, protection, **words):
    asked = {"quasi_identifiers": ["sex", "age"], "k": 2, "sensitive": {"ill": protection}, "method": "tdr"}
    return incrowd.anonymize(rows, **asked, **words)


@pytest.mark.parametrize("kind", ["groups", "bins"])
def test_a_search_that_does_not_know_what_counts_as_one(kind, monkeypatch, tmp_path):
    """With every row of a class different, the search believes that all is well."""
    rows = pa.table({"sex": SEXES, "age": [row // 20 for row in range(60)], "ill": [str(row % 4) for row in range(60)]})
    protection = {"groups": {"l": 2, "groups": {"low": ["0", "2"], "high": ["1", "3"]}}, "bins": {"l": 2, "bins": [5]}}
    monkeypatch.setattr(Policy, "counted_as", lambda self, column, value: value)
    with pytest.raises(NotAnonymousError, match="l=2 of ill does not hold"):
        released(rows, protection[kind]).write(tmp_path / "out.csv")
    assert not list(tmp_path.iterdir())


def test_a_search_that_takes_missing_values_for_different_ones(monkeypatch, tmp_path):
    rows = table(["?" if row % 4 < 2 else "-" for row in range(60)])
    monkeypatch.setattr(Policy, "counted_as", lambda self, column, value: value)
    with pytest.raises(NotAnonymousError, match="l=2 of ill does not hold"):
        released(rows, {"l": 2}, missing_values=["?", "-"]).write(tmp_path / "out.csv")


def test_a_search_that_does_not_read_decimal_commas(monkeypatch):
    rows = table([["0,5", "0,6", "1,5", "2,5"][row % 4] for row in range(60)])
    monkeypatch.setattr(policies, "with_point", lambda text: text)
    with pytest.raises(NotAnonymousError, match="l=2 of ill does not hold"):
        _ = released(rows, {"l": 2, "bins": [9]}, types={"ill": "comma"}).data


def test_a_search_that_takes_the_wrong_values_for_harmless(monkeypatch):
    rows = one_value_each("flu", "cold", "hiv")
    monkeypatch.setattr("incrowd.privacy.l_diversity.harmful", lambda values, harmless: np.zeros(len(values), bool))
    with pytest.raises(NotAnonymousError, match="l=2 of ill does not hold"):
        _ = released(rows, {"l": 2, "harmless": ["flu"]}).data


def test_a_promise_that_does_not_reach_the_search(monkeypatch):
    rows = one_value_each("flu", "cold", "hiv")
    monkeypatch.setattr(Policy, "models_of_columns", ())
    with pytest.raises(NotAnonymousError, match="l=2 of ill does not hold"):
        _ = released(rows, {"l": 2}).data


def test_a_model_that_counts_wrong(monkeypatch):
    rows = one_value_each("flu", "cold", "hiv")
    monkeypatch.setattr(LDiversity, "levels", lambda self, classes: np.full(len(classes.records), 9))
    with pytest.raises(NotAnonymousError, match="l=2 of ill does not hold"):
        _ = released(rows, {"l": 2}).data


def test_a_people_count_that_counts_records(monkeypatch):
    rows = pa.table({"who": [str(row // 10) for row in range(60)], "age": [row // 10 for row in range(60)]})
    monkeypatch.setattr("incrowd.privacy.units.KUnits.levels", lambda self, classes: classes.records)
    with pytest.raises(NotAnonymousError, match=r"k=3 people \(who\) does not hold"):
        _ = incrowd.anonymize(rows, quasi_identifiers=["age"], unit="who", k=3, method="tdr").data


def test_a_taxonomy_of_sensitive_values_measures_where_no_distance_is_named():
    """What a search takes for the distance is what the witness takes for it."""
    tree = incrowd.Taxonomy.from_tree({"*": {"low": ["a", "b"], "high": ["c", "d"]}})
    words = {"quasi_identifiers": ["q"], "k": 2, "taxonomies": {"s": tree}}
    for distance in ({}, {"t_distance": "hierarchical"}):
        (asked,) = witness_of(make_policy(**words, sensitive={"s": {"t": 0.25, **distance}}))._asked
        assert asked.promises[1].more["distance"] == "hierarchical"
        assert len(asked.promises[1].more["paths"]) == 4


def test_the_texts_of_promises_are_those_of_the_models():
    words = {
        "l": 3, "entropy_l": 1.5, "recursive_l": (2, 2), "t": 0.3, "t_distance": "ordered", "alpha": 0.9,
        "beta_likeness": 2, "enhanced_beta_likeness": 1, "delta_disclosure": 1.5,
    }  # fmt: skip
    for unit in (None, "who"):
        policy = make_policy(quasi_identifiers=["q"], k=2, sensitive={"s": words}, unit=unit)
        (asked,), (required,) = witness_of(policy)._asked, policy.requirements
        assert [promise.text for promise in asked.promises] == list(map(str, required.models))
        assert [(p.name, p.column) for p in asked.promises] == [(m.name, m.column) for m in required.models]


def test_every_promise_is_counted():
    for word, model in OF_COLUMNS.items():
        policy = make_policy(quasi_identifiers=["q"], k=2, sensitive={"s": {word: model.weakest}})
        assert len(witness_of(policy)._asked[0].promises) == 2, word
        assert model.name in BY_COLUMN
