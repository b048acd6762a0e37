"""How many examples Hypothesis tries: a fixed number by default, ten times as many when fuzzing."""

import os

from hypothesis import settings

MORE = 10 if os.environ.get("INCROWD_HYPOTHESIS") == "fuzz" else 1


def examples(number):
    """Settings for that many examples."""
    return settings(max_examples=number * MORE, deadline=None)
