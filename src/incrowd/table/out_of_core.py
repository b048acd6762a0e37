"""A compressed table whose tuples stay where they are: an engine counts, and only counts of classes come here.

A top-down search needs no tuples. It needs the histogram of each attribute once, and after each step how many records
of the classes that the step touched have each value of each attribute, as a decision tree over distributed data does.
So it can work on more tuples than fit in memory, and finds the same steps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from incrowd.table.attributes import Attribute
from incrowd.table.class_counts import ClassCounts, Histogram
from incrowd.table.grouping import Codes, Counts

if TYPE_CHECKING:
    from incrowd.table.compressed import CompressedTable


@dataclass(frozen=True)
class ValuesInClasses:
    """How many records of some classes have each value of one attribute.

    Args:
        codes: The value of each entry.
        classes: The class of each entry, below `size`.
        counts: Records of each entry; none is empty.
        size: How many classes there are.
    """

    codes: Codes
    classes: Codes
    counts: Counts
    size: int


@runtime_checkable
class OutOfCoreTable(Protocol):
    """What a top-down search asks of a table, and what a release keeps of it.

    A cell is what some values of an attribute are released as. The classes of a quasi-identifier are the combinations
    of cells of its attributes that occur.

    Attributes:
        attributes: The attributes.
        tuples: How many distinct tuples there are.
        protected: Histograms of protected columns; there are none.
        incomplete: Records of the table that are not here, since they lack a value and the policy drops such.
    """

    attributes: tuple[Attribute, ...]
    tuples: int
    protected: Mapping[str, Histogram]
    incomplete: int

    @property
    def has_target(self) -> bool: ...

    @property
    def labels(self) -> tuple[str | None, ...]: ...

    @property
    def records(self) -> int: ...

    def everyone(self) -> ClassCounts: ...

    def index(self, name: str) -> int: ...

    def value_counts(self, attribute: int) -> Counts: ...

    def label_counts(self, attribute: int) -> Counts: ...

    def values_in_classes(
        self, members: Sequence[int], cells: Sequence[Codes], attribute: int, codes: Codes, asked: Sequence[int]
    ) -> list[ValuesInClasses]:
        """Count once within the classes that have some values of an attribute.

        Args:
            members: The attributes of a quasi-identifier.
            cells: The cell of each code, for each of all attributes.
            attribute: One of the members.
            codes: Its values that matter; whole cells.
            asked: The members whose values are counted, at least one.

        Returns:
            The counts of each of these, over the same classes.
        """

    def classes(self, cells: Sequence[Codes]) -> CompressedTable:
        """A table in which one tuple stands for each class of all attributes: the first values of its cells."""

    def close(self) -> None: ...
