"""All tables that give the same release: the minimality attack, counted by hand."""

import warnings
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

import incrowd
from incrowd.attacks.attack import attack
from incrowd.attacks.posterior import Rerun
from incrowd.errors import IncrowdError
from incrowd.run import Run


def only_if_needed(table):
    """Ages as they are if at most half of each age are ill, otherwise none: as little as the rule asks for."""
    ages, ill = table["age"].to_pylist(), table["ill"].to_pylist()
    sick = Counter(age for age, value in zip(ages, ill, strict=True) if value == "yes")
    shown = ages if all(2 * sick[age] <= ages.count(age) for age in ages) else ["*"] * len(ages)
    return pa.table({"age": [str(age) for age in shown], "ill": ill})


def test_what_was_generalized_without_need_gives_two_people_away():
    """Of two and four people, two are ill: had they not both been the first two, ages would have been shown."""
    table = pa.table({"age": [1, 1, 2, 2, 2, 2], "ill": ["yes", "yes", "no", "no", "no", "no"]})
    words = {"quasi_identifiers": ["age"], "k": 2, "sensitive": ["ill"], "only": ["posterior"]}
    found = attack(only_if_needed(table), table, again=only_if_needed, **words)["posterior"].worst
    assert (found.successes, found.control_successes, found.facts["certain"]) == (6, 4, 1)


def test_the_posterior_is_the_share_of_tables():
    """Of two and three: both of the first, or two of the others in three ways."""
    table = pa.table({"age": [1, 1, 2, 2, 2], "ill": ["yes", "yes", "no", "no", "no"]})
    values, belief = Rerun(table, only_if_needed).posterior("ill", Run())
    assert values == ["no", "yes"]
    np.testing.assert_allclose(belief[:, 1], [1 / 4, 1 / 4, 2 / 4, 2 / 4, 2 / 4])


@pytest.mark.parametrize("method", ["mondrian", "bug", "tdr"])
def test_the_true_table_is_among_those_that_give_the_release(method):
    table = pa.table({"age": [20, 21, 30, 31, 40, 41], "ill": ["yes", "no", "no", "yes", "no", "no"]})
    words = {"quasi_identifiers": ["age"], "k": 2, "sensitive": ["ill"]}

    def again(guess):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return incrowd.anonymize(guess, method=method, l=2, **words).data
        except IncrowdError:
            return None

    found = attack(again(table), table, again=again, only=["posterior"], **words)["posterior"].worst
    values, belief = Rerun(table, again).posterior("ill", Run())
    true = [values.index(value) for value in table["ill"].to_pylist()]
    np.testing.assert_allclose(belief.sum(axis=1), 1)
    assert (belief[np.arange(6), true] > 0).all()
    assert found.facts["most_believed"] == belief.max()


def test_larger_tables_are_not_enumerated():
    table = pa.table({"age": [1] * 8, "ill": ["no", "yes"] * 4})
    words = {"quasi_identifiers": ["age"], "k": 2, "sensitive": ["ill"], "only": ["posterior"]}
    assert "7 records" in attack(table, table, again=lambda guess: guess, **words).skipped["posterior"]


@pytest.mark.parametrize(
    ("sensitive", "missing"), [([], "no released column is named as sensitive"), (["ill"], "again=")]
)
def test_what_is_missing_is_named(sensitive, missing):
    table = pa.table({"age": [1, 1], "ill": ["no", "yes"]})
    words = {"quasi_identifiers": ["age"], "k": 2, "sensitive": sensitive, "only": ["posterior"]}
    assert missing in attack(table, table, **words).skipped["posterior"]
