"""How Hypothesis draws: the same examples every time by default, so that a run has one verdict; fresh ones to fuzz."""

import os

from hypothesis import HealthCheck, Phase, settings

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
