"""Mondrian against its definition with models of every kind; where widths are nearly equal; where the time is over."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.recoded import released_by
from tests.reference.mondrian import Mondrian
from tests.reference.problem import Column, Problem
from tests.unit.search.top_down.test_privacy_models import DistinctValues, level, protected, table_of

import incrowd
from incrowd.errors import PolicyError
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.model import Requirement
from incrowd.run import Run
from incrowd.search.mondrian import boxes
from incrowd.search.mondrian.mondrian import mondrian


def test_equally_wide_attributes_are_cut_by_name_though_their_floats_differ():
    """0.3 - 0.1 and 0.2 - 0.0 are two tenths, in floats they are not; "a" is cut first, which parts nobody in "b"."""
    data = pa.table({"b": [0.1, 0.1, 0.3, 0.3], "a": [0.0, 0.2, 0.0, 0.2]})
    ranges = {"a": (0.0, 1.0), "b": (0.0, 1.0)}
    words = {"ranges": ranges, "method": "mondrian", "keep_order": True}
    release = incrowd.anonymize(data, quasi_identifiers=["b", "a"], k=2, **words)
    assert release.data["a"].to_pylist() == [0.0, 0.2, 0.0, 0.2]
    assert len(set(release.data["b"].to_pylist())) == 1


PRIORITIES = st.none() | st.dictionaries(st.sampled_from(["age", "job", "sex", "zip"]), st.sampled_from([0.1, 2, 30]))


def released_as(problem, recoding):
    """What each record is released as."""
    return [tuple(row.values()) for row in released_by(recoding, pa.table(problem.batch())).to_pylist()]


@examples(150)
@given(protected(), PRIORITIES)
def test_boxes_are_those_of_the_definition_whatever_the_models(case, priorities):
    problem, illnesses, requirements = case
    names = [column.name for column in problem.columns]
    priorities = None if priorities is None else {n: w for n, w in priorities.items() if n in names}
    requirement = Requirement(tuple(names), requirements[0].models)

    def good(box):
        return all(
            level(model, [illnesses[r] for r in box], illnesses) >= model.threshold for model in requirement.models
        )

    table = table_of(problem, illnesses)
    found = mondrian(table, (requirement,), Run(), priorities=priorities)
    expected = Mondrian(problem, good, priorities).boxes()
    assert found.facts["boxes"] == len(expected)
    rows = released_as(problem, found.recoding)
    assert all(len({rows[record] for record in box}) == 1 for box in expected)


@pytest.mark.parametrize("room", [1, 7])
@examples(60)
@given(protected())
def test_cuts_may_be_looked_at_in_any_portions(room, case):
    problem, illnesses, requirements = case
    requirement = Requirement(tuple(column.name for column in problem.columns), requirements[0].models)
    table = table_of(problem, illnesses)
    whole = mondrian(table, (requirement,), Run()).recoding
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(boxes, "CELLS", room)
        patch.setattr(boxes, "FIRST", 1)
        assert mondrian(table, (requirement,), Run()).recoding == whole


def test_relaxed_cuts_are_refused_where_a_column_is_protected():
    columns = (Column("a", tuple(range(30)), "number"),)
    problem = Problem(columns, None, ())
    requirement = Requirement(("a",), (KAnonymity(2), DistinctValues(2)))
    with pytest.raises(PolicyError, match="The 'relaxed' parameter must be False"):
        mondrian(problem.table(), (requirement,), Run(), relaxed=True)


@pytest.mark.filterwarnings("error")
def test_numbers_that_floats_do_not_tell_apart_lose_something():
    rows = pa.table({"x": [str(2**64 + more) for more in (0, 0, 1, 1, 2, 2, 2, 2)]})
    release = incrowd.anonymize(rows, quasi_identifiers=["x"], k=4, method="mondrian")
    assert set(release.data["x"].to_pylist()) == {f"<{2**64 + 2}", str(2**64 + 2)}
    assert release.measures.total.ncp == 0.5
