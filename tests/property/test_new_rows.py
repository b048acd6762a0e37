"""New rows after a local recoding: against the reference, and against what a recipient knows."""

import json
import warnings
from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.labels import labels_of
from tests.property.test_local_recoding import SEEDS, anonymized, tables
from tests.reference.new_rows import Released, recoded

import incrowd
from incrowd.engines.kept_types import KeptTypes
from incrowd.errors import ReleaseWarning
from incrowd.recodings.by_class import ByClass
from incrowd.table.scales import text_of

pytestmark = pytest.mark.filterwarnings("ignore::incrowd.errors.ReleaseWarning")
METHODS = st.sampled_from([("cover", {}), ("kaca", {}), ("mondrian", {}), ("mondrian", {"bounds": "exact"})])
KEPT = {"keep": ["id"], "keep_order": True}


def released_as(problem, method, seed):
    name, options = method
    return anonymized(problem, name, seed, **options)


def frame_of(problem):
    """The rows as `anonymized` releases them."""
    data = {c.name: c.array(c.values) for c in problem.columns}
    return pa.table({**data, "id": pa.array([row // 2 for row in range(len(problem.rows))])})


def label_tuples(table, names):
    return list(zip(*(labels_of(table, name) for name in names), strict=True))


@st.composite
def new_values(draw, column, count):
    """Values that the training rows may not have, of the same kind; missing ones too."""
    some = {
        "tree": lambda: st.sampled_from(sorted(column.taxonomy.leaf_codes)),
        "number": lambda: st.integers(-4, 20).map(lambda n: n / 2) if any(
            isinstance(value, float) for value in column.values
        ) else st.integers(-2, 9),
        "flat": lambda: st.sampled_from("abcdef"),
    }[column.kind]()  # fmt: skip
    return draw(st.lists(st.none() | some, min_size=count, max_size=count))


@examples(80)
@given(tables(), METHODS, SEEDS, st.data())
def test_new_rows_become_what_the_definition_says(problem, method, seed, data):
    release = released_as(problem, method, seed)
    recoding, names = release.recoding.for_new_rows, [c.name for c in problem.columns]
    assert isinstance(recoding, ByClass)
    classes = [tuple(c.labels[p] for c, p in zip(recoding.columns, places, strict=True)) for places in recoding.classes]
    assert set(classes) == set(label_tuples(release.data, names))  # it knows what the released rows show
    values = {column.name: data.draw(new_values(column, 6)) for column in problem.columns}
    columns = []
    for column, shown in zip(problem.columns, recoding.columns, strict=True):
        paths = {path[0]: path for path in column.taxonomy.paths()} if column.taxonomy else None
        columns.append(Released(shown.labels, column.kind == "number", paths))
    new = pa.table({column.name: column.array(values[column.name]) for column in problem.columns})
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", ReleaseWarning)
        found = label_tuples(incrowd.apply(recoding, new, keep_order=True), names)
    rows = list(zip(*values.values(), strict=True))
    expected = [recoded(row, classes, columns) for row in rows]
    typed = KeptTypes.of(recoding, new.schema).values  # in such a column, what fits nothing looks like a missing value
    assert found == [tuple(_cell(l, typed.get(n)) for n, l in zip(names, row, strict=True)) for row in expected]
    alone = sum(row not in classes for row in expected)
    if not typed:
        assert any(f"{alone} of 6 rows fit no" in str(warning.message) for warning in told) == (alone > 0)


def _cell(label, typed):
    """A label as it is written: what a column that keeps its type cannot hold is null."""
    return label if typed is None or label in text_of(typed).to_pylist() else None


@examples(40)
@given(tables(), METHODS, SEEDS)
def test_rows_of_the_release_are_each_in_a_released_class_and_nothing_else_decides(problem, method, seed):
    release = released_as(problem, method, seed)
    names, frame = [c.name for c in problem.columns], frame_of(problem)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ReleaseWarning)
        found = incrowd.apply(release.recoding, frame, **KEPT)
    assert set(label_tuples(found, names)) <= set(label_tuples(release.data, names))
    public = ByClass.from_json(json.loads(json.dumps(release.recoding.for_new_rows.to_json())))
    assert public == release.recoding.for_new_rows
    assert incrowd.apply(public, frame, **KEPT).equals(found)
    shown = Counter(label for name in names for label in labels_of(release.data, name) if label is not None)
    for column in public.columns:
        assert all(label in shown for label in column.labels[1:] if label is not None)
