import pytest

from incrowd.errors import PolicyError
from incrowd.policy.protection import Protection
from incrowd.policy.toml import read_policy
from incrowd.policy.typed import given_words
from incrowd.policy.words import make_policy
from incrowd.taxonomies.taxonomy import Taxonomy


def models(**words):
    return [str(model) for model in make_policy(quasi_identifiers=["age"], k=5, **words).requirements[0].models]


class TestWords:
    def test_every_model_has_a_word(self):
        words = {
            "l": 3,
            "entropy_l": 2.5,
            "recursive_l": (2, 3),
            "t": 0.2,
            "t_distance": "ordered",
            "alpha": 0.5,
            "beta_likeness": 1,
            "enhanced_beta_likeness": 2,
            "delta_disclosure": 1.5,
        }
        assert models(sensitive={"x": words}) == models(sensitive="x", **words)
        assert models(sensitive={"x": words}) == [
            "k=5",
            "l=3 of x",
            "entropy l=2.5 of x",
            "recursive c=2, l=3 of x",
            "t=0.2 of x (ordered distance)",
            "alpha=0.5 of x",
            "beta=1 of x",
            "enhanced beta=2 of x",
            "delta=1.5 of x",
        ]

    def test_a_word_for_all_columns_or_by_column(self):
        assert models(sensitive=["x", "y"], l=2) == ["k=5", "l=2 of x", "l=2 of y"]
        assert models(sensitive=["x", "y"], l={"x": 2}, t={"y": 0.5}) == ["k=5", "l=2 of x", "t=0.5 of y"]
        assert models(sensitive={"x": {"l": 4}}, l=2) == ["k=5", "l=4 of x"]

    def test_the_same_in_a_policy_file_and_on_the_command_line(self, tmp_path):
        file = tmp_path / "release.toml"
        file.write_text(
            'quasi_identifiers = ["age"]\nk = 5\n[sensitive.x]\nl = 3\nrecursive_l = [2, 3]\nharmless = ["a"]\n'
            "[sensitive.y]\nt = 0.2\n"
        )
        words, _ = read_policy(file)
        typed = given_words(
            quasi_identifiers=["age"],
            k=5,
            sensitive="x,y",
            l=["x=3"],
            recursive_l=["x=2,3"],
            harmless=["x=a"],
            t=["y=0.2"],
        )
        assert make_policy(**words).protections == make_policy(**typed).protections
        assert given_words(sensitive="x", l=["3"], t=["0.2"])["l"] == 3

    def test_the_taxonomy_of_a_sensitive_column_is_for_distances(self):
        tree = Taxonomy.from_tree({"*": ["a", "b"]})
        words = {"sensitive": "x", "taxonomies": {"x": tree}}
        (model,) = (
            make_policy(quasi_identifiers=["age"], t=0.2, t_distance="hierarchical", **words).requirements[0].models
        )
        assert model.taxonomy == tree
        with pytest.raises(PolicyError, match="its taxonomy is for t alone"):
            make_policy(quasi_identifiers=["age"], k=2, **words)


class TestValues:
    def test_groups_count_as_one(self):
        protection = Protection.of("x", {"l": 2, "groups": {"cancer": ["lung", "skin"]}})
        assert [protection.counted_as(value) for value in ("lung", "skin", "flu", None)] == [
            "cancer",
            "cancer",
            "flu",
            None,
        ]

    def test_bins_of_numbers(self):
        protection = Protection.of("x", {"l": 2, "bins": [10, 20.5]})
        assert [protection.counted_as(value) for value in ("3", "10", "20.4", "20.5", "unknown", None)] == [
            "<10",
            "[10-20.5)",
            "[10-20.5)",
            ">=20.5",
            "unknown",
            None,
        ]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"l": 3}, "The 'l' parameter protects sensitive columns, and none is named. Name one."),
        ({"sensitive": "x", "l": {"y": 3}, "k": 2, "unit": "x"}, "two roles"),
        ({"sensitive": {"x": {"k": 3}}}, "no word 'k' in the protection of 'x'"),
        ({"sensitive": {"x": 3}}, "The protection of 'x' must be a table"),
        ({"sensitive": "x", "t": 1.5}, "The 't' parameter must be a number from 0 to 1. Got 1.5."),
        ({"sensitive": "x", "t": "far"}, "The 't' parameter must be a number from 0 to 1. Got 'far'."),
        ({"sensitive": "x", "recursive_l": 3}, "must be the factor c and the number l"),
        ({"sensitive": "x", "t": 0.1, "t_distance": "hierarchical"}, "needs a taxonomy of that column"),
        ({"sensitive": "x", "l": 2, "bins": [3, 1]}, "must be numbers in ascending order"),
        ({"sensitive": "x", "l": 2, "bins": 5}, "must be a list of numbers"),
        ({"sensitive": {"x": {"l": 2, "groups": {"a": ["1"], "b": ["1"]}}}}, "is in two groups"),
        ({"sensitive": {"x": {"l": 2, "groups": ["1"]}}}, "must name the values of each group"),
        ({"sensitive": [5]}, "The 'sensitive' parameter must be a list of texts"),
    ],
)
def test_wrong_words_are_refused(words, message):
    with pytest.raises(PolicyError, match=message):
        make_policy(quasi_identifiers=["age"], **{"k": 2, **words})


def test_values_are_grouped_or_binned_and_not_both():
    with pytest.raises(PolicyError, match="has groups and bins; choose one"):
        Protection("x", l=2, groups={"low": ("1", "2")}, bins=(5,))


@pytest.mark.parametrize("distance", ["far", "", 5, ["equal"]])
def test_a_distance_is_one_of_three_even_where_nothing_is_measured(distance):
    with pytest.raises(PolicyError, match="must be equal, ordered or hierarchical"):
        Protection.of("x", {"l": 2, "t_distance": distance})
