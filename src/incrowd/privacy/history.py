"""Shared history: whoever is in a class stands there with enough others of the same history.

Who joins a table that was released before can hide only among others who join, and who changes only among others who
had the same class and change as well: anyone can subtract one release from the next. So in every class there are
either none or enough of each history. It is counted like a sensitive column, one that nobody sees: its values say which
history a record has and, after a separator, what is counted within it (a person, or a sensitive value); without a
separator, records are counted.

It keeps the law: in a union, a history has at least as many as in the part that has it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.sensitive import column_counts

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from incrowd.table.class_counts import ClassCounts, Histogram
    from incrowd.table.grouping import Codes

    Mask = npt.NDArray[np.bool_]

SEPARATOR = "\x1f"


@dataclass(frozen=True)
class SharedHistory:
    """At least this many of every history that a class has.

    Args:
        column: The column of histories.
        least: How many.
        counts: What is counted within a history, for messages: "people" or the name of a sensitive column.
        histories: The history of each value of the column, once it is fitted.
        by_record: Which values count as often as they occur.
    """

    column: str
    least: int
    counts: str = "people"
    histories: Codes | None = field(default=None, repr=False, compare=False)
    by_record: Mask | None = field(default=None, repr=False, compare=False)

    name = "shared history"
    whole = True
    upward_closed = False
    for_everyone = True  # who is left out of a later release is seen to be, by all who have the earlier one

    @property
    def threshold(self) -> int:
        return self.least

    @property
    def least_size(self) -> int:
        return self.least

    def fitted(self, histogram: Histogram) -> SharedHistory | KAnonymity:
        """With the history of each value; a single one of records is shared by all of a class, so its size counts."""
        import numpy as np

        texts = [str(value).partition(SEPARATOR) for value in histogram.values]
        histories = np.unique([text[0] for text in texts], return_inverse=True)[1].ravel()
        by_record = np.array([not text[1] for text in texts], bool)
        if self.least > 1 and by_record.all() and not histories.any():
            return KAnonymity(self.least)
        return replace(self, histories=histories, by_record=by_record)

    def levels(self, classes: ClassCounts) -> Any:
        """The fewest of any history in each class; 0 for a class without records."""
        import numpy as np

        counted = column_counts(classes, self.column)
        assert self.histories is not None
        assert self.by_record is not None
        width = int(self.histories.max(initial=0)) + 1
        keys = counted.tuples.astype(np.int64) * width + self.histories[counted.codes]
        found, place = np.unique(keys, return_inverse=True)
        each = np.where(self.by_record[counted.codes], counted.counts, 1)
        number = np.bincount(place, each, len(found)).astype(np.int64)
        levels = np.full(counted.size, np.iinfo(np.int64).max)
        np.minimum.at(levels, found // width, number)
        return np.where(classes.records == 0, 0, levels)

    def __str__(self) -> str:
        return f"{self.least} {self.counts} of every history"
