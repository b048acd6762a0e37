"""What several unit tests work with."""

import signal

import pytest


@pytest.fixture
def workplace(tmp_path, monkeypatch):
    """A folder of its own to work in. A command answers signals in its own way while it runs, and no longer."""
    monkeypatch.chdir(tmp_path)
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield tmp_path
    assert {number: signal.getsignal(number) for number in before} == before
