"""Every attack finds a leak that was planted for it, and raises no alarm on a release without one."""

import numpy as np
import pyarrow as pa
import pytest

import incrowd
from incrowd.attacks.attack import attack
from incrowd.attacks.registry import ATTACKS

PEOPLE = 600
K = 5
WORDS = {"quasi_identifiers": ["age", "zip"], "k": K, "sensitive": ["ill"]}


def people(seed, rare=0.05):
    """People whose columns are independent of each other, in 24 crowds of about 25 by decade and first digit."""
    rng = np.random.default_rng(seed)
    return {
        "age": rng.integers(20, 80, PEOPLE),
        "zip": rng.integers(1000, 5000, PEOPLE),
        "ill": rng.choice(["no", "flu", "hiv"], PEOPLE, p=[0.6, 0.4 - rare, rare]),
        "sex": rng.choice(["f", "m"], PEOPLE),
    }


def released(table):
    ages = [f"[{age // 10 * 10}-{age // 10 * 10 + 10})" for age in table["age"].tolist()]
    return {**table, "age": ages, "zip": [f"{code // 1000}***" for code in table["zip"].tolist()]}


def played(name, original, release, **words):
    mixed = np.random.default_rng(9).permutation(PEOPLE)
    rows = pa.table({column: pa.array(np.asarray(values)[mixed]) for column, values in release.items()})
    return attack(rows, pa.table(original), only=[name], **{**WORDS, **words})[name]


def a_label_that_one_person_has(original):
    original["zip"][0] = 9999
    return original, released(original)


def a_record_that_one_person_can_have(original):
    release = released(original)
    original["zip"][0] = 4999
    return original, {**release, "zip": ["4999", *release["zip"][1:]]}


def exact_values(original):
    return original, {**original, "age": [str(age) for age in original["age"]], "zip": list(map(str, original["zip"]))}


def an_untouched_column_of_many_values(original):
    original["visits"] = np.random.default_rng(1).integers(0, 300, PEOPLE)
    return original, released(original)


def one_rare_combination(original):
    original["job"] = np.array(["clerk"] * (PEOPLE - 1) + ["mayor"])
    return original, released(original)


def crowds_of_two(original):
    original["age"] = np.arange(PEOPLE) // 2 * 2
    ages = [f"[{age}-{age + 2})" for age in original["age"].tolist()]
    return original, {**released(original), "age": ages, "zip": ["*"] * PEOPLE}


def a_homogeneous_crowd(original):
    own = (original["age"] < 30) & (original["zip"] < 2000)
    original["ill"] = np.where(own, "flu", original["ill"])
    return original, released(original)


def a_skewed_crowd(original):
    own = np.flatnonzero((original["age"] < 30) & (original["zip"] < 2000))
    original["ill"][own] = np.where(np.arange(len(own)) % 3 > 0, "hiv", original["ill"][own])
    return original, released(original)


def secrets_that_follow_the_exact_age(original):
    original["ill"] = np.where(original["age"] % 2 == 0, "no", "flu")
    original["age"] = np.where(original["age"] % 2 == 0, 20, 21)
    return original, {**released(original), "zip": [f"{code // 100}**" for code in original["zip"].tolist()]}


LEAKS = [
    ("singling-out", one_rare_combination),
    ("linking", a_label_that_one_person_has),
    ("linking", a_record_that_one_person_can_have),
    ("fuzzy", exact_values),
    ("auxiliary", an_untouched_column_of_many_values),
    ("background", a_label_that_one_person_has),
    ("inference", crowds_of_two),
    ("homogeneity", a_homogeneous_crowd),
    ("skewness", a_skewed_crowd),
    ("membership", an_untouched_column_of_many_values),
]


# below, and in the tests of their own
ELSEWHERE = ("auxiliary", "membership", "left-out", "downcoding", "posterior", "releases", "visits", "last-record")


@pytest.mark.parametrize(("name", "plant"), LEAKS)
def test_a_planted_leak_is_found(name, plant):
    found = played(name, *plant(people(1)))
    assert found.is_leak, found.sentence


@pytest.mark.parametrize("name", [name for name in ATTACKS if name not in ELSEWHERE])
def test_a_safe_release_raises_no_alarm(name, without_trees):
    """As 95 % intervals may be wrong in 5 % of releases, one of six alarms is forgiven, not two."""
    alarms = 0
    for seed in range(6):
        original = people(seed, rare=0.0 if name == "singling-out" else 0.05)  # a rare value in a crowd is alone
        alarms += played(name, original, released(original)).is_leak
    assert alarms <= 1


@pytest.mark.parametrize("name", ["auxiliary", "membership"])
def test_a_column_of_few_values_does_not_undo_large_crowds(name):
    original = people(3)
    del original["ill"]
    found = played(name, original, {**released(original), "zip": ["*"] * PEOPLE}, sensitive=[])
    assert found.worst.successes == (0 if name == "auxiliary" else PEOPLE)
    assert not found.is_leak


def test_crowds_of_two_give_half_of_what_is_random_away():
    """Two people with independent secrets: certain if both have the same, else even odds; alone it is the other's."""
    original = {"age": np.array([1, 1, 2, 2]), "zip": np.full(4, 1000), "ill": np.array(["no", "flu", "no", "no"])}
    rows = {**original, "age": original["age"].astype(str), "zip": ["*"] * 4}
    found = attack(pa.table(rows), pa.table(original), only=["inference"], **WORDS)["inference"].worst
    assert found.successes == 0.5 + 0.5 + 1 + 1
    assert found.control_successes == 3  # "no" is the most frequent value anyway
    assert found.baseline == 0.75


def test_other_people_are_the_control_where_there_are_some():
    original, others = people(1), people(2)
    original["visits"] = np.arange(PEOPLE)
    others["visits"] = np.arange(PEOPLE) + PEOPLE
    found = played("membership", original, released(original), control=pa.table(others))
    assert (found.worst.share, found.worst.control_share) == (1.0, 0.0)
    assert found.worst.control_trials == PEOPLE


def test_exact_links_are_those_of_the_crowds_of_a_release():
    """With a global method, a person's candidates are the person's crowd."""
    words = {"quasi_identifiers": ["age", "job", "housing"], "k": 10, "keep": ["credit-amount"], "method": "mondrian"}
    release = incrowd.anonymize(incrowd.datasets.german(), **words)
    found = release.attack(only=["linking"])["linking"].worst
    assert found.facts["smallest"] == release.measures.total.anonymity
    assert found.successes == 0
