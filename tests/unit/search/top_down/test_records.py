"""What the search reads: no more than it has to, and the same steps come of it."""

from unittest.mock import patch

import numpy as np
from tests.reference.problem import Column, Problem

from incrowd.policy.policy import QuasiIdentifier
from incrowd.search.top_down.bundles import Bundle
from incrowd.search.top_down.records import merged


class TestMerged:
    def test_equal_records_are_one_with_their_weights(self):
        columns = [np.arange(40_000) % 7, np.arange(40_000) % 3]
        found, weights = merged(columns, [7, 3], None)
        rows = [(a, b) for a in range(7) for b in range(3)]
        assert list(zip(*(column.tolist() for column in found), strict=True)) == rows
        assert weights.tolist() == [np.count_nonzero((columns[0] == a) & (columns[1] == b)) for a, b in rows]

    def test_weights_add_up(self):
        _, weights = merged([np.zeros(20_000, np.uint8)], [1], np.full(20_000, 3.0))
        assert weights.tolist() == [60_000]

    def test_records_that_are_few_or_distinct_stay(self):
        assert merged([np.zeros(100, np.uint8)], [1], None) is None
        assert merged([np.arange(40_000)], [40_000], None) is None


def test_an_attribute_that_gains_nothing_is_not_looked_at_while_another_has_something_to_gain():
    telling = Column("telling", tuple(range(64)) * 4, "number")
    silent = Column("silent", tuple("abcd"[place // 64] for place in range(256)), "flat")
    labels = tuple("yes" if value % 8 < 4 else "no" for value in telling.values)
    problem = Problem((telling, silent), labels, (QuasiIdentifier(["telling", "silent"], 4),))
    observe, looked = Bundle.observe, []

    def noted(self, requirement, changed):
        looked.extend(self.attributes)
        observe(self, requirement, changed)

    with patch.object(Bundle, "observe", noted):
        steps = problem.steps("gain")
    performed = [step.attribute for step in steps]
    assert performed.count("telling") > 8
    assert looked.count(1) <= performed.count("silent") + 1
