"""Mondrian against its own promises, on random small tables."""

import json
from collections import Counter, defaultdict

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.labels import label_rows
from tests.property.promises import contains
from tests.recoded import released_by
from tests.strategies import problems

import incrowd
from incrowd.errors import PolicyError
from incrowd.measures.measures import measure
from incrowd.policy.policy import Policy, QuasiIdentifier
from incrowd.recodings.by_tuple import ByTuple
from incrowd.recodings.reading import read_recoding
from incrowd.run import Run
from incrowd.search.registry import method_of

modest = examples(60)
RELAXED = st.booleans()


def mondrian(problem, relaxed):
    options = {"relaxed": relaxed}
    return method_of("mondrian", options)(problem.table(), requirements(problem), options, Run()).recoding


def requirements(problem):
    """What must hold for everything together."""
    return Policy(quasi_identifiers=united(problem)).requirements


def united(problem):
    """One quasi-identifier over everything."""
    names = [name for qid in problem.quasi_identifiers for name in qid.attributes]
    return (QuasiIdentifier(dict.fromkeys(names), max(qid.k for qid in problem.quasi_identifiers)),)


def released(problem, recoding):
    """The released records."""
    return label_rows(released_by(recoding, pa.table(problem.batch())))


def boxes(problem, recoding):
    """The original records of each class."""
    found = defaultdict(list)
    for original, row in zip(problem.rows, released(problem, recoding), strict=True):
        found[tuple(row.values())].append(original)
    return found


@modest
@given(problems(), RELAXED)
def test_every_class_has_k_records(problem, relaxed):
    k = united(problem)[0].k
    recoding = mondrian(problem, relaxed)
    sizes = [len(rows) for rows in boxes(problem, recoding).values()]
    assert min(sizes) >= k
    total = measure(problem.table(), recoding, requirements(problem)).total
    assert (total.classes, total.anonymity, total.suppressed) == (len(sizes), min(sizes), 0)
    assert 0 <= total.ncp <= 1


@modest
@given(problems(), RELAXED)
def test_every_record_lies_in_its_box(problem, relaxed):
    for original, row in zip(problem.rows, released(problem, mondrian(problem, relaxed)), strict=True):
        for column in problem.columns:
            value, shown = original[column.name], row[column.name]
            if column.kind == "tree" and shown is not None:
                tree = column.taxonomy
                path = [tree.labels[0]] if value is None else tree.path(tree.leaf_code(value))
                assert shown in path
            elif column.kind == "flat":
                assert shown in ("*", value)
            elif value is None or shown is None:
                assert shown == ("*" if shown is not None else value)
            else:
                assert contains(shown, value) if not shown.startswith("<=") else value <= float(shown[2:])


@modest
@given(problems())
def test_no_strict_box_can_be_cut(problem):
    k = united(problem)[0].k
    for rows in boxes(problem, mondrian(problem, relaxed=False)).values():
        for column in problem.columns:
            for parts in cuts(column, [row[column.name] for row in rows]):
                assert len(parts) < 2 or min(parts) < k


def cuts(column, values):
    """The sizes of the parts of every way to cut values."""
    known = [value for value in values if value is not None]
    if column.kind == "number":
        if len(known) < len(values):
            yield [size for size in (len(known), len(values) - len(known)) if size]
        else:
            for bound in set(values):
                below = sum(value < bound for value in values)
                yield [size for size in (below, len(values) - below) if size]
        return
    if column.kind == "flat":
        yield list(Counter(values).values())
        return
    tree = column.taxonomy
    paths = [(tree.labels[0], None) if value is None else tree.path(tree.leaf_code(value))[::-1] for value in values]
    depth = 0
    while len({path[: depth + 1] for path in paths}) == 1 and depth < len(paths[0]):
        depth += 1
    yield list(Counter(path[: depth + 1] for path in paths).values())


@modest
@given(problems())
def test_strict_boxes_never_part_equal_records(problem):
    assert not mondrian(problem, relaxed=False).mapping.split.any()


@modest
@given(problems(), RELAXED, st.data())
def test_the_order_of_rows_and_columns_changes_no_class(problem, relaxed, data):
    rows = data.draw(st.permutations(range(len(problem.rows))))
    columns = data.draw(st.permutations(range(len(problem.columns))))
    moved = problem.permuted(rows, columns)
    first, second = (
        Counter(tuple(sorted(row.items())) for row in released(p, mondrian(p, relaxed))) for p in (problem, moved)
    )
    assert first == second


@modest
@given(problems(), RELAXED)
def test_a_recoding_survives_json(problem, relaxed):
    recoding = mondrian(problem, relaxed)
    again = ByTuple.from_json(json.loads(json.dumps(recoding.to_json())))
    assert again == recoding
    assert released(problem, again) == released(problem, recoding)
    assert recoding.codebook() == again.codebook()


@modest
@given(problems())
def test_unseen_numbers_go_where_the_next_lower_one_goes(problem):
    recoding = mondrian(problem, relaxed=False)
    for column in problem.columns:
        if column.kind == "number" and set(column.values) != {None}:
            numbers = sorted(set(column.values) - {None})
            hierarchy = recoding[column.name]
            seen, unseen = (hierarchy.cells(pa.array([n + gap for n in numbers])) for gap in (0, 0.25))
            assert seen.tolist() == unseen.tolist()


def test_several_quasi_identifiers_are_refused_with_methods_that_take_them():
    with pytest.raises(PolicyError, match=r"takes only one quasi-identifier.*incognito"):
        method_of("mondrian", {}, 2)


def test_a_recoding_file_is_read_back(tmp_path):
    data = pa.table({"age": [20, 21, 40, 41, 60, 61], "day": pa.array([1, 2, 3, 4, 5, 6], pa.date32())})
    release = incrowd.anonymize(data, quasi_identifiers=["age", "day"], k=2, method="mondrian", keep_order=True)
    release.write(tmp_path / "release.csv", confidential=True)
    recoding = read_recoding(tmp_path / "release.confidential" / "recoding.json")
    assert recoding == release.recoding
    assert release.data.column("age").to_pylist() == ["<42"] * 3 + [">=40"] * 3
    assert release.data.column("day").to_pylist() == ["<1970-01-05"] * 3 + [">=1970-01-05"] * 3
