"""What an engine is asked to read and to release, as plain data: it never sees the policy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

    from incrowd.taxonomies.rules import Rule
    from incrowd.taxonomies.taxonomy import Taxonomy


@dataclass(frozen=True)
class ReadPlan:
    """Which columns of a table are compressed, and how their values are read.

    Args:
        attributes: The quasi-identifying columns, in order.
        target: The column that a classifier is to predict.
        protected: The columns whose values privacy models count.
        taxonomies: The taxonomies of columns, or rules that build them out of the values.
        types: The declared types of columns.
        ranges: The public ranges of numbers and dates.
        missing: What happens to missing values: "category", "drop" or "error".
        missing_values: The texts that mean a missing value, those of the source included.
        counted_as: The value that a value of a protected column counts as, such as its group.
        reading: The rule that groups the distinct values of a column of which nothing else is said, if any does.
    """

    attributes: tuple[str, ...]
    target: str | None = None
    protected: tuple[str, ...] = ()
    taxonomies: Mapping[str, Taxonomy | Rule] = field(default_factory=dict)
    types: Mapping[str, str] = field(default_factory=dict)
    ranges: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)
    missing: str = "category"
    missing_values: tuple[str, ...] = ()
    counted_as: Callable[[str, str | None], str | None] = lambda column, value: value
    reading: Callable[[str, pa.Array], Rule | None] | None = None

    @property
    def counted(self) -> tuple[str, ...]:
        """The columns that are counted within tuples: the target, then the protected ones."""
        return tuple(dict.fromkeys((*((self.target,) if self.target else ()), *self.protected)))

    @property
    def columns(self) -> list[str]:
        """All columns to read."""
        return list(dict.fromkeys((*self.attributes, *self.counted)))


@dataclass(frozen=True)
class ReleasePlan:
    """How rows are released, and what an observer is shown of them.

    Args:
        observed_columns: The columns that the observer looks at. An engine may show these alone, and equal rows once
            with their number, counted in what is given out and nowhere earlier. None for all columns of all rows.
        hidden_columns: Dropped columns whose original values the observer is shown as well, after all others; they do
            not leave.
        is_training_data: Whether the recoding was made from these very rows; then constant columns are not even read.
        keep_order: Whether rows stay in their order; else they get one that follows from what is released alone, see
            `row_order`.
    """

    observed_columns: tuple[str, ...] | None = None
    hidden_columns: tuple[str, ...] = ()
    is_training_data: bool = False
    keep_order: bool = False
