"""What tuples have in common that stay in an engine as numbers, whichever engine that is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np

from incrowd.engines.arrow.compress import Numbered
from incrowd.table.class_counts import ClassCounts, Histogram
from incrowd.table.grouping import Codes, Counts


class NumberedTuples(ABC):
    """Distinct tuples as the numbers that their values got; see `table.out_of_core.OutOfCoreTable`."""

    protected: ClassVar[Mapping[str, Histogram]] = {}
    records: int
    incomplete: int

    def learn(self, numbered: Numbered) -> None:
        """Find out what the numbers mean.

        Args:
            numbered: What numbered them; all are known when all rows were read.
        """
        meaning = numbered.meaning([self._used(place) for place in range(len(numbered.columns))])
        self.attributes, self.labels = meaning.attributes, meaning.labels
        self._code_of: Sequence[Codes] = meaning.code_of
        self._label_of = meaning.label_of
        self.incomplete = numbered.incomplete

    @abstractmethod
    def _used(self, place: int) -> tuple[Codes, Counts]:
        """The numbers of a column that occur, ascending, and how many records have each."""

    @property
    def has_target(self) -> bool:
        """Whether the labels of a target are known."""
        return bool(self.labels)

    def everyone(self) -> ClassCounts:
        """What privacy models ask of all records together."""
        return ClassCounts(np.array([self.records]))

    def index(self, name: str) -> int:
        """Position of an attribute."""
        return next(i for i, attribute in enumerate(self.attributes) if attribute.name == name)

    def value_counts(self, attribute: int) -> Counts:
        """Records per code of one attribute."""
        numbers, counts = self._used(attribute)
        found = np.zeros(self.attributes[attribute].size, np.int64)
        np.add.at(found, self._code_of[attribute][numbers], counts)
        return found
