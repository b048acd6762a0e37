"""Draws have the probabilities that they should: counted, with room for chance that fails once in millions."""

from fractions import Fraction
from math import exp, sqrt

import numpy as np
import pytest

from incrowd.run import Run
from incrowd.search.safepub.draws import Draws

RUNS = 4_000


def is_about(hits, runs, probability):
    return abs(hits - runs * probability) <= 5.5 * sqrt(runs * probability * (1 - probability)) + 1


@pytest.mark.parametrize("exponent", ["0", "0.3", "1", "2.5"])
def test_a_chance_falls_exponentially(exponent):
    draws = Draws(b"exponential")
    hits = sum(draws.exponential(Fraction(exponent)) for _ in range(RUNS))
    assert is_about(hits, RUNS, exp(-float(exponent)))


def test_a_number_below_a_limit_is_any_of_them():
    draws = Draws(b"below")
    found = np.bincount([draws.below(5) for _ in range(RUNS)], minlength=5)
    assert len(found) == 5
    assert all(is_about(hits, RUNS, 0.2) for hits in found)


def test_a_better_score_is_more_likely_by_its_exponential():
    draws = Draws(b"chosen")
    found = np.bincount([draws.chosen([0, 3, 1], Fraction(1, 2), Run()) for _ in range(RUNS)], minlength=3)
    weights = [1, exp(1.5), exp(0.5)]
    assert all(is_about(hits, RUNS, weight / sum(weights)) for hits, weight in zip(found, weights, strict=True))


def test_records_are_drawn_one_by_one(monkeypatch):
    monkeypatch.setattr("incrowd.search.safepub.draws._BLOCK", 1000)  # records of one tuple lie in several blocks
    counts = np.array([3, 0, 2500, 1500])
    drawn = Draws(b"sample").sampled(counts, 2**62)
    assert (drawn <= counts).all()
    assert is_about(drawn[2], 2500, 0.25)
    assert is_about(drawn[3], 1500, 0.25)
    assert (Draws(b"sample").sampled(counts, 2**62) == drawn).all()
    assert Draws(b"other").sampled(counts, 2**62).tolist() != drawn.tolist()
    assert Draws(b"sample").sampled(counts, 0).sum() == 0
