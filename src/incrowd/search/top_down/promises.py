"""What must hold after every step: each model of each requirement is a promise, kept or broken by the worst class.

Searches never compare with k. They count the classes that a refinement would make, ask the models how well those are
protected, and keep the worst level per promise. Models that need only sizes get tables of counts; those that protect a
column also get its values in each class, from the sparse histogram of the table.

Scores need the levels of the first model of each requirement, for all candidates. Of the others it is enough to know
whether they hold for the candidate that is about to be performed; those that protect a column are left to
`deferred_checks` then, where every record is released.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.privacy.model import PrivacyModel, Requirements
from incrowd.search.protected_columns import ProtectedColumn
from incrowd.search.top_down.groups import Groups, Rows, Weights, is_small, numbered
from incrowd.table.class_counts import ClassCounts, Histogram
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import Codes, Counts, Floats, count

Levels = npt.NDArray[Any]


@dataclass(frozen=True)
class Promises:
    """All promises of a policy; promise p is one model of one requirement."""

    table: CompressedTable
    requirements: Requirements
    late: bool  # whether promises about protected columns are left to `deferred_checks`, where scores do not need them
    _columns: dict[str, ProtectedColumn] = field(default_factory=dict, init=False)
    _last: dict[str, tuple[Rows, Histogram]] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        for name in {name for columns in self.columns for name in columns}:
            self._columns[name] = ProtectedColumn(self.table.protected[name])

    @cached_property
    def models(self) -> tuple[tuple[tuple[int, PrivacyModel], ...], ...]:
        """The promises of each requirement, numbered through all of them."""
        numbers = iter(range(sum(len(requirement.models) for requirement in self.requirements)))
        return tuple(tuple((next(numbers), model) for model in r.models) for r in self.requirements)

    @cached_property
    def _counted(self) -> tuple[tuple[tuple[int, PrivacyModel], ...], ...]:
        """The promises of each requirement whose levels are known for all candidates."""
        if not self.late:
            return self.models
        return tuple((of[0], *(pair for pair in of[1:] if pair[1].column is None)) for of in self.models)

    def left(self, requirement: int) -> tuple[PrivacyModel, ...]:
        """The models of a requirement that are left to `deferred_checks`."""
        return tuple(
            model for promise, model in self.models[requirement] if promise not in dict(self._counted[requirement])
        )

    @cached_property
    def columns(self) -> tuple[tuple[str, ...], ...]:
        """The protected columns of each requirement whose values are counted for all candidates."""
        names = ((model.column for _, model in of if model.column is not None) for of in self._counted)
        return tuple(tuple(dict.fromkeys(of)) for of in names)

    @cached_property
    def thresholds(self) -> Floats:
        """A class is good if its levels reach them; one per promise."""
        return np.array([model.threshold for models in self.models for _, model in models], np.float64)

    @cached_property
    def first(self) -> Codes:
        """The promise of each requirement that measures its anonymity."""
        return np.array([models[0][0] for models in self.models])

    @property
    def need_values(self) -> bool:
        """Whether a model needs more than the sizes of classes."""
        return bool(self._columns)

    def anonymity(self) -> Floats:
        """The anonymity of each requirement while all records are one class."""
        everyone = ClassCounts(np.array([self.table.records]))
        if self.need_values:
            everyone = self.table.class_counts(np.zeros(len(self.table.counts), np.int64), 1)
        return np.array([requirement.anonymity(everyone) for requirement in self.requirements], np.float64)

    def levels(self, requirement: int, classes: ClassCounts) -> Iterator[tuple[int, Levels]]:
        """For each promise of a requirement, how well each of some classes is protected."""
        for promise, model in self._counted[requirement]:
            yield promise, self.requirements[requirement].levels(model, classes)

    def lowest(self, requirement: int, counts: Counts) -> Iterator[tuple[int, Codes, Levels]]:
        """For each promise, the columns that have a class, and the lowest level of each.

        `counts` are the records of each class, 0 where there is none: groups x columns.
        """
        absent = counts == 0
        for promise, levels in self.levels(requirement, ClassCounts(counts.ravel())):
            # A maximum of the type of the levels represents classes that do not exist.
            far = np.iinfo(levels.dtype).max if levels.dtype.kind in "iu" else np.inf
            lowest = np.where(absent, far, levels.reshape(counts.shape)).min(axis=0)
            columns = np.flatnonzero(lowest < far)
            yield promise, columns, lowest.take(columns)

    def sizes_do(self, requirement: int) -> bool:
        """Whether the models of a requirement that are asked for all candidates need only the sizes of classes."""
        return not self.columns[requirement]

    def classes(self, requirement: int, keys: Codes, room: int, records: Groups) -> tuple[Codes, ClassCounts]:
        """The classes of some records, given by keys below `room`: the keys that occur, ascending, and their counts."""
        columns = self.columns[requirement]
        if not columns:
            distinct, sizes = present_counts(keys, room, records.weights)
            return distinct, ClassCounts(sizes)
        places, distinct = numbered(keys, room)
        sizes = count(places, len(distinct), records.weights)
        values = {c: self._values(c, records.rows).grouped(places, len(distinct)) for c in columns}
        return distinct, ClassCounts(sizes, values)

    def _values(self, column: str, rows: Rows) -> Histogram:
        """The values of a protected column in some records; all attributes look at the same records in turn."""
        if column not in self._last or self._last[column][0] is not rows:
            self._last[column] = rows, self._columns[column].of(rows)
        return self._last[column][1]


def rest(whole: ClassCounts, part: ClassCounts, of: Codes) -> tuple[Codes, ClassCounts]:
    """What is left of classes without parts of them: the parts next to which something is left, and what that is.

    `of` is the class that each part belongs to.
    """
    records = whole.records[of] - part.records
    beside = np.flatnonzero(records)
    values = {}
    for name, histogram in part.values.items():
        left = (_dense(whole.values[name])[of] - _dense(histogram))[beside]  # parts x values
        parts, codes = np.nonzero(left)
        values[name] = Histogram(histogram.values, parts, codes, left[parts, codes], len(beside))
    return beside, ClassCounts(records[beside], values)


def _dense(histogram: Histogram) -> Counts:
    return histogram.table(np.arange(histogram.size), histogram.size)


def present_counts(keys: Codes, room: int, weights: Weights) -> tuple[Codes, Counts]:
    """The keys that occur, ascending, and their counts; sorts instead of tabulating where the table would be sparse."""
    if is_small(room, len(keys)):
        counts = count(keys, room, weights)
        present = np.flatnonzero(counts)
        return present, counts[present]
    order = np.argsort(keys)
    keys = keys[order]
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    if weights is None:
        return keys[starts], np.diff(np.append(starts, len(keys)))
    return keys[starts], np.add.reduceat(weights[order], starts).astype(np.int64)
