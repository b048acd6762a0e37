import csv
import json

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from incrowd.taxonomies.rules import Bounds, Intervals, Prefix
from incrowd.taxonomies.taxonomy import Taxonomy

LABELS = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=5).filter(str.strip)


@st.composite
def taxonomies(draw):
    """Random trees: every node but the root hangs below some earlier one."""
    labels = draw(st.lists(LABELS, min_size=2, max_size=25, unique=True))
    parents = [draw(st.integers(0, node)) for node in range(len(labels) - 1)]
    paths = []
    for leaf in sorted(set(range(1, len(labels))) - set(parents)):
        path = [leaf]
        while path[-1]:
            path.append(parents[path[-1] - 1])
        paths.append([labels[node] for node in path])
    taxonomy = Taxonomy.from_paths(draw(st.permutations(paths)))
    assert len(taxonomy.labels) == len(labels)
    return taxonomy


@given(taxonomies(), st.sampled_from(";,\t"))
def test_a_tree_survives_csv(tmp_path_factory, taxonomy, separator):
    path = tmp_path_factory.mktemp("csv") / "taxonomy.csv"
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        csv.writer(file, delimiter=separator).writerows(taxonomy.paths())
    assert Taxonomy.from_csv(path, separator) == taxonomy


@given(taxonomies(), st.booleans())
def test_a_tree_survives_paths_and_json(taxonomy, missing):
    assert Taxonomy.from_paths(taxonomy.paths()) == taxonomy
    taxonomy = taxonomy.with_missing() if missing else taxonomy
    assert Taxonomy.from_json(json.loads(json.dumps(taxonomy.to_json()))) == taxonomy


@given(taxonomies())
def test_the_range_of_a_node_is_the_union_of_its_children_s(taxonomy):
    for node, children in enumerate(taxonomy.children):
        codes = list(range(taxonomy.start[node], taxonomy.stop[node]))
        if children:
            assert codes == [c for child in children for c in range(taxonomy.start[child], taxonomy.stop[child])]
        else:
            assert [taxonomy.leaves[code] for code in codes] == [node]


@given(taxonomies())
def test_a_leaf_is_in_the_ranges_of_its_ancestors_alone(taxonomy):
    for code, leaf in enumerate(taxonomy.leaves):
        holding = np.flatnonzero((taxonomy.start <= code) & (code < taxonomy.stop))
        assert set(holding.tolist()) == {leaf, *taxonomy.ancestors(leaf)}
        assert len(holding) == taxonomy.depth[leaf] + 1


@given(taxonomies(), st.data())
def test_the_lowest_common_ancestor_is_the_deepest_shared_one(taxonomy, data):
    nodes = st.integers(0, len(taxonomy.labels) - 1)
    first, second = data.draw(nodes), data.draw(nodes)
    shared = {first, *taxonomy.ancestors(first)} & {second, *taxonomy.ancestors(second)}
    assert taxonomy.lowest_common_ancestor(first, second) == max(shared, key=lambda node: taxonomy.depth[node])


@given(taxonomies())
def test_a_rendered_tree_has_a_line_per_node(taxonomy):
    plain = Taxonomy(tuple(str(node) for node in range(len(taxonomy.labels))), taxonomy.parent)
    lines = plain.render().splitlines()
    assert [line.lstrip("│├└─ ").split(" ")[0] for line in lines] == list(plain.labels)


@given(
    st.lists(st.decimals(-1000, 1000, places=2).map(str), min_size=1, max_size=20),
    st.sampled_from([Intervals((5, 10, 40)), Intervals((0.25, 1), 0.1), Bounds((-3.5, 0, 12))]),
)
def test_a_number_lies_in_each_interval_it_is_put_in(values, rule):
    taxonomy = rule.build(values)
    for code, value in enumerate(taxonomy.leaf_codes):
        assert taxonomy.path(code) == (value, *rule.ancestors(value))
        for label in rule.ancestors(value)[:-1]:
            assert _holds(label, float(value))


def _holds(label, number):
    if label.startswith("<"):
        return number < float(label[1:])
    if label.startswith(">="):
        return number >= float(label[2:])
    low, high = label[1:-1].split(" to ") if " to " in label else label[1:-1].split("-")
    return float(low) <= number < float(high)


@given(st.lists(st.text("0123456789", min_size=1, max_size=6), min_size=1, max_size=20))
def test_codes_of_a_length_and_prefix_share_an_ancestor(values):
    taxonomy = Prefix((3, 1)).build(values)
    for first in values:
        for second in values:
            shared = {*taxonomy.path(taxonomy.leaf_code(first))} & {*taxonomy.path(taxonomy.leaf_code(second))} - {"*"}
            assert bool(shared) == (len(first) == len(second) and first[0] == second[0])
