"""A hundred releases without a leak: how often attacks raise an alarm nevertheless."""

import numpy as np
import pytest
from tests.unit.attacks.safe_releases import SAFE, alarms_of
from tests.unit.attacks.safe_secrets import nearly_certain_for_some, two_together
from tests.unit.attacks.test_ten_leaks import alarms, people, played, safe

CONTROLS = 100


def test_all_attacks_together_raise_at_most_five_alarms_on_a_hundred_safe_releases():
    counts = alarms(range(CONTROLS))
    assert sum(counts.values()) <= CONTROLS * 0.05, counts


@pytest.mark.parametrize("secret", [two_together, nearly_certain_for_some])
def test_what_follows_from_quasi_identifiers_anyway_raises_at_most_five_alarms(secret):
    found = []
    for seed in range(CONTROLS):
        table = people(seed)
        table["ill"] = secret(table, np.random.default_rng([seed, 7]))
        only = ["inference", "homogeneity", "skewness", "definetti", "left-out"]
        found += [result.attack.name for result in played(table, safe(table), only=only, seed=seed).leaks]
    assert len(found) <= CONTROLS * 0.05, found


@pytest.mark.parametrize("kind", SAFE, ids=lambda kind: kind.__name__)
def test_attacks_on_what_few_tables_have_raise_at_most_five_alarms(kind):
    found = alarms_of(kind, range(CONTROLS))
    assert len(found) <= CONTROLS * 0.05, found
