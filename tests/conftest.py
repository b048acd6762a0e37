"""What tests draw: the same examples and keys every time, so that a run has one verdict; fresh examples to fuzz.

`make test` and `make check` differ in how much they try: see `tests/examples.py`.
"""

import os
import signal

import pytest
from hypothesis import HealthCheck, Phase, settings

from incrowd.key import Key

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]
SAME = {"derandomize": True, "deadline": None, "database": None, "suppress_health_check": SLOW}

settings.register_profile("test", **SAME)
settings.register_profile("check", **SAME)
settings.register_profile(
    "fuzz",
    derandomize=False,
    deadline=None,
    database=None,
    print_blob=True,
    suppress_health_check=SLOW,
    phases=(Phase.explicit, Phase.generate, Phase.target, Phase.shrink),
)
settings.load_profile(os.environ.get("INCROWD_HYPOTHESIS", "test"))


def pytest_configure():
    """Signals mean what they mean in the foreground, though `nohup` or a shell ignores them; children inherit that.

    What is ignored stays ignored in a child, what is handled does not. So a handler that does nothing keeps this
    process alive and lets its children be ended.
    """
    for number, handler in (
        (signal.SIGINT, signal.default_int_handler),
        (signal.SIGTERM, lambda *_: None),
        (signal.SIGHUP, lambda *_: None),
    ):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, handler)


@pytest.fixture(autouse=True)
def one_key(request, monkeypatch):
    """Releases in tests are made with one known key, so that a run has one verdict; `real_keys` asks for drawn ones."""
    if "real_keys" not in request.keywords:
        monkeypatch.setattr(Key, "drawn", classmethod(lambda cls: Key.for_experiments(0)))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """Text is as wide as where there is no terminal, whatever one the tests were started from, or a library set.

    Before any fixture, since those of a module may start programs too.
    """
    os.environ.pop("COLUMNS", None)
