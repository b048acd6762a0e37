"""What several unit tests work with."""

import signal

import pytest


@pytest.fixture
def workplace(tmp_path, monkeypatch):
    """A folder of its own to work in. A command changes what a signal does; that is undone."""
    monkeypatch.chdir(tmp_path)
    before = signal.getsignal(signal.SIGTERM)
    yield tmp_path
    signal.signal(signal.SIGTERM, before)
