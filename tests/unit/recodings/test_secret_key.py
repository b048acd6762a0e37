"""The key by which records of one tuple are dealt: it depends on everything that only the owner of the table has."""

import pyarrow as pa

import incrowd

AGES = [20, 20, 20, 21, 21, 35, 35, 36, 50, 50, 51]


def key(ages=AGES, seed=0, jobs=None):
    table = pa.table({"age": ages, "job": jobs or ["a", "b"] * (len(ages) // 2) + ["a"] * (len(ages) % 2)})
    words = {"quasi_identifiers": ["age", "job"], "k": 3, "method": "kaca", "seed": seed}
    return incrowd.anonymize(table, **words).recoding.key


def test_it_is_the_same_for_the_same_table():
    assert key() == key()


def test_it_depends_on_the_seed():
    assert key() != key(seed=1)


def test_it_depends_on_the_tuples_though_values_and_counts_are_the_same():
    """The same values in each column, and as many records of each tuple, but other tuples."""
    first, second = (["a", "a", "b", "b"] * 3, ["a", "b", "a", "b"] * 3)
    ages = [20, 20, 30, 30] * 3
    assert key(ages, jobs=first) != key([20, 20, 30, 30] * 3, jobs=["b", "b", "a", "a"] * 3)
    assert key(ages, jobs=first) != key(ages, jobs=second)


def test_it_depends_on_how_often_each_tuple_occurs():
    ages, jobs = [20, 20, 20, 30, 30, 30, 30, 30], ["a"] * 8
    assert key(ages, jobs=jobs) != key([20, 20, 20, 20, 20, 30, 30, 30], jobs=jobs)
