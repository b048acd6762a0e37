"""Estimators of population uniqueness and risks of a table, worked out by hand from the papers' definitions."""

from fractions import Fraction

import numpy as np
import pytest
from tests.reference import table_risk as reference

from incrowd.population.uniqueness import Sample, dankar, estimate, pitman_parameters
from incrowd.privacy.table_risk import AverageRisk, PopulationUniqueness, SampleUniqueness
from incrowd.verification.uniqueness import share_alone


def sizes(**numbers):
    """Classes: `three=2` are two classes of three."""
    of = {"one": 1, "two": 2, "three": 3, "four": 4, "eight": 8}
    return np.array([of[name] for name, number in numbers.items() for _ in range(number)])


def test_zayatz():
    """4 of 10 people, in classes of 1, 1 and 2.

    A class of one shows one record with probability 4/10, one of two with 2 C(8, 3) / C(10, 4) = 8/15. So a class that
    shows one is one of one with probability 2 (4/10) / (2 (4/10) + 8/15) = 3/5: of the two records that are alone 6/5
    are in the population, of 10/4 times as many people 3.
    """
    found = estimate("Zayatz", Sample.of(sizes(one=2, two=1), 10))
    assert found.uniques == pytest.approx(3)
    assert reference.zayatz([1, 1, 2], 10) == 3
    assert share_alone(sizes(one=2, two=1), 0.4, "zayatz") == pytest.approx(0.3)


def test_pitman():
    """Hoshino's formula: with the likeliest parameters, N times the probability that the first person stays alone."""
    given = sizes(one=12, two=4, three=2, four=1, eight=1)
    sample = Sample.of(given, 400)
    alpha, theta = pitman_parameters(sample)
    best = reference.pitman_likelihood(given.tolist(), alpha, theta)
    for step in (0.999, 1.001):
        assert reference.pitman_likelihood(given.tolist(), alpha * step, theta) < best
        assert reference.pitman_likelihood(given.tolist(), alpha, theta * step) < best
    uniques = reference.pitman_uniques(alpha, theta, 400)
    assert estimate("Pitman", sample).uniques == pytest.approx(uniques)
    assert share_alone(given, 38 / 400, "pitman") == pytest.approx(uniques / 400, rel=1e-6)


def test_snb():
    """Half of 40 people, in classes of 1 (8 times), 2 (twice) and 8.

    Shlosser's estimator as Haas and Stokes changed it has 11 + 8 a / b (c / d)^2 classes, where with 1/2 and 1/4 for
    the fraction and its square
    a = 8 (1/4) + 2 (2/4) (3/4) + 8/4 (3/4)^7, b = 8 (3/4 - 1/2) + 2 (9/16 - 1/4) + (3/4)^8 - (1/2)^8,
    c = 8/2 + 2/4 + 1/256, d = 8/2 + 2 (2/2) (1/2) + 8/2 (1/2)^7.
    """
    given = sizes(one=8, two=2, eight=1)
    a = 8 / 4 + 2 * 2 / 4 * 3 / 4 + 8 / 4 * 0.75**7
    b = 8 * (3 / 4 - 1 / 2) + 2 * (9 / 16 - 1 / 4) + 0.75**8 - 0.5**8
    c, d = 8 / 2 + 2 / 4 + 1 / 256, 8 / 2 + 2 * 2 / 2 / 2 + 8 / 2 * 0.5**7
    classes = 11 + 8 * a / b * (c / d) ** 2
    found = estimate("SNB", Sample.of(given, 40)).uniques
    alpha, beta = _snb_parameters(classes, 0.5)
    assert found == pytest.approx(classes * beta**alpha, rel=1e-6)
    assert share_alone(given, 0.5, "snb") == pytest.approx(found / 40)


def _snb_parameters(classes, fraction):
    """The parameters by which that many classes should show 8 single records and 2 pairs; found on ever finer grids."""
    alpha, beta, step = 1.0, 0.5, 4.0

    def error(alpha, beta):
        shown = [classes * reference.snb_shows(records, alpha, beta, fraction) for records in (1, 2)]
        return (shown[0] / 8 - 1) ** 2 + (shown[1] / 2 - 1) ** 2

    while step > 1 + 1e-9:
        odds = beta / (1 - beta)
        around = [(alpha * step**i, (odds * step**j) / (1 + odds * step**j)) for i in (-1, 0, 1) for j in (-1, 0, 1)]
        best = min(around, key=lambda pair: error(*pair))
        step = step if best != (alpha, beta) else step**0.5
        alpha, beta = best
    assert error(alpha, beta) < 1e-12
    return alpha, beta


@pytest.mark.parametrize(
    ("people", "more", "chosen"), [(380, 0, "Pitman"), (379, 0, "SNB"), (60, 0, "SNB"), (300, 7, "Zayatz")]
)
def test_dankar_takes_pitman_up_to_a_tenth_and_else_the_smaller_one(people, more, chosen):
    given = sizes(one=12, two=4, three=2, four=1, eight=1 + more)
    sample = Sample.of(given, people)
    snb, zayatz = estimate("SNB", sample), estimate("Zayatz", sample)
    assert chosen == "Pitman" or (chosen == "SNB") == (snb.uniques <= zayatz.uniques)
    assert dankar(sample).estimator == chosen
    assert share_alone(given, sample.records / people, "dankar") == pytest.approx(dankar(sample).share, rel=1e-6)


def test_dankar_falls_back_to_zayatz():
    """No pair, so SNB has nothing to fit; no maximum of Pitman's likelihood, since all records differ."""
    assert dankar(Sample.of(sizes(one=6, four=1), 20)).estimator == "Zayatz"
    assert dankar(Sample.of(sizes(one=6), 600)).estimator == "Zayatz"


def test_average_risk_is_classes_by_records():
    """El Emam's strict average risk: ten records in crowds of 1, 1, 4 and 4 are found with 4/10 on average."""
    given = sizes(one=2, four=2)
    assert reference.average_risk(reference.rows_of(given.tolist())) == Fraction(4, 10)
    assert AverageRisk(0.4).holds(given)
    assert not AverageRisk(0.399).holds(given)
    assert SampleUniqueness(0.2).holds(given)
    assert not SampleUniqueness(0.199).holds(given)


def test_an_estimator_that_does_not_apply_keeps_no_promise():
    given = sizes(one=6)
    assert not PopulationUniqueness(0.999, 0.01, "pitman").holds(given)
    assert share_alone(given, 0.01, "pitman") == float("inf")
    assert PopulationUniqueness(0.5, 0.01, "pitman").holds(sizes(two=3))  # nobody is alone, whatever an estimator says
    assert not PopulationUniqueness(0.5, 1, "pitman").holds(sizes(one=3, two=1))  # counted: 3 of 5
