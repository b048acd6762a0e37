"""The exchange of records between classes without compiled code: which class has a tuple's values and costs less."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.privacy.size_rule import SizeRule, spare
from incrowd.run import Run
from incrowd.search.clustering.forest import Forest

Array = npt.NDArray[Any]


class _Sweep:
    """Sizes and detail of the classes, and which classes have the values of which tuple."""

    def __init__(self, forest: Forest, tuples: Array, classes: Array, sizes: Array, crowding: int) -> None:
        self.size, self.crowding = sizes.astype(np.int64), crowding
        self.detail = forest.detail[classes].sum(axis=1)
        self.has = np.ones((len(tuples), len(classes)), bool)
        for a in range(classes.shape[1]):
            values, nodes = tuples[:, a, None], classes[None, :, a]
            self.has &= (values >= nodes) & (values < forest.end[nodes])

    def best_class(self, one: int, home: int, records: int, *, anywhere: bool = False) -> int:
        """The class that records should move to, the first of equally good ones; -1 if no move improves anything."""
        before = -1 if anywhere else self.detail[home]
        gain = records * (self.detail - before) - 2 * self.crowding * records * (self.size + records - self.size[home])
        gain[~self.has[one]] = 0
        gain[home] = 0
        best = int(np.argmax(gain))
        return best if gain[best] > 0 else -1


def exchanged(
    forest: Forest, roots: Array, tuples: Array, classes: Array, parts: Array, needs: SizeRule, crowding: int,
    number: int, run: Run,
) -> Array:  # fmt: skip
    """See `clustering.exchange.exchanged`."""
    state = _Sweep(forest, tuples, classes, np.bincount(parts[:, 1], parts[:, 2], len(classes)), crowding)
    out, added, size, place = parts.copy(), list[tuple[int, int, int]](), state.size, 0

    def some(amount: int) -> bool:
        nonlocal place
        end = min(len(parts), place + max(1, amount // 10))
        while place < end:
            one, home, records = out[place].tolist()
            moving = min(records, int(spare(needs, size[home])))
            target = state.best_class(one, home, moving) if moving > 0 else -1
            if target >= 0:
                size[home], size[target] = size[home] - moving, size[target] + moving
                if moving == records:
                    out[place, 1] = target
                else:
                    out[place, 2] -= moving
                    added.append((one, target, moving))
            place += 1
        run.amount(place, len(parts), f"parts looked at in sweep {number}")
        return place == len(parts) or not run.should_continue()

    run.in_slices(some)
    return np.vstack([out, np.array(added, np.int64)]) if added else out


def proposed(
    forest: Forest, roots: Array, tuples: Array, classes: Array, sizes: Array, parts: Array, needs: SizeRule,
    crowding: int, run: Run, *, anywhere: bool = False,
) -> Array:  # fmt: skip
    """See `clustering.joining.proposed`."""
    state, targets = _Sweep(forest, tuples, classes, sizes, crowding), np.full(len(parts), -1, np.int64)
    for place, (one, home, records) in enumerate(parts.tolist()):
        if place % 100 == 0 and not run.should_continue():
            break
        targets[place] = state.best_class(one, home, records, anywhere=anywhere)
    return targets
