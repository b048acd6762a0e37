"""Units: k counts distinct people, wherever one person has several rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from incrowd.privacy.sensitive import check_values, column_counts, sums
from incrowd.table.class_counts import ClassCounts, Histogram


@dataclass(frozen=True)
class KUnits:
    """At least k different people in every class.

    A class that joins another keeps its people, so it is upward closed.

    Args:
        column: The column that says whose row it is; it is dropped from the release.
        k: The smallest number of people.
    """

    column: str
    k: int

    name: ClassVar[str] = "k people"
    whole: ClassVar[bool] = True
    upward_closed: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_values("k", self.k)

    @property
    def threshold(self) -> int:
        """The smallest number of people."""
        return self.k

    @property
    def least_size(self) -> int:
        """As many people have at least as many rows."""
        return self.k

    def fitted(self, histogram: Histogram) -> KUnits:
        """The model for a table; it does not depend on the distribution."""
        return self

    def levels(self, classes: ClassCounts) -> Any:
        """The number of people in each class; rows whose owner is not known are taken as one person's."""
        counted = column_counts(classes, self.column)
        return sums(counted, np.ones(len(counted.tuples), np.int64))

    def __str__(self) -> str:
        return f"k={self.k} people ({self.column})"
