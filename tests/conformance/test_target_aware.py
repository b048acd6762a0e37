"""What every method promises, of `cover` with an eye on the target: the same promises on the tables that have one."""

from functools import partial

import pytest
from tests.conformance import test_methods, test_priorities
from tests.conformance.tables import cases

import incrowd
from incrowd.policy.words import make_policy

CASES = {name: case for name, case in cases().items() if "target" in case.words}
ANYWHERE = pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
pytestmark = pytest.mark.filterwarnings("ignore:ranges of:incrowd.errors.ReleaseWarning")  # they fit the target
OF_A_CASE = [
    test_methods.test_everyone_stands_in_a_crowd,
    test_methods.test_every_released_value_stands_for_the_original_one,
    test_methods.test_rows_columns_and_all_else_stay_as_they_are,
    test_methods.test_the_order_of_rows_and_columns_does_not_matter,
]
OF_ONE = [
    test_methods.test_the_same_key_gives_the_same_release,
    test_methods.test_a_release_can_be_sent_to_another_process,
    test_methods.test_an_interrupt_ends_it,
    test_methods.test_a_time_limit_ends_it_or_gives_what_there_is,
    test_methods.test_more_than_there_are_people_is_infeasible,
]


@pytest.fixture(autouse=True)
def with_the_target(monkeypatch):
    """All that is promised of a method is asked with the objective, on tables with a target."""
    told = {"objective": "target"}
    monkeypatch.setattr(test_methods, "CASES", {"mixed": CASES["with a target"], **CASES})
    monkeypatch.setattr(test_methods, "make_policy", partial(make_policy, options=told))
    plain = test_methods.made
    monkeypatch.setattr(test_methods, "made", lambda *given, **words: plain(*given, **told, **words))


def named(test):
    return test.__name__


@ANYWHERE
@pytest.mark.parametrize("promise", OF_A_CASE, ids=named)
def test_of_every_table(promise, case):
    promise("cover", case)


@ANYWHERE
def test_its_recoding_survives_json_and_applies_to_the_same_rows_alike(case, tmp_path):
    test_methods.test_the_recoding_survives_json_and_applies_to_the_same_rows_alike("cover", case, tmp_path)


@pytest.mark.parametrize("promise", OF_ONE, ids=named)
def test_of_one_table(promise):
    promise("cover")


@pytest.mark.parametrize("after", [0, 1, 3])
def test_a_cancelled_run_ends(after):
    test_methods.test_a_cancelled_run_ends("cover", after)


def test_priorities_mean_the_same(monkeypatch):
    monkeypatch.setattr(test_priorities, "CASES", {"mixed": CASES["with a target"]})
    monkeypatch.setattr(test_priorities, "QUICK", {"cover": {"effort": 0, "objective": "target"}})
    test_priorities.test_equal_ones_change_nothing("cover")
    test_priorities.test_an_unknown_column_is_refused("cover")


@ANYWHERE
@pytest.mark.parametrize("share", [0.02, 0.2])
def test_records_that_are_left_out_are_few(case, share):
    release = incrowd.anonymize(case.table, method="cover", objective="target", suppress=share, **case.words)
    out = release.measures.total.suppressed
    assert out <= share * len(case.table)
    assert len(release.data) == len(case.table) - out
    assert release.measures.total.anonymity >= case.words["k"]
