"""k-anonymity: everyone shares the values of the quasi-identifier with at least k - 1 others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from incrowd.errors import PolicyError, shown
from incrowd.schemas.shapes import MOST

if TYPE_CHECKING:
    from incrowd.table.class_counts import ClassCounts, Histogram


@dataclass(frozen=True)
class KAnonymity:
    """At least k records in every class.

    A class that joins another only grows, so it is upward closed.

    Args:
        k: The smallest class.
    """

    k: int

    name: ClassVar[str] = "k-anonymity"
    column: ClassVar[str | None] = None
    whole: ClassVar[bool] = True
    upward_closed: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if isinstance(self.k, bool) or not isinstance(self.k, int) or not 2 <= self.k <= MOST:
            raise PolicyError(f"The 'k' parameter must be an integer of at least 2. Got {shown(self.k)}.")

    @property
    def threshold(self) -> int:
        """K."""
        return self.k

    @property
    def least_size(self) -> int:
        """K."""
        return self.k

    def fitted(self, histogram: Histogram | None) -> KAnonymity:
        """The model for a table; it does not depend on it."""
        return self

    def levels(self, classes: ClassCounts) -> Any:
        """The size of each class."""
        return classes.records

    def __str__(self) -> str:
        return f"k={self.k}"
