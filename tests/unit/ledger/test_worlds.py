"""Whoever has all releases, and knows of everyone all but what passes untouched, finds nobody in fewer than k rows."""

import numpy as np
import pytest
from tests.examples import EFFORT
from tests.fuzz.ledgers import trial
from tests.reference.worlds import Promise, Stay, below

TRIALS = range(10 if EFFORT == "test" else 1000)


@pytest.mark.parametrize("seed", TRIALS)
def test_all_releases_together_keep_what_each_promises(seed):
    _, wrong = trial(seed)
    assert not wrong


@pytest.mark.parametrize("by", ["search", "people who come and go"])
def test_the_trials_would_notice_a_ledger_that_does_not_look(monkeypatch, by):
    """Neither the search nor the witness looks at histories, or nobody waits or stays until there are enough."""
    monkeypatch.setattr("incrowd.ledger.outgoing.count_histories", lambda releases: 0)
    if by == "search":
        monkeypatch.setattr("incrowd.privacy.history.SharedHistory.threshold", 0)
    else:
        monkeypatch.setattr("incrowd.ledger.turnover.distinct_in", lambda groups, _: np.full(len(groups), 1_000_000))
    assert any("too few rows that could be theirs" in text for seed in range(12) for text in trial(seed)[1])


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
