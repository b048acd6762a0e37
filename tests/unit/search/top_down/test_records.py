"""What the search reads: no more than it has to, and the same steps come of it."""

from unittest.mock import patch

import numpy as np
import pytest
from tests.reference.problem import Column, Problem

from incrowd.policy.policy import QuasiIdentifier
from incrowd.search.top_down.bundles import Bundle, Watcher
from incrowd.search.top_down.groups import Grouping
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


class Looking:
    """A bundle that notes what it is shown."""

    def __init__(self):
        self.seen = []

    def observe(self, requirement, groups):
        rows = range(len(groups.numbers)) if isinstance(groups.rows, slice) else groups.rows.tolist()
        self.seen.append(dict(zip(rows, groups.numbers.tolist(), strict=True)))


class TestWatcher:
    @pytest.fixture
    def grouping(self):
        return Grouping(40, None)

    def split(self, grouping, watcher, rows, children):
        split = grouping.tried(np.array(rows), np.array(children), 2)
        grouping.perform(split)
        watcher.notify(split.changed)

    def test_it_looks_when_asked_and_only_if_something_changed(self, grouping):
        watcher = Watcher(bundle := Looking(), 0, grouping)
        assert not watcher.look()
        watcher.notify(grouping.everyone())
        assert bundle.seen == []
        assert watcher.look()
        assert not watcher.look()
        assert len(bundle.seen) == 1

    def test_of_several_changes_it_sees_the_groups_as_they_are_now(self, grouping):
        watcher = Watcher(bundle := Looking(), 0, grouping)
        self.split(grouping, watcher, range(40), [row >= 12 for row in range(40)])
        watcher.look()
        self.split(grouping, watcher, range(12), [row % 2 for row in range(12)])
        self.split(grouping, watcher, range(0, 12, 2), [row >= 3 for row in range(6)])
        assert watcher.look()
        seen = bundle.seen[-1]
        assert set(seen) == set(range(12))
        together = {}
        for row, number in seen.items():
            together.setdefault(number, set()).add(row)
        assert sorted(map(sorted, together.values())) == [[0, 2, 4], [1, 3, 5, 7, 9, 11], [6, 8, 10]]

    def test_what_waits_does_not_grow_beyond_the_records(self, grouping):
        watcher = Watcher(Looking(), 0, grouping)
        for _ in range(100):
            watcher.notify(grouping.everyone())
        assert len(watcher._unseen) == 1


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
