"""k-map and delta-presence: promises against a table of the population that the records were drawn from.

A method that recodes values one by one says what becomes of everyone. So everyone counts whom it would release as a
class, whatever their combination of values. A local method says what becomes of the combinations of records alone, and
its search counts the people with the original tuples of a class. In truth there are at least as many: both models err
on the safe side.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from incrowd.errors import shown
from incrowd.options import RISKS, Option
from incrowd.privacy.declared import Declared, promised
from incrowd.privacy.sensitive import column_counts, ratio
from incrowd.schemas.shapes import Number, SchemaError, Whole

if TYPE_CHECKING:
    from incrowd.table.class_counts import ClassCounts

SAMPLING_FRACTION = Option(
    "The share of the population that is in the table.",
    Number(0, 1, above=True, noun="a share of the population, above 0 and at most 1"),
    example="0.05",
    noun="SHARE",
    section=RISKS,
)
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
        section=RISKS,
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
        section=RISKS,
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


@dataclass(frozen=True)
class EstimatedKMap(Declared):
    """Crowds so large that they hardly come from fewer than k people of the population.

    There is no table of the population, only the share of it that was drawn into the table, each person alike. A class
    of at most k - 1 people shows n records or more, if any, with a probability that falls with n; crowds of n are large
    enough if it is at most the error. This is the test of El Emam and Dankar (2008), with the binomial numbers that
    their Poisson numbers approximate.

    A class that joins another only grows, so it is upward closed.

    Args:
        k: The smallest number of people.
        sampling_fraction: The share of the population that is in the table.
        error: The largest probability that a class of fewer people looks large enough.
    """

    k: int
    sampling_fraction: float
    error: float = 0.01

    name = "estimated k-map"
    option_name = "k_map"
    option = KMap.option
    about = "records"
    fields = ("k",)
    settings = ("sampling_fraction", "k_map_error")
    more: ClassVar[Mapping[str, Option]] = {
        "sampling_fraction": SAMPLING_FRACTION,
        "k_map_error": Option(
            "How likely a crowd of too few people may look large enough, without a population table.",
            Number(0, 1, above=True, below=True),
            example="0.01",
            noun="SHARE",
            section=RISKS,
        ),
    }
    column: ClassVar[str | None] = None
    whole = True
    upward_closed = True

    @classmethod
    def of_sample(cls, k: int, options: Mapping[str, Any]) -> EstimatedKMap:
        """The model, from what people write."""
        return cls(k, **{cls._field(name): value for name, value in options.items()})

    @cached_property
    def records(self) -> int:
        """The records of a crowd that is large enough."""
        share, people = float(self.sampling_fraction), self.k - 1
        if share == 1:
            return self.k
        chance = people * math.log1p(-share)  # the logarithm of how likely so many records are shown
        tail = shown = -math.expm1(chance)  # how likely so many or more are
        for number in range(1, self.k):
            if tail <= self.error * shown:
                return number
            chance += math.log((people - number + 1) / number) + math.log(share) - math.log1p(-share)
            tail -= math.exp(chance)
        return self.k

    @property
    def threshold(self) -> int:
        return self.records

    @property
    def least_size(self) -> int:
        return self.records

    def levels(self, classes: ClassCounts) -> Any:
        """The size of each class."""
        return classes.records

    def __str__(self) -> str:
        return f"k-map={self.k} (estimated: crowds of {self.records})"
