"""A real Chromium for each group of tests. It is gone afterwards: while it runs, no other event loop can."""

import pytest
from tests import chromium as browsers


@pytest.fixture(scope="module")
def chromium():
    if browsers.path() is None:
        pytest.skip("no Chromium; install one, or set INCROWD_CHROMIUM to its path")
    with browsers.launched() as browser:
        yield browser


@pytest.fixture
def process(running):
    """The process of the studio that a module has running."""
    return running[0]


@pytest.fixture
def page(running):
    """The page of that studio, the same for all tests of the module."""
    return running[1]
