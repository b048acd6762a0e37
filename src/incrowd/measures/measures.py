"""What a release lost: all measures of its classes, for every attribute, for every quasi-identifier, and in total.

They are worked out from the compressed table and the recoding. Where a recoding deals the records of a tuple to several
classes, the classification metric depends on which rows go where: then the labels of the released classes are counted
from the rows (`Engine.label_counts`), and without that count the metric is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from incrowd.measures.classes import FinestClasses, ReleasedClasses
from incrowd.measures.registry import class_values
from incrowd.privacy.model import Requirements
from incrowd.recodings.recoding import Recoding
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import Counts


@dataclass(frozen=True)
class ClassMeasures:
    """The measures of the classes over some attributes; each is an attribute by its name, such as `ncp`.

    Args:
        k: The smallest class that was asked for.
        values: The measures by name, those of `incrowd.measures.registry`.
    """

    attributes: tuple[str, ...]
    k: int
    values: Mapping[str, Any]

    @classmethod
    def of(cls, classes: ReleasedClasses) -> ClassMeasures:
        """Measure some classes."""
        return cls(classes.attributes, classes.least_size, class_values(classes))

    def __getattr__(self, name: str) -> Any:
        values: Mapping[str, Any] = self.__dict__.get("values", {})  # not there yet while it is unpickled
        if name not in values:
            raise AttributeError(f"no measure '{name}'; measures: {', '.join(values)}")
        return values[name]

    def to_json(self) -> dict[str, Any]:
        """As JSON-able data."""
        return {"attributes": list(self.attributes), "k": self.k, **self.values}


@dataclass(frozen=True)
class Measures:
    """All measures of a release.

    Args:
        total: Over all attributes of all quasi-identifiers, with the largest k of them.
        quasi_identifiers: Over those of each quasi-identifier.
        attributes: Over each attribute alone.
    """

    records: int
    total: ClassMeasures
    quasi_identifiers: tuple[ClassMeasures, ...]
    attributes: tuple[ClassMeasures, ...]

    def to_json(self) -> dict[str, Any]:
        """As JSON-able data."""
        return {
            "records": self.records,
            "total": self.total.to_json(),
            "quasi_identifiers": [part.to_json() for part in self.quasi_identifiers],
            "attributes": [part.to_json() for part in self.attributes],
        }


def measure(
    table: CompressedTable, recoding: Recoding, requirements: Requirements, labels: Counts | None = None
) -> Measures:
    """Measure a recoding of a table; labels per released class are counted if it deals tuples to several classes."""
    finest = FinestClasses.of(table, recoding.parts(table), labels)
    unions = [finest.within(requirement.attributes) for requirement in requirements]

    # A union has fewer classes than the finest ones.
    union_of = {name: next(union for union in unions if name in union.cells) for name in finest.cells}
    lost = {name: union.lost(name) for name, union in union_of.items()}

    def alone(name: str) -> ClassMeasures:
        least_size = max(requirement.least_size for requirement in requirements if name in requirement.attributes)
        return ClassMeasures.of(union_of[name].over((name,), least_size, lost))

    names, needed = tuple(finest.cells), max(requirement.least_size for requirement in requirements)
    return Measures(
        table.records,
        ClassMeasures.of(finest.over(names, needed, lost)),
        tuple(
            ClassMeasures.of(union.over(requirement.attributes, requirement.least_size, lost))
            for union, requirement in zip(unions, requirements, strict=True)
        ),
        tuple(alone(name) for name in names),
    )
