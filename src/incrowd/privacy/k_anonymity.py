"""k-anonymity: everyone shares the values of the quasi-identifier with at least k - 1 others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any, ClassVar

from incrowd.options import Option
from incrowd.privacy.declared import Declared
from incrowd.schemas.shapes import Whole

if TYPE_CHECKING:
    from incrowd.table.class_counts import ClassCounts

K = Option(
    "Size of the smallest crowd allowed.",
    Whole(2),
    title="people in every crowd",
    example="10",
    names=("--k",),
    noun="N",
    comment="Everyone is in a crowd of at least this many.",
)


SMALL = 5  # crowds of a sample are no smaller, where those of the table are not


def k_in_sample(k: int, share: Fraction) -> int:
    """The size of crowds of a sample: in proportion to its records, and at least a few."""
    return max(min(k, SMALL), ceil(k * share))


@dataclass(frozen=True)
class KAnonymity(Declared):
    """At least k records in every class.

    A class that joins another only grows, so it is upward closed.

    Args:
        k: The smallest class.
    """

    k: int

    name = "k-anonymity"
    option_name = "k"
    option = K
    about = "records"
    fields = ("k",)
    column: ClassVar[str | None] = None
    whole = True
    upward_closed = True

    @property
    def threshold(self) -> int:
        return self.k

    @property
    def least_size(self) -> int:
        return self.k

    def in_sample(self, share: Fraction) -> KAnonymity:
        """Smaller crowds, in proportion."""
        return replace(self, k=k_in_sample(self.k, share))

    def levels(self, classes: ClassCounts) -> Any:
        """The size of each class."""
        return classes.records

    def __str__(self) -> str:
        return f"k={self.k}"
