"""What tests draw: the same examples and keys every time, so that a run has one verdict; fresh examples to fuzz."""

import os

import pytest
from hypothesis import HealthCheck, Phase, settings

from incrowd.key import Key

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]

settings.register_profile("one-verdict", derandomize=True, deadline=None, database=None, suppress_health_check=SLOW)
settings.register_profile(
    "fuzz",
    derandomize=False,
    deadline=None,
    database=None,
    print_blob=True,
    suppress_health_check=SLOW,
    phases=(Phase.explicit, Phase.generate, Phase.target, Phase.shrink),
)
settings.load_profile(os.environ.get("INCROWD_HYPOTHESIS", "one-verdict"))


@pytest.fixture(autouse=True)
def one_key(request, monkeypatch):
    """Releases in tests are made with one known key, so that a run has one verdict; `real_keys` asks for drawn ones."""
    if "real_keys" not in request.keywords:
        monkeypatch.setattr(Key, "drawn", classmethod(lambda cls: Key.for_experiments(0)))
