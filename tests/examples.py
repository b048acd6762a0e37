"""How much is tried: a part of the examples and combinations in `make test`, all in `make check`, more in `make fuzz`.

INCROWD_HYPOTHESIS says which: test (the default), check or fuzz.
"""

import itertools
import os
from math import ceil

import pytest
from hypothesis import settings

EFFORT = os.environ.get("INCROWD_HYPOTHESIS", "test")
MORE = 10 if EFFORT == "fuzz" else 1
PART = 1 if EFFORT != "test" else 0.5


def examples(number):
    """Settings for that many examples, half of them in `make test`."""
    return settings(max_examples=ceil(number * PART) * MORE, deadline=None)


def paired(*choices):
    """Some combinations of choices, in which any two choices of different lists meet; all of them in `make check`.

    Greedy: the combination comes next that has most pairs that have not met.
    """
    every = list(itertools.product(*map(range, map(len, choices))))
    if EFFORT == "test":
        missing = {pair for combination in every for pair in _pairs(combination)}
        taken = []
        while missing:
            best = max(every, key=lambda combination: len(missing & _pairs(combination)))
            missing -= _pairs(best)
            taken.append(best)
        every = sorted(taken)
    return [tuple(values[place] for values, place in zip(choices, combination, strict=True)) for combination in every]


def _pairs(combination):
    return set(itertools.combinations(enumerate(combination), 2))


def spread(*choices):
    """Combinations of choices, in which every choice occurs as often as others of its list; all in `make check`."""
    if EFFORT == "test":
        longest = max(map(len, choices))
        return [tuple(values[number % len(values)] for values in choices) for number in range(longest)]
    return list(itertools.product(*choices))


check = pytest.mark.skipif(EFFORT == "test", reason="only in make check")


def some_of(choices, number, place):
    """This many of a list, spread over it; where they begin depends on the place."""
    number = min(number, len(choices))
    return [choices[(place + index * len(choices) // number) % len(choices)] for index in range(number)]
