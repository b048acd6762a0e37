"""Which sample and which smallest crowd give (epsilon, delta)-differential privacy: exactly, rounded to the safe side.

Each record is drawn with probability beta, generalized by functions that were chosen without it, and released if at
least k records that were drawn look like it (Li, Qardaji, Su 2012; Bild, Kuhn, Prasser 2018). Let a record join a
table. Only its class changes: j of its n records are drawn with probability f(j; n, beta), before it was
f(j; n - 1, beta). The first is at most e^epsilon times the second while j <= gamma n, with
gamma = 1 - (1 - beta) / e^epsilon; the second is never more than e^epsilon times the first if beta <= 1 - e^-epsilon.
All else is released with a probability of at most

    delta = max over n >= n_m of a(n),  a(n) = sum over j > gamma n of f(j; n, beta),  n_m = ceil(k / gamma) - 1,

as smaller classes are released less often than one of n_m records, the largest whose every j > gamma n reaches k.

The safe side: beta is a multiple of 2^-64, so that a draw of 64 bits has just this probability, below 1 - e^-epsilon;
gamma has a lower and an upper bound; sums are made of positive terms in 80 digits, every operation rounded up.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

from incrowd.errors import PolicyError

BITS = 64  # of the number that is drawn for a record
DIGITS = 80
MARGIN = Decimal(10) ** -60  # more than all errors of a few logarithms and exponentials in so many digits
_MOST = 4_000  # the largest class that is looked at; what takes more would take minutes


@dataclass(frozen=True)
class Parameters:
    """What a sample and a crowd have to be.

    Args:
        threshold: A record is drawn if a number of 64 bits is below it.
        least: The smallest crowd that the formula allows; larger ones are as good.
        delta: What that gives, rounded up: at most what was asked for.
    """

    threshold: int
    least: int
    delta: Decimal

    @property
    def k(self) -> int:
        """The smallest crowd: one more than the formula asks, as the authors of SafePub and their program have it."""
        return self.least + 1

    @property
    def beta(self) -> Fraction:
        """The probability that a record is drawn."""
        return Fraction(self.threshold, 2**BITS)


@lru_cache(maxsize=64)
def parameters_of(epsilon: Fraction, delta: Fraction) -> Parameters:
    """The largest share of records that may be drawn, and the smallest crowd for it.

    Raises:
        PolicyError: Such a promise would take far too small a share of the records.
    """
    with localcontext(Context(prec=DIGITS)):
        least = _decimal(delta, ROUND_FLOOR)
        shrink = (-_decimal(epsilon, ROUND_FLOOR)).exp()  # e^-epsilon
        threshold = int((1 - shrink - MARGIN) * 2**BITS)
        beta = Decimal(threshold) / 2**BITS
        middle = 1 - (1 - beta) * shrink
        low, high = middle - MARGIN, middle + MARGIN
        apart = low * (low / beta).ln() + (1 - low) * ((1 - low) / (1 - beta)).ln() - MARGIN if threshold else MARGIN
        largest = int(-least.ln() / apart) + 1  # a(n) <= e^(-n apart), by Chernoff's bound
        if not threshold or largest > _MOST:
            raise PolicyError(
                f"With an epsilon of {float(epsilon):g} for the sample and a delta of {float(delta):g} next to nobody "
                "could be released. Choose an epsilon from 0.02 to 5."
            )
        reached = least * 0
        for records, exceeding in _exceeding(beta, low, largest):
            if exceeding > least:
                return Parameters(threshold, int(high * (records + 1)) + 1, max(reached, _beyond(largest, apart)))
            reached = max(reached, exceeding)
        return Parameters(threshold, 1, max(reached, _beyond(largest, apart)))


def _beyond(largest: int, apart: Decimal) -> Decimal:
    """A bound of a(n) for all n that were not looked at."""
    return (-(largest + 1) * apart).exp() * (1 + MARGIN)


def _exceeding(beta: Decimal, low: Decimal, largest: int) -> Iterator[tuple[int, Decimal]]:
    """The sizes of a class from the largest down, and for each at least how likely more than a share `low` is drawn."""
    up = Context(prec=DIGITS, rounding=ROUND_CEILING)
    odds = up.divide(1 - beta, beta)
    powers = [Decimal(1)]
    for _ in range(largest):
        powers.append(up.multiply(powers[-1], beta))
    for records in range(largest, 0, -1):
        term = total = powers[records]
        for drawn in range(records, int(low * records) + 1, -1):  # from f(drawn) to f(drawn - 1)
            term = up.divide(up.multiply(up.multiply(term, odds), Decimal(drawn)), Decimal(records - drawn + 1))
            total = up.add(total, term)
        yield records, total


def _decimal(number: Fraction, rounding: str) -> Decimal:
    return Context(prec=DIGITS, rounding=rounding).divide(Decimal(number.numerator), Decimal(number.denominator))
