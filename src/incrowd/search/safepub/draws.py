"""Draws whose probabilities are exact: nothing is rounded on the way from random bits to an outcome.

Floats would give outcomes slightly different probabilities, and some none at all, which differential privacy does not
forgive. So all bits come from the key of the release by a keyed hash, and are compared as whole numbers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from incrowd.run import Run
from incrowd.table.grouping import Counts

_BLOCK = 1 << 20  # records whose bits are made at a time
_BYTES = 64  # of the bits of small draws that are made at a time


class Draws:
    """Random outcomes that follow from a secret; the same secret gives the same ones in the same order."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self._blocks = 0
        self._pool, self._left = 0, 0

    def sampled(self, counts: Counts, threshold: int) -> Counts:
        """How many of each number of records are drawn, each by itself with probability threshold / 2^64."""
        found = np.zeros(len(counts), np.int64)
        owners = np.repeat(np.arange(len(counts)), counts)
        for start in range(0, len(owners), _BLOCK):
            some = owners[start : start + _BLOCK]
            numbers = np.frombuffer(self._block(8 * len(some)), "<u8")
            found += np.bincount(some[numbers < np.uint64(threshold)], minlength=len(counts))
        return found

    def below(self, limit: int) -> int:
        """A whole number from 0 to below the limit, each as likely: those of enough bits until one is below it."""
        bits = (limit - 1).bit_length()
        while (number := self._bits(bits)) >= limit:
            pass
        return number

    def chance(self, probability: Fraction) -> bool:
        """True with that probability."""
        return self.below(probability.denominator) < probability.numerator

    def exponential(self, exponent: Fraction) -> bool:
        """True with probability e^-exponent (Canonne, Kamath, Steinke 2020).

        Up to 1: the first of the chances x, x / 2, x / 3, ... that fails is an odd one with probability
        1 - x + x^2 / 2 - ... = e^-x. More than 1: e^-1 as often as that fits, and the rest.
        """
        for _ in range(int(exponent)):
            if not self._up_to_one(Fraction(1)):
                return False
        return self._up_to_one(exponent - int(exponent))

    def chosen(self, scores: Sequence[int], scale: Fraction, run: Run) -> int:
        """One place, with a probability proportional to e^(score scale): the exponential mechanism.

        A place is drawn, all as likely, and taken with probability e^-((best - score) scale), until one is; the best is
        taken at once, so about as many places are drawn as there are.
        """
        best = max(scores)
        while True:
            run.check()
            place = self.below(len(scores))
            if self.exponential((best - scores[place]) * scale):
                return place

    def _up_to_one(self, exponent: Fraction) -> bool:
        tried = 1
        while self.chance(exponent / tried):
            tried += 1
        return tried % 2 == 1

    def _bits(self, bits: int) -> int:
        while self._left < bits:
            self._pool |= int.from_bytes(self._block(_BYTES), "little") << self._left
            self._left += 8 * _BYTES
        number = self._pool & ((1 << bits) - 1)
        self._pool >>= bits
        self._left -= bits
        return number

    def _block(self, size: int) -> bytes:
        self._blocks += 1
        return hashlib.shake_256(self._secret + self._blocks.to_bytes(8, "little")).digest(size)
