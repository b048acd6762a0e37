"""A compressed table whose tuples stay where they are: an engine counts, and only counts of classes come here.

A top-down search needs no tuples. It needs the histogram of each attribute once, and after each step how many records
of the classes that the step touched have each value of each attribute, as a decision tree over distributed data does.
So it can work on more tuples than fit in memory, and finds the same steps.

Values are numbers there. What a number is released as comes along with each question; an engine answers one kind of
question, `_ask`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from incrowd.table.attributes import Attribute
from incrowd.table.class_counts import ClassCounts, Histogram
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import Codes, Counts, group


@dataclass(frozen=True)
class NumberMeanings:
    """What numbers of values mean.

    Args:
        code_of: The code of each number, by attribute; the last entry is that of a missing value, whose number is -1.
        labels: The labels of the target; none without one.
        label_of: The label of each number of the target, likewise.
    """

    attributes: tuple[Attribute, ...]
    code_of: list[Codes]
    labels: tuple[str | None, ...] = ()
    label_of: Codes | None = None


@dataclass(frozen=True)
class ValuesInClasses:
    """How many records (never 0) of some classes, numbered below `size`, have each value of one attribute."""

    codes: Codes
    classes: Codes
    counts: Counts
    size: int


class OutOfCoreTable(ABC):
    """What a top-down search asks of a table, and what a release keeps of it.

    A cell is what some values of an attribute are released as. The classes of a quasi-identifier are the combinations
    of cells of its attributes that occur. Columns are the quasi-identifiers, then the target.
    """

    protected: ClassVar[Mapping[str, Histogram]] = {}
    records: int
    tuples: int
    incomplete: int  # records that are not here, since they lack a value and the policy drops such

    @abstractmethod
    def _ask(self, cells: Mapping[int, Codes], numbers: Sequence[int], *, each: bool = False) -> list[Any]:
        """Count records per combination of cells of some columns and numbers of others.

        Args:
            cells: By column, the cell of each number, the last one that of missing values, whose number is -1. Tuples
                with a cell of -1 do not count.
            numbers: The columns whose numbers are distinguished.
            each: Whether each of these is counted by itself, and not all of them together.

        Returns:
            The cells of each column, the numbers of each column, and the records; where `each`, then for each of
            `numbers` 0 in the rows that are about it.
        """

    def learn(self, meanings: NumberMeanings, incomplete: int) -> None:
        """Say what the numbers mean, which is known when all rows were read."""
        self.attributes, self.labels, self.incomplete = meanings.attributes, meanings.labels, incomplete
        self._code_of: Sequence[Codes] = meanings.code_of
        self._label_of = meanings.label_of

    def used(self, place: int) -> tuple[Codes, Counts]:
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
        numbers, counts = self.used(attribute)
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
        """A table with one tuple for each class of all attributes: the first values of its cells."""
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
