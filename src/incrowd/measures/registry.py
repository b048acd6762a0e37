"""All measures by name: the one name that users type, see and read, wherever a measure appears.

Summary, comparison, options, help and docs read them from here. To add one, write a function of the released classes
(or of the table and its recoding) and an entry below.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from incrowd.errors import PolicyError
from incrowd.measures.class_measures import (
    average_class_size,
    classification_metric,
    discernibility,
    generalized_loss,
    largest,
    median,
    smallest,
)
from incrowd.measures.distortion import release_distortion
from incrowd.measures.information import ambiguity, entropy, precision, squared_error
from incrowd.measures.statistics import eigenvalues, il1, interval_overlap, propensity

if TYPE_CHECKING:
    from incrowd.measures.classes import ReleasedClasses
    from incrowd.recodings.recoding import Recoding
    from incrowd.table.compressed import CompressedTable

Value = float | int | None


@dataclass(frozen=True)
class Measure:
    """A measure of a release.

    Args:
        title: What stands above a column of a table.
        about: One line for people.
        of_classes: The measure of some released classes, if it is one of classes.
        of_release: The measure of a table and its recoding, if it is one of values; None where it does not apply.
        is_loss: Whether it says what was lost, so that less is better and settings can be compared by it.
    """

    title: str
    about: str
    of_classes: Callable[[ReleasedClasses], Value] | None = None
    of_release: Callable[[CompressedTable, Recoding], Value] | None = None
    is_loss: bool = False


def _hierarchical(name: str) -> Callable[[CompressedTable, Recoding], Value]:
    def value(table: CompressedTable, recoding: Recoding) -> Value:
        try:
            return float(getattr(release_distortion(table, recoding), name))
        except PolicyError:  # intervals that the search cut itself stand in no hierarchy
            return None

    return value


MEASURES: Mapping[str, Measure] = {
    "anonymity": Measure("smallest", "records in the smallest class", smallest),
    "classes": Measure("classes", "number of classes", lambda classes: len(classes.sizes)),
    "median_class": Measure("median", "records in the class in the middle", median),
    "largest_class": Measure("largest", "records in the largest class", largest),
    "suppressed": Measure("left out", "records left out", lambda classes: classes.suppressed),
    "c_avg": Measure("C_AVG", "records per class over k; 1 is best", average_class_size),
    "dm": Measure("DM", "discernibility: sum over records of the size of their class", discernibility, is_loss=True),
    "ncp": Measure("NCP", "generalized loss per cell, from 0 to 1", generalized_loss, is_loss=True),
    "cm": Measure(
        "CM", "share of records whose label is not the majority of their class", classification_metric, is_loss=True
    ),
    "entropy": Measure(
        "entropy", "bits lost per bit that there was (non-uniform entropy), from 0 to 1", None, entropy, is_loss=True
    ),
    "precision": Measure("Prec", "1 less the levels climbed over those there are; 1 is best", None, precision),
    "ambiguity": Measure(
        "ambiguity", "original combinations that fit a released record, on average", None, ambiguity, is_loss=True
    ),
    "sse_sst": Measure(
        "SSE/SST", "squared error of numbers over their variation; 1 says nothing", None, squared_error, is_loss=True
    ),
    "il1": Measure(
        "IL1",
        "distance of released from original numbers, over sqrt(2) standard deviations",
        None,
        il1,
        is_loss=True,
    ),
    "eigenvalues": Measure(
        "eigenvalues",
        "relative differences of eigenvalues of correlations, summed",
        None,
        eigenvalues,
        is_loss=True,
    ),
    "pmse": Measure(
        "pMSE", "how well released records are told from original ones, from 0 to 0.25", None, propensity, is_loss=True
    ),
    "interval_overlap": Measure(
        "overlap", "of the 95 % intervals of a regression of the target on numbers; 1 is best", None, interval_overlap
    ),
    "distortion": Measure(
        "distortion",
        "weighted hierarchical distance, summed over cells",
        None,
        _hierarchical("distortion"),
        is_loss=True,
    ),
    "inconsistency": Measure(
        "inconsistency",
        "largest share of values off the main level of an attribute",
        None,
        _hierarchical("inconsistency"),
    ),
}

OF_CLASSES: tuple[str, ...] = tuple(name for name, measure in MEASURES.items() if measure.of_classes)
LOSSES: tuple[str, ...] = tuple(name for name, measure in MEASURES.items() if measure.is_loss)


def class_values(classes: ReleasedClasses) -> dict[str, Any]:
    return {name: measure.of_classes(classes) for name, measure in MEASURES.items() if measure.of_classes}


def release_values(table: CompressedTable, recoding: Recoding) -> dict[str, Any]:
    return {name: measure.of_release(table, recoding) for name, measure in MEASURES.items() if measure.of_release}
