"""Estimators of population uniqueness, on populations whose truth is known.

The stated errors are relative to the number of people who are alone in a population of 30,000.
"""

import numpy as np
import pytest

from incrowd.population.uniqueness import Sample, pitman_parameters, population_uniques

PEOPLE = 30_000


def pitman_population(alpha, theta, random):
    """People by Pitman's formula: each joins a class with weight size - alpha, or founds one with theta + alpha K."""
    class_of, sizes = np.empty(PEOPLE, int), []
    for person in range(PEOPLE):
        if random.random() < (theta + alpha * len(sizes)) / (theta + person):
            joined = len(sizes)
            sizes.append(0)
        else:
            joined = class_of[random.integers(person)]
            while random.random() >= (sizes[joined] - alpha) / sizes[joined]:
                joined = class_of[random.integers(person)]
        class_of[person] = joined
        sizes[joined] += 1
    return class_of


def negative_binomial_population(shape, mean, random):
    classes = round(PEOPLE / mean)
    return np.repeat(np.arange(classes), random.poisson(random.gamma(shape, mean / shape, classes)))


def sample_of(class_of, fraction, random):
    sizes = np.bincount(random.choice(class_of, round(len(class_of) * fraction), replace=False))
    return Sample.of(sizes[sizes > 0], len(class_of))


def alone(class_of):
    return int((np.bincount(class_of) == 1).sum())


def estimates(sample):
    return {estimate.estimator: estimate for estimate in population_uniques(sample)}


@pytest.mark.parametrize(("alpha", "theta"), [(0.3, 50), (0.5, 500), (0.8, 10)])
def test_pitman_finds_the_uniques_of_its_own_populations(alpha, theta):
    """Within 20 % on average over five samples of a tenth, and the parameters with it."""
    random = np.random.default_rng(7)
    class_of = pitman_population(alpha, theta, random)
    samples = [sample_of(class_of, 0.1, random) for _ in range(5)]
    found = [estimates(sample)["Pitman"].uniques for sample in samples]
    assert np.mean(found) == pytest.approx(alone(class_of), rel=0.2)
    assert np.mean([pitman_parameters(sample)[0] for sample in samples]) == pytest.approx(alpha, abs=0.1)


@pytest.mark.parametrize(("shape", "mean"), [(0.05, 5), (0.1, 2)])
def test_zayatz_on_negative_binomial_populations(shape, mean):
    """Within 20 % for samples of half of the population; for smaller ones it says too much."""
    random = np.random.default_rng(7)
    class_of = negative_binomial_population(shape, mean, random)
    half = np.mean([estimates(sample_of(class_of, 0.5, random))["Zayatz"].uniques for _ in range(5)])
    assert half == pytest.approx(alone(class_of), rel=0.2)
    small = estimates(sample_of(class_of, 0.02, random))["Zayatz"]
    assert small.uniques > alone(class_of)
    assert "too high" in small.caution


def test_the_likelihood_has_its_maximum_there():
    """No neighbour of the parameters that were found is likelier."""
    random = np.random.default_rng(3)
    sample = sample_of(pitman_population(0.5, 100, random), 0.1, random)

    def likelihood(alpha, theta):
        classes = np.log(theta + alpha * np.arange(1, sample.number)).sum()
        records = np.log(theta + np.arange(1, sample.records)).sum()
        within = [n * np.log(np.arange(1, s) - alpha).sum() for s, n in zip(sample.sizes, sample.classes, strict=True)]
        return classes - records + sum(within)

    alpha, theta = pitman_parameters(sample)
    best = likelihood(alpha, theta)
    for other in ((alpha + 0.01, theta), (alpha - 0.01, theta), (alpha, theta * 1.05), (alpha, theta * 0.95)):
        assert likelihood(*other) < best


@pytest.mark.parametrize(
    ("sizes", "people", "reason"),
    [
        ([1, 1, 2, 3], 7, "whole population"),
        ([2, 2, 3], 70, "nobody is alone"),
    ],
)
def test_where_no_estimator_applies(sizes, people, reason):
    for estimate in population_uniques(Sample.of(np.array(sizes), people)):
        assert not estimate.applies
        assert reason in estimate.reason


@pytest.mark.parametrize(
    ("sizes", "reason"),
    [([1] * 20, "no two records"), ([1], "no two records"), ([5] * 30 + [1], "no maximum")],
)
def test_where_pitman_does_not_apply(sizes, reason):
    found = estimates(Sample.of(np.array(sizes), 10_000))
    assert reason in found["Pitman"].reason
    assert found["Zayatz"].applies


def test_pitman_comes_first_for_small_fractions_only():
    random = np.random.default_rng(1)
    class_of = pitman_population(0.5, 100, random)
    for fraction, first in (0.05, "Pitman"), (0.4, "Zayatz"):
        assert population_uniques(sample_of(class_of, fraction, random))[0].estimator == first
