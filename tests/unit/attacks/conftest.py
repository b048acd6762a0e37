"""What tests of attacks have in common."""

import pytest

from incrowd.attacks import inference, learners


@pytest.fixture
def without_trees(monkeypatch):
    """As where scikit-learn is not installed: many tables are played on sooner. tests/faults plays with trees."""
    monkeypatch.setattr(learners, "has_trees", lambda: False)
    monkeypatch.setattr(inference, "has_trees", lambda: False)
