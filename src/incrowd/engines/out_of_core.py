"""Tuples that stay in an engine as numbers of values, while a top-down search asks for counts, whichever engine it is.

What a number is released as comes along with each question. An engine answers one kind of question, `_ask`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from incrowd.engines.arrow.compress import Numbered
from incrowd.table.class_counts import ClassCounts, Histogram
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import Codes, Counts, group
from incrowd.table.out_of_core import ValuesInClasses


class NumberedTuples(ABC):
    """Distinct tuples as the numbers that their values got; see `table.out_of_core.OutOfCoreTable`.

    Columns are the quasi-identifiers, then the target.
    """

    protected: ClassVar[Mapping[str, Histogram]] = {}
    records: int
    tuples: int
    incomplete: int

    @abstractmethod
    def _ask(self, cells: Mapping[int, Codes], numbers: Sequence[int], *, each: bool = False) -> list[Any]:
        """Count records per combination of cells of some columns and numbers of others.

        Args:
            cells: By column, the cell of each number, the last one that of missing values, whose number is -1. Tuples
                with a cell of -1 do not count.
            numbers: The columns whose numbers are told apart.
            each: Whether each of these is counted by itself, and not all of them together.

        Returns:
            The cells of each column, the numbers of each column, and the records; where `each`, then for each of
            `numbers` 0 in the rows that are about it.
        """

    def learn(self, numbered: Numbered) -> None:
        """Find out what the numbers mean; all are known when all rows were read."""
        meaning = numbered.meaning([self._used(place) for place in range(len(numbered.columns))])
        self.attributes, self.labels = meaning.attributes, meaning.labels
        self._code_of: Sequence[Codes] = meaning.code_of
        self._label_of = meaning.label_of
        self.incomplete = numbered.incomplete

    def _used(self, place: int) -> tuple[Codes, Counts]:
        """The numbers of a column that occur, ascending, and how many records have each."""
        numbers, counts = self._ask({}, [place])
        order = np.argsort(numbers)
        return np.asarray(numbers[order], np.int64), np.asarray(counts[order], np.int64)

    @property
    def has_target(self) -> bool:
        return bool(self.labels)

    def everyone(self) -> ClassCounts:
        return ClassCounts(np.array([self.records]))

    def index(self, name: str) -> int:
        return next(i for i, attribute in enumerate(self.attributes) if attribute.name == name)

    def value_counts(self, attribute: int) -> Counts:
        numbers, counts = self._used(attribute)
        found = np.zeros(self.attributes[attribute].size, np.int64)
        np.add.at(found, self._code_of[attribute][numbers], counts)
        return found

    def label_counts(self, attribute: int) -> Counts:
        assert self._label_of is not None
        numbers, labels, counts = self._ask({}, [attribute, len(self.attributes)])
        found = np.zeros((self.attributes[attribute].size, len(self.labels)), np.int64)
        np.add.at(found, (self._code_of[attribute][numbers], self._label_of[labels]), counts)
        return found

    def values_in_classes(
        self, members: Sequence[int], cells: Sequence[Codes], attribute: int, codes: Codes, asked: Sequence[int]
    ) -> list[ValuesInClasses]:
        chosen = np.zeros(self.attributes[attribute].size, bool)
        chosen[codes] = True
        of_code = {member: cells[member] for member in members if cells[member].any()}  # others have a single cell
        of_code[attribute] = np.where(chosen, cells[attribute], -1)
        found = self._ask(self._by_number(of_code), asked, each=True)
        width, records = len(of_code), found[len(of_code) + len(asked)]
        classes, _ = group(found[:width], [int(cell.max()) + 1 for cell in of_code.values()])
        size = int(classes.max()) + 1
        counted = []
        for place, member in enumerate(asked):
            rows = np.flatnonzero(found[width + len(asked) + 1 + place] == 0)
            code = self._code_of[member][found[width + place][rows].astype(np.int64)]
            numbers, first = group([classes[rows], code], [size, self.attributes[member].size])
            total = np.zeros(len(first), np.int64)  # several numbers may have the same code
            np.add.at(total, numbers, records[rows])
            counted.append(ValuesInClasses(np.asarray(code, np.int64)[first], classes[rows][first], total, size))
        return counted

    def _by_number(self, cells: Mapping[int, Codes]) -> dict[int, Codes]:
        return {place: np.asarray(of_code, np.int64)[self._code_of[place]] for place, of_code in cells.items()}

    def classes(self, cells: Sequence[Codes]) -> CompressedTable:
        found = self._ask(self._by_number(dict(enumerate(cells))), [len(cells)] if self.has_target else [])
        first = []
        for of_code, numbers in zip(cells, found, strict=False):
            distinct, places = np.unique(of_code, return_index=True)
            first.append(places[np.searchsorted(distinct, numbers)])
        target = None if self._label_of is None else (self.labels, self._label_of[found[-2]])
        return CompressedTable.build(self.attributes, first, np.asarray(found[-1], np.int64), target)

    @abstractmethod
    def close(self) -> None:
        """Let go of the tuples."""
