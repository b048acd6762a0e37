"""What every method promises, of those that part children of a taxonomy's node, or suppress values by themselves."""

import random
from functools import partial
from itertools import count

import pyarrow as pa
import pytest
from tests.conformance import test_methods, test_priorities, test_suppression
from tests.conformance.tables import Case, cases

import incrowd
from incrowd.policy.words import make_policy
from incrowd.recodings.attributes.partition import Partition
from incrowd.taxonomies.taxonomy import Taxonomy

PLACES = Taxonomy.from_tree({"*": {"north": [f"n{i}" for i in range(7)], "south": [f"s{i}" for i in range(5)]}})
DRAW = random.Random(7)
PEOPLE = pa.table(
    {
        "name": [f"person {number}" for number in range(150)],
        "place": DRAW.choices([*(f"n{i}" for i in range(7)), *(f"s{i}" for i in range(5)), None], range(1, 14), k=150),
        "sex": DRAW.choices("fm", k=150),
        "income": DRAW.choices(["high", "low"], k=150),
        "wage": [DRAW.random() for _ in range(150)],
    }
)
SIBLINGS = {
    "quasi_identifiers": ["place", "sex"],
    "k": 6,
    "taxonomies": {"place": PLACES},
    "identifiers": ["name"],
    "keep": ["wage"],
}
CASES = {
    **cases(),
    "many siblings": Case(PEOPLE, SIBLINGS),
    "many siblings, with a target": Case(PEOPLE, {**SIBLINGS, "target": "income"}),
}
ANYWHERE = pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
WAYS = {
    "groups": ("bug", {"partial": True}),
    "suppressed values": ("bug", {"suppress_values": 0.4}),
    "both, tightened": ("bug", {"partial": True, "suppress_values": 0.4, "tighten": True}),
    "one by one": ("tdr", {"partial": True}),
    "one by one, again": ("tds", {"partial": True, "restarts": 1}),
}
EVERY_WAY = pytest.mark.parametrize(("method", "told"), WAYS.values(), ids=list(WAYS))
OF_A_CASE = [
    test_methods.test_everyone_stands_in_a_crowd,
    test_methods.test_every_released_value_stands_for_the_original_one,
    test_methods.test_rows_columns_and_all_else_stay_as_they_are,
    test_methods.test_the_order_of_rows_and_columns_does_not_matter,
    test_suppression.test_everyone_who_is_released_stands_in_a_crowd_and_the_budget_is_kept,
    test_suppression.test_every_released_value_stands_for_the_original_one,
]
IN_A_FILE = [
    test_methods.test_the_recoding_survives_json_and_applies_to_the_same_rows_alike,
    test_suppression.test_the_recoding_survives_json_and_leaves_out_the_same_rows,
]
OF_ONE = [
    test_methods.test_the_same_key_gives_the_same_release,
    test_methods.test_a_release_can_be_sent_to_another_process,
    test_methods.test_the_release_at_every_step_can_be_measured,
    test_methods.test_several_quasi_identifiers_hold_or_are_refused_by_name,
    test_methods.test_an_interrupt_ends_it,
    test_methods.test_a_time_limit_ends_it_or_gives_what_there_is,
    test_methods.test_more_than_there_are_people_is_infeasible,
    test_methods.test_steps_are_told_as_they_happen,
]


@pytest.fixture(autouse=True)
def in_that_way(told, monkeypatch):
    """All that is promised of a method is asked with the options, whether or not the search loses less with them."""
    later = count(0, -1)
    monkeypatch.setattr("incrowd.search.bottom_up.bottom_up._Search.loses_less_than", lambda *_: True)
    monkeypatch.setattr("incrowd.search.top_down.top_down.cost_of", lambda *_: next(later))
    monkeypatch.setattr(test_methods, "make_policy", partial(make_policy, options=told))
    for module in (test_methods, test_suppression):
        plain = module.made
        monkeypatch.setattr(module, "made", lambda *given, plain=plain, **words: plain(*given, **told, **words))


def named(test):
    return test.__name__


@EVERY_WAY
@ANYWHERE
@pytest.mark.parametrize("promise", OF_A_CASE, ids=named)
def test_of_every_table(promise, case, method, told):
    promise(method, case)


@EVERY_WAY
@ANYWHERE
@pytest.mark.parametrize("promise", IN_A_FILE, ids=named)
def test_its_recoding(promise, case, method, told, tmp_path):
    promise(method, case, tmp_path)


@EVERY_WAY
@pytest.mark.parametrize("promise", OF_ONE, ids=named)
def test_of_one_table(promise, method, told):
    promise(method)


@EVERY_WAY
@pytest.mark.parametrize("after", [0, 1, 3])
def test_a_cancelled_run_ends(after, method, told):
    test_methods.test_a_cancelled_run_ends(method, after)


@EVERY_WAY
def test_priorities_mean_the_same(method, told, monkeypatch):
    monkeypatch.setattr(test_priorities, "QUICK", {method: told})
    test_priorities.test_equal_ones_change_nothing(method)
    test_priorities.test_an_unknown_column_is_refused(method)


@EVERY_WAY
def test_they_make_a_difference(method, told):
    """There is a table here whose release has sets of values, so that all of the above says something of them."""
    recodings = [incrowd.anonymize(case.table, method=method, **told, **case.words).recoding for case in CASES.values()]
    assert any(isinstance(column, Partition) for recoding in recodings for column in recoding.attributes)


@EVERY_WAY
def test_a_release_is_written_with_its_certificate_and_verified(method, told, tmp_path):
    for name, case in CASES.items():
        release = incrowd.anonymize(case.table, method=method, **told, **case.words)
        path = tmp_path / f"{name}.csv"
        release.write(path)
        assert incrowd.check_certificate(tmp_path / f"{name}.certificate.json", path).holds, name
