"""Limits of columns: every method keeps them or says that it cannot, and what it releases is a release."""

from collections import Counter
from itertools import product

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods import ANY_TABLE as METHODS

import incrowd
from incrowd.errors import InfeasibleError, PolicyError
from incrowd.measures.measures import measure
from incrowd.taxonomies.levels import cut_at
from incrowd.taxonomies.taxonomy import Taxonomy

JOBS = Taxonomy.from_tree({"*": {"A": {"A1": ["a", "b"], "A2": ["c", "d"]}, "B": {"B1": ["e", "f"]}, "g": {}}})
PARENT = {JOBS.labels[node]: JOBS.labels[parent] for node, parent in enumerate(JOBS.parent.tolist()) if parent >= 0}
LEVEL = {"A1": 1, "A2": 1, "B1": 1, "A": 2, "B": 2, "*": 3}
ABLE = [name for name, method in METHODS.items() if method.limits]
ROWS = [
    {"job": job, "age": age, "sex": sex}
    for number, (job, age, sex) in enumerate(product("abcdefg", (21, 34, 35, 58), "fm"))
    for _ in range(1 + number % 2)
]


def above(value, label):
    """Whether a label is a value, or a group above it."""
    while value != label and value in PARENT:
        value = PARENT[value]
    return value == label


def release_of(rows, method, levels, k=2, **options):
    return incrowd.anonymize(
        pa.Table.from_pylist(rows),
        quasi_identifiers=["job", "age", "sex"],
        k=k,
        method=method,
        taxonomies={"job": JOBS},
        levels=levels,
        **options,
    )


def check(release, rows, k, lowest, highest, left_out=0):
    data = release.data.to_pylist()
    assert min(Counter(tuple(row.values()) for row in data).values()) >= k
    assert len(rows) - len(data) <= left_out
    for label in {row["job"] for row in data}:
        level = 3 if label.startswith("{") else LEVEL.get(label, 0)  # sets are for schemes without levels
        assert level <= highest
        assert level >= lowest or label == "g"  # which is right below the root
    # measured on the values themselves, whatever the search began with
    assert (release.measures.attributes[0].ncp > 0) == (len(data) < len(rows)) | any(
        row["job"] not in PARENT or row["job"] in LEVEL for row in data
    )


def test_the_level_of_a_node_is_how_far_the_values_below_it_are():
    labels = [[JOBS.labels[node] for node in cut_at(JOBS, level)] for level in range(4)]
    assert labels == [list("abcdefg"), ["A1", "A2", "B1", "g"], ["A", "B", "g"], ["*"]]


@pytest.mark.parametrize("method", ABLE)
@pytest.mark.parametrize("levels", [(1, 3), (0, 2), (1, 2), (2, 2)])
def test_a_method_keeps_the_levels_of_a_column(method, levels):
    release = release_of(ROWS, method, {"job": levels}, k=3)
    check(release, ROWS, 3, *levels)


@pytest.mark.parametrize("method", [name for name in METHODS if name not in ABLE])
def test_a_method_that_cannot_names_those_that_can(method):
    with pytest.raises(PolicyError, match=rf"'{method}' cannot keep the highest level of 'job'; .*: auto, tdr"):
        release_of(ROWS, method, {"job": (0, 1)})
    check(release_of(ROWS, method, {"job": (1, 3)}, k=3), ROWS, 3, 1, 3, 4)  # a lowest one is for all


@pytest.mark.parametrize("method", ABLE)
def test_a_column_at_level_0_stays_as_it_is_and_still_counts(method):
    rows = [row for row in ROWS if row["job"] in "ab"]
    release = release_of(rows, method, {"sex": 0, "age": 0}, k=2)
    data = release.data.to_pylist()
    assert Counter((row["age"], row["sex"]) for row in data) == Counter((row["age"], row["sex"]) for row in rows)
    assert min(Counter(tuple(row.values()) for row in data).values()) >= 2


@pytest.mark.parametrize("method", ["tdr", "mondrian", "cover", "incognito"])
def test_what_no_release_can_keep_is_said_with_what_helps(method):
    rows = [{"job": "a", "age": age, "sex": "m"} for age in (20, 20, 30, 41)]
    with pytest.raises(InfeasibleError) as caught:
        release_of(rows, method, {"age": 0, "sex": 0})
    assert str(caught.value) == (
        "no release keeps the highest levels of 'age', 'sex': even there 2 records would be in crowds that do not "
        "satisfy k=2; what helps: a higher level, no highest level for 'age', or leaving out records (suppress)"
    )
    assert caught.value.exit_code == 4
    left = release_of(rows, method, {"age": 0, "sex": 0}, suppress=0.5)
    assert left.data.num_rows == 2


def test_levels_need_a_taxonomy_that_has_them():
    with pytest.raises(PolicyError, match="column 'age' has levels, but no taxonomy that has them"):
        release_of(ROWS, "tdr", {"age": (1, 2)})
    with pytest.raises(PolicyError, match=r"The lowest level of 'job' must be at most 3, where every value is '\*'"):
        release_of(ROWS, "tdr", {"job": (4, None)})


@pytest.mark.parametrize("value", [(2, 1), -1, "x", [1, 2, 3], True, ("1", 2)])
def test_levels_are_whole_numbers_in_order(value):
    with pytest.raises(PolicyError, match="levels of 'job' must be a level of at least 0"):
        release_of(ROWS, "tdr", {"job": value})


def test_a_step_above_the_highest_level_is_no_release():
    release = release_of(ROWS, "tdr", {"job": (1, 2)}, k=3)
    assert release.steps[0].attribute == "job"
    assert release.at(len(release.steps) - 1).data is not None
    assert release.at(0).measures.total.ncp == 1  # which can be measured
    with pytest.raises(InfeasibleError, match="column 'job' would be more general than its highest level, 2"):
        _ = release.at(0).data


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("abcdefg"), st.sampled_from((21, 34, 58)), st.sampled_from("fm")), min_size=4),
    st.sampled_from(["tdr", "bug", "mondrian", "cover", "kaca", "datafly", "samarati", "incognito"]),
    st.sampled_from([(0, 1), (1, 1), (0, 2), (1, 2), (1, None), (2, 2)]),
    st.sampled_from([0.0, 0.3]),
)
def test_a_release_keeps_the_levels_or_there_is_none(tuples, method, levels, suppress):
    rows = [dict(zip(("job", "age", "sex"), values, strict=True)) for values in tuples]
    highest = 3 if levels[1] is None else levels[1]
    tops = {JOBS.labels[node] for node in cut_at(JOBS, highest)}
    short = sum(n for n in Counter(next(t for t in tops if above(j, t)) for j, _, _ in tuples).values() if n < 2)
    try:
        release = release_of(rows, method, {"job": levels}, suppress=suppress)
    except InfeasibleError:
        assert short > (suppress * len(rows) if method != "datafly" else 0)
        return
    check(release, rows, 2, levels[0], highest, int(suppress * len(rows)))
    again = measure(release.table, release.recoding, release.policy.requirements)
    assert again.total.suppressed == len(rows) - release.data.num_rows
