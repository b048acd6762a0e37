"""A hundred releases without a leak: how often attacks raise an alarm nevertheless."""

from tests.unit.attacks.test_ten_leaks import alarms

CONTROLS = 100


def test_all_attacks_together_raise_at_most_five_alarms_on_a_hundred_safe_releases():
    counts = alarms(range(CONTROLS))
    assert sum(counts.values()) <= CONTROLS * 0.05, counts
