"""What models of a sensitive column share: how often each value occurs in the whole release, and in each class.

All of it works on sparse counts (an entry per class and value that occurs in it), and divides whole numbers once, at
the end. Such a quotient is the correctly rounded one, and rounding keeps order: so the law that searches rest on, that
a union is never less protected than its less protected part, holds for the levels as computed, not only on paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from incrowd.errors import PolicyError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from incrowd.table.class_counts import ClassCounts, Histogram
    from incrowd.table.grouping import Counts, Floats

    Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Distribution:
    """How often each value of a sensitive column occurs in the whole release.

    Args:
        values: The values; None stands for missing ones.
    """

    values: tuple[str | None, ...]
    counts: tuple[int, ...]

    @classmethod
    def of(cls, histogram: Histogram) -> Distribution:
        """The distribution of a column, from its histogram."""
        import numpy as np

        counts = np.bincount(histogram.codes, histogram.counts, histogram.width).astype(np.int64)
        return cls(histogram.values, tuple(counts.tolist()))

    @property
    def records(self) -> int:
        return sum(self.counts)

    @property
    def array(self) -> Counts:
        """Records with each value."""
        import numpy as np

        return np.array(self.counts, np.int64)


def column_counts(classes: ClassCounts, column: str) -> Histogram:
    """The values of a column in some classes.

    Raises:
        PolicyError: They were not counted.
    """
    if column not in classes.values:
        raise PolicyError(f"the values of '{column}' were not counted; this method cannot protect it")
    return classes.values[column]


def sums(histogram: Histogram, numbers: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The sum of a number per entry, for each class; exact for whole numbers."""
    import numpy as np

    return _reduced(np.add, histogram, numbers, 0)


def largest(histogram: Histogram, numbers: npt.NDArray[Any], least: float) -> npt.NDArray[Any]:
    """The largest of a number per entry, for each class; `least` for a class without an entry."""
    import numpy as np

    return _reduced(np.maximum, histogram, numbers, least)


def _reduced(by: np.ufunc, histogram: Histogram, numbers: npt.NDArray[Any], empty: float) -> npt.NDArray[Any]:
    import numpy as np

    kind = np.int64 if numbers.dtype.kind in "bui" else numbers.dtype
    found = np.full(histogram.size, empty, kind)
    starts = histogram.starts
    if len(starts):
        found[histogram.tuples[starts]] = by.reduceat(numbers.astype(kind, copy=False), starts)
    return found


def ratio(above: Any, below: Any) -> Floats:
    """A quotient of whole numbers; 0 where there is nothing to divide by, which is a class without records."""
    import numpy as np

    return np.asarray(above / np.maximum(below, 1), np.float64)


def harmful(values: Sequence[str | None], harmless: Sequence[str]) -> Mask:
    """Which values are not harmless."""
    import numpy as np

    if not harmless:
        return np.ones(len(values), bool)
    return np.array([value not in harmless for value in values], bool)


def check_reachable(column: str, l: float, histogram: Histogram) -> None:
    """No class has more values than the column.

    Raises:
        PolicyError: It would have to.
    """
    if l > histogram.width:
        raise PolicyError(
            f"l={l:g} asks for more values than '{column}' has, which is {histogram.width}; ask for at most that many"
        )
