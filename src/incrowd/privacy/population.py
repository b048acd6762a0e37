"""k-map and delta-presence: promises against a table of the population that the records were drawn from.

A method that recodes values one by one says what becomes of everyone. So everyone counts whom it would release as a
class, whatever their combination of values. A local method says what becomes of the combinations of records alone, and
its search counts the people with the original tuples of a class. In truth there are at least as many: both models err
on the safe side.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from incrowd.privacy.sensitive import check_number, check_values, column_counts, ratio
from incrowd.table.class_counts import ClassCounts, Histogram
from incrowd.table.compressed import POPULATION

__all__ = ["POPULATION", "DeltaPresence", "KMap"]


@dataclass(frozen=True)
class KMap:
    """At least k people of the population for every class.

    A class that joins another keeps its people, so it is upward closed.

    Args:
        k: The smallest number of people.
        column: Where they are counted.
    """

    k: int
    column: str = POPULATION

    name: ClassVar[str] = "k-map"
    whole: ClassVar[bool] = True
    upward_closed: ClassVar[bool] = True
    least_size: ClassVar[int] = 1

    def __post_init__(self) -> None:
        check_values("k_map", self.k)

    @property
    def threshold(self) -> int:
        """The smallest number of people."""
        return self.k

    def fitted(self, histogram: Histogram) -> KMap:
        """The model for a table; it does not depend on the distribution."""
        return self

    def levels(self, classes: ClassCounts) -> Any:
        """The people of the population in each class."""
        counted = column_counts(classes, self.column)
        return counted.in_each

    def __str__(self) -> str:
        return f"k-map={self.k}"


@dataclass(frozen=True)
class DeltaPresence:
    """At most a share delta of the people of any class are in the table, so that nobody is known to be in it.

    Args:
        delta: The share, above 0 and at most 1.
        column: Where people are counted.
    """

    delta: float
    column: str = POPULATION

    name: ClassVar[str] = "delta-presence"
    whole: ClassVar[bool] = False
    upward_closed: ClassVar[bool] = False
    least_size: ClassVar[int] = 1

    def __post_init__(self) -> None:
        check_number("delta_presence", self.delta, "a share above 0 and at most 1", lambda share: 0 < share <= 1)

    @property
    def threshold(self) -> float:
        """Minus delta: a smaller share is better."""
        return -float(self.delta)

    def fitted(self, histogram: Histogram) -> DeltaPresence:
        """The model for a table; it does not depend on the distribution."""
        return self

    def levels(self, classes: ClassCounts) -> Any:
        """Minus the share of the people of each class that are in the table."""
        counted = column_counts(classes, self.column)
        return -ratio(classes.records, counted.in_each)

    def __str__(self) -> str:
        return f"delta-presence={self.delta:g}"
