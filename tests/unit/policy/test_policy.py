import datetime as dt

import pyarrow as pa
import pytest

import incrowd
from incrowd.errors import PolicyError, UnknownNameError
from incrowd.policy.making import make_policy
from incrowd.policy.policy import Policy, QuasiIdentifier
from incrowd.settled import Settled


class TestQuasiIdentifier:
    @pytest.mark.parametrize("k", [0, -5, 2.0, "5", True, None])
    def test_k_is_an_int_of_at_least_two(self, k):
        with pytest.raises(PolicyError, match=r"The 'k' parameter must be an integer of at least 2. Got"):
            QuasiIdentifier(["age"], k)

    def test_a_crowd_of_one_is_none_unless_something_else_is_promised(self):
        with pytest.raises(PolicyError, match=r"The 'k' parameter must be an integer of at least 2. Got 1."):
            make_policy(quasi_identifiers=["age"], k=1, sensitive=["diagnosis"])
        made = make_policy(quasi_identifiers=["age"], sensitive=["diagnosis"], l=2)
        assert [str(model) for model in made.requirements[0].models] == ["l=2 of diagnosis"]

    @pytest.mark.parametrize("attributes", [[], [""], [5], 5, ["age", "age"]])
    def test_names_each_column_once(self, attributes):
        with pytest.raises(PolicyError, match="A quasi-identifier must name"):
            QuasiIdentifier(attributes, 2)

    def test_a_single_column(self):
        assert QuasiIdentifier("age", 2) == QuasiIdentifier(["age"], 2)

    def test_shows_columns_and_k(self):
        assert str(QuasiIdentifier(["age", "sex"], 4)) == "{age, sex} k=4"


class TestRoles:
    @pytest.mark.parametrize(
        ("words", "first", "second"),
        [
            ({"target": "a"}, "quasi_identifiers", "target"),
            ({"identifiers": ["a"]}, "quasi_identifiers", "identifiers"),
            ({"identifiers": ["b"], "sensitive": ["b"]}, "identifiers", "sensitive"),
            ({"unit": "a"}, "quasi_identifiers", "unit"),
            ({"sensitive": ["a"]}, "quasi_identifiers", "sensitive"),
            ({"sensitive": ["b"], "insensitive": ["b"]}, "sensitive", "insensitive"),
        ],
    )
    def test_a_column_has_one_role(self, words, first, second):
        with pytest.raises(PolicyError, match=rf"column '[ab]' has two roles, {first} and {second}; choose one"):
            make_policy(quasi_identifiers=["a"], k=2, **words)

    def test_a_target_may_be_sensitive_and_a_unit_may_be_named_among_what_is_dropped(self):
        policy = make_policy(
            quasi_identifiers=["a"], k=2, target="b", sensitive=["b"], l=2, unit="c", identifiers=["c", "d"]
        )
        assert policy.dropped == ("c", "d")
        assert [str(model) for model in policy.requirements[0].models] == ["k=2 people (c)", "l=2 of b"]
        assert policy.counted == ("b", "c")

    @pytest.mark.parametrize("role", ["target", "identifiers", "unit", "sensitive", "insensitive"])
    def test_an_unknown_column_in_any_role(self, role):
        policy = make_policy(quasi_identifiers=["age"], k=2, **{role: "incom"})
        with pytest.raises(UnknownNameError) as error:
            policy.check_columns(["age", "income"], "people.csv")
        assert str(error.value) == "no column 'incom' in people.csv; did you mean 'income'? Columns: age, income"


class TestRedundancy:
    def test_a_quasi_identifier_that_another_implies_is_dropped(self):
        small, large, other = (
            QuasiIdentifier(["a"], 3),
            QuasiIdentifier(["a", "b"], 4),
            QuasiIdentifier(["b"], 5),
        )
        policy = Policy(quasi_identifiers=(small, large, other))
        settled = Settled(policy, policy.redundant)
        assert settled.policy.quasi_identifiers == (large, other)
        assert settled.left_out == (small,)

    def test_of_equal_ones_one_stays(self):
        twice = (QuasiIdentifier(["a", "b"], 4), QuasiIdentifier(["b", "a"], 4))
        assert Policy(quasi_identifiers=twice).redundant == (0,)


def test_the_policy_as_json():
    policy = make_policy(
        quasi_identifiers=["born"],
        k=2,
        ranges={"born": (dt.date(1900, 1, 1), dt.date(2020, 1, 1))},
        taxonomies={},
        options={"max_steps": 3},
    )
    found = policy.to_json()
    assert found["quasi_identifiers"] == [{"attributes": ["born"], "k": 2}]
    assert found["ranges"] == {"born": ["1900-01-01", "2020-01-01"]}
    assert found["max_steps"] == 3


@pytest.mark.parametrize(
    ("function", "word", "meant"),
    [
        (incrowd.anonymize, "identifers", "identifiers"),
        (incrowd.anonymize, "separater", "separator"),
        (incrowd.anonymize, "max_step", "max_steps"),
        (incrowd.evaluate, "fold", "folds"),
        (incrowd.evaluate, "sensitiv", "sensitive"),
        (incrowd.compare, "time_limits_per_run", "time_limit_per_run"),
    ],
)
def test_a_misspelt_word_gets_a_hint(function, word, meant):
    own = {"anonymize": {"k": 2}, "evaluate": {"k": 2, "target": "b"}, "compare": {"ks": [2], "methods": "tds"}}
    rows = pa.table({"a": [1, 1], "b": [1, 2]})
    with pytest.raises(UnknownNameError, match=f"'{word}' in .*; did you mean '{meant}'"):
        function(rows, quasi_identifiers=["a"], **own[function.__name__], **{word: 1})
