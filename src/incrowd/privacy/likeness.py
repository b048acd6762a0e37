"""How much more a class may say of a sensitive value than the whole release does: alpha, beta, delta."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, nextafter
from typing import Any, ClassVar

import numpy as np

from incrowd.privacy.sensitive import Distribution, check_number, column_counts, harmful, largest, ratio, sums
from incrowd.table.class_counts import ClassCounts, Histogram
from incrowd.table.grouping import Floats

DIGITS = 12  # what contains logarithms is compared to so many decimals


@dataclass(frozen=True)
class AlphaAnonymity:
    """No value is more frequent than a share alpha in any class; with k-anonymity, (alpha, k)-anonymity.

    Args:
        column: The sensitive column.
        alpha: The share, above 0 and at most 1.
        harmless: Values that need no protection.
    """

    column: str
    alpha: float
    harmless: tuple[str, ...] = ()

    name: ClassVar[str] = "alpha-anonymity"
    whole: ClassVar[bool] = False
    upward_closed: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_number("alpha", self.alpha, "a number above 0 and at most 1", lambda alpha: 0 < alpha <= 1)

    @property
    def threshold(self) -> float:
        """Minus alpha: a smaller share is better."""
        return -float(self.alpha)

    @property
    def least_size(self) -> int:
        """A single record is all of its class."""
        return 1 if self.harmless or self.alpha >= 1 else 2

    def fitted(self, histogram: Histogram) -> AlphaAnonymity:
        """The model for a table; it does not depend on the distribution."""
        return self

    def levels(self, classes: ClassCounts) -> Any:
        """Minus the largest share of a harmful value in each class."""
        counted = column_counts(classes, self.column)
        counts = np.where(harmful(counted.values, self.harmless)[counted.codes], counted.counts, 0)
        return -ratio(largest(counted, counts, 0), counted.in_each)

    def __str__(self) -> str:
        return f"alpha={self.alpha:g} of {self.column}"


@dataclass(frozen=True)
class BetaLikeness:
    """No value gains more than beta, relatively, in any class; enhanced, nor more than minus the log of its share.

    Args:
        column: The sensitive column.
        beta: The gain, above 0.
        enhanced: Whether frequent values are held closer.
        release: The distribution of the released rows; filled in when the table is known.
    """

    column: str
    beta: float
    enhanced: bool = False
    release: Distribution | None = None

    name: ClassVar[str] = "beta-likeness"
    whole: ClassVar[bool] = False
    upward_closed: ClassVar[bool] = False
    least_size: ClassVar[int] = 1

    def __post_init__(self) -> None:
        check_number("beta", self.beta, "a number above 0", lambda beta: 0 < beta < inf)

    @property
    def threshold(self) -> float:
        """Minus beta: a smaller gain is better."""
        return -float(self.beta)

    def fitted(self, histogram: Histogram) -> BetaLikeness:
        """The model for a table: its distribution is what classes are compared with."""
        return replace(self, release=Distribution.of(histogram))

    def levels(self, classes: ClassCounts) -> Any:
        """Minus the largest relative gain of a value in each class; enhanced, gains are weighed by what is allowed."""
        counted = column_counts(classes, self.column)
        whole = self.release or Distribution.of(counted)
        expected = counted.in_each[counted.tuples] * whole.array[counted.codes]
        gain = ratio(np.maximum(counted.counts * whole.records - expected, 0), expected)
        if self.enhanced:
            gain = np.round(gain * self._closer(whole)[counted.codes], DIGITS)
        return -largest(counted, gain, 0.0)

    def _closer(self, whole: Distribution) -> Floats:
        """Beta over the gain that is allowed to each value."""
        with np.errstate(divide="ignore"):
            allowed = -np.log(ratio(whole.array, whole.records))
        return np.asarray(self.beta / np.clip(allowed, 1e-300, self.beta))

    def __str__(self) -> str:
        return f"{'enhanced ' if self.enhanced else ''}beta={self.beta:g} of {self.column}"


@dataclass(frozen=True)
class DeltaDisclosure:
    """The share of every value in every class differs from that in the whole by a factor below e to the delta.

    Over all values, those that a class does not have included: that is the form that a union of good classes keeps.
    (ARX takes log2, over the values that a class has.)

    Args:
        column: The sensitive column.
        delta: The natural logarithm of the factor, above 0.
        release: The distribution of the released rows; filled in when the table is known.
    """

    column: str
    delta: float
    release: Distribution | None = None

    name: ClassVar[str] = "delta-disclosure"
    whole: ClassVar[bool] = False
    upward_closed: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_number("delta", self.delta, "a number above 0", lambda delta: 0 < delta < inf)

    @property
    def least_size(self) -> int:
        """Every class has every value."""
        return 1 if self.release is None else sum(n > 0 for n in self.release.counts)

    @property
    def threshold(self) -> float:
        """Just above minus delta: the factor stays below it."""
        return nextafter(-round(float(self.delta), DIGITS), inf)

    def fitted(self, histogram: Histogram) -> DeltaDisclosure:
        """The model for a table: its distribution is what classes are compared with."""
        return replace(self, release=Distribution.of(histogram))

    def levels(self, classes: ClassCounts) -> Any:
        """Minus the largest logarithm of a factor in each class."""
        counted = column_counts(classes, self.column)
        whole = self.release or Distribution.of(counted)
        expected = counted.in_each[counted.tuples] * whole.array[counted.codes]
        factor = np.abs(np.log(counted.counts * whole.records / expected))
        has_all = sums(counted, np.ones(len(factor), np.int64)) == np.count_nonzero(whole.array)
        return np.where(has_all, -np.round(largest(counted, factor, 0.0), DIGITS), -inf)

    def __str__(self) -> str:
        return f"delta={self.delta:g} of {self.column}"
