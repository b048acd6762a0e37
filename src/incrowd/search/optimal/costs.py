"""What an anonymization costs: DM, HDM, NCP and CM, each with a lower bound for pruning.

A cost is a sum over the classes of a recoded table: r(E) for a class that is good, s(E) for one that is not, whose
records are suppressed. Pruning is right if

1. suppressing is never cheaper than releasing: s(E) is a sum over the records of E, and s(E) >= r(E);
2. generalizing never makes released records cheaper: if E is the union of E1, E2, ... of a finer partition, then
   r(E) >= r(E1) + r(E2) + ...

Then for every partition between a finest one F and a coarsest one C, a class E of F costs at least r+(E), and s(E) if
the class around it in C is not good, since then all its records are suppressed. r+ is r, but DM may count every record
as the least size of a good class at least: it ends up in such a class, or suppressed.

Which classes are good is up to the privacy model (`incrowd.privacy.model`). This is what is asked of it:

- *A union of good classes is good*, as in every model. So where a class of C is not good, every partition between F
  and C cuts it into classes of which at least one is not good. Without suppression no such partition is allowed; that
  is all that the prunings need then: "useful" and "innermost" drop a node for a bad class of C.
- *A good class stays good whatever joins it* (`upward_closed`). With suppression a bad class of C may otherwise hold a
  good one beside the bad, so that not all of its records are surely suppressed, and what suppression adds may rise on
  the way up. All the prunings above need it then, and so does leaving out values that only suppressed records have,
  which lets records join classes that are released. `as_released` has weaker bounds for all other models.
- *No good class has fewer records than the least size.* So DM may count every record as much at least.

"bound", "requeue", the orders and seeding ask nothing more of a model.

| cost | r(E) | s(E) |
| --- | --- | --- |
| dm | E squared | E times all records |
| hdm | per record the mean over its cells of (N_e - N_v) / (N - N_v) | 1 per record |
| ncp | per record the mean loss of its cells, 0 for a value, 1 for the whole domain | 1 per record |
| cm | records that do not have the most frequent label of E | 1 per record |

DM and HDM are reported as these sums, NCP and CM per record. Means over cells are weighed by the priorities of columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from incrowd.errors import PolicyError
from incrowd.privacy.model import Requirement
from incrowd.search.costs import weighs_cells
from incrowd.search.optimal import kernels
from incrowd.search.optimal.blocks import Labels, blocks_of
from incrowd.search.optimal.schemes import Domain
from incrowd.search.priorities import weights_by_name
from incrowd.table.class_counts import ClassCounts, Histogram, Mask
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import Counts, Floats

COSTS = ("dm", "hdm", "ncp", "cm")
TOLERANCE = 1e-9  # relative; sums of fractions differ by less, whichever way they are summed

Partitions = Sequence[Labels]  # one per attribute


@dataclass(frozen=True)
class Classes:
    """The classes of a recoded table.

    Args:
        of_row: The class of each row, or of each class of the finer partitions that these were made from.
        firsts: The first row of each class.
        sizes: Records of each class.
        values: The values of protected columns in each class, where a model needs them.
    """

    of_row: npt.NDArray[np.int64]
    firsts: npt.NDArray[np.int64]
    sizes: Counts
    values: Mapping[str, Histogram] = field(default_factory=dict)


class Costs:
    """Costs of the partitions of one table.

    Attributes:
        as_released: Whether the cost of partitions is that of what they release in any case, without tightening.

    Args:
        domains: The attributes of the table under their schemes.
        cost: One of `COSTS`.
        priorities: Weights of attributes by name, 1 for those that are not named, for the costs of cells.
        limit: Records that may be suppressed.
    """

    as_released = False

    def __init__(
        self,
        table: CompressedTable,
        domains: Sequence[Domain],
        cost: str,
        requirement: Requirement,
        priorities: Mapping[str, float] | None = None,
        limit: int = 0,
    ) -> None:
        if cost not in COSTS:
            raise PolicyError(f"The 'cost' parameter must be one of {', '.join(COSTS)}. Got {cost!r}.")
        if cost == "cm" and not table.has_target:
            raise PolicyError("The cost 'cm' counts lost labels and needs a target; name one, or use 'ncp'.")
        self.cost, self.records = cost, table.records
        self.requirement, self.least = requirement, requirement.least_size
        self.exact = cost in ("dm", "cm")
        self.domains = tuple(domains)
        weighs_cells("cost", cost, priorities)
        self.priorities, self.limit = priorities, limit
        weights = weights_by_name([domain.attribute.name for domain in domains], priorities)
        total = sum(weights.values())
        self.divisors = [float(total / weight) for weight in weights.values()]  # of what the cells of attributes lose
        self._table = table
        self._protected = {name: table.protected[name] for name in requirement.columns}
        columns = []
        for codes, domain in zip(table.codes, domains, strict=True):
            position_of = np.zeros(domain.attribute.size, np.int64)
            position_of[list(domain.codes)] = np.arange(len(domain.codes))
            columns.append(position_of[codes])
        self.rows = np.ascontiguousarray(np.stack(columns, axis=1))
        self.weights = table.counts.astype(np.int64)
        self.value_counts = [
            np.bincount(column, self.weights, len(domain.codes))
            for column, domain in zip(columns, domains, strict=True)
        ]
        self._offsets = np.cumsum([0, *(len(domain.codes) for domain in domains[:-1])])  # of attributes among labels
        self.width = max(len(domain.codes) for domain in domains)
        self._slots = np.full(1 << (2 * len(self.rows)).bit_length(), -1, np.int64)
        self._penalties: dict[tuple[int, bytes], Floats] = {}
        self.everything = [np.zeros(len(domain.codes), np.int64) for domain in domains]

    def under(self, table: CompressedTable, domains: Sequence[Domain]) -> Costs:
        """The same costs under other schemes."""
        return type(self)(table, domains, self.cost, self.requirement, self.priorities, self.limit)

    def good(self, classes: Classes) -> Mask:
        """Which classes are good, that is, released."""
        return self.requirement.good(ClassCounts(classes.sizes, classes.values))

    def better(self, cost: float, best: float) -> bool:
        """Whether a cost is truly lower than another."""
        return cost < self.below(best)

    def below(self, best: float) -> float:
        """What a cost must be lower than to be truly lower than another."""
        return best if self.exact or np.isinf(best) else best - TOLERANCE * max(1.0, abs(best))

    def at_least(self, bound: float) -> float:
        """The lowest cost that there can be, given a bound: some costs are whole numbers."""
        return float(np.ceil(bound - TOLERANCE)) if self.exact and np.isfinite(bound) else bound

    def reported(self, cost: float) -> float | int:
        """A cost in the unit that people know."""
        if self.cost == "dm" and np.isfinite(cost):
            return int(cost)
        return cost if self.cost == "hdm" else cost / self.records

    def classes(self, partitions: Partitions, finer: Classes | None = None) -> Classes:
        """The classes that partitions make, from those of finer ones if they are known."""
        rows = self.rows if finer is None else self.rows[finer.firsts]
        weights = self.weights if finer is None else finer.sizes
        slots = self._slots[: 1 << (2 * len(rows)).bit_length()]
        of_row, firsts, sizes = kernels.group(rows, weights, np.concatenate(partitions), self._offsets, slots)
        values = self._protected if finer is None else finer.values
        together = {name: counted.grouped(of_row, len(sizes)) for name, counted in values.items()}
        return Classes(of_row, firsts if finer is None else finer.firsts[firsts], sizes, together)

    def kept(self, partitions: Partitions) -> Mask:
        """Which rows are released."""
        classes = self.classes(partitions)
        return self.good(classes)[classes.of_row]

    def without(self, partitions: Partitions, kept: Mask) -> float:
        """The cost of partitions that release some rows, whole classes of them."""
        classes = self.classes(partitions)
        return self._cost(partitions, classes, ~kept[classes.firsts], 0)[0]

    def of(self, partitions: Partitions) -> tuple[float, int]:
        """The cost of partitions, and the records that they suppress."""
        classes = self.classes(partitions)
        return self._cost(partitions, classes, ~self.good(classes), 0)

    def between(self, fine: Partitions, coarse: Partitions) -> tuple[float, int]:
        """Of everything between two partitions: what it costs at least, and the records suppressed in all of it."""
        classes = self.classes(fine)
        around = self.classes(coarse, classes)
        return self._cost(fine, classes, ~self.good(around)[around.of_row], self.least)

    def _cost(self, partitions: Partitions, classes: Classes, suppressed: Mask, least: int) -> tuple[float, int]:
        """What classes cost if some are suppressed and no record of the others counts for less than `least` (DM)."""
        sizes = classes.sizes
        if self.cost in ("hdm", "ncp"):
            penalties = self._all_penalties(partitions)
            return kernels.cost_cells(self.rows, self.weights, classes.of_row, ~suppressed, penalties)
        left_out = int(sizes[suppressed].sum())
        if self.cost == "dm":
            each = np.where(suppressed, self.records, np.maximum(sizes, least))
            return float(sizes @ each), left_out
        return float(self.records - self._fitting(classes)[~suppressed].sum()), left_out

    @property
    def penalty(self) -> float:
        """What a suppressed record costs."""
        return float(self.records) if self.cost == "dm" else 1.0

    def _fitting(self, classes: Classes) -> Counts:
        """CM: the records of each class that have its most frequent label."""
        assert self._table.target is not None
        return np.asarray(self._table.target.table(classes.of_row, len(classes.sizes)).max(axis=1))

    def _all_penalties(self, partitions: Partitions) -> Floats:
        penalties = np.zeros((len(partitions), self.width))
        for index, labels in enumerate(partitions):
            penalties[index, : len(labels)] = self.penalties(index, labels)
        return penalties

    def penalties(self, index: int, labels: Labels) -> Floats:
        """HDM and NCP: what a record pays for each value of an attribute, as its part of the mean over attributes."""
        key = (index, labels.tobytes())
        if key not in self._penalties:
            if len(self._penalties) > 100_000:
                self._penalties.clear()
            self._penalties[key] = self._penalties_of(index, labels) / self.divisors[index]
        return self._penalties[key]

    def _penalties_of(self, index: int, labels: Labels) -> Floats:
        if self.cost == "ncp":
            blocks = blocks_of(labels.tolist())
            of_label = dict(zip(dict.fromkeys(labels.tolist()), self.domains[index].losses(blocks), strict=True))
            return np.array([of_label[label] for label in labels.tolist()])
        counts = self.value_counts[index]
        together = np.bincount(labels, counts, len(labels))[labels]
        return (together - counts) / np.maximum(1, self.records - counts)
