"""Editing a hierarchy as a tree: whatever is done, every value is in it once."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples

import incrowd
from incrowd.errors import IncrowdError, PolicyError
from incrowd.run import Run
from incrowd.studio.screens.hierarchy_trees import MOST_CHILDREN, MOST_NODES, shown_tree
from incrowd.studio.tasks.values import work
from incrowd.studio.trees import Tree, paths_text
from incrowd.studio.values import Values
from incrowd.taxonomies.taxonomy import Taxonomy

EDUCATION = {
    "ANY": {"School": ["9th", "10th"], "University": {"Bachelors": {}, "Grad": ["Masters", "PhD"]}, "None": {}}
}
VALUES = ["9th", "10th", "Bachelors", "Masters", "PhD", "None"]


@pytest.fixture
def tree():
    return Tree.of(Taxonomy.from_tree(EDUCATION), VALUES)


def test_the_text_of_a_tree_is_its_file(tree, tmp_path):
    (tmp_path / "education.csv").write_text(tree.text())
    assert Taxonomy.read(tmp_path / "education.csv") == tree.taxonomy() == Taxonomy.from_tree(EDUCATION)


def test_values_with_signs_of_a_file_survive(tmp_path):
    values = ["a;b", 'c "quoted"', "d,e", "f\tg", "two\nlines"]
    (tmp_path / "x.csv").write_text(paths_text([(value, "*") for value in values]))
    assert set(Taxonomy.read(tmp_path / "x.csv").leaf_codes) == set(values)


def test_group_below_what_they_have_in_common(tree):
    tree.group(["Bachelors", "PhD"], "Degrees")
    assert tree.below["University"] == ["Degrees", "Grad"]
    assert tree.below["Degrees"] == ["Bachelors", "PhD"]
    tree.group(["9th", "None"], "Little")
    assert tree.below["ANY"] == ["Little", "School", "University"]


def test_a_group_in_a_chosen_group_goes_with_it(tree):
    tree.group(["University", "PhD", "None"], "Others")
    assert tree.below["Others"] == ["University", "None"]
    assert tree.below["Grad"] == ["Masters", "PhD"]


def test_rename(tree):
    tree.rename("Grad", "Graduate")
    tree.rename("ANY", "*")
    assert tree.taxonomy().path(4) == ("PhD", "Graduate", "University", "*")


def test_a_group_that_has_lost_its_last_value_is_gone(tree):
    tree.move(["Masters", "PhD", "Bachelors"], "School")
    assert set(tree.below) == {"ANY", "School"}


def test_dissolve(tree):
    tree.dissolve("University")
    assert tree.below["ANY"] == ["School", "Bachelors", "Grad", "None"]


def test_a_value_that_is_nowhere_is_moved_or_grouped_into_the_tree(tree):
    tree = Tree(tree.root, tree.below, tree.values | {"Evening", "Night"})
    tree.move(["Evening"], "School")
    tree.group(["Night", "None"], "Rest")
    assert tree.below["School"][-1] == "Evening"
    assert tree.below["Rest"] == ["None", "Night"]
    tree.taxonomy()


def test_forget(tree):
    tree.forget(["9th", "10th"])
    assert "School" not in tree.below


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda tree: tree.group([], "x"), "nothing is selected"),
        (lambda tree: tree.group(["ANY"], "x"), "stands for all values"),
        (lambda tree: tree.group(["9th", "10th"], "x"), "all values in 'School'"),
        (lambda tree: tree.group(["9th"], "  "), "needs a name"),
        (lambda tree: tree.group(["9th"], "x" * 201), "at most 200 letters"),
        (lambda tree: tree.group(["9th"], "a\nb"), "no line breaks"),
        (lambda tree: tree.group(["9th"], "Grad"), "already a group 'Grad'"),
        (lambda tree: tree.group(["9th"], "PhD"), "'PhD' is a value"),
        (lambda tree: tree.rename("9th", "x"), "keeps its name"),
        (lambda tree: tree.rename("Grad", "Grad"), "already has this name"),
        (lambda tree: tree.move(["Grad"], "9th"), "not a group"),
        (lambda tree: tree.move(["University"], "Grad"), "part of it"),
        (lambda tree: tree.move(["Grad"], "Grad"), "part of it"),
        (lambda tree: tree.move(["9th"], "School"), "already"),
        (lambda tree: tree.dissolve("9th"), "not a group"),
        (lambda tree: tree.dissolve("ANY"), "cannot be dissolved"),
        (lambda tree: tree.forget(VALUES), "needs a value"),
    ],
)
def test_what_makes_no_sense_is_said(tree, change, told):
    with pytest.raises(PolicyError, match=told):
        change(tree)


LABELS = st.sampled_from([*VALUES, "ANY", "School", "University", "Grad", "new", "Evening"])
CHANGES = st.one_of(
    st.tuples(st.just("group"), st.lists(LABELS, max_size=4), st.sampled_from(["new", "newer", "Grad", ""])),
    st.tuples(st.just("move"), st.lists(LABELS, max_size=4), LABELS),
    st.tuples(st.just("rename"), LABELS, st.sampled_from(["new", "named"])),
    st.tuples(st.just("dissolve"), LABELS),
)


@examples(200)
@given(st.lists(CHANGES, max_size=8))
def test_whatever_is_done_every_value_stays_once(changes):
    tree = Tree.of(Taxonomy.from_tree(EDUCATION), [*VALUES, "Evening"])
    for act, *words in changes:
        before = tree.text()
        copied = Tree(tree.root, {label: list(found) for label, found in tree.below.items()}, tree.values)
        known = {*copied.below, *copied.parents(), copied.root, *copied.values}
        asked = {label for word in words[:1] for label in (word if isinstance(word, list) else [word])}
        if not asked <= known or (act == "move" and words[1] not in known):
            continue  # a page only offers what is there
        try:
            getattr(copied, act)(*words)
            leaves = copied.taxonomy().leaf_codes
        except IncrowdError:
            assert tree.text() == before
            continue
        assert set(VALUES) <= set(leaves) <= {*VALUES, "Evening"}
        tree = copied


def test_a_page_holds_so_much_and_no_more():
    counted = Values(tuple(f"v{number:05}" for number in range(5_000)), (1,) * 5_000, 3, 5_000)
    shown = shown_tree(
        "code", Taxonomy.from_paths((value, value[:4], value[:3], "*") for value in counted.values), counted
    )

    def size(node):
        return 1 + sum(size(child) for child in node["below"])

    assert size(shown["root"]) == len(shown["places"]) <= MOST_NODES + 1
    assert shown["leaves"] == 5_000
    assert shown["root"]["records"] == 5_000
    flat = shown_tree("code", Taxonomy.flat(counted.values), counted)["root"]
    assert (len(flat["below"]), flat["more"]) == (MOST_CHILDREN, 5_000 - MOST_CHILDREN)


def test_rules_group_numbers_with_a_decimal_comma(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("weight;sex\n51,5;f\n52;m\n60,25;f\n")
    words = {"table": path, "dialect": {}, "columns": ["weight"], "missing_values": [], "key": "", "folder": tmp_path}
    found = work(words, Run())
    told = json.loads((tmp_path / found["columns"]["weight"]["file"]).read_text())
    values = Values(**{word: tuple(each) if isinstance(each, list) else each for word, each in told.items()})
    assert values.numbers[0].tolist() == [51.5, 52, 60.25]
    assert {"[50-52,5)", "[60-62,5)"} <= set(values.tree(incrowd.Intervals((2.5,))).labels)
