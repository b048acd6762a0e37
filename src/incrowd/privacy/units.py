"""Units: k counts distinct people, wherever one person has several rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from incrowd.privacy.declared import Declared
from incrowd.privacy.k_anonymity import K, KAnonymity, k_in_sample
from incrowd.privacy.sensitive import column_counts, sums

if TYPE_CHECKING:
    from fractions import Fraction

    from incrowd.table.class_counts import ClassCounts, Histogram


@dataclass(frozen=True)
class KUnits(Declared):
    """At least k different people in every class.

    A class that joins another keeps its people, so it is upward closed.

    Args:
        column: The column that says whose row it is; it is dropped from the release.
        k: The smallest number of people.
    """

    column: str
    k: int

    name = "k people"
    option_name = "k"
    option = K
    about = "records"
    fields = ("k",)
    whole = True
    upward_closed = True

    @property
    def threshold(self) -> int:
        return self.k

    @property
    def least_size(self) -> int:
        """As many people have at least as many rows."""
        return self.k

    def fitted(self, histogram: Histogram) -> KUnits | KAnonymity:
        """Where everyone has one record, records are counted, so that equal ones may go to several classes."""
        return KAnonymity(self.k) if histogram.distinct else self

    def in_sample(self, share: Fraction) -> KUnits:
        """Fewer people, in proportion."""
        return replace(self, k=k_in_sample(self.k, share))

    def as_options(self) -> dict[str, Any]:
        """K, and the unit that it counts."""
        return {"k": self.k, "unit": self.column}

    def levels(self, classes: ClassCounts) -> Any:
        """The number of people in each class; rows whose owner is not known count as one person's."""
        import numpy as np

        counted = column_counts(classes, self.column)
        return sums(counted, np.ones(len(counted.tuples), np.int64))

    def __str__(self) -> str:
        return f"k={self.k} people ({self.column})"
