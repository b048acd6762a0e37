"""The top-down search over a table whose tuples are elsewhere: the same steps, from counts of classes alone.

Refiners see records as codes and groups. Here a record of an attribute is a value in a class, with the number of
records that have it as its weight: the codes of the attribute are their own records, and a refiner is what it is.
"""

from __future__ import annotations

import numpy as np

from incrowd.errors import PolicyError
from incrowd.recodings.steps import Step
from incrowd.search.top_down.choice import Best
from incrowd.search.top_down.groups import Groups
from incrowd.search.top_down.search import Search, Task
from incrowd.table.grouping import Codes
from incrowd.table.out_of_core import OutOfCoreTable


class OutOfCoreSearch(Search):
    """The search in which every record is released, and no tuple is seen."""

    def __init__(self, task: Task, table: OutOfCoreTable) -> None:
        if any(requirement.columns for requirement in task.requirements):
            raise PolicyError("promises about sensitive columns need all tuples in memory; allow more of them there")
        every = [np.arange(attribute.size) for attribute in table.attributes]
        super().__init__(task, [dict(enumerate(every))] * len(task.requirements), leave_out=False)
        self._out_of_core = table
        self._cells: list[Codes] = [np.zeros(len(codes), np.int64) for codes in every]
        for requirement in range(len(task.requirements)):
            self._count(requirement, self.attributes[requirement][0], slice(None))

    def perform(self, best: Best, number: int) -> Step:
        place = best.place
        index, change = self.candidate(place)
        self.anonymity = np.minimum(self.anonymity, self.candidates.minimum[self.promises.first, place])
        having = next(requirement for requirement, members in enumerate(self.attributes) if index in members)
        rows, children, _ = self.refiners[index].parts(place, having)
        self.refiners[index].refine(place)
        cells = self._cells[index]
        others = children > 0  # the first child keeps the cell, the others get new ones
        codes = np.arange(len(cells))[rows]
        cells[codes[others]] = cells.max() + children[others]
        for requirement, members in enumerate(self.attributes):
            if index in members:
                self._count(requirement, index, codes)
        return self.step(number, index, change, best)

    def _count(self, requirement: int, index: int, codes: Codes | slice) -> None:
        """Show the classes that have some values of an attribute to all attributes of a quasi-identifier."""
        members = self.attributes[requirement]
        asked = [member for member in members if not self.refiners[member].idle()]
        if not asked:
            return
        touched = np.arange(len(self._cells[index]))[codes]
        counted = self._out_of_core.values_in_classes(members, self._cells, index, touched, asked)
        for member, found in zip(asked, counted, strict=True):
            weights = found.counts.astype(np.float64)
            self.refiners[member].observe(requirement, Groups(found.codes, found.classes, found.size, weights))
