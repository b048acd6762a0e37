"""The worst classes by one privacy model, while classes merge.

The worst level never falls: a union is never worse than its worse part. Only levels up to the threshold of the model
matter. Whole ones are counted one by one, so that what is left without some classes is known without looking at all.
"""

from __future__ import annotations

from math import ceil, isfinite
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.privacy.model import PrivacyModel, Requirement
from incrowd.table.class_counts import ClassCounts

Ints = npt.NDArray[np.int64]
Levels = npt.NDArray[Any]


class Worst:
    """The worst level of a model, and which classes have it; who merges classes keeps `alive` up to date."""

    def __init__(
        self, requirement: Requirement, model: PrivacyModel, classes: ClassCounts, alive: npt.NDArray[np.bool_]
    ) -> None:
        self._requirement, self._model = requirement, model
        self._alive = alive
        self._levels: Levels = np.array(requirement.levels(model, classes))
        self._enough: Any = ceil(model.threshold) if model.whole else model.threshold
        self._numbers = self._counted(self._levels) if model.whole else None  # classes by level
        self._find()

    @property
    def holds(self) -> bool:
        return bool(self.level >= self._model.threshold)

    def _counted(self, levels: Levels) -> Ints:
        """How many classes have each whole level, all that are enough as one."""
        whole = np.minimum(levels, self._enough).astype(np.int64, copy=False)
        return np.bincount(whole, minlength=self._enough + 1)

    def _find(self) -> None:
        self.level: Any = self._levels[self._alive].min().item()
        self._classes = np.flatnonzero(self._alive & (self._levels == self.level))  # some may be gone when it is read

    def all(self) -> Ints:
        self._classes = self._classes[self._is_worst(self._classes)]
        return self._classes

    def some(self, number: int) -> Ints:
        """A few of the worst classes, from all over the table."""
        some = self._classes[:: -(-len(self._classes) // number)]
        some = some[self._is_worst(some)]
        return some if len(some) else self.all()[:number]

    def _is_worst(self, classes: Ints) -> npt.NDArray[np.bool_]:
        return np.asarray(self._alive[classes] & (self._levels[classes] == self.level))

    def rise(self, touched: Ints, merged: ClassCounts) -> float:
        """By how much the worst level rises if some classes become others, counted up to the threshold."""
        if self.holds:
            return 0
        new = self._requirement.levels(self._model, merged)
        worst = min(self._without(touched), new.min().item() if len(new) else self._enough, self._enough)
        if worst <= self.level:  # a rounded level may fall by its last digit
            return 0
        rise: float = worst - self.level
        return rise if isfinite(rise) else 1.0  # from no protection at all to some

    def _without(self, touched: Ints) -> Any:
        """The worst level of the classes that are not touched, if that is not enough."""
        if self._numbers is not None:
            present = np.flatnonzero(self._numbers - self._counted(self._levels[touched]))
            return int(present[0]) if len(present) else self._enough
        others = self._alive.copy()
        others[touched] = False
        return self._levels[others].min(initial=self._enough).item()

    def replace(self, touched: Ints, kept: Ints, merged: ClassCounts) -> None:
        """Some classes have become others, under the numbers of some of them; `alive` says so already."""
        new = self._requirement.levels(self._model, merged)
        if self._numbers is not None:
            self._numbers += self._counted(new) - self._counted(self._levels[touched])
        changed = kept[(new == self.level) & (self._levels[kept] != new)]  # as bad as before, under another number
        self._levels[kept] = new
        if len(changed):
            self._classes = np.append(self._classes, changed)
        if self._numbers is not None and self.level < self._enough:
            gone = not self._numbers[self.level]
        else:
            gone = not len(self.all()) or bool((new < self.level).any())
        if gone:
            self._find()
