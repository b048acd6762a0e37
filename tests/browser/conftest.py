"""A real Chromium for each group of tests. It is gone afterwards: while it runs, no other event loop can."""

import pytest
from tests import chromium as browsers


@pytest.fixture(scope="module")
def chromium():
    if browsers.path() is None:
        pytest.skip("no Chromium; install one, or set INCROWD_CHROMIUM to its path")
    with browsers.launched() as browser:
        yield browser
