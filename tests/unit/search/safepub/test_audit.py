"""What many releases of neighbouring tables prove is never above the claim, and is where the method is broken."""

from dataclasses import replace

import pytest
from benchmarks.differential_privacy import TABLES, audited
from tests.examples import EFFORT

from incrowd.search.safepub import safepub
from incrowd.search.safepub.parameters import BITS, parameters_of

RUNS = 1_000 if EFFORT == "test" else 10_000


@pytest.mark.parametrize(("counts", "level"), TABLES)
def test_no_more_is_proven_than_is_claimed(counts, level):
    assert audited(counts, level, 10, 1.0, 0.1, RUNS // 2) <= 1


def with_parameters(monkeypatch, **wrong):
    def broken(epsilon, delta):
        return replace(parameters_of(epsilon, delta), **wrong)

    monkeypatch.setattr(safepub, "parameters_of", broken)


def test_a_crowd_that_is_one_too_small_is_found(monkeypatch):
    """With delta 0.26 the definition takes 3; a class of 2 is released with probability 0.4, one of 1 never."""
    with_parameters(monkeypatch, least=1)
    assert audited({"a": 3}, 0, 3, 1.0, 0.26, RUNS) <= 1
    assert audited({"a": 2}, 0, 2, 1.0, 0.26, RUNS) > 1


def test_a_sample_of_everyone_is_found(monkeypatch):
    with_parameters(monkeypatch, threshold=2**BITS - 1)
    assert audited({"a": 12}, 0, 10, 1.0, 0.1, RUNS) > 1


def test_a_choice_that_ignores_its_epsilon_is_found(monkeypatch):
    """One record decides whether two classes or one of both together keep more."""
    counts = {"a": 27, "b": 26}
    assert audited(counts, None, 10, 1.0, 0.1, RUNS) <= 1
    monkeypatch.setattr(safepub.Draws, "chosen", lambda _, scores, *__: scores.index(max(scores)))
    assert audited(counts, None, 10, 1.0, 0.1, RUNS) > 1
