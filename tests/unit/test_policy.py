import datetime as dt

import pyarrow as pa
import pytest

import incrowd
from incrowd.errors import PolicyError, TaxonomyError, UnknownNameError
from incrowd.policy import Policy, QuasiIdentifier, make_policy, quasi_identifiers_of


class TestQuasiIdentifier:
    @pytest.mark.parametrize("k", [1, 0, -5, 2.0, "5", True, None])
    def test_k_is_an_int_of_at_least_two(self, k):
        with pytest.raises(PolicyError, match=r"The 'k' parameter must be an int of at least 2. Got"):
            QuasiIdentifier(["age"], k)

    @pytest.mark.parametrize("attributes", [[], [""], [5], 5, ["age", "age"]])
    def test_names_each_column_once(self, attributes):
        with pytest.raises(PolicyError, match="A quasi-identifier must name"):
            QuasiIdentifier(attributes, 2)

    def test_a_single_column(self):
        assert QuasiIdentifier("age", 2) == QuasiIdentifier(["age"], 2)

    def test_shows_columns_and_k(self):
        assert str(QuasiIdentifier(["age", "sex"], 4)) == "{age, sex} k=4"


class TestWords:
    TWO = (QuasiIdentifier(["a", "b"], 4), QuasiIdentifier(["c"], 2))

    @pytest.mark.parametrize(
        ("words", "k", "qids"),
        [
            ("a", 4, (QuasiIdentifier(["a"], 4),)),
            (["a", "b"], 4, TWO[:1]),
            (TWO[0], None, TWO[:1]),
            ([["a", "b"], QuasiIdentifier(["c"], 2)], 4, TWO),
            ([{"attributes": ["a", "b"]}, {"attributes": ["c"], "k": 2}], 4, TWO),
        ],
    )
    def test_ways_to_say_it(self, words, k, qids):
        assert quasi_identifiers_of(words, k) == qids

    @pytest.mark.parametrize("words", [5, None, [["a"]], [{"attributes": ["a"]}], [{"k": 3}], []])
    def test_what_says_nothing(self, words):
        with pytest.raises(PolicyError):
            Policy(quasi_identifiers=quasi_identifiers_of(words))

    def test_unknown_key(self):
        with pytest.raises(
            UnknownNameError, match="no key 'atributes' in a quasi-identifier; did you mean 'attributes'"
        ):
            quasi_identifiers_of([{"atributes": ["a"], "k": 2}])

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            ({"missing": "keep"}, "must be one of category, drop, error. Got 'keep'"),
            ({"types": {"a": "int"}}, "type of 'a' must be one of number, date, text. Got 'int'"),
            ({"ranges": {"a": (5, 5)}}, "range of 'a' must be a lower and a higher value"),
            ({"ranges": {"a": (1, 2, 3)}}, "range of 'a'"),
            ({"ranges": {"a": 5}}, "range of 'a'"),
            ({"ranges": {"a": ("x", 5)}}, "range of 'a'"),
            ({"ranges": {"a": (1, 5)}, "taxonomies": {"a": incrowd.Flat()}}, "column 'a' has a taxonomy"),
            ({"missing_values": [-9]}, "'missing_values' parameter must be texts"),
            ({"identifiers": [5]}, "'identifiers' parameter must be texts"),
            ({"seed": "x"}, "'seed' parameter must be an int"),
            ({"taxonomies": "nowhere"}, "no folder nowhere with taxonomies"),
        ],
    )
    def test_wrong_words(self, words, message):
        with pytest.raises(PolicyError, match=message):
            make_policy(quasi_identifiers=["a"], k=2, **words)

    @pytest.mark.parametrize(
        "words", [{"types": {"agee": "text"}}, {"ranges": {"agee": (1, 2)}}, {"taxonomies": {"agee": incrowd.Flat()}}]
    )
    def test_settings_of_a_column_that_is_no_quasi_identifier(self, words):
        with pytest.raises(UnknownNameError, match=r"no quasi-identifier column 'agee'.*did you mean 'age'"):
            make_policy(quasi_identifiers=["age"], k=2, **words)

    def test_a_folder_of_taxonomies_serves_the_columns_it_has_a_file_for(self, tmp_path):
        (tmp_path / "sex.csv").write_text("F;*\nM;*\n")
        (tmp_path / "job.csv").write_text("x;*\n")
        policy = make_policy(quasi_identifiers=["age", "sex"], k=2, taxonomies=tmp_path)
        assert policy.taxonomies == {"sex": incrowd.Taxonomy.flat(["F", "M"])}

    def test_a_taxonomy_file_that_is_not_there(self, tmp_path):
        with pytest.raises(TaxonomyError, match=r"sex\.csv"):
            make_policy(quasi_identifiers=["sex"], k=2, taxonomies={"sex": tmp_path / "sex.csv"})


class TestRoles:
    @pytest.mark.parametrize(
        ("words", "first", "second"),
        [
            ({"target": "a"}, "quasi_identifiers", "target"),
            ({"identifiers": ["a"]}, "quasi_identifiers", "identifiers"),
            ({"target": "b", "sensitive": ["b"]}, "target", "sensitive"),
            ({"sensitive": ["b"], "insensitive": ["b"]}, "sensitive", "insensitive"),
        ],
    )
    def test_a_column_has_one_role(self, words, first, second):
        with pytest.raises(PolicyError, match=rf"column '[ab]' has two roles, {first} and {second}; give it one"):
            make_policy(quasi_identifiers=["a"], k=2, **words)

    @pytest.mark.parametrize("role", ["target", "identifiers", "sensitive", "insensitive"])
    def test_an_unknown_column_in_any_role(self, role):
        policy = make_policy(quasi_identifiers=["age"], k=2, **{role: "incom"})
        with pytest.raises(UnknownNameError) as error:
            policy.check_columns(["age", "income"], "people.csv")
        assert str(error.value) == "no column 'incom' in people.csv; did you mean 'income'?; there is: age, income"


class TestRedundancy:
    def test_a_quasi_identifier_that_another_implies_is_dropped(self):
        small, large, other = (
            QuasiIdentifier(["a"], 3),
            QuasiIdentifier(["a", "b"], 4),
            QuasiIdentifier(["b"], 5),
        )
        policy, dropped = Policy(quasi_identifiers=(small, large, other)).without_redundant()
        assert policy.quasi_identifiers == (large, other)
        assert dropped == (small,)

    def test_of_equal_ones_one_stays(self):
        twice = (QuasiIdentifier(["a", "b"], 4), QuasiIdentifier(["b", "a"], 4))
        policy, dropped = Policy(quasi_identifiers=twice).without_redundant()
        assert len(policy.quasi_identifiers) == len(dropped) == 1


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
