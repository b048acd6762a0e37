"""How large crowds are in a population that is not given, estimated from a sample.

A class with f records in the table has F people in the population, and a journalist's risk is 1 / F. To take F
for f / sampling fraction understates the risk many times, since only classes that were drawn are seen. Benedetti and
Franconi (1998) take the mean of 1 / F given f: with the rate at which people fall into the class a gamma variable,
F - f is negative binomial. What has to be decided is what is known of that rate before f is seen. That all rates are
equally likely, as they have it, still understates the risk of rare combinations several times; as Skinner and Shlomo
(2008) do, the columns of the table are asked.

The rate of a class is expected where its values put it, if columns are independent: population times the product of
the values' shares. Rates scatter about that; how much (the shape of the gamma distribution) is one number for all
classes, the likeliest one for the classes that were seen, each given that it was seen. The share of the rarest value
of a class is a gamma variable as well, from its records in other classes. Where it has none, that it is rare follows
from Pitman's formula, fitted to its column. A column that follows from another one says nothing and is left out.

Where the estimate depends on what the sample does not show, there is no figure but a bound: F is at least f, and the
mean of 1 / F is the number of classes of the population divided by its people, of which those that are not seen are
found at a rate of at most that of records that are alone (Good and Turing). `benchmarks.journalist` compares all of
this with populations that are known.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from incrowd.population.records import UNIT, People
from incrowd.population.uniqueness import Sample, pitman_of_column
from incrowd.table.grouping import Counts, Floats, count

COUNTED, ESTIMATED, AT_MOST = "counted", "estimated", "at most"
ASSUMES = (
    "a simple random sample, and that a combination of values is about as common as its values, were they independent "
    "of one another; how far combinations stray from that is fitted to the table"
)
BOUND = "every crowd is at least as large in the population as in the table"
LEAST_RECORDS = 500  # fewer are too few to estimate from
LEAST_SHAPE = 0.05  # where combinations scatter more than that, they do not follow from their values
FACTOR = 1.5  # an estimate that may be off by more is not given
_SHAPES = (1e-3, 50.0)
_RULED_OUT = 2.0  # in log-likelihood: parameters that are less likely are ruled out
_CERTAIN = 7.0  # in logarithms: that a column follows from another by chance is less likely than a thousandth
_ALPHAS = (0.0, 0.95)  # between which the rarity of values that only one class has lies
_SUMMED = 200  # a crowd size up to which probabilities are summed one by one
_LARGE = 60  # records: of larger classes the mean of 1 / F follows from two moments of F
_CHUNK = 50_000
_LEAST = -450.0  # the logarithm of a share; smaller ones are as good as 0
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(64)


@dataclass(frozen=True)
class Outside:
    """The classes of a table in its population.

    Args:
        risks: By class, the mean of 1 / F; where there is only a bound, the most it can be.
        small: By class, how likely F is below the crowd size of the threshold; 1 where it can be.
        how: Whether that was counted, estimated, or is the most it can be.
        assumes: What it rests on.
        reason: Why there is only a bound; empty where there is more.
        most: The most that the mean over all records can be.
        candidates: Where it was counted, the people of each class in the population.
    """

    risks: Floats
    small: Floats
    how: str
    assumes: str
    reason: str = ""
    most: Fraction = Fraction(1)
    candidates: Counts | None = None

    @classmethod
    def counted(cls, candidates: Counts, crowd: int, assumes: str) -> Outside:
        return cls(1 / candidates, (candidates < crowd).astype(float), COUNTED, assumes, candidates=candidates)


def outside(people: People, fraction: Fraction | None, crowd: int) -> Outside | None:
    """What the sampling fraction or the weights say of the classes in the population; None if there is neither.

    Crowds smaller than the crowd size are at risk.
    """
    sizes = people.sizes.astype(np.float64)
    if people.weight_sums is not None:
        stands_for = np.maximum(people.weight_sums / UNIT, sizes)
    elif fraction is not None:
        stands_for = sizes / float(fraction)
    else:
        return None
    if fraction == 1 or (stands_for <= sizes).all():
        return Outside.counted(people.sizes, crowd, "that the table has everyone")
    reason = "fewer than 500 records are too few to estimate from"
    if people.memberships >= LEAST_RECORDS:
        rates = _rates(people, sizes, stands_for)
        if rates is None:
            reason = "all records are equal"
        else:
            shape = rates.likeliest()
            reason = rates.reason_against(shape)
            if not reason:
                return Outside(*rates.risks(shape, crowd), ESTIMATED, ASSUMES)
    most = Fraction(len(sizes), people.memberships)
    if people.weight_sums is None:
        most = min(most, Fraction(_good_turing(sizes, float(stands_for.sum()))))
    return Outside(1 / sizes, (sizes < crowd).astype(float), AT_MOST, BOUND, reason, most)


def _good_turing(sizes: Floats, population: float) -> float:
    """What the classes of a population, divided by its people, are at most.

    Each further record is new with a probability of at most the share of records that are alone: that share is taken
    two standard deviations higher than it was found.
    """
    records, alone = float(sizes.sum()), float((sizes == 1).sum())
    fresh = min(1.0, (alone + 2 * math.sqrt(alone + 1) + 2) / records)
    return (len(sizes) + (population - records) * fresh) / population


@dataclass(frozen=True)
class _Rates:
    """What is known of the rate of each class before its own records are seen: gamma variables, improper ones too.

    Args:
        drawn: The share of its people that was drawn.
        own: Whether its rarest value is in no other class.
        shape: Of the share of its rarest value; -alpha where that is its own.
        rate: The other parameter of that share.
        own_rate: The same where Pitman's theta is 0.
    """

    sizes: Floats
    drawn: Floats
    own: npt.NDArray[np.bool_]
    shape: Floats
    rate: Floats
    own_rate: Floats

    def prior(self, scatter: float, alpha: float | None = None) -> tuple[Floats, Floats]:
        """Shape and rate of each class, for a shape of the scatter; with another alpha for values of one class."""
        own_shape = self.shape if alpha is None else np.full(len(self.shape), -alpha)
        own_rate = self.rate if alpha is None else self.own_rate
        known = np.where(self.own, 1.0, self.shape)
        both = 1 / (1 / scatter + 1 / known)  # the squares of the coefficients of variation add up
        return np.where(self.own, own_shape, both), np.where(self.own, own_rate, both * self.rate / known)

    def likelihood(self, scatter: float) -> float:
        """Of the sizes of classes, given that each has a record; those with a value of their own say nothing here."""
        seen = ~self.own
        shape, rate = (array[seen] for array in self.prior(scatter))
        sizes, drawn = self.sizes[seen], self.drawn[seen]
        empty = -shape * np.log1p(drawn / rate)  # the logarithm of how likely nobody of the class is drawn
        return float(
            np.sum(
                log_gamma(shape + sizes)
                - log_gamma(shape)
                + empty
                + sizes * (np.log(drawn) - np.log(rate + drawn))
                - np.log(-np.expm1(empty))
            )
        )

    def likeliest(self) -> float:
        """The likeliest shape of the scatter; 1 where no class says anything of it."""
        if self.own.all():
            return 1.0
        low, high = map(math.log, _SHAPES)
        return math.exp(_maximum(lambda shape: self.likelihood(math.exp(shape)), low, high))

    def reason_against(self, scatter: float) -> str:
        """Why the estimate is not to be relied on; empty where it is."""
        if scatter < LEAST_SHAPE:
            return "the columns depend on one another too strongly"
        mean = self._mean(scatter)
        if not all(1 / FACTOR < self._mean(scatter, alpha) / mean < FACTOR for alpha in _ALPHAS):
            return "too much depends on how rare values are that only one crowd has"
        ends = [] if self.own.all() else [self._end(scatter, math.log(end)) for end in _SHAPES]
        if not all(1 / FACTOR < self._mean(end) / mean < FACTOR for end in ends):
            return "the table says too little about how columns depend on one another"
        return ""

    def risks(self, scatter: float, crowd: int, alpha: float | None = None) -> tuple[Floats, Floats]:
        """By class, the mean of 1 / F, and how likely F is below a crowd size."""
        shape, rate = self.prior(scatter, alpha)
        chance = (rate + self.drawn) / (rate + 1)
        return mean_inverse(self.sizes, shape, chance), below(self.sizes, shape, chance, crowd)

    def _mean(self, scatter: float, alpha: float | None = None) -> float:
        return float(self.sizes @ self.risks(scatter, 1, alpha)[0])

    def _end(self, scatter: float, away: float) -> float:
        """How far the scatter may be from the likeliest one, in one direction."""
        least, inside = self.likelihood(scatter) - _RULED_OUT, math.log(scatter)
        if self.likelihood(math.exp(away)) >= least:
            return math.exp(away)
        for _ in range(12):
            middle = (inside + away) / 2
            inside, away = (middle, away) if self.likelihood(math.exp(middle)) >= least else (inside, middle)
        return math.exp(inside)


def _rates(people: People, sizes: Floats, stands_for: Floats) -> _Rates | None:
    """What the columns say of each class; None where they say nothing."""
    counts = [count(column, int(column.max()) + 1, people.sizes) for column in people.codes]
    told = [place for place in range(len(counts)) if np.count_nonzero(counts[place]) > 1]
    told = [place for place in told if not _follows(people, counts, place, told)]
    if not told:
        return None
    population, classes = float(stands_for.sum()), np.arange(len(sizes))
    weights = [np.bincount(people.codes[place], stands_for) for place in told]
    records = np.array([counts[place][people.codes[place]] for place in told])
    represented = np.array([column[people.codes[place]] for column, place in zip(weights, told, strict=True)])
    rarest = records.argmin(axis=0)
    shares = np.log(represented / population)
    rest = np.exp(np.maximum(shares.sum(axis=0) - shares[rarest, classes], _LEAST))
    samples = (Sample.of(counts[place][counts[place] > 0], round(population)) for place in told)
    fitted = np.array([pitman_of_column(sample) for sample in samples])
    alpha, theta = fitted[rarest, 0], fitted[rarest, 1]
    elsewhere = records[rarest, classes] - sizes - alpha
    own = elsewhere <= 0
    drawn = records[rarest, classes] / represented[rarest, classes]
    own_rate = np.maximum(drawn * (1 - rest) / rest, 1e-300)
    rate = np.maximum((drawn * (1 - rest) + theta / population) / rest, 1e-300)
    return _Rates(sizes, sizes / stands_for, own, np.where(own, -alpha, elsewhere), rate, own_rate)


def _follows(people: People, counts: list[Counts], place: int, places: list[int]) -> bool:
    """Whether a column follows from another one, and not by chance; of two that say the same, the first is kept."""
    column, values = people.codes[place], np.count_nonzero(counts[place])
    shares = counts[place] / people.memberships
    alike = -math.log(float(shares @ shares))  # two records have the same value by chance
    for other in places:
        known = int(np.count_nonzero(counts[other]))
        if other == place or known < values or (known == values and other > place):
            continue
        if (people.memberships - known) * alike <= _CERTAIN:
            continue
        value_of = np.zeros(len(counts[other]), np.int64)
        value_of[people.codes[other]] = column
        if (value_of[people.codes[other]] == column).all():
            return True
    return False


def mean_inverse(sizes: Floats, shape: Floats, chance: Floats) -> Floats:
    """The mean of 1 / (f + X), X negative binomial with f + shape and a chance of success.

    It is the integral of chance u^(f - 1) w^(shape - 1) over u from 0 to 1, where w = chance + (1 - chance) u; with the
    logarithm of w as the variable that is smooth, and Gauss and Legendre's 64 points give it to six digits. Large
    classes are close to their mean.
    """
    found = np.empty(len(sizes))
    for start in range(0, len(sizes), _CHUNK):
        part = slice(start, start + _CHUNK)
        found[part] = _mean_inverse(sizes[part], shape[part], np.clip(chance[part], 1e-300, 1 - 1e-12))
    return np.minimum(found, 1 / sizes)


def _mean_inverse(sizes: Floats, shape: Floats, chance: Floats) -> Floats:
    more = (sizes + shape) * (1 - chance) / chance
    mean = sizes + more
    found = (1 + more / chance / mean**2) / mean
    few = sizes <= _LARGE
    sizes, shape, chance = sizes[few], shape[few], chance[few]
    span = -np.log(chance)
    log_w = -span[:, None] * ((1 - _NODES) / 2)
    u = (np.exp(log_w) - chance[:, None]) / (1 - chance[:, None])
    inside = np.exp((sizes - 1)[:, None] * np.log(np.maximum(u, 1e-300)) + shape[:, None] * log_w)
    found[few] = chance / (1 - chance) * span * (inside @ (_WEIGHTS / 2))
    return found


def below(sizes: Floats, shape: Floats, chance: Floats, crowd: int) -> Floats:
    """How likely f + X is below a crowd size: summed, and for large ones with Wilson and Hilferty's approximation."""
    successes, chance = sizes + shape, np.clip(chance, 1e-300, 1 - 1e-15)
    if crowd > _SUMMED:
        shape = successes * (1 - chance)  # of the gamma distribution with the same mean and variance
        at = np.maximum(crowd - sizes - 0.5, 0) * chance / shape
        deviation = (np.cbrt(at) - 1 + 1 / (9 * shape)) * 3 * np.sqrt(shape)
        found = (1 + np.vectorize(math.erf, otypes=[float])(deviation / math.sqrt(2))) / 2
        return np.where(sizes < crowd, found, 0.0)
    total, term = np.zeros(len(sizes)), np.exp(successes * np.log(chance))
    for more in range(crowd - 1):
        total += np.where(sizes + more < crowd, term, 0.0)
        term = term * (successes + more) / (more + 1) * (1 - chance)
    return np.minimum(total, 1.0)


def log_gamma(numbers: Floats) -> Floats:
    """The logarithm of the gamma function of positive numbers: Stirling's series, eight places further on."""
    product, at = np.ones(len(numbers)), numbers.copy()
    for _ in range(8):
        product *= at
        at = at + 1
    series = 1 / (12 * at) - 1 / (360 * at**3) + 1 / (1260 * at**5)
    return (at - 0.5) * np.log(at) - at + math.log(2 * math.pi) / 2 + series - np.log(product)


def _maximum(function: Callable[[float], float], low: float, high: float) -> float:
    """Where a function with one peak is highest, by golden sections, to a hundredth."""
    part = (math.sqrt(5) - 1) / 2
    left, right = high - part * (high - low), low + part * (high - low)
    at_left, at_right = function(left), function(right)
    while high - low > 0.01:
        if at_left > at_right:
            high, right, at_right = right, left, at_left
            left = high - part * (high - low)
            at_left = function(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + part * (high - low)
            at_right = function(right)
    return (low + high) / 2
