"""What a release costs where records may be left out under models that are not upward closed.

With such a model a class may hold a good part and be bad, and what classes are compared with depends on who stays. So
which records a partition leaves out follows from the rule of `search.leaving_out` alone, applied to that partition, and
its cost is that of the table that is released then. Both are counted for every partition that is offered, and the
search offers each that its bounds do not drop. Bounds over all partitions between a finest and a coarsest one rest on
less than those of `costs`:

- A class of the coarsest one that fails an upward closed model, or is smaller than any good class, is left out whole.
- A class of the coarsest one that is bad otherwise has a bad part in every partition, as unions of good classes are
  good: no less than the smallest class of the finest one inside. Who is left out in the first round, in which classes
  are compared with the whole table, stays left out.
- A released record shows at least the values of its block in the finest partition that have more records than may be
  left out: such a value is released with some record, so it cannot be hidden.

What is left out is no cheaper than what is released, so all other records count as if they were released.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from incrowd.privacy.model import Requirement
from incrowd.search.leaving_out import suppressed
from incrowd.search.optimal.blocks import Labels, blocks_of, labels_of
from incrowd.search.optimal.costs import Classes, Costs, Partitions
from incrowd.search.optimal.released import released
from incrowd.table.class_counts import ClassCounts, Mask
from incrowd.table.grouping import Floats


class ReleasedCosts(Costs):
    """Costs of what partitions release if at most so many records are left out."""

    as_released = True

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        requirement = self.requirement
        closed = tuple(model for model in requirement.models if model.upward_closed)
        self._closed = Requirement(requirement.attributes, closed, requirement.with_absent) if closed else None
        self._shown = [  # values that cannot be hidden
            sum(1 << position for position, count in enumerate(counts.tolist()) if count > self.limit)
            for counts in self.value_counts
        ]

    def kept(self, partitions: Partitions) -> Mask:
        left_out = suppressed([self.classes(partitions).of_row], [self.requirement], self._table)
        return np.asarray(~left_out)

    def of(self, partitions: Partitions) -> tuple[float, int]:
        made = released(self._table, self, partitions)
        return made.cost, made.suppressed

    def between(self, fine: Partitions, coarse: Partitions) -> tuple[float, int]:
        classes = self.classes(fine)
        around = self.classes(coarse, classes)
        hopeless = self._hopeless(around)
        shown = [self._surely_shown(index, labels) for index, labels in enumerate(fine)]
        cost, sure = self._cost(shown, classes, hopeless[around.of_row], self.least)
        parted = ~self.good(around) & ~hopeless
        if parted.any():
            smallest = np.full(len(around.sizes), self.records)
            np.minimum.at(smallest, around.of_row, classes.sizes)
            sure += int(smallest[parted].sum())
        return cost, sure

    def _hopeless(self, classes: Classes) -> Mask:
        """Classes of which no part is good."""
        small = (classes.sizes > 0) & (classes.sizes < self.least)
        if self._closed is None:
            return small
        return np.asarray(small | ~self._closed.good(ClassCounts(classes.sizes, classes.values)))

    def _surely_shown(self, index: int, labels: Labels) -> Labels:
        """The finest partition that a release of some partition or of a coarser one can show."""
        domain, sure = self.domains[index], self._shown[index]
        blocks = [block & sure for block in blocks_of(labels.tolist()) if block & sure]
        if not domain.hides_members():
            alone = [1 << place for place in range(domain.space.size) if not sure >> place & 1]
            blocks = list(domain.space.closure([*blocks, *alone]))
        return labels_of(blocks, domain.space.size)

    def _penalties_of(self, index: int, labels: Labels) -> Floats:
        domain = self.domains[index]
        if self.cost != "ncp" or not domain.hides_members():
            return super()._penalties_of(index, labels)
        together = np.bincount(labels, minlength=len(labels))[labels]  # what is shown names these at least
        return (together - 1) / max(1, domain.attribute.size - 1)
