"""Small tables are clustered without compiled code: the same release, and nothing is compiled for it."""

import subprocess
import sys
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.runs import seeded
from tests.unit.search.clustering import test_guarded, test_slices

from incrowd.search import compiled
from incrowd.search.clustering.cover import cover
from incrowd.search.clustering.kaca import kaca

SEARCHES = {
    **test_slices.SEARCHES,
    "cover that leaves out": lambda *words: cover(*words, effort=0, suppress=0.05),
    "kaca that leaves out": lambda *words: kaca(*words, suppress=0.05),
}
GUARDED = {name: test_guarded.MODELS[name] for name in ("k", "recursive", "t", "people")}


@contextmanager
def uncompiled_up_to(tuples):
    before, compiled.UNCOMPILED = compiled.UNCOMPILED, tuples
    try:
        yield
    finally:
        compiled.UNCOMPILED = before


def both(search, table, requirements, seed=0):
    """What a search finds without compiled code, and with it."""
    found = []
    for most in (10**9, 0):
        with uncompiled_up_to(most):
            found.append(search(table, requirements, seeded(seed)))
    return found


@pytest.mark.parametrize("search", SEARCHES)
@examples(8)
@given(st.integers(0, 1000), st.integers(2, 20), st.sampled_from([30, 300]))
def test_the_release_is_that_of_compiled_code(search, seed, k, records):
    table = test_slices.table_of(seed, records)
    one, other = both(SEARCHES[search], table, test_slices.needed(k), seed)
    assert one.recoding == other.recoding
    assert one.facts == other.facts


@pytest.mark.parametrize("search", ["kaca", "cover", "cover for dm"])
@pytest.mark.parametrize("models", GUARDED.values(), ids=list(GUARDED))
@examples(4)
@given(st.integers(0, 1000))
def test_the_release_is_that_of_compiled_code_with_any_privacy_model(models, search, seed):
    table = test_guarded.table_of(seed)
    one, other = both(SEARCHES[search], table, test_guarded.needed(table, models), seed)
    assert one.recoding == other.recoding
    assert one.facts == other.facts


PLAIN = """
import sys
import pyarrow as pa
import incrowd
rows = {"age": [i * 7 % 90 for i in range(900)], "zip": [str(i * 13 % 100) for i in range(900)]}
incrowd.anonymize(pa.table(rows), quasi_identifiers=["age", "zip"], k=5, method=sys.argv[1])
assert "numba" not in sys.modules
"""


@pytest.mark.parametrize("method", ["auto", "kaca", "kaca2"])
def test_a_small_table_does_not_even_load_the_compiler(method):
    subprocess.run([sys.executable, "-c", PLAIN, method], check=True, timeout=120)
