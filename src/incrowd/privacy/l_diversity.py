"""l-diversity: a sensitive column takes at least l values in every class; counted, weighed by entropy, or recursively.

Values may be named harmless ("healthy"). Nobody minds being taken for someone with such a value, so each record that
has one counts as a value of its own. That keeps the law of unions for all three forms.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, inf, nextafter
from typing import TYPE_CHECKING, Any, Self

from incrowd.options import Pair
from incrowd.privacy.declared import Declared, promised
from incrowd.privacy.sensitive import check_reachable, column_counts, harmful, largest, ratio, sums
from incrowd.schemas.shapes import Number, Whole

if TYPE_CHECKING:
    from incrowd.table.class_counts import ClassCounts, Histogram
    from incrowd.table.grouping import Counts

DIGITS = 9  # entropies are logarithms: they are compared to this many decimals


class _Diverse(Declared):
    """What the three forms share."""

    settings = ("harmless",)

    if TYPE_CHECKING:
        column: str
        l: float
        harmless: tuple[str, ...]

    def fitted(self, histogram: Histogram) -> Self:
        """Itself, if the table has enough values."""
        if not self.harmless:
            check_reachable(self.column, self.l, histogram)
        return self


@dataclass(frozen=True)
class LDiversity(_Diverse):
    """At least l different values in every class.

    A class that joins another keeps its values, so it is upward closed.

    Args:
        column: The sensitive column.
        l: How many.
        harmless: Values that need no protection.
    """

    column: str
    l: int
    harmless: tuple[str, ...] = ()

    name = "distinct l-diversity"
    option_name = "l"
    option = promised(
        "At least this many values in every class; 2 if no other promise is given, 1 for no promise.",
        Whole(1),
        title="different values in every crowd",
        example="3",
    )
    fields = ("l",)
    weakest = 2
    whole = True
    upward_closed = True

    @property
    def threshold(self) -> int:
        return self.l

    @property
    def least_size(self) -> int:
        """As many values need as many records."""
        return self.l

    def levels(self, classes: ClassCounts) -> Any:
        """The number of values in each class."""
        counted = column_counts(classes, self.column)
        return sums(counted, _as_values(counted, self.harmless))

    def __str__(self) -> str:
        return f"l={self.l} of {self.column}"


@dataclass(frozen=True)
class EntropyLDiversity(_Diverse):
    """Entropy of the values of at least log(l) in every class: as diverse as l values that are equally frequent.

    Args:
        column: The sensitive column.
        l: As many.
        harmless: Values that need no protection.
    """

    column: str
    l: float
    harmless: tuple[str, ...] = ()

    name = "entropy l-diversity"
    option_name = "entropy_l"
    option = promised(
        "As diverse as this many equally frequent values.",
        Number(1, above=True),
        title="as mixed as this many values",
        example="2",
    )
    fields = ("l",)
    weakest = 2

    @property
    def threshold(self) -> float:
        return round(float(self.l), DIGITS)

    @property
    def least_size(self) -> int:
        """As many values need as many records."""
        return ceil(self.threshold)

    def levels(self, classes: ClassCounts) -> Any:
        """The number of equally frequent values that would be as diverse as each class, to nine decimals."""
        import numpy as np

        counted = column_counts(classes, self.column)
        mine = counted.counts * np.log(counted.counts)  # of a harmless value: one value each, and log(1) is 0
        mine = np.where(harmful(counted.values, self.harmless)[counted.codes], mine, 0.0)
        total = np.maximum(counted.in_each, 1)
        entropy = np.log(total) - sums(counted, mine) / total
        return np.round(np.exp(entropy), DIGITS)

    def __str__(self) -> str:
        return f"entropy l={self.l:g} of {self.column}"


@dataclass(frozen=True)
class RecursiveLDiversity(_Diverse):
    """(c, l)-diversity: the most frequent value is rarer than c times the l-th and all rarer ones together.

    Args:
        column: The sensitive column.
        c: The factor.
        l: From which value on.
        harmless: Values that need no protection.
    """

    column: str
    c: float
    l: int
    harmless: tuple[str, ...] = ()

    name = "recursive (c, l)-diversity"
    option_name = "recursive_l"
    option = promised(
        "c,l of recursive (c,l)-diversity.",
        Pair(Number(0, above=True), Whole(2), "a factor c above 0 and an integer l of at least 2"),
        title="c, l of recursive diversity",
        example="3, 2",
    )
    fields = ("c", "l")
    weakest = (1, 2)

    @property
    def threshold(self) -> float:
        """Just above 1 / c, since the most frequent value must be strictly rarer."""
        return nextafter(float(1 / Fraction(str(self.c))), inf)

    @property
    def least_size(self) -> int:
        """As many values need as many records."""
        return self.l

    def levels(self, classes: ClassCounts) -> Any:
        """How often the l-th and all rarer values occur, over the most frequent one."""
        import numpy as np

        counted = column_counts(classes, self.column)
        bad = harmful(counted.values, self.harmless)[counted.codes]
        counts = np.where(bad, counted.counts, 0)
        order = np.lexsort((-counts, counted.tuples))  # within a class the most frequent value first
        starts = np.searchsorted(counted.tuples, np.arange(counted.size))
        rank = np.arange(len(order)) - starts[counted.tuples]
        first = rank < self.l - 1
        frequent = np.bincount(counted.tuples[first], counts[order][first], counted.size).astype(np.int64)
        singles = sums(counted, counted.counts - counts)  # records with a harmless value: one value each
        room = np.maximum(self.l - 1 - sums(counted, bad), 0)
        rest = counted.in_each - frequent - np.minimum(room, singles)
        return ratio(rest, largest(counted, np.maximum(counts, 1), 1))

    def __str__(self) -> str:
        return f"recursive c={self.c:g}, l={self.l} of {self.column}"


def _as_values(counted: Histogram, harmless: tuple[str, ...]) -> Counts:
    """As how many values each entry counts: one, or if it is harmless, as many as it has records."""
    import numpy as np

    bad = harmful(counted.values, harmless)[counted.codes]
    return np.where(bad, 1, counted.counts)
