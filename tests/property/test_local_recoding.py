"""Local recoding against the reference and against its own promises, on random small tables."""

import random
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.labels import labels_of
from tests.reference.kaca import Kaca, Tree
from tests.reference.problem import Problem
from tests.runs import seeded
from tests.strategies import columns

import incrowd
from incrowd.key import Key
from incrowd.policy.policy import QuasiIdentifier
from incrowd.recodings.kinds import hierarchy_of
from incrowd.search.clustering.cover import cover
from incrowd.search.clustering.kaca import kaca
from incrowd.table.class_counts import ClassCounts

pytestmark = pytest.mark.filterwarnings("ignore::incrowd.errors.ReleaseWarning")  # ids tell small tables apart
modest = examples(60)
METHODS = st.sampled_from(["kaca", "kaca2", "cover"])
SEEDS = st.integers(0, 2**63 - 1)


@st.composite
def tables(draw):
    """A table with one quasi-identifier: any kinds of columns, many small crowds."""
    crowds = draw(st.lists(st.sampled_from([1, 2, 1, 3, 7, 12]), min_size=2, max_size=10))
    names = ["age", "job", "zip"][: draw(st.integers(1, 3))]
    k = draw(st.integers(2, min(5, sum(crowds))))
    return Problem(tuple(draw(columns(name, crowds)) for name in names), None, (QuasiIdentifier(names, k),))


def parts(mapping):
    """How many records of which tuple are released as which, by labels."""
    trees = [hierarchy.taxonomy for hierarchy in mapping.hierarchies]

    def labels(row):
        return tuple(tree.labels[node] for tree, node in zip(trees, row.tolist(), strict=True))

    rows = zip(mapping.part_tuples, mapping.part_classes, mapping.part_records.tolist(), strict=True)
    return Counter({(labels(mapping.tuples[t]), labels(mapping.classes[c])): n for t, c, n in rows})


def reference(problem, seed, distance):
    table = problem.table()
    trees = [Tree(hierarchy_of(attribute).taxonomy) for attribute in table.attributes]
    texts = [attribute.values().to_pylist() for attribute in table.attributes]
    rows = [
        row
        for i, n in enumerate(table.counts.tolist())
        for row in [tuple(text[codes[i]] for text, codes in zip(texts, table.codes, strict=True))] * n
    ]
    return Kaca(trees, problem.quasi_identifiers[0].k, Key.for_experiments(seed).number("clustering"), distance), rows


@modest
@given(tables(), SEEDS, st.sampled_from(["height", "uniform"]))
def test_kaca_does_what_the_definitions_say(problem, seed, distance):
    slow, rows = reference(problem, seed, distance)
    found = kaca(problem.table(), problem.requirements, seeded(seed), distance=distance)
    assert parts(found.recoding.mapping) == slow.kaca1_release(rows)


@modest
@given(tables(), SEEDS)
def test_kaca_with_an_ncp_distance_does_what_the_definitions_say(problem, seed):
    trees = tuple(column for column in problem.columns if column.kind == "tree")
    if trees:
        problem = Problem(trees, None, (QuasiIdentifier([c.name for c in trees], problem.quasi_identifiers[0].k),))
        slow, rows = reference(problem, seed, "ncp")
        found = kaca(problem.table(), problem.requirements, seeded(seed), distance="ncp")
        assert parts(found.recoding.mapping) == slow.kaca1_release(rows)


@modest
@given(tables(), SEEDS, st.one_of(st.sampled_from([0, 0.1, 0.3, 0.5, 1]), st.integers(0, 40)))
def test_kaca2_does_what_the_definitions_say(problem, seed, most):
    if most not in (0, 1) and isinstance(most, int):  # a share of the records, which values may hit exactly
        most = most % len(problem.rows) / len(problem.rows)
    slow, rows = reference(problem, seed, "height")
    found = kaca(problem.table(), problem.requirements, seeded(seed), max_inconsistency=most)
    assert parts(found.recoding.mapping) == slow.kaca2_release(rows, most)
    assert all(share <= most for share in found.facts["inconsistency"].values())


@examples(10)
@given(st.integers(0, 2**32), st.integers(2, 12), st.sampled_from([1, 2, 5]), st.sampled_from(["height", "ncp"]))
def test_the_index_finds_what_the_plain_loop_finds(seed, k, bucket, distance):
    draws = random.Random(seed)
    widths = [draws.choice([2, 5, 20]) for _ in range(draws.randint(1, 5))]
    trees = [incrowd.Intervals((2, 4, 8)).build([str(i) for i in range(width)]) for width in widths]
    rows = [[str(draws.randrange(width)) for width in widths] for _ in range(150)]
    frame = pa.table({f"c{i}": column for i, column in enumerate(zip(*rows, strict=True))})
    words = {
        "quasi_identifiers": frame.column_names,
        "k": k,
        "method": "kaca",
        "distance": distance,
        "key": Key.for_experiments(seed),
    }
    release = incrowd.anonymize(frame, taxonomies=dict(zip(frame.column_names, trees, strict=True)), **words)
    for room in (bucket, 10**9):
        requirements = release.policy.requirements
        again = kaca(release.table, requirements, seeded(seed), distance=distance, bucket=room)
        assert again.recoding == release.recoding


def anonymized(problem, method, seed=0, **options):
    columns_of = problem.columns
    data = {c.name: c.array(list(c.values)) for c in columns_of}
    data["id"] = pa.array([row // 2 for row in range(len(problem.rows))])  # two equal tuples may be equal altogether
    return incrowd.anonymize(
        pa.table(data),
        quasi_identifiers=[c.name for c in columns_of],
        keep=["id"],
        k=problem.quasi_identifiers[0].k,
        taxonomies={c.name: c.taxonomy for c in columns_of if c.taxonomy},
        types={c.name: "number" if c.kind == "number" else "text" for c in columns_of},
        ranges={c.name: c.domain for c in columns_of if c.domain},
        method=method,
        key=Key.for_experiments(seed),
        keep_order=True,  # rows are compared with the original ones
        **options,
    )


@modest
@given(tables(), METHODS, SEEDS)
def test_k_holds_and_every_cell_is_an_ancestor_or_self(problem, method, seed):
    release = anonymized(problem, method, seed)  # the kind of `data` is checked by the witness
    names = [column.name for column in problem.columns]
    released = {name: labels_of(release.data, name) for name in names}
    sizes = Counter(zip(*(released[name] for name in names), strict=True))
    assert min(sizes.values()) >= problem.quasi_identifiers[0].k
    assert sum(sizes.values()) == len(problem.rows)
    for hierarchy, column in zip(release.recoding.mapping.hierarchies, problem.columns, strict=True):
        above = {path[0]: path for path in hierarchy.taxonomy.paths()}
        for before, after in zip(column.values, released[column.name], strict=True):
            assert after in above[text(hierarchy, before)]
    assert release.measures.total.dm == sum(n * n for n in sizes.values())
    assert release.measures.total.classes == len(sizes)


def text(hierarchy, value):
    return value if value is None or hierarchy.scale is None else hierarchy.scale.text(value)


@modest
@given(tables(), st.sampled_from(["kaca", "cover"]), SEEDS)
def test_each_class_is_the_closest_common_generalization_of_its_members(problem, method, seed):
    mapping = anonymized(problem, method, seed).recoding.mapping
    for number, nodes in enumerate(mapping.classes):
        members = mapping.tuples[mapping.part_tuples[mapping.part_classes == number]]
        for hierarchy, node, column in zip(mapping.hierarchies, nodes, members.T, strict=True):
            tree, common = hierarchy.taxonomy, column[0]
            for other in column:
                common = tree.lowest_common_ancestor(int(common), int(other))
            assert node == common


@modest
@given(tables(), METHODS, SEEDS, st.sampled_from(["uniform", "height"]))
def test_the_distortion_reported_is_the_distortion_of_the_rows(problem, method, seed, scheme):
    release = anonymized(problem, method, seed)
    trees = [Tree(hierarchy.taxonomy) for hierarchy in release.recoding.mapping.hierarchies]
    slow = Kaca(trees, 2, 0, scheme)
    names = [column.name for column in problem.columns]
    hierarchies = release.recoding.mapping.hierarchies
    before = [[text(h, value) for value in c.values] for h, c in zip(hierarchies, problem.columns, strict=True)]
    after = [labels_of(release.data, name) for name in names]
    rows = zip(zip(*before, strict=True), zip(*after, strict=True), strict=True)
    expected = float(sum(slow.distortion(one, other) for one, other in rows))
    assert release.distortion(incrowd.Weights(scheme)).distortion == pytest.approx(expected)


def loss(mapping, table):
    """Records times NCP, summed over the attributes."""
    records = np.bincount(mapping.part_classes, mapping.part_records)
    columns = zip(mapping.hierarchies, table.attributes, mapping.classes.T, strict=True)
    return sum(records @ hierarchy.losses(attribute)[nodes] for hierarchy, attribute, nodes in columns)


@modest
@given(tables(), SEEDS)
def test_the_exchange_never_raises_the_loss(problem, seed):
    table, needed = problem.table(), problem.requirements
    improved = cover(table, needed, seeded(seed), effort=0).recoding.mapping
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("incrowd.search.clustering.cover.SWEEPS", 0)
        plain = cover(table, needed, seeded(seed), effort=0).recoding.mapping
    assert loss(improved, table) <= loss(plain, table) + 1e-9


@modest
@given(tables(), SEEDS)
def test_cover_is_never_worse_than_clustering_alone_nor_for_more_effort(problem, seed):
    table, needed = problem.table(), problem.requirements
    clustered = kaca(table, needed, seeded(seed), distance="ncp").recoding.mapping
    found = [cover(table, needed, seeded(seed), effort=effort).recoding.mapping for effort in (0, 1)]
    assert loss(found[0], table) <= loss(clustered, table) + 1e-9
    assert loss(found[1], table) <= loss(found[0], table) + 1e-9


@modest
@given(tables(), SEEDS, st.sampled_from(["mix", "dm"]), st.integers(1, 20))
def test_cover_keeps_k_whatever_the_options(problem, seed, objective, rounds):
    table, needed = problem.table(), problem.requirements
    mapping = cover(table, needed, seeded(seed), objective=objective, rounds=rounds).recoding.mapping
    records = np.bincount(mapping.part_classes, mapping.part_records)
    assert needed[0].good(ClassCounts(records)).all()
    assert records.sum() == table.records
