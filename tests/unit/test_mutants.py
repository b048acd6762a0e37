"""The list of mutations fits the code: what is to be changed stands there once, and the tests that should notice exist.

Whether they do notice is tried by `make mutants`.
"""

from pathlib import Path

from tests.mutants.__main__ import MUTATIONS, places

TESTS = Path(__file__).parents[1]


def test_every_mutation_has_its_place():
    assert [mutation.name for mutation in MUTATIONS if places(mutation) != 1] == []


def test_every_mutation_changes_something_and_names_tests_that_exist():
    for mutation in MUTATIONS:
        assert mutation.before != mutation.after
        assert mutation.tests
        for test in mutation.tests:
            assert (TESTS / test.split("::")[0]).exists(), test


def test_there_are_enough_and_no_two_are_alike():
    assert len({(mutation.file, mutation.before, mutation.after) for mutation in MUTATIONS}) == len(MUTATIONS) >= 80
    assert sum(bool(mutation.equivalent) for mutation in MUTATIONS) <= 6
