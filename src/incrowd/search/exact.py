"""Exact values of what searches compare, so that no choice and no tie hangs on rounding.

Searches compute in floats, which are too coarse only where candidates are nearly equal. They take the `contenders`,
those whose floats are too close to distinguish, work out their values as fractions with the functions below, and let
`choose` say which of them are best. What is left to a documented tie rule is then really equal.

Losses (NCP) are fractions of whole numbers, and compared as such. Information has logarithms in it. **The rule:**
logarithms are taken to 60 decimals, sums and quotients of them are fractions without further rounding, and two values
are equal if they agree when rounded to 40 decimals (`decimals=DECIMALS`). Errors stay far below the 50th decimal up to
billions of records, so equal values are found equal, in any order of summing and on every machine.

Everything here is a `Fraction`: plus, minus, times and divided work as usual and lose nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from incrowd.table.attributes import NumberAttribute, TaxonomyAttribute
from incrowd.table.exact_numbers import as_fraction
from incrowd.table.grouping import Codes, Floats

DECIMALS = 40  # values with logarithms are equal if they agree to that many decimals
RELATIVE = 1e-9  # floats closer than that, relatively, are compared exactly; rounding is a millionth of it
ABSOLUTE = 1e-12  # the same for what remains of differences of numbers around 1

_SCALE = 10**60  # logarithms are kept as whole numbers of 1 / _SCALE
_CONTEXT = Context(prec=90)
_BITS = 256  # of fractions while logarithms are summed up
_TWO_BY_LN_2 = int(_CONTEXT.multiply(_CONTEXT.divide(2, _CONTEXT.ln(2)), Decimal(1 << _BITS)))


# Choosing


def contenders(values: Floats, error: Floats | float = ABSOLUTE) -> Codes:
    """The places of the values that may be the largest, given the error of floats, in addition to a relative one.

    Of -values, the smallest.
    """
    slack = error + RELATIVE * np.abs(values)
    return np.flatnonzero(values + slack >= (values - slack).max())


def choose(values: Sequence[Fraction], *, decimals: int | None = None, lowest: bool = False) -> list[int]:
    """The places of the best of some exact values, all of them if they are equal, or agree to this many decimals."""
    compared = [comparable(value, decimals) for value in values]
    best = min(compared) if lowest else max(compared)
    return [place for place, value in enumerate(compared) if value == best]


def comparable(value: Fraction, decimals: int | None = None) -> Fraction:
    """What is compared, logged and sorted by: the value itself, or rounded to so many decimals."""
    return value if decimals is None else round(value, decimals)


# Information


@lru_cache(maxsize=1 << 16)
def _times_log(n: int) -> int:
    """N * log2(n) in units of 1 / _SCALE; 0 for n = 0."""
    return n * _log(n) if n > 1 else 0


def logarithm(n: int) -> Fraction:
    """log2(n) of a whole number above 0."""
    return Fraction(_log(n), _SCALE) if n > 1 else Fraction()


def _log(n: int) -> int:
    """log2(n) in units of 1 / _SCALE, rounded; in whole numbers, which takes a fifth of the time of decimals.

    With the power of two that is nearest, ln(n / power) is twice the sum of z, z**3 / 3, z**5 / 5 and so on, where z is
    (n - power) / (n + power), at most a fifth. What is cut off is less than a hundred times 2**-256.
    """
    nearest = (3 * n).bit_length() - 2
    power = 1 << nearest
    term = (abs(n - power) << _BITS) // (n + power)
    square, total, odd = term * term >> _BITS, 0, 1
    while term:
        total += term // odd
        term, odd = term * square >> _BITS, odd + 2
    beyond = (total if n > power else -total) * _TWO_BY_LN_2 >> _BITS
    return (((nearest << _BITS) + beyond) * _SCALE + (1 << _BITS - 1)) >> _BITS


def information(label_counts: Iterable[int]) -> Fraction:
    """Records times the entropy of their labels, in bits: n log2 n - sum of c log2 c."""
    return Fraction(_information(tuple(label_counts)), _SCALE)


def information_lost(parts: Iterable[Iterable[int]]) -> Fraction:
    """What is lost when parts become one, and gained when one is split into them: records times bits.

    Divided by the records of the whole it is the information gain of the papers.
    """
    present = tuple(sorted(counts for part in parts if any(counts := tuple(part))))
    return Fraction(_lost(present), _SCALE)


def _information(label_counts: tuple[int, ...]) -> int:
    return _times_log(sum(label_counts)) - sum(map(_times_log, label_counts))


@lru_cache(maxsize=1 << 12)
def _lost(parts: tuple[tuple[int, ...], ...]) -> int:
    if len(parts) < 2:
        return 0
    whole = tuple(map(sum, zip(*parts, strict=True)))
    return _information(whole) - sum(map(_information, parts))


# Loss


def cell_loss(attribute: TaxonomyAttribute | NumberAttribute, start: int, stop: int) -> Fraction:
    """Loss (NCP) of a cell that stands for the codes [start, stop), as `attribute.loss` has it in floats."""
    if isinstance(attribute, TaxonomyAttribute):
        return Fraction(stop - start - 1, max(1, attribute.size - 1))
    ranks = len(attribute.numbers)
    if stop > ranks:
        return Fraction(start < ranks)
    lowest, highest = _rational(attribute.extent[0]), _rational(attribute.extent[1])
    step = 0 if attribute.scale.kind == "number" else 1
    low = lowest if start == 0 else _rational(attribute.number(start))
    high = highest if stop == ranks else _rational(attribute.number(stop)) - step
    return Fraction(high - low, highest - lowest) if highest > lowest else Fraction(0)


def _rational(number: Any) -> Any:
    """A number as it is written, an int or a Fraction: 0.1 is a tenth, though no float is."""
    return number if isinstance(number, int) else as_fraction(number)


def cell_loss_error(attribute: TaxonomyAttribute | NumberAttribute) -> float:
    """By how much `attribute.loss` in floats may be wrong: numbers that are large beside their range lose digits."""
    if isinstance(attribute, TaxonomyAttribute):
        return 0.0
    lowest, highest = _rational(attribute.extent[0]), _rational(attribute.extent[1])
    digits = Fraction(max(abs(lowest), abs(highest)), highest - lowest) if highest > lowest else 0
    return 8 * float(np.finfo(np.float64).eps) * float(digits)
