"""k-map and delta-presence: promises against a table of the population that the records were drawn from.

A method that recodes values one by one says what becomes of everyone. So everyone counts whom it would release as a
class, whatever their combination of values. A local method says what becomes of the combinations of records alone, and
its search counts the people with the original tuples of a class. In truth there are at least as many: both models err
on the safe side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from incrowd.errors import shown
from incrowd.privacy.declared import Declared, promised
from incrowd.privacy.sensitive import column_counts, ratio
from incrowd.schemas.shapes import Number, SchemaError, Whole

if TYPE_CHECKING:
    from incrowd.table.class_counts import ClassCounts

POPULATION = "\0population"  # what the people of each class are counted as; no column has this name


@dataclass(frozen=True)
class LargestShare(Number):
    """A share, alone or after a smallest one of 0."""

    low: float | None = 0
    high: float | None = 1
    above: bool = True
    noun: str = "a share"

    def plain(self, value: Any) -> Any:
        if isinstance(value, str) or not isinstance(value, Sequence):
            return value
        if len(value) == 2 and value[0] == 0:
            return value[1]
        return value[0] if len(value) == 1 else value

    def check(self, value: Any, place: str) -> None:
        if isinstance(value, Sequence) and not isinstance(value, str):
            must = (
                "be the largest share, or 0 and the largest share: people whose values no record has are surely not "
                "in the table, so a smallest share above 0 cannot hold"
            )
            raise SchemaError(place, must, shown(value))
        super().check(value, place)

    def parse(self, text: str) -> Any:
        return self.plain([Number().parse(part) for part in text.split(",")])


@dataclass(frozen=True)
class KMap(Declared):
    """At least k people of the population for every class.

    A class that joins another keeps its people, so it is upward closed.

    Args:
        k: The smallest number of people.
    """

    k: int

    name = "k-map"
    option_name = "k_map"
    option = promised(
        "At least this many people of the population for a class.",
        Whole(2),
        title="people of the population for every crowd",
        example="5",
    )
    about = "population"
    fields = ("k",)
    column: ClassVar[str] = POPULATION
    whole = True
    upward_closed = True

    @property
    def threshold(self) -> int:
        return self.k

    def levels(self, classes: ClassCounts) -> Any:
        """The people of the population in each class."""
        return column_counts(classes, POPULATION).in_each

    def __str__(self) -> str:
        return f"k-map={self.k}"


@dataclass(frozen=True)
class DeltaPresence(Declared):
    """At most a share delta of the people of any class are in the table, so that nobody is known to be in it.

    Args:
        delta: The share, above 0 and at most 1.
    """

    delta: float

    name = "delta-presence"
    option_name = "delta_presence"
    option = promised(
        "Largest share of these that may be in the table.",
        LargestShare(),
        title="largest share of the population in the table",
        example="0.5",
    )
    about = "population"
    fields = ("delta",)
    column: ClassVar[str] = POPULATION

    @property
    def threshold(self) -> float:
        """Minus delta: a smaller share is better."""
        return -float(self.delta)

    def levels(self, classes: ClassCounts) -> Any:
        """Minus the share of the people of each class that are in the table."""
        return -ratio(classes.records, column_counts(classes, POPULATION).in_each)

    def __str__(self) -> str:
        return f"delta-presence={self.delta:g}"
