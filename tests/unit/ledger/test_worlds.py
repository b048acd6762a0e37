"""Whoever has all releases, and knows of everyone all but what passes untouched, finds nobody in fewer than k rows."""

import pytest
from tests.examples import EFFORT
from tests.fuzz.ledgers import trial
from tests.reference.worlds import Promise, Stay, below

TRIALS = range(10 if EFFORT == "test" else 200)


@pytest.mark.parametrize("seed", TRIALS)
def test_all_releases_together_keep_what_each_promises(seed):
    _, wrong = trial(seed)
    assert not wrong


def people(*told):
    """What was released: for each person her class and illness in a first release, and her class in a second one."""
    stays = {}
    for person, (first, second, illness) in enumerate(told):
        stays[person] = {Stay(kind, label, 1, 1): {"illness": illness} for kind, label in enumerate((first, second))}
    return stays


def test_the_reference_finds_what_follows_from_two_releases():
    """Both of class F and E have y, so that the third one of E has x, although her classes share x and y."""
    told = [tuple(word) for word in ("CDx", "CDy", "CEx", "FEy", "FEy", "GDx", "GDx")]
    promises = {kind: Promise(("illness",), 2, {"illness": 2}) for kind in range(2)}
    assert below(people(*told), {kind: Promise(("illness",), 2, {}) for kind in range(2)})[0] == 1
    assert below(people(*told), promises)[1] == 5
    assert below(people(*(("C", "D", illness) for illness in "xxyy")), promises) == (0, 0)
