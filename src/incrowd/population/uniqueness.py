"""How many people are alone in the population, estimated from the sizes of the classes of a sample.

Being alone in the table is dangerous for whoever is alone in the population, too, and that cannot be counted, only
estimated. Each estimator has its own assumptions, and says when it does not apply. All need a simple random sample.

Zayatz (1991) assumes that classes of the population have the sizes that classes of the sample have. It tends to say too
much for small sampling fractions, where large classes look small in the sample.

Pitman (Hoshino 2001) assumes that the classes come from Pitman's sampling formula, which fits many tables with a few
common and very many rare combinations.

SNB (Chen and McNulty 1998) assumes that the size of a class of the population is 1 plus a negative binomial number. How
many classes there are comes from Shlosser's estimator as Haas and Stokes (1998) changed it; the two parameters from the
classes of one and of two records that the sample should then have.

Dankar (Dankar, El Emam, Neisa and Roffey 2012) chooses: Pitman for sampling fractions up to a tenth, the smaller one of
SNB and Zayatz for larger ones; Zayatz where these do not apply.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from incrowd.table.grouping import Counts

PITMAN_UP_TO = Fraction(1, 10)  # the sampling fraction up to which Pitman errs less (simulations in docs/risk.md)
_ASSUMES = {
    "Zayatz": "a simple random sample; classes of the population have the sizes that those of the sample have",
    "Pitman": "a simple random sample; classes grow by Pitman's sampling formula: few common, very many rare ones",
    "SNB": "a simple random sample; sizes of the population's classes are 1 plus negative binomial numbers",
}
_SEVERAL = "people are in several crowds, and each estimator takes them to be in one"
_TOO_HIGH = "often several times too high where the table is a tenth of the population or less"


@dataclass(frozen=True)
class Estimate:
    """People who are alone in the population, by one estimator.

    Args:
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
        return self.uniques is not None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Sample:
    """The sizes of the classes of a sample, ascending, how many classes have each, and the size of its population."""

    sizes: Counts
    classes: Counts
    population: int

    @classmethod
    def of(cls, sizes: Counts, population: int) -> Sample:
        import numpy as np

        return cls(*np.unique(sizes, return_counts=True), population)

    @property
    def records(self) -> int:
        return int(self.sizes @ self.classes)

    @property
    def number(self) -> int:
        return int(self.classes.sum())

    @property
    def uniques(self) -> int:
        return self.of_size(1)

    def of_size(self, size: int) -> int:
        """How many classes have so many records."""
        return int(self.classes[self.sizes == size].sum())

    @property
    def fraction(self) -> Fraction:
        return Fraction(self.records, self.population)


def population_uniques(sample: Sample, *, apart: bool = True) -> tuple[Estimate, ...]:
    """All estimates, the one to prefer first: Pitman for small fractions where it applies, else Zayatz.

    No estimator applies if someone is in several classes, and not `apart`.
    """
    if not apart:
        return tuple(Estimate(name, _ASSUMES[name], reason=_SEVERAL) for name in ("Zayatz", "Pitman"))
    pitman, zayatz = estimate("Pitman", sample), estimate("Zayatz", sample)
    return (pitman, zayatz) if sample.fraction <= PITMAN_UP_TO and pitman.applies else (zayatz, pitman)


def dankar(sample: Sample) -> Estimate:
    """The estimate that Dankar et al. choose by the sampling fraction."""
    zayatz = estimate("Zayatz", sample)
    if sample.fraction <= PITMAN_UP_TO:
        pitman = estimate("Pitman", sample)
        return pitman if pitman.applies else zayatz
    snb = estimate("SNB", sample)
    return snb if snb.uniques is not None and zayatz.uniques is not None and snb.uniques <= zayatz.uniques else zayatz


def estimate(name: str, sample: Sample) -> Estimate:
    """What an estimator says: "Zayatz", "Pitman" or "SNB"."""
    if sample.records >= sample.population:
        found: float | str = "the table is the whole population: who is alone in it is counted, not estimated"
    elif not sample.uniques:
        found = "nobody is alone in the sample"
    else:
        found = _ESTIMATORS[name](sample)
    if isinstance(found, str):
        return Estimate(name, _ASSUMES[name], reason=found)
    uniques = min(found, float(sample.population))
    chance = min(1.0, uniques * float(sample.fraction) / sample.uniques)
    caution = _TOO_HIGH if name == "Zayatz" and sample.fraction <= PITMAN_UP_TO else ""
    return Estimate(name, _ASSUMES[name], uniques, uniques / sample.population, chance, caution=caution)


def _zayatz(sample: Sample) -> float | str:
    """Of the classes that show one record in the sample, those of one person in the population, by Bayes."""
    people, records = sample.population, sample.records
    counts = zip(sample.sizes.tolist(), sample.classes.tolist(), strict=True)
    weights = {size: number * _shows_one(people, size, records) for size, number in counts}
    chance = weights[1] / math.fsum(weights.values())
    return float(chance * sample.uniques / float(sample.fraction))


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
    """Where a function that is positive at `low` and negative at `high` changes its sign.

    Between two values of the function a straight line shows where to look next; every third time the middle is taken,
    so that the interval shrinks whatever the function looks like.
    """
    above, below = function(low), function(high)
    for step in range(150):
        middle = (low + high) / 2
        if step % 3 and math.isfinite(above - below) and above > below:
            middle = low + (high - low) * above / (above - below)
        if not low < middle < high:
            break
        value = function(middle)
        if value > 0:
            low, above, below = middle, value, below / (2 if step % 3 else 1)
        elif value < 0:
            high, below, above = middle, value, above / (2 if step % 3 else 1)
        else:
            return middle
    return (low + high) / 2


def _snb(sample: Sample) -> float | str:
    """The expected number of classes of one, with the parameters that expect as many classes of one and of two.

    A class of the population has 1 + X people, X negative binomial with shape alpha and success probability beta, and
    each is drawn with the sampling fraction f. So, with D = 1 - (1 - f) (1 - beta), a class shows one record with
    probability f (beta / D)^alpha (1 + alpha (1 - D) / D), and the ratio of classes of two to classes of one is
    alpha f (1 - beta) (2 - w) / (2 D (1 - w)) with w = (1 - alpha) (1 - D). Given beta, that is a quadratic equation in
    alpha with one positive root; beta is found by bisection.
    """
    ones, twos, fraction = sample.uniques, sample.of_size(2), float(sample.fraction)
    if not twos:
        return "no two records of the sample are alone together: its parameters cannot be fitted"
    classes = _classes_in_population(sample)

    def shape(beta: float) -> float:
        hidden = (1 - fraction) * (1 - beta)
        shown = 1 - hidden
        ratio = 2 * shown * twos / ones / (fraction * (1 - beta))
        middle = shown + 1 - ratio * hidden
        root = math.sqrt(middle * middle + 4 * hidden * ratio * shown)
        return (root - middle) / (2 * hidden) if middle < 0 else 2 * ratio * shown / (middle + root)

    def too_few(log_odds: float) -> float:
        beta = 1 / (1 + math.exp(-log_odds))
        alpha, hidden = shape(beta), (1 - fraction) * (1 - beta)
        shown = 1 - hidden
        return float(ones - classes * fraction * (beta / shown) ** alpha * (1 + alpha * hidden / shown))

    lowest, highest = -30.0, 15.0
    if too_few(lowest) <= 0 or too_few(highest) >= 0:
        return "no parameters expect as many classes of one and two as the sample has: it does not look like the model"
    beta = 1 / (1 + math.exp(-_root(too_few, lowest, highest)))
    return float(classes * beta ** shape(beta))


def _classes_in_population(sample: Sample) -> float:
    """Shlosser's estimator of the number of classes of the population, as Haas and Stokes (1998) changed it."""
    fraction = float(sample.fraction)
    rest, square = 1 - fraction, fraction * fraction
    seen = unseen = twice = missed = 0.0
    for size, number in zip(sample.sizes.tolist(), sample.classes.tolist(), strict=True):
        twice += number * size * square * (1 - square) ** (size - 1)
        missed += number * ((1 - square) ** size - rest**size)  # (1 - f)^i ((1 + f)^i - 1)
        unseen += number * rest**size
        seen += number * size * fraction * rest ** (size - 1)
    return float(sample.number + sample.uniques * twice / missed * (unseen / seen) ** 2)


_ESTIMATORS: Mapping[str, Callable[[Sample], float | str]] = {"Zayatz": _zayatz, "Pitman": _pitman, "SNB": _snb}
