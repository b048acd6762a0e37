"""How the witness estimates who is alone in the population, from the sizes of released classes.

It shares no code with the estimators that searches ask, and goes other ways where there are any: products instead of
binomial coefficients, digamma functions instead of sums, generating functions instead of solved equations.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp, inf, lgamma, log
from typing import Any

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[Any]


def share_alone(sizes: Numbers, fraction: float, estimator: str) -> float:
    """The estimated share of the population that is alone; infinity where the estimator says nothing."""
    ones, records = int((sizes == 1).sum()), int(sizes.sum())
    people = max(records, round(records / fraction))
    if not ones or people == records:
        return ones / records
    known, classes = np.unique(sizes, return_counts=True)
    given = known, classes, people
    if estimator != "dankar":
        found = {"zayatz": _zayatz, "pitman": _pitman, "snb": _snb}[estimator](*given)
    elif 10 * records <= people:
        found = _pitman(*given)
        found = _zayatz(*given) if found == inf else found
    else:
        found = min(_snb(*given), _zayatz(*given))
    return found if found == inf else min(found, people) / people


def _zayatz(sizes: Numbers, classes: Numbers, people: int) -> float:
    """A class shows one record if that one is drawn and one after the other of the rest is not."""
    records, ones = int(sizes @ classes), int(classes[sizes == 1].sum())
    more = np.arange(int(sizes.max()) - 1)
    with np.errstate(divide="ignore"):
        missed = np.log(np.maximum(people - records - more, 0)) - np.log(people - 1 - more)
    others = np.exp(np.append(0, np.cumsum(missed)))[sizes - 1]
    shows_one = classes * sizes * others
    return float(shows_one[sizes == 1].sum() / shows_one.sum() * ones * people / records)


def _pitman(sizes: Numbers, classes: Numbers, people: int) -> float:
    """The likeliest parameters make both derivatives of the log-likelihood 0."""
    records, number = int(sizes @ classes), int(classes.sum())
    if number in (1, records):
        return inf

    def by_theta(theta: float, alpha: float) -> float:
        rising = _between(theta / alpha + 1, theta / alpha + number) / alpha
        return float(rising - _between(theta + 1, theta + records))

    def theta_of(alpha: float) -> float:
        low, high = log(1e-12), log(1e15)
        return exp(_crossing(lambda at: by_theta(exp(at) - alpha, alpha), low, high)) - alpha

    def by_alpha(alpha: float) -> float:
        theta = theta_of(alpha)
        rising = (number - 1 - theta / alpha * _between(theta / alpha + 1, theta / alpha + number)) / alpha
        return float(rising - classes @ (_digamma(sizes - alpha) - _digamma(np.full(len(sizes), 1 - alpha))))

    low, high = 1e-4, 1 - 1e-9
    if by_alpha(low) <= 0 or by_alpha(high) >= 0:
        return inf
    alpha = _crossing(by_alpha, low, high)
    theta = theta_of(alpha)
    logarithm = lgamma(theta + alpha + people - 1) - lgamma(theta + people) + lgamma(theta + 1) - lgamma(theta + alpha)
    return people * exp(logarithm)


def _snb(sizes: Numbers, classes: Numbers, people: int) -> float:
    """From the generating function of the records that a class shows: g(s) = q h(q), q = 1 - f + f s, h of 1 + X."""
    fraction = float(sizes @ classes) / people
    ones, twos = int(classes[sizes == 1].sum()), int(classes[sizes == 2].sum())
    if not twos:
        return inf
    both = fraction**2
    kept = classes @ ((1 - both) ** sizes - (1 - fraction) ** sizes)
    unseen = classes @ (1 - fraction) ** sizes / (classes @ (sizes * fraction * (1 - fraction) ** (sizes - 1)))
    total = int(classes.sum()) + ones * (classes @ (sizes * both * (1 - both) ** (sizes - 1))) / kept * unseen**2

    def shown(alpha: float, beta: float) -> tuple[float, float]:
        """How likely a class shows one record, and two."""
        left = 1 - fraction
        base = 1 - (1 - beta) * left
        none = (beta / base) ** alpha
        first = none * alpha * fraction * (1 - beta) / base
        second = first * (alpha + 1) * fraction * (1 - beta) / base
        return fraction * none + left * first, fraction * first + left * second / 2

    def alpha_of(beta: float) -> float:
        def surplus(at: float) -> float:
            one, two = shown(exp(at), beta)
            return twos / ones - two / one if one > 0 else -inf

        return exp(_crossing(surplus, -30.0, 30.0))

    def lacking(at: float) -> float:
        beta = 1 / (1 + exp(-at))
        return float(ones - total * shown(alpha_of(beta), beta)[0])

    if lacking(-30.0) <= 0 or lacking(15.0) >= 0:
        return inf
    beta = 1 / (1 + exp(-_crossing(lacking, -30.0, 15.0)))
    return float(total * beta ** alpha_of(beta))


def _crossing(function: Callable[[float], float], low: float, high: float) -> float:
    """Where a function that is first positive and then negative crosses 0."""
    for _ in range(70):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) > 0 else (low, middle)
    return (low + high) / 2


def _between(low: float, high: float) -> float:
    """The sum of 1 / low, 1 / (low + 1), ... up to high, which is not counted."""
    apart = min(round(high - low), 20)
    total = sum(1 / (low + step) for step in range(apart))
    ends = _digamma(np.array([high, low + apart]))
    return float(total + (ends[0] - ends[1])) if round(high - low) > apart else total


def _digamma(at: Numbers) -> Numbers:
    """The digamma function of positive numbers, by its recurrence and its asymptotic series."""
    shifted, below = np.asarray(at, np.float64), np.zeros(len(at))
    for _ in range(12):
        small = shifted < 12
        below = np.where(small, below + 1 / shifted, below)
        shifted = np.where(small, shifted + 1, shifted)
    inverse = 1 / shifted**2
    series = inverse * (1 / 12 - inverse * (1 / 120 - inverse * (1 / 252 - inverse / 240)))
    return np.asarray(np.log(shifted) - 1 / (2 * shifted) - series - below)
