"""Columns that tell a quasi-identifier which does not pass through as it is."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import incrowd
from incrowd.formats.registry import open_source
from incrowd.inspection.counting import count_values
from incrowd.inspection.first_look import look_at, telling_warning, tells
from incrowd.policy.making import make_policy
from incrowd.run import Run

PEOPLE = 200
AGES = [20 + 7 * n % 50 for n in range(PEOPLE)]
TABLE = pa.table(
    {
        "age": AGES,
        "sex": ["mf"[n % 3 % 2] for n in range(PEOPLE)],
        "born": [2026 - age for age in AGES],
        "decade": [age // 10 for age in AGES],
        "ward": [n % 4 for n in range(PEOPLE)],
        "list": [[1]] * PEOPLE,
    }
)


def told(first, second):
    table = pa.table({"first": first, "second": second})
    return tells(*count_values(open_source(table), Run())[1])


def test_a_column_that_tells_another_is_named_with_what_to_do():
    look = look_at(open_source(TABLE), make_policy(quasi_identifiers=["age", "sex"], k=2), Run())
    assert look.told == {"born": ("age",)}
    assert telling_warning("born", look.told["born"]) == (
        "column 'born' is released as it is and reveals 'age': each of its values comes with one; name it as a "
        "quasi-identifier too, or drop it"
    )
    look = look_at(open_source(TABLE), make_policy(quasi_identifiers=["age", "decade"], k=2), Run())
    assert look.told == {"born": ("age", "decade")}
    assert "reveals 'age' and 'decade':" in telling_warning("born", look.told["born"])


def test_who_has_no_value_tells_nothing_and_hides_nothing():
    assert told([None, *AGES], [1, *AGES])
    assert told([*AGES, 5], [*AGES, None])
    assert not told([None] * 9, AGES[:9])


def test_one_record_that_differs_is_enough():
    assert not told([*AGES, 20], [*AGES, 21])


def test_an_accident_is_no_warning():
    assert not told(list(range(100)), [n % 2 for n in range(100)])  # no two records have the same
    assert not told([n // 2 for n in range(8)], [n // 2 % 2 for n in range(8)])  # four pairs agree
    assert told([n // 2 for n in range(80)], [n // 2 % 2 for n in range(80)])
    assert not told([n % 3 for n in range(999)], [7] * 999)  # what all have in common is told by anything


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1))
def test_never_where_one_value_comes_with_two(pairs):
    first, second = zip(*pairs, strict=True)
    found = {a: {b for c, b in pairs if c == a} for a in first}
    if any(len(values) > 1 for values in found.values()):
        assert not told(list(first), list(second))


@pytest.mark.filterwarnings("ignore::incrowd.errors.ReleaseWarning")
@pytest.mark.parametrize(("quasi", "warned"), [(["age", "sex"], True), (["sex"], False)])
def test_only_of_columns_that_lost_something(quasi, warned):
    release = incrowd.anonymize(TABLE.drop(["list"]), quasi_identifiers=quasi, k=10)
    assert any("'born' is released as it is and reveals 'age'" in warning for warning in release.warnings) == warned
    assert not any("reveals 'sex'" in warning for warning in release.warnings)
