"""How much more a class may say of a sensitive value than the whole release does: alpha, beta, delta."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, nextafter
from typing import TYPE_CHECKING, Any, Self

from incrowd.privacy.declared import Declared, promised
from incrowd.privacy.sensitive import Distribution, column_counts, harmful, largest, ratio, sums
from incrowd.schemas.shapes import Number

if TYPE_CHECKING:
    from incrowd.table.class_counts import ClassCounts, Histogram
    from incrowd.table.grouping import Floats

DIGITS = 12  # what contains logarithms is compared to this many decimals


@dataclass(frozen=True)
class AlphaAnonymity(Declared):
    """No value is more frequent than a share alpha in any class; with k-anonymity, (alpha, k)-anonymity.

    Args:
        column: The sensitive column.
        alpha: The share, above 0 and at most 1.
        harmless: Values that need no protection.
    """

    column: str
    alpha: float
    harmless: tuple[str, ...] = ()

    name = "alpha-anonymity"
    option_name = "alpha"
    option = promised(
        "Largest share of a value in a class.",
        Number(0, 1, above=True),
        title="largest share of one value",
        example="0.6",
    )
    fields = ("alpha",)
    settings = ("harmless",)
    weakest = 1

    @property
    def threshold(self) -> float:
        """Minus alpha: a smaller share is better."""
        return -float(self.alpha)

    @property
    def least_size(self) -> int:
        """A single record is all of its class."""
        return 1 if self.harmless or self.alpha >= 1 else 2

    def levels(self, classes: ClassCounts) -> Any:
        """Minus the largest share of a harmful value in each class."""
        import numpy as np

        counted = column_counts(classes, self.column)
        counts = np.where(harmful(counted.values, self.harmless)[counted.codes], counted.counts, 0)
        return -ratio(largest(counted, counts, 0), counted.in_each)

    def __str__(self) -> str:
        return f"alpha={self.alpha:g} of {self.column}"


@dataclass(frozen=True)
class BetaLikeness(Declared):
    """No value gains more than beta, relatively, in any class.

    Args:
        column: The sensitive column.
        beta: The gain, above 0.
        release: The distribution of the released rows; filled in when the table is known.
    """

    column: str
    beta: float
    release: Distribution | None = None

    name = "beta-likeness"
    option_name = "beta_likeness"
    option = promised(
        "Largest relative gain of a value in a class.",
        Number(0, above=True),
        title="relative gain of a value",
        example="2",
    )
    fields = ("beta",)
    weakest = 1

    @property
    def threshold(self) -> float:
        """Minus beta: a smaller gain is better."""
        return -float(self.beta)

    def fitted(self, histogram: Histogram) -> Self:
        """The model for a table: its distribution is what classes are compared with."""
        return replace(self, release=Distribution.of(histogram))

    def levels(self, classes: ClassCounts) -> Any:
        """Minus the largest relative gain of a value in each class."""
        import numpy as np

        counted = column_counts(classes, self.column)
        whole = self.release or Distribution.of(counted)
        expected = counted.in_each[counted.tuples] * whole.array[counted.codes]
        gain = ratio(np.maximum(counted.counts * whole.records - expected, 0), expected)
        return -largest(counted, self._weighed(gain, whole, counted), 0.0)

    def _weighed(self, gain: Floats, whole: Distribution, counted: Histogram) -> Floats:
        return gain

    def __str__(self) -> str:
        return f"beta={self.beta:g} of {self.column}"


@dataclass(frozen=True)
class EnhancedBetaLikeness(BetaLikeness):
    """No value gains more than beta, relatively, nor more than minus the log of its share, in any class."""

    name = "enhanced beta-likeness"
    option_name = "enhanced_beta_likeness"
    option = replace(
        BetaLikeness.option,
        about="The same, frequent values held closer.",
        title="the same, frequent values closer",
    )

    def _weighed(self, gain: Floats, whole: Distribution, counted: Histogram) -> Floats:
        """Gains times beta over the gain that is allowed to each value."""
        import numpy as np

        with np.errstate(divide="ignore"):
            allowed = -np.log(ratio(whole.array, whole.records))
        closer = np.asarray(self.beta / np.clip(allowed, 1e-300, self.beta))
        return np.round(gain * closer[counted.codes], DIGITS)

    def __str__(self) -> str:
        return f"enhanced {super().__str__()}"


@dataclass(frozen=True)
class DeltaDisclosure(Declared):
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

    name = "delta-disclosure"
    option_name = "delta_disclosure"
    option = promised(
        "Largest ln of a factor of a share in a class, over all values (ARX: log2, present ones).",
        Number(0, above=True),
        title="logarithm of the largest factor",
        example="1",
    )
    fields = ("delta",)
    weakest = 1

    @property
    def least_size(self) -> int:
        """Every class has every value."""
        return 1 if self.release is None else sum(n > 0 for n in self.release.counts)

    @property
    def threshold(self) -> float:
        """Just above minus delta: the factor stays below it."""
        return nextafter(-round(float(self.delta), DIGITS), inf)

    def fitted(self, histogram: Histogram) -> Self:
        """The model for a table: its distribution is what classes are compared with."""
        return replace(self, release=Distribution.of(histogram))

    def levels(self, classes: ClassCounts) -> Any:
        """Minus the largest logarithm of a factor in each class."""
        import numpy as np

        counted = column_counts(classes, self.column)
        whole = self.release or Distribution.of(counted)
        expected = counted.in_each[counted.tuples] * whole.array[counted.codes]
        factor = np.abs(np.log(counted.counts * whole.records / expected))
        has_all = sums(counted, np.ones(len(factor), np.int64)) == np.count_nonzero(whole.array)
        return np.where(has_all, -np.round(largest(counted, factor, 0.0), DIGITS), -inf)

    def __str__(self) -> str:
        return f"delta={self.delta:g} of {self.column}"
