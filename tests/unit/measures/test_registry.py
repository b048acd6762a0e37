"""The registry of measures: one name for each, and that everyone who shows measures reads it."""

import pyarrow as pa
import pytest

import incrowd
from incrowd.measures.registry import LOSSES, MEASURES, OF_CLASSES
from incrowd.search.registry import METHODS

PEOPLE = pa.table({"sex": ["f", "m"] * 4, "job": ["a", "a", "b", "b"] * 2, "income": ["low", "high"] * 4})


@pytest.fixture(scope="module")
def release():
    return incrowd.anonymize(PEOPLE, quasi_identifiers=["sex", "job"], k=2, target="income")


@pytest.mark.parametrize("name", MEASURES)
def test_a_measure_says_what_it_is(name):
    measure = MEASURES[name]
    assert measure.title
    assert measure.about
    assert (measure.of_classes is None) != (measure.of_release is None)


def test_every_measure_of_classes_is_an_attribute_and_a_key_of_the_result(release):
    total = release.measures.total
    assert list(total.values) == list(OF_CLASSES)
    assert {name: getattr(total, name) for name in OF_CLASSES} == dict(total.values)
    assert {name: total.to_json()[name] for name in OF_CLASSES} == dict(total.values)


def test_a_name_that_is_no_measure_lists_those_there_are(release):
    with pytest.raises(AttributeError, match="no measure 'discernibility'; measures: anonymity, classes"):
        _ = release.measures.total.discernibility


def test_a_comparison_has_every_measure_and_compares_by_losses():
    people = PEOPLE.append_column("age", pa.array([20, 21, 35, 36] * 2))  # numbers have losses of their own
    people = people.append_column("hours", pa.array([40, 10, 20, 41] * 2))
    settings = {"target": "income", "taxonomies": {"age": {"widths": [10]}, "hours": {"widths": [10]}}}
    found = incrowd.compare(people, methods="bug", ks=[2], quasi_identifiers=["age", "hours"], **settings)
    (run,) = found.runs
    assert run.status == "done", run.problem
    assert set(MEASURES) <= set(run.values)
    assert found.losses == LOSSES


@pytest.mark.parametrize(
    ("method", "option"),
    [(name, option) for name, method in METHODS.items() for option in method.options if option in ("cost", "fitness")],
)
def test_what_a_search_minimizes_has_the_name_of_its_measure(method, option):
    choices = set(METHODS[method].options[option].kind.choices)
    assert choices - {"hdm"} <= set(LOSSES)  # the hierarchical form of dm is a cost only
