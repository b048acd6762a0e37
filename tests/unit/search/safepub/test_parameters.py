"""The share of records that is drawn, and the crowd that it takes, beside the published ones and the definition."""

import csv
from fractions import Fraction
from math import comb, exp

import pytest
from tests.shared_data import SHARED_DATA, needs_shared_data

from incrowd.errors import NotAnonymousError, PolicyError
from incrowd.search.safepub.parameters import parameters_of
from incrowd.verification.guarantee import Guarantee, delta_of


@needs_shared_data
def test_they_are_the_published_ones():
    """Shares are those of ARX, rounded down less: by at most 2^-60 of what they could be, and above ARX's."""
    with (SHARED_DATA / "safepub_parameters.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 30
    for row in rows:
        found = parameters_of(Fraction(row["epsilon"]), Fraction(row["delta"]))
        assert found.k == int(row["k"])
        assert 0 <= found.beta - Fraction(row["beta"]) < Fraction(1, 10**15)
        assert found.delta <= Fraction(row["delta"])


def by_formula(epsilon, delta):
    """The smallest k from the formula as it stands, in floats, up to classes of 200."""
    beta = 1 - exp(-epsilon)
    gamma = (exp(epsilon) - 1 + beta) / exp(epsilon)

    def tail(n):
        return sum(comb(n, j) * beta**j * (1 - beta) ** (n - j) for j in range(int(gamma * n) + 1, n + 1))

    tails = [tail(n) for n in range(200)]
    return next(k for k in range(1, 100) if max(tails[n] for n in range(1, 200) if n + 1 >= k / gamma) <= delta)


@pytest.mark.parametrize(("epsilon", "delta"), [("0.3", "0.1"), ("1", "0.03"), ("1", "0.001"), ("1.7", "0.2")])
def test_they_are_those_of_the_formula(epsilon, delta):
    assert parameters_of(Fraction(epsilon), Fraction(delta)).least == by_formula(float(epsilon), float(delta))


@pytest.mark.parametrize("epsilon", ["0.1", "1", "3"])
def test_the_share_is_as_large_as_it_may_be_and_no_larger(epsilon):
    beta = parameters_of(Fraction(epsilon), Fraction("0.01")).beta
    assert 1 - beta > Fraction(exp(-float(epsilon))) * (1 - Fraction(1, 2**50))
    assert float(beta) == pytest.approx(1 - exp(-float(epsilon)), rel=1e-15)


@pytest.mark.parametrize(("epsilon", "delta"), [("0.01", "1e-300"), ("6", "1e-9")])
def test_what_would_release_nobody_is_refused(epsilon, delta):
    with pytest.raises(PolicyError, match=r"next to nobody could be released. Choose an epsilon from 0.02 to 5"):
        parameters_of(Fraction(epsilon), Fraction(delta))


@pytest.mark.parametrize(("epsilon", "delta"), [("0.5", "0.001"), ("1", "0.1"), ("2", "1e-5")])
def test_the_witness_finds_by_the_definition_that_they_keep_the_promise(epsilon, delta):
    found = parameters_of(Fraction(epsilon), Fraction(delta))
    assert delta_of(float(epsilon), float(found.beta), found.least) <= float(delta)


def test_the_witness_counts_the_definition():
    """A class of two, k = 2: both drawn has probability beta^2, and without one of them never happens."""
    assert delta_of(1.0, 0.6, 2) == pytest.approx(0.36)
    assert delta_of(1.0, 0.7, 2) == 1  # drawn more often than 1 - 1/e


@pytest.mark.parametrize("wrong", [{"k": 5}, {"sampled": 0.64}, {"epsilon_of_choice": 0.5}])
def test_the_witness_refuses_what_does_not_keep_it(wrong):
    said = {"epsilon": 1.0, "delta": 0.07, "epsilon_of_choice": 0.0, "sampled": 0.632, "k": 6}
    assert Guarantee(**said).require() == Guarantee(**said)
    with pytest.raises(NotAnonymousError, match=r"not differentially private with epsilon 1: delta is .*, not 0.07"):
        Guarantee(**{**said, **wrong}).require()
