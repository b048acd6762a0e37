"""k-anonymity: everyone shares the values of the quasi-identifier with at least k - 1 others."""

from __future__ import annotations

from dataclasses import dataclass
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


@dataclass(frozen=True)
class KAnonymity(Declared):
    """At least k records in every class.

    A class that joins another only grows, so it is upward closed.

    Args:
        k: The smallest class.
    """

    k: int

    name = "k-anonymity"
    word = "k"
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

    def levels(self, classes: ClassCounts) -> Any:
        """The size of each class."""
        return classes.records

    def __str__(self) -> str:
        return f"k={self.k}"
