"""Bottom-up generalization on cases with a name: what the random small tables do not reach."""

from dataclasses import replace
from datetime import date, timedelta
from itertools import product

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from tests.reference.problem import Column, Problem

import incrowd
from incrowd import QuasiIdentifier, anonymize
from incrowd.datasets import adult, taxonomies
from incrowd.errors import NotAnonymousError
from incrowd.key import Key
from incrowd.recodings.replay import replayed
from incrowd.recodings.steps import TakeBack
from incrowd.run import Run
from incrowd.search.bottom_up import class_index
from incrowd.search.bottom_up.bottom_up import bottom_up
from incrowd.search.bottom_up.class_index import ClassIndex
from incrowd.search.bottom_up.generalization_trees import ATOMS, tree_of
from incrowd.taxonomies.taxonomy import Taxonomy

SEVEN = ("occupation", "education", "native-country", "marital-status", "sex", "race", "workclass")
TREE = Taxonomy.from_tree({"*": {"ab": ["a", "b"], "cd": ["c", "d"], "ef": {"e": {}, "f": {}, "gh": ["g", "h"]}}})


def people(k, rows, **kinds):
    """A problem from rows of values, one column per keyword."""
    columns = zip(*rows, strict=True)
    made = (
        Column(name, values, kind, TREE if kind == "tree" else None)
        for (name, kind), values in zip(kinds.items(), columns, strict=True)
    )
    return Problem(tuple(made), None, (QuasiIdentifier(kinds, k),))


def search(problem, **options):
    return bottom_up(problem.table(), problem.requirements, Run(), **options)


def after(problem, found, number):
    """The recoding after some steps."""
    return replayed(problem.table().attributes, found.steps[:number], "specific")


# Numbers


def test_a_number_that_was_never_merged_is_released_as_itself_and_loses_nothing():
    problem = people(2, [(17,), (37,), (37,), (40,), (90,)], age="number")
    found = search(problem)
    (attribute,) = problem.table().attributes
    (bottom,) = after(problem, found, 0).attributes
    assert bottom.labels == ("17", "37", "40", "90")
    assert bottom.losses(attribute).tolist() == [0, 0, 0, 0]
    assert [(step.value, step.children) for step in found.steps] == [("<40", ("17", "37")), (">=40", ("40", "90"))]
    (top,) = found.recoding.attributes
    assert top.labels == ("<40", ">=40")


def test_an_unseen_number_takes_the_interval_it_lies_in():
    problem = people(2, [(17,), (37,), (37,), (40,), (90,)], age="number")
    recoding = after(problem, search(problem), 1)
    ages = pa.table({"age": [3, 17, 38, 39, 40, 41, 90, 99]})
    cells = incrowd.apply(recoding, ages, keep_order=True)["age"].to_pylist()
    assert cells == ["<40", "<40", "<40", "<40", "40", "40", "90", "90"]


def test_tens_of_thousands_of_values_take_few_steps():
    numbers = np.random.default_rng(0).permutation(6_000)
    days = [date(2000, 1, 1) + timedelta(days=int(number)) for number in numbers]
    names = [f"n{number // 2}" for number in numbers]
    rows = pa.table({"number": numbers, "day": days, "name": names})
    release = anonymize(rows, quasi_identifiers=["number", "day", "name"], k=20, method="bug")
    assert len(release.steps) <= 6 * ATOMS
    assert release.measures.total.anonymity >= 20


def test_missing_numbers_stay_apart_until_the_last():
    problem = people(2, [(1,), (1,), (2,), (5,), (None,)], age="number")
    found = search(problem)
    assert [step.value for step in found.steps] == [">=2", "known", "*"]
    assert after(problem, found, 0).attributes[0].labels == ("1", "2", "5", None)
    assert found.recoding.attributes[0].labels == ("*",)


# Categories without a taxonomy


def test_the_rarest_values_are_suppressed_first():
    problem = people(3, [("a",)] * 4 + [("b",)] * 1 + [("c",)] * 3 + [("d",)] * 2, job="flat")
    (step,) = search(problem).steps
    assert (step.value, step.children, step.loss) == ("*", ("b", "d"), 0.3)
    problem = people(4, [("a",)] * 4 + [("b",)] * 1 + [("c",)] * 4 + [("d",)] * 1, job="flat")
    assert [step.children for step in search(problem).steps] == [("b", "d"), ("a", "*")]


def test_a_category_may_be_missing():
    problem = people(3, [("a",)] * 4 + [("b",)] * 1 + [(None,)] * 2, job="flat")
    (step,) = search(problem).steps
    assert step.children == ("b", None)


# Ties


@pytest.mark.parametrize("names", [("job", "town"), ("town", "job")])
@pytest.mark.parametrize("pruning", [True, False])
def test_equal_scores_are_equal_though_their_floats_are_not(names, pruning):
    """I(G)/P(G) is 5/21 over 2 and 5/14 over 3, both 5/42: the first by name is generalized.

    Rounded to 12 decimals before they are divided, the first is less.
    """
    sizes = {"aa": 1, "ab": 3, "ba": 6, "ca": 5, "cc": 6}
    tree = Taxonomy.from_tree({"*": {"ab": ["a", "b"], "c": {}}})
    columns = zip(*(pair for pair, size in sizes.items() for _ in range(size)), strict=True)
    made = tuple(Column(name, values, "tree", tree) for name, values in zip(names, columns, strict=True))
    found = search(Problem(made, None, (QuasiIdentifier(names, 9),)), pruning=pruning)
    first = found.steps[0]
    assert (first.attribute, first.value, first.score) == ("job", "ab", pytest.approx(5 / 42))
    assert first.gain == {"job": 2, "town": 3}[names[0]]


@pytest.mark.parametrize("names", [("job", "town"), ("town", "job")])
def test_equal_information_is_equal_whatever_the_counts_are(names):
    """Labels 1:1 and 2:2 in one attribute, 3:3 and 5:5 in another: no generalization loses any information."""
    rows = [("a", "a", "Y"), ("a", "a", "N"), ("b", "b", "Y"), ("b", "b", "N")]
    rows += [("b", "a", "Y"), ("b", "a", "N")] * 2 + [("c", "d", "Y"), ("c", "d", "N")] * 3
    *columns, labels = zip(*rows, strict=True)
    made = tuple(Column(name, values, "tree", TREE) for name, values in zip(names, columns, strict=True))
    found = search(Problem(made, labels, (QuasiIdentifier(names, 14),)))
    assert all(step.loss == step.score == 0 for step in found.steps)
    assert found.steps[0].attribute == "job"


def test_intervals_that_lose_the_same_are_joined_by_fewest_records_then_the_lowest():
    """Numbers a tenth apart, so that their floats are not, and labels in the same shares, which lose nothing."""
    numbers = (0.1, 0.2, 0.3, 0.4, 0.5)
    problem = Problem((Column("x", numbers, "number", domain=(0.1, 0.6)),), None, (QuasiIdentifier(["x"], 5),))
    assert [step.children for step in search(problem).steps][:2] == [("0.1", "0.2"), ("0.3", "0.4")]
    values = [1, 1, 2, 2, 3, 3, 3, 3, 4, 4, 5, 5]
    problem = Problem((Column("x", tuple(values), "number"),), tuple("YN" * 6), (QuasiIdentifier(["x"], 12),))
    assert [step.children for step in search(problem).steps][:2] == [("1", "2"), ("4", "5")]


# Several quasi-identifiers, and what the index does


def test_an_attribute_whose_quasi_identifiers_hold_is_left_alone():
    rows = [("a", "a")] * 2 + [("b", "b"), ("b", "c")]
    problem = people(2, rows, job="tree", town="tree")
    qids = (QuasiIdentifier(["job"], 2), QuasiIdentifier(["town"], 2))
    found = search(replace(problem, quasi_identifiers=qids))
    assert {step.attribute for step in found.steps} == {"town"}


def test_the_gain_is_summed_over_quasi_identifiers():
    rows = [(job, one, two) for job in "ab" for one in "cd" for two in "cd"]
    problem = people(2, rows, job="tree", one="tree", two="tree")
    qids = (QuasiIdentifier(["job", "one"], 4), QuasiIdentifier(["job", "two"], 4))
    first = search(replace(problem, quasi_identifiers=qids)).steps[0]
    assert (first.attribute, first.gain, first.anonymity) == ("job", 4, (4, 4))


def grid(seed):
    """Classes of 0, 1 or 2 records with values all over three trees: many are smallest, most of them with partners."""
    random = np.random.default_rng(seed)
    shares = [[0.02, 0.08, 0.9], [0.0, 0.0, 1.0], [0.3, 0.3, 0.4]][seed % 3]
    values = list(product("abcdefgh", repeat=3))
    sizes = random.choice(3, len(values), p=shares)
    rows = [row for row, size in zip(values, sizes, strict=True) for _ in range(size)]
    return people(30, rows, one="tree", two="tree", three="tree")


@pytest.mark.parametrize("seed", range(3))
def test_pruning_changes_no_step_where_many_classes_are_smallest(seed):
    pruned, plain = search(grid(seed)), search(grid(seed), pruning=False)
    assert pruned.steps == plain.steps
    assert max(step.gain for step in pruned.steps) > 0
    assert pruned.facts["generalizations_tried"] < plain.facts["generalizations_tried"]


def test_classes_that_need_more_than_one_integer(monkeypatch):
    packed = search(grid(0)).steps
    monkeypatch.setattr(class_index, "_ROOM", 65)  # two attributes of eight values fit, three do not
    assert search(grid(0)).steps == packed


def test_values_are_packed_into_as_many_integers_as_they_need():
    sizes = [2**31, 2**30, 2**20, 5, 2**62, 7]
    words, strides = class_index._words(range(6), sizes)
    assert len(set(words.values())) > 1
    for word in set(words.values()):
        members = sorted((strides[one], sizes[one]) for one in words if words[one] == word)
        room = 1
        for stride, size in members:
            assert stride == room
            room *= size
        assert room < class_index._ROOM or len(members) == 1


@pytest.mark.parametrize("rows", [[("a", "c")], [("a", "c"), ("a", "e")]])
def test_a_generalization_is_critical_only_if_every_worst_class_has_a_partner(rows):
    problem = people(2, [*rows, ("b", "d"), ("b", "d")], one="tree", two="tree")
    table = problem.table()
    trees = [tree_of(table, index, "ncp") for index in range(2)]
    index = ClassIndex(problem.requirements[0], trees, table)
    assert list(index.critical(0, range(len(TREE.labels)))) == []  # "ab" merges no class with another


# A budget of records


def test_a_budget_saves_generalization():
    rows = [("a",)] * 50 + [("b",)] * 48 + [("c",)] * 2
    problem = people(5, rows, job="flat")
    assert search(problem).facts["suppressed_records"] == 0
    assert search(problem).recoding.attributes[0].shown == ("a",)
    assert search(problem, suppress=0.01).recoding.attributes[0].shown == ("a",)
    found = search(problem, suppress=0.02)
    assert (found.steps, found.recoding.classes, found.facts["suppressed_records"]) == ((), ((0,), (1,)), 2)


def test_nobody_is_left_out_where_that_loses_more_than_a_generalization():
    """Five records that could be one of two values of eight lose 5/7 of a record, less than one that is left out."""
    rows = [(value,) for value in "aaaabccddeeffgghh"]
    found = search(people(2, rows, job="tree"), suppress=0.06)
    assert [step.value for step in found.steps] == ["ab"]
    assert found.facts["suppressed_records"] == 0


def test_a_budget_counts_records_that_another_quasi_identifier_loses():
    rows = [("a", "c")] * 5 + [("a", "d")] * 1 + [("b", "d")] * 2 + [("e", "f")] * 16
    problem = people(3, rows, one="flat", two="flat")
    qids = (QuasiIdentifier(["one"], 3), QuasiIdentifier(["two"], 3))
    # Without b, which only two records have, only one record has d.
    problem = replace(problem, quasi_identifiers=qids)
    found = search(problem, suppress=0.125)
    assert (found.steps, found.facts["suppressed_records"]) == ((), 3)
    assert search(problem, suppress=0.1).steps


def test_the_steps_that_are_written_do_not_tell_values_that_the_release_does_not_have(tmp_path):
    rows = pa.table({"age": [40] * 5 + [45] * 4 + [71, 90], "job": ["a"] * 9 + ["rare", "rarer"]})
    release = anonymize(rows, quasi_identifiers=[["age"], ["job"]], k=2, method="bug")
    assert [step.children for step in release.steps if step.attribute == "job"] == [("rare", "rarer")]
    release.write(tmp_path / "release.csv")
    steps = (tmp_path / "release.confidential" / "steps.json").read_text()
    assert "(not shown)" in steps
    assert not any(secret in steps for secret in ('"90"', "rare"))


# States on the way


def test_a_state_that_does_not_satisfy_the_policy_can_be_measured_but_not_written(tmp_path):
    rows = pa.table({"age": [20, 21, 22, 30, 31, 32, 40], "job": list("aabbccd")})
    release = anonymize(rows, quasi_identifiers=["age", "job"], k=3, method="bug")
    losses = []
    for step in range(len(release.steps)):
        state = release.at(step)
        losses.append(state.measures.total.ncp)
        assert state.measures.total.anonymity < 3
        with pytest.raises(NotAnonymousError):
            _ = state.data
        with pytest.raises(NotAnonymousError):
            state.write(tmp_path / "release.csv")
    assert losses[0] == 0
    assert losses == sorted(losses)
    assert not list(tmp_path.iterdir())
    release.at(len(release.steps)).write(tmp_path / "release.csv")


# Options


def test_restarts_escape_a_local_optimum_on_adult():
    """Seven categorical attributes, K = 150: the paper's search ends with a table that says less about income."""
    files = taxonomies("adult")
    rows = pa.csv.read_csv(adult()).slice(0, 30_162).drop_columns(["fnlwgt", "education-num"])
    words = {"quasi_identifiers": SEVEN, "k": 150, "target": "income", "taxonomies": {c: files[c] for c in SEVEN}}
    words["information"] = "entropy"
    plain = anonymize(rows, method="bug", **words)
    restarted = anonymize(rows, method="bug", restarts=10, key=Key.for_experiments(1), **words)
    assert restarted.found.facts["information_lost"] < 0.85 * plain.found.facts["information_lost"]
    assert restarted.measures.total.cm < plain.measures.total.cm - 0.05
    assert restarted.measures.total.anonymity >= 150


def test_tightening_takes_back_what_later_steps_made_needless():
    """One c must go up to the root of job. Before that is valid, town is generalized: it is cheap and gains nothing."""
    rows = [("b", "h")] * 20 + [("b", "a")] * 3 + [("b", "b")] * 3 + [("c", "a")]
    problem = people(3, rows, job="tree", town="tree")
    plain, tight = search(problem), search(problem, tighten=True)
    assert [recoding.labels for recoding in plain.recoding.attributes] == [("*",), ("ab", "cd", "e", "f", "gh")]
    assert [recoding.labels for recoding in tight.recoding.attributes] == [("*",), tuple("abcdefgh")]
    back = [(step.value, step.loss) for step in tight.steps if isinstance(step.change, TakeBack)]
    assert back == [("gh", pytest.approx(-20 / 27 / 7)), ("ab", pytest.approx(-7 / 27 / 7)), ("cd", 0)]
    assert sum(step.loss for step in tight.steps) == pytest.approx(tight.facts["information_lost"])


def test_the_default_with_a_target_weighs_information_by_the_records_that_lose_it():
    rows = pa.table({"age": [i % 17 for i in range(60)], "sick": ["yn"[i % 3 == 0] for i in range(60)]})
    words = {"quasi_identifiers": ["age"], "k": 4, "method": "bug"}
    plain = anonymize(rows, target="sick", **words)
    assert plain.found.facts["information"] == "weighted"
    assert plain.steps == anonymize(rows, target="sick", information="weighted", **words).steps
    assert anonymize(rows, **words).found.facts["information"] == "ncp"
