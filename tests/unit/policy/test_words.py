"""From the words that users write to a policy: the many ways to say one thing, and what says nothing."""

import pytest

import incrowd
from incrowd.errors import PolicyError, TaxonomyError, UnknownNameError
from incrowd.policy.policy import Policy, QuasiIdentifier
from incrowd.policy.words import make_policy, quasi_identifiers_of


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
            ({"types": {"a": "int"}}, "type of 'a' must be one of number, comma, date, text. Got 'int'"),
            ({"ranges": {"a": (5, 5)}}, "range of 'a' must be a lower and a higher value"),
            ({"ranges": {"a": (1, 2, 3)}}, "range of 'a'"),
            ({"ranges": {"a": 5}}, "range of 'a'"),
            ({"ranges": {"a": ("x", 5)}}, "range of 'a'"),
            ({"ranges": {"a": (1, 5)}, "taxonomies": {"a": incrowd.Flat()}}, "column 'a' has a taxonomy"),
            ({"missing_values": [-9]}, "'missing_values' parameter must be a list of texts"),
            ({"identifiers": [5]}, "'identifiers' parameter must be a list of texts"),
            ({"taxonomies": "nowhere"}, "no taxonomy folder nowhere"),
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
