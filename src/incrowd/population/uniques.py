"""How many people are alone in the population, estimated from a sample of it.

Being alone in the table is dangerous where one is alone in the population, too, and that cannot be counted, only
estimated. Two estimators with different assumptions are shown beside each other; each says when it does not apply.

Zayatz (1991) assumes that classes of the population have the sizes that classes of the sample have. It tends to say too
much for small sampling fractions, where large classes look small in the sample.

Pitman (Hoshino 2001) assumes that the classes come from Pitman's sampling formula, which fits many tables with a few
common and very many rare combinations. Both need a simple random sample.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from incrowd.table.grouping import Counts

PITMAN_UP_TO = Fraction(1, 10)  # the sampling fraction up to which Pitman errs less (simulations in docs/risk.md)
_ASSUMES = {
    "Zayatz": "a simple random sample; classes of the population have the sizes that those of the sample have",
    "Pitman": "a simple random sample; classes grow by Pitman's sampling formula: few common, very many rare ones",
}
_SEVERAL = "people are in several crowds, and each estimator takes them to be in one"
_TOO_HIGH = "often several times too high where the table is a tenth of the population or less"


@dataclass(frozen=True)
class Estimate:
    """People who are alone in the population, by one estimator.

    Args:
        estimator: Its name.
        assumes: What it rests on.
        uniques: How many people are alone; None where it does not apply.
        share: Of the population.
        chance: How likely a record that is alone in the table is alone in the population, too.
        reason: Why it does not apply; empty where it does.
        caution: What to keep in mind where it does; often empty.
    """

    estimator: str
    assumes: str
    uniques: float | None = None
    share: float | None = None
    chance: float | None = None
    reason: str = ""
    caution: str = ""

    @property
    def applies(self) -> bool:
        """Whether there is an estimate."""
        return self.uniques is not None

    def to_json(self) -> dict[str, Any]:
        """As JSON-able data."""
        return asdict(self)


@dataclass(frozen=True)
class Sample:
    """The sizes of the classes of a sample.

    Args:
        sizes: The sizes that occur, in ascending order.
        classes: How many classes have each.
        population: People that the sample was drawn from.
    """

    sizes: Counts
    classes: Counts
    population: int

    @classmethod
    def of(cls, sizes: Counts, population: int) -> Sample:
        """From the size of each class."""
        return cls(*np.unique(sizes, return_counts=True), population)

    @property
    def records(self) -> int:
        """Records in the sample."""
        return int(self.sizes @ self.classes)

    @property
    def number(self) -> int:
        """Classes in the sample."""
        return int(self.classes.sum())

    @property
    def uniques(self) -> int:
        """Records that are alone in the sample."""
        return int(self.classes[self.sizes == 1].sum())

    @property
    def fraction(self) -> Fraction:
        """The share of the population that is in the sample."""
        return Fraction(self.records, self.population)


def population_uniques(sample: Sample, *, apart: bool = True) -> tuple[Estimate, ...]:
    """All estimates, the one to prefer first: Pitman for small fractions where it applies, else Zayatz.

    Args:
        sample: The sizes of the classes.
        apart: Whether nobody is in several classes; else no estimator applies.
    """
    if not apart:
        return tuple(Estimate(name, _ASSUMES[name], reason=_SEVERAL) for name in ("Zayatz", "Pitman"))
    pitman, zayatz = _estimate("Pitman", sample, _pitman), _estimate("Zayatz", sample, _zayatz)
    return (pitman, zayatz) if sample.fraction <= PITMAN_UP_TO and pitman.applies else (zayatz, pitman)


def _estimate(name: str, sample: Sample, estimator: Callable[[Sample], float | str]) -> Estimate:
    if sample.records >= sample.population:
        found: float | str = "the table is the whole population: who is alone in it is counted, not estimated"
    elif not sample.uniques:
        found = "nobody is alone in the sample"
    else:
        found = estimator(sample)
    if isinstance(found, str):
        return Estimate(name, _ASSUMES[name], reason=found)
    uniques = min(found, float(sample.population))
    chance = min(1.0, uniques * float(sample.fraction) / sample.uniques)
    caution = _TOO_HIGH if name == "Zayatz" and sample.fraction <= PITMAN_UP_TO else ""
    return Estimate(name, _ASSUMES[name], uniques, uniques / sample.population, chance, caution=caution)


def _zayatz(sample: Sample) -> float | str:
    """Of the classes that show one record in the sample, those of one person in the population, by Bayes."""
    people, records = sample.population, sample.records
    shows_one = np.array([_shows_one(people, int(size), records) for size in sample.sizes])
    weights = sample.classes * shows_one
    chance = float(weights[sample.sizes == 1].sum()) / math.fsum(weights)
    return chance * sample.uniques / float(sample.fraction)


def _shows_one(people: int, size: int, records: int) -> float:
    """How likely just one of a class of some size is among records that are drawn without replacement."""
    if people - size < records - 1:
        return 0.0
    return math.exp(math.log(size) + _log_choose(people - size, records - 1) - _log_choose(people, records))


def _log_choose(number: int, chosen: int) -> float:
    return math.lgamma(number + 1) - math.lgamma(chosen + 1) - math.lgamma(number - chosen + 1)


def _pitman(sample: Sample) -> float | str:
    """The expected number of classes of one in a population by Pitman's formula with the likeliest parameters.

    By exchangeability it is N times the probability that the first person stays alone: the product over i = 1 .. N - 1
    of (theta + alpha + i - 1) / (theta + i).
    """
    if sample.number == sample.records:
        return "no two records of the sample are equal: the likelihood has no maximum"
    if sample.number == 1:
        return "all records of the sample are equal"
    found = pitman_parameters(sample)
    if found is None:
        return "the likelihood has no maximum within the model (0 < alpha < 1): the sample does not look like it"
    alpha, theta = found
    people = sample.population
    return people * math.exp(
        math.lgamma(theta + alpha + people - 1)
        - math.lgamma(theta + alpha)
        - math.lgamma(theta + people)
        + math.lgamma(theta + 1)
    )


def pitman_parameters(sample: Sample) -> tuple[float, float] | None:
    """The likeliest alpha and theta, or None where there is no maximum inside the model.

    For each alpha the likelihood equation of theta is solved by bisection; along those solutions the derivative by
    alpha is the partial one, and its root is found by bisection again.
    """
    lowest, highest = 1e-4, 1 - 1e-9
    if _slope_alpha(sample, lowest) <= 0 or _slope_alpha(sample, highest) >= 0:
        return None
    alpha = _root(lambda value: _slope_alpha(sample, value), lowest, highest)
    return alpha, _theta(sample, alpha)


def pitman_of_column(sample: Sample) -> tuple[float, float]:
    """Alpha and theta for the values of one column, whatever they are like.

    Where nobody is alone with a value, rare ones do not matter: both are 0. Where the likelihood rises towards alpha =
    0, it is Ewens's formula; where all values differ, nothing is known but that they are rare: alpha is close to 1.
    """
    if not sample.uniques or sample.number == 1:
        return 0.0, 0.0
    if sample.number == sample.records:
        return 0.999, float(sample.records)
    return pitman_parameters(sample) or (0.0, max(0.0, _theta(sample, 1e-4)))


def _slope_alpha(sample: Sample, alpha: float) -> float:
    """The derivative of the log-likelihood by alpha, where theta is the likeliest one for it."""
    theta = _theta(sample, alpha)
    more = sample.number - 1
    classes = (more - theta * _reciprocals(theta / alpha + 1, more) / alpha) / alpha
    within = [
        number * _reciprocals(1 - alpha, size - 1)
        for size, number in zip(sample.sizes.tolist(), sample.classes.tolist(), strict=True)
    ]
    return classes - math.fsum(within)


def _theta(sample: Sample, alpha: float) -> float:
    """The likeliest theta for one alpha: sum over classes of 1 / (theta + i alpha) = sum over records 1 / (theta + i).

    The left side is infinite where theta is -alpha, and the smaller one for large theta, as there are fewer classes
    than records.
    """

    def slope(exponent: float) -> float:
        theta = math.exp(exponent) - alpha
        classes = _reciprocals(theta / alpha + 1, sample.number - 1) / alpha
        return classes - _reciprocals(theta + 1, sample.records - 1)

    return math.exp(_root(slope, math.log(1e-12), math.log(1e15))) - alpha


def _reciprocals(start: float, terms: int) -> float:
    """The sum of 1 / (start + i) over i = 0 .. terms - 1: the first ones one by one, the rest by Euler-Maclaurin."""
    apart = min(terms, 12)
    total = math.fsum(1 / (start + i) for i in range(apart))
    if terms > apart:
        low, high = start + apart, start + terms
        total += math.log1p((terms - apart) / low) + (1 / low - 1 / high) / 2
        total += (1 / low**2 - 1 / high**2) / 12 - (1 / low**4 - 1 / high**4) / 120
    return total


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """Where a function that is positive at `low` and negative at `high` changes its sign, by bisection."""
    for _ in range(100):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        if function(middle) > 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2
