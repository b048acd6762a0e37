"""t-closeness: the values in every class are distributed like those of the whole release, but for a distance of t.

The distance is the earth mover's: how much of the distribution has to be moved, and how far.
- "equal": all values are equally far apart.
- "ordered": values stand in order, and two are as far apart as there are steps between them.
- "hierarchical": two values are as far apart as their closest common ancestor in a taxonomy is high.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

from incrowd.errors import PolicyError
from incrowd.options import PROMISES, Option
from incrowd.privacy.declared import Declared, promised
from incrowd.privacy.sensitive import Distribution, column_counts, ratio, sums
from incrowd.schemas.shapes import Choice, Number
from incrowd.table.numbers import number_of

if TYPE_CHECKING:
    from incrowd.table.class_counts import ClassCounts, Histogram
    from incrowd.table.grouping import Codes, Counts, Floats
    from incrowd.taxonomies.taxonomy import Taxonomy

DISTANCES = ("equal", "ordered", "hierarchical")
CELLS = 4_000_000  # of a dense matrix of classes x nodes at a time


@dataclass(frozen=True)
class TCloseness(Declared):
    """Every class is within t of the whole.

    Args:
        column: The sensitive column.
        t: The distance, from 0 to 1.
        distance: How far values are apart; if None, "hierarchical" with a taxonomy, "ordered" for numbers, else
            "equal".
        taxonomy: The tree of the values, for the hierarchical distance.
        release: The distribution of the released rows; filled in when the table is known.
    """

    column: str
    t: float
    distance: str | None = None
    taxonomy: Taxonomy | None = None
    release: Distribution | None = None

    name = "t-closeness"
    option_name = "t"
    option = promised(
        "Largest distance between a class and the whole, 0 to 1.",
        Number(0, 1),
        title="distance from the whole table",
        example="0.3",
    )
    fields = ("t",)
    settings = ("t_distance",)
    more: ClassVar[Mapping[str, Option]] = {
        "t_distance": Option(
            "How --t measures: equal, ordered or hierarchical.",
            Choice(DISTANCES),
            example="ordered",
            noun="N",
            section=PROMISES,
        )
    }
    weakest = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.distance == "hierarchical" and self.taxonomy is None:
            raise PolicyError(f"the hierarchical distance of '{self.column}' needs a taxonomy of that column; give one")

    @classmethod
    def of(cls, column: str, value: Any, settings: Mapping[str, Any], taxonomy: Taxonomy | None = None) -> Self:
        """With the tree of the values, in which the default distance is measured."""
        return cls(column, value, settings.get("t_distance"), taxonomy)

    def as_options(self) -> dict[str, Any]:
        """Also the tree of the values."""
        trees = {} if self.taxonomy is None else {"taxonomies": {self.column: self.taxonomy}}
        return {**super().as_options(), **trees}

    def promise(self) -> dict[str, Any]:
        """Also the path of every value to the root, where distances are measured in a tree."""
        found = super().promise()
        if self.taxonomy is not None and self.distance in (None, "hierarchical"):
            found["more"] = {"distance": "hierarchical", "paths": tuple(self.taxonomy.paths())}
        return found

    @property
    def threshold(self) -> float:
        """Minus t: closer is better."""
        return -float(self.t)

    def fitted(self, histogram: Histogram) -> Self:
        """The model for a table: its distribution is what classes are compared with."""
        return replace(self, release=Distribution.of(histogram))

    def levels(self, classes: ClassCounts) -> Any:
        """Minus the distance of each class."""
        counted = column_counts(classes, self.column)
        whole = self.release or Distribution.of(counted)
        distance = self._distance_in(whole)
        if distance == "equal":
            return -_equal(counted, whole)
        if distance == "ordered":
            return -_ordered(counted, whole)
        assert self.taxonomy is not None
        return -_hierarchical(counted, whole, self.taxonomy)

    def _distance_in(self, whole: Distribution) -> str:
        """How far values are apart in a release; by default that depends on those that it has."""
        if self.distance is not None:
            return self.distance
        if self.taxonomy is not None:
            return "hierarchical"
        present = (value for value, records in zip(whole.values, whole.counts, strict=True) if records)
        return "ordered" if all(number_of(value) is not None for value in present if value is not None) else "equal"

    def __str__(self) -> str:
        distance = self.distance if self.release is None else self._distance_in(self.release)
        how = f" ({distance} distance)" if distance in DISTANCES[1:] else ""
        return f"t={self.t:g} of {self.column}{how}"


def in_order(values: tuple[str | None, ...]) -> Codes:
    """The place of each value in order: numbers by size, then others as text, missing ones last."""
    import numpy as np

    def key(place: int) -> tuple[int, float, str]:
        value = values[place]
        if value is None:
            return (2, 0.0, "")
        number = number_of(value)
        return (1, 0.0, value) if number is None else (0, number, value)

    place = np.empty(len(values), np.int64)
    place[sorted(range(len(values)), key=key)] = np.arange(len(values))
    return place


def _equal(counted: Histogram, whole: Distribution) -> Floats:
    """Half the sum of the differences of shares; over n * N, in whole numbers."""
    import numpy as np

    total, records = whole.records, counted.in_each
    expected = records[counted.tuples] * whole.array[counted.codes]
    # a value that a class does not have differs by what is expected of it: begin with all of these, then correct
    moved = records * total + sums(counted, np.abs(counted.counts * total - expected) - expected)
    return ratio(moved, 2 * records * total)


def _ordered(counted: Histogram, whole: Distribution) -> Floats:
    """The sum of differences of cumulated shares, over one less than the number of values that are released."""
    import numpy as np

    present = np.flatnonzero(whole.array)
    width, total = len(present), whole.records
    if width < 2:
        return np.zeros(counted.size)
    place = np.zeros(counted.width, np.int64)
    place[present] = in_order(tuple(counted.values[code] for code in present))
    below = np.cumsum(whole.array[present[np.argsort(place[present])]])  # F: records with this value or one before
    area = np.append(0, np.cumsum(below))  # sums of F up to a place
    order = np.lexsort((place[counted.codes], counted.tuples))
    tuples, at, counts = counted.tuples, place[counted.codes][order], counted.counts[order]
    records = counted.in_each
    running = np.cumsum(counts)
    before = np.append(0, running)[np.searchsorted(tuples, tuples)]
    here = running - before  # records of the class with this value or one before: constant until the next entry
    last = np.append(tuples[1:] != tuples[:-1], True)
    until = np.where(last, width, np.append(at[1:], width))
    n = records[tuples]
    # in the gap from `at` to `until`, F grows: up to `turn` it is below the class's share, afterwards above
    turn = np.clip(np.searchsorted(below, -(-here * total // n)), at, until)
    gap = here * total * (2 * turn - at - until) + n * (area[at] + area[until] - 2 * area[turn])
    first = np.append(True, tuples[1:] != tuples[:-1])
    gap += np.where(first, n * area[at], 0)  # before the first value that the class has
    return ratio(sums(counted, gap), (width - 1) * records * total)


def _hierarchical(counted: Histogram, whole: Distribution, taxonomy: Taxonomy) -> Floats:
    """What has to leave each subtree, times how high its parent is: children before parents, some classes at a time."""
    import numpy as np

    taxonomy = taxonomy.with_missing() if None in whole.values else taxonomy
    leaf = np.array([taxonomy.leaves[taxonomy.leaf_code(value)] for value in whole.values])
    height, nodes, total = max(1, taxonomy.height), len(taxonomy.labels), whole.records
    records, found = counted.in_each, np.zeros(counted.size)
    step = max(1, CELLS // nodes)
    for start in range(0, counted.size, step):
        stop = min(counted.size, start + step)
        low, high = np.searchsorted(counted.tuples, [start, stop])
        n = records[start:stop]
        excess: Counts = np.zeros((nodes, stop - start), np.int64)
        excess[leaf] = -whole.array[:, None] * n
        excess[leaf[counted.codes[low:high]], counted.tuples[low:high] - start] += counted.counts[low:high] * total
        moved = np.zeros(stop - start, np.int64)
        for node in range(nodes - 1, -1, -1):
            if children := taxonomy.children[node]:
                below = excess[list(children)]
                surplus, lack = np.maximum(below, 0).sum(axis=0), np.maximum(-below, 0).sum(axis=0)
                moved += (height - int(taxonomy.depth[node])) * np.minimum(surplus, lack)
                excess[node] += below.sum(axis=0)
        found[start:stop] = ratio(moved, height * n * total)
    return found
