"""One grammar: what is typed, written in TOML or given in Python becomes the same policy, or is refused."""

import math
import pickle

import pyarrow as pa
import pytest

import incrowd
from incrowd.errors import PolicyError, TaxonomyError, UnknownNameError
from incrowd.options import columns_of
from incrowd.policy.making import make_policy, quasi_identifiers_of
from incrowd.policy.options import OPTIONS, typed
from incrowd.policy.policy import Policy, QuasiIdentifier
from incrowd.policy.protection import Protection
from incrowd.policy.toml import read_policy
from incrowd.policy.toml_text import policy_text
from incrowd.privacy.registry import COLUMN_OPTIONS, OF_COLUMNS, OF_POPULATION

EVERY_MODEL = pytest.mark.parametrize("word", OF_COLUMNS)
TEXTS = {
    "l": "l=3 of x",
    "entropy_l": "entropy l=2 of x",
    "recursive_l": "recursive c=3, l=2 of x",
    "t": "t=0.3 of x",
    "alpha": "alpha=0.6 of x",
    "beta_likeness": "beta=2 of x",
    "enhanced_beta_likeness": "enhanced beta=2 of x",
    "delta_disclosure": "delta=1 of x",
}


def policy(**words):
    return make_policy(**{"quasi_identifiers": ["age"], "k": 5, **words})


def models(**words):
    return [str(model) for model in policy(**words).requirements[0].models]


class TestModels:
    @EVERY_MODEL
    def test_a_promise_is_the_same_in_every_face(self, word, tmp_path):
        """Its example is typed, written to a policy file, given in Python, given as a model, and certified."""
        given = typed({"sensitive": "x", word: [OF_COLUMNS[word].option.example]})
        spoken = policy(**given)
        (model,) = spoken.models_of_columns
        assert models(**given) == ["k=5", TEXTS.get(word, str(model))]
        value = spoken.protections[0].options[word]
        same = [
            policy(sensitive={"x": {word: value}}),
            policy(sensitive=["x"], **{word: {"x": value}}),
            policy(**typed({"sensitive": "x", word: [f"x={OF_COLUMNS[word].option.example}"]})),
            policy(privacy=[model]),
            policy(**{word: model}),
            policy(sensitive=spoken.to_json()["protections"]),
        ]
        (tmp_path / "release.toml").write_text(
            policy_text({"quasi_identifiers": ["age"], "k": 5, "sensitive": {"x": {word: value}}})
        )
        same.append(make_policy(**read_policy(tmp_path / "release.toml")[0]))
        assert [each.to_json() for each in same] == [spoken.to_json()] * len(same)
        assert model.promise()["name"] == model.name

    def test_models_of_all_kinds_are_objects(self):
        tree = incrowd.Taxonomy.from_tree({"*": ["a", "b"]})
        found = make_policy(
            quasi_identifiers=["age"],
            privacy=[
                incrowd.KAnonymity(5),
                incrowd.LDiversity("x", 3, ("a",)),
                incrowd.TCloseness("y", 0.2, "hierarchical", tree),
                incrowd.KMap(3),
            ],
            population_table="everyone.csv",
        )
        texts = ["k=5", "l=3 of x", "t=0.2 of y (hierarchical distance)", "k-map=3"]
        assert [str(model) for model in found.requirements[0].models] == texts
        assert found.requirements[0].models[1].harmless == ("a",)
        assert found.requirements[0].models[2].taxonomy == tree
        assert make_policy(quasi_identifiers=["age"], k=incrowd.KAnonymity(5)) == policy()

    def test_for_all_columns_or_by_column(self):
        assert models(sensitive=["x", "y"], l=2) == ["k=5", "l=2 of x", "l=2 of y"]
        assert models(sensitive=["x", "y"], l={"x": 2}, t={"y": 0.5}) == ["k=5", "l=2 of x", "t=0.5 of y"]
        assert models(sensitive={"x": {"l": 4}}, l=2) == ["k=5", "l=4 of x"]
        assert typed({"harmless": ["x=a", "x=b,c"]}) == {"harmless": {"x": ["a", "b", "c"]}}

    def test_a_population_is_named_and_not_opened(self, tmp_path):
        (tmp_path / "release.toml").write_text(
            'quasi_identifiers = ["age"]\npopulation_table = "everyone.csv"\nk_map = 3\ndelta_presence = [0, 0.7]\n'
        )
        found = make_policy(**read_policy(tmp_path / "release.toml")[0])
        assert found.population_table == tmp_path / "everyone.csv"
        assert [str(model) for model in found.requirements[0].models] == ["k-map=3", "delta-presence=0.7"]
        assert found.to_json()["population_table"] == "everyone.csv"

    def test_a_release_with_a_population_is_data(self):
        words = {"population_table": pa.table({"age": [1, 1, 2]}), "k_map": 2}
        release = incrowd.anonymize(pa.table({"age": [1, 2]}), quasi_identifiers=["age"], **words)
        assert pickle.loads(pickle.dumps(release)).data == release.data

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            ({"l": 3}, "The 'l' parameter protects sensitive columns, and none is named. Name one."),
            ({"sensitive": "x", "l": {"y": 3}, "unit": "x"}, "two roles"),
            ({"sensitive": {"x": {"k": 3}}}, "no word 'k' in the protection of 'x'"),
            ({"sensitive": {"x": 3}}, "The protection of 'x' must be a table"),
            ({"sensitive": "x", "t": 0.1, "t_distance": "hierarchical"}, "needs a taxonomy of that column"),
            ({"sensitive": "x", "l": 2, "t_distance": ["equal"]}, "must be one of equal, ordered, hierarchical"),
            ({"sensitive": "x", "l": 2, "bins": [3, 1]}, "must be a list of numbers in ascending order"),
            ({"sensitive": {"x": {"l": 2, "groups": {"a": ["1"], "b": ["1"]}}}}, "each value in one group"),
            ({"sensitive": {"x": {"l": 2, "groups": ["1"]}}}, "names the values of each group"),
            ({"sensitive": {"x": {"l": 2, "groups": {"a": ["1"]}, "bins": [5]}}}, "has groups and bins; choose one"),
            ({"sensitive": [5]}, "The 'sensitive' parameter must be a list of texts"),
            ({"sensitive": "x", "taxonomies": {"x": incrowd.Flat()}}, "its taxonomy is for t alone"),
            ({"privacy": [5]}, r"a list of models such as KAnonymity\(5\). Got 5"),
            ({"t": incrowd.LDiversity("x", 3)}, "must not be LDiversity; give it as l"),
            ({"privacy": [incrowd.LDiversity("x", 3), incrowd.LDiversity("x", 2)]}, "'l' is given twice, as 3 and 2"),
            ({"k_map": 3}, "give its table as population_table"),
        ],
    )
    def test_wrong_promises_are_refused(self, words, message):
        with pytest.raises(PolicyError, match=message):
            policy(**words)

    @pytest.mark.parametrize("word", [*OF_COLUMNS, *OF_POPULATION])
    def test_a_value_that_cannot_be_is_refused_in_one_sentence(self, word):
        for wrong in (True, "far", math.nan, -1, 0 if word != "t" else 1.5, [1, 2, 3], {"x": "far"}):
            with pytest.raises(PolicyError, match=rf"^The '{word}' parameter must be .*\. Got .*\.$"):
                policy(sensitive="x", population_table="everyone.csv", **{word: wrong})


class TestValues:
    def test_groups_and_bins_count_as_one(self):
        grouped = Protection("x", {"l": 2, "groups": {"cancer": ["lung", "skin"]}})
        assert [grouped.counted_as(value) for value in ("lung", "skin", "flu", None)] == ["cancer"] * 2 + ["flu", None]
        binned = Protection("x", {"l": 2, "bins": [10, 20.5]})
        values = {"3": "<10", "10": "[10-20.5)", "20.4": "[10-20.5)", "20.5": ">=20.5", "unknown": "unknown"}
        assert {value: binned.counted_as(value) for value in values} == values


class TestTyped:
    def test_what_was_not_typed_is_left_out(self):
        assert typed({"k": None, "identifiers": None, "quasi_identifiers": ["a"], "types": []}) == {
            "quasi_identifiers": [["a"]]
        }

    @pytest.mark.parametrize(
        ("text", "names"),
        [
            ("age, sex", ["age", "sex"]),
            ('age,"street, number"', ["age", "street, number"]),
            ('"ward, ""old""", age', ['ward, "old"', "age"]),
            ('5" pipe,age', ['5" pipe', "age"]),
            ("", []),
        ],
    )
    def test_names_with_commas_are_in_quotes(self, text, names):
        assert columns_of(text) == names
        assert typed({"quasi_identifiers": [f"{text}:4"]})["quasi_identifiers"] == [{"attributes": names, "k": 4}]

    def test_a_column_may_have_a_colon(self):
        assert typed({"quasi_identifiers": ["a:b,c"]})["quasi_identifiers"] == [["a:b", "c"]]

    def test_single_taxonomies_win_over_the_folder(self, tmp_path):
        (tmp_path / "sex.csv").write_text("F;*\nM;*\n")
        (tmp_path / "zip.csv").write_text("01;*\n")
        words = {"quasi_identifiers": ["sex,zip"], "k": "2", "taxonomies": str(tmp_path), "taxonomy": ["zip=prefix:3"]}
        sex = incrowd.Taxonomy.flat(["F", "M"])
        assert make_policy(**typed(words)).taxonomies == {"sex": sex, "zip": incrowd.Prefix([3])}

    @pytest.mark.parametrize(
        ("text", "bounds"),
        [
            ("0:120", (0, 120)),
            ("1900-01-01:2020-12-31", ("1900-01-01", "2020-12-31")),
            ("2020-01-01 08:00:2020-12-31 20:00", ("2020-01-01 08:00", "2020-12-31 20:00")),
            ("2020-01-01T08:00:00:2020-12-31T20:00:59.5", ("2020-01-01T08:00:00", "2020-12-31T20:00:59.5")),
        ],
    )
    def test_a_range(self, text, bounds):
        assert typed({"ranges": [f"seen={text}"]})["ranges"] == {"seen": bounds}

    @pytest.mark.parametrize(
        ("word", "text", "flag"),
        [
            ("types", "age", "--type"),
            ("ranges", "age=5", "--range"),
            ("ranges", "seen=2020-01-01:2020-12-31 20:00", "--range"),
            ("ranges", "=1:2", "--range"),
            ("taxonomy", "age=", "--taxonomy"),
        ],
    )
    def test_what_does_not_look_like_its_example(self, word, text, flag):
        with pytest.raises(PolicyError, match=rf"^The '{flag}' option must look like [^.]*.* got '.*'\.$"):
            typed({word: [text]})

    def test_a_promise_is_typed_for_all_columns_or_by_column(self):
        with pytest.raises(PolicyError, match="The '--l' option must be given for all columns or by column; got both"):
            typed({"l": ["3", "x=2"]})
        with pytest.raises(PolicyError, match="The '--l' option was given 2 times; give it once, or by column"):
            typed({"l": ["3", "2"]})


class TestQuasiIdentifiers:
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
        with pytest.raises(UnknownNameError, match="no key 'atributes' in a quasi-identifier; did you mean"):
            quasi_identifiers_of([{"atributes": ["a"], "k": 2}])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"missing": "keep"}, "must be one of category, drop, error. Got 'keep'"),
        ({"types": {"age": "int"}}, "type of 'age' must be one of number, comma, date, text. Got 'int'"),
        ({"types": ["age"]}, "'types' parameter must be one of number"),
        ({"ranges": {"age": (5, 5)}}, "range of 'age' must be a lower and a higher value"),
        ({"ranges": {"age": (1, 2, 3)}}, "range of 'age'"),
        ({"ranges": {"age": ("x", 5)}}, "range of 'age'"),
        ({"ranges": {"age": (1, 5)}, "taxonomies": {"age": incrowd.Flat()}}, "column 'age' has a taxonomy"),
        ({"missing_values": [-9]}, "'missing_values' parameter must be a list of texts"),
        ({"identifiers": [5]}, "'identifiers' parameter must be a list of texts"),
        ({"taxonomies": "nowhere"}, "no taxonomy folder nowhere"),
        ({"taxonomies": {"age": 5}}, "The taxonomy of 'age' must be a file, a rule or a taxonomy. Got 5"),
        ({"types": {"agee": "text"}}, r"no quasi-identifier column 'agee'.*did you mean 'age'"),
        ({"ranges": {"agee": (1, 2)}}, r"no quasi-identifier column 'agee'.*did you mean 'age'"),
        ({"taxonomies": {"agee": incrowd.Flat()}}, r"no quasi-identifier column 'agee'.*did you mean 'age'"),
    ],
)
def test_wrong_options_are_refused(words, message):
    with pytest.raises(PolicyError, match=message):
        policy(**words)


def test_taxonomies_of_a_folder_and_of_files(tmp_path):
    (tmp_path / "sex.csv").write_text("F;*\nM;*\n")
    (tmp_path / "job.csv").write_text("x;*\n")
    found = policy(quasi_identifiers=["age", "sex"], taxonomies=tmp_path)
    assert found.taxonomies == {"sex": incrowd.Taxonomy.flat(["F", "M"])}
    with pytest.raises(TaxonomyError, match=r"zip\.csv"):
        policy(quasi_identifiers=["zip"], taxonomies={"zip": tmp_path / "zip.csv"})


def test_every_option_says_what_it_is():
    for word, option in {**OPTIONS, **COLUMN_OPTIONS}.items():
        assert option.about.endswith("."), word
        assert option.kind.form, word
