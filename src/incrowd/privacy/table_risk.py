"""Risks of a release as a whole: average risk, sample uniqueness and population uniqueness, as promises.

These are promises about all classes of a release together (`privacy.model.TableModel`): no single class keeps or breaks
them. They are asked of the sizes of the released classes, and of nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Self

from incrowd.errors import PolicyError
from incrowd.options import RISKS, Option
from incrowd.population.uniqueness import Estimate, Sample, dankar, estimate
from incrowd.privacy.declared import Declared
from incrowd.privacy.population import SAMPLING_FRACTION
from incrowd.schemas.shapes import Choice, Number

if TYPE_CHECKING:
    from incrowd.table.class_counts import ClassCounts
    from incrowd.table.grouping import Counts

ESTIMATORS = {"dankar": "", "zayatz": "Zayatz", "pitman": "Pitman", "snb": "SNB"}


def risk(about: str, *, title: str, example: str, above: bool = False) -> Option:
    """The option of a promise about all crowds together."""
    return Option(about, Number(0, 1, above=above), title=title, example=example, noun="SHARE", section=RISKS)


class OfTable(Declared):
    """What promises about all classes together share: every single class is good, whatever its size.

    Args:
        monotone: Whether a release that keeps the promise still does once some of its classes are merged.
    """

    about = "table"
    column: ClassVar[str | None] = None
    whole = True
    upward_closed = False
    monotone: ClassVar[bool] = True

    @classmethod
    def written(cls, options: Mapping[str, Any]) -> Self:
        """The model, from what people write."""
        own = {cls._field(name): options[name] for name in cls.settings if name in options}
        return cls(options[cls.option_name], **own)  # type: ignore[call-arg]

    @property
    def threshold(self) -> int:
        return 1

    def levels(self, classes: ClassCounts) -> Any:
        """The size of each class: one record is enough."""
        return classes.records

    def reached(self, sizes: Counts) -> float:
        """The risk of a release whose classes have these sizes."""
        raise NotImplementedError

    def holds(self, sizes: Counts) -> bool:
        """Whether a release whose classes have these sizes keeps the promise; one without records does."""
        return not len(sizes) or self.reached(sizes) <= self.value


@dataclass(frozen=True)
class AverageRisk(OfTable):
    """The mean of 1 / size of the class over all records is at most this: classes divided by records.

    Merged classes are fewer, of as many records.

    Args:
        share: The average risk, above 0 and at most 1.
    """

    share: float

    name = "average risk"
    option_name = "average_risk"
    option = risk(
        "Largest average risk: crowds divided by records.",
        title="largest average risk of re-identification",
        example="0.05",
        above=True,
    )
    fields = ("share",)

    def reached(self, sizes: Counts) -> float:
        return len(sizes) / int(sizes.sum())

    def __str__(self) -> str:
        return f"average risk={self.share:g}"


@dataclass(frozen=True)
class SampleUniqueness(OfTable):
    """At most this share of the records are alone in their class.

    Merged classes have no more records that are alone.

    Args:
        share: The share, from 0 to 1.
    """

    share: float

    name = "sample uniqueness"
    option_name = "sample_uniqueness"
    option = risk(
        "Largest share of the records that may be alone.",
        title="largest share of records that are alone",
        example="0.01",
    )
    fields = ("share",)

    def reached(self, sizes: Counts) -> float:
        return int((sizes == 1).sum()) / int(sizes.sum())

    def __str__(self) -> str:
        return f"sample uniqueness={self.share:g}"


@dataclass(frozen=True)
class PopulationUniqueness(OfTable):
    """At most this share of the population is estimated to be alone, if everyone were recoded as the records are.

    Estimates may rise when classes are merged, so only searches that count every table accept it. An estimator that
    does not apply says nothing: the promise is not kept then.

    Args:
        share: The share of the population, from 0 to 1.
        sampling_fraction: The share of the population that is in the table: a simple random sample of it.
        estimator: The estimator: "zayatz", "pitman", "snb", or "dankar" to choose by the sampling fraction.
    """

    share: float
    sampling_fraction: float | None = None
    estimator: str = "dankar"

    name = "population uniqueness"
    option_name = "population_uniqueness"
    option = risk(
        "Largest share of the population that may be alone, as estimated.",
        title="largest estimated share of the population that is alone",
        example="0.001",
    )
    fields = ("share",)
    settings = ("sampling_fraction", "estimator")
    more: ClassVar[Mapping[str, Option]] = {
        "sampling_fraction": SAMPLING_FRACTION,
        "estimator": Option(
            "How population uniqueness is estimated; dankar chooses one of the others.",
            Choice(tuple(ESTIMATORS)),
            example="zayatz",
            noun="NAME",
            section=RISKS,
        ),
    }
    monotone = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.sampling_fraction is None:
            raise PolicyError(
                "population_uniqueness is estimated from a sample; give the share of the population that is in the "
                "table as sampling_fraction"
            )

    def estimate(self, sizes: Counts) -> Estimate:
        """What the estimator says of a release whose classes have these sizes."""
        records = int(sizes.sum())
        sample = Sample.of(sizes, max(records, round(records / Fraction(str(self.sampling_fraction)))))
        return estimate(ESTIMATORS[self.estimator], sample) if ESTIMATORS[self.estimator] else dankar(sample)

    def reached(self, sizes: Counts) -> float:
        alone = int((sizes == 1).sum())
        if not alone or self.sampling_fraction == 1:
            return alone / int(sizes.sum())
        share = self.estimate(sizes).share
        return 1.0 if share is None else share

    def __str__(self) -> str:
        return f"population uniqueness={self.share:g} ({self.estimator})"
