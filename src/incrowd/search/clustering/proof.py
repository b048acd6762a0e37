"""What is proven about a local release: a loss that no local recoding can be below, and for small tables the least.

The bound comes from prices. Give every record a price, so that of all records with the values of a generalized tuple
the dearest ones that could just be a good class cost no more, on average, than what a record loses there. Then a class
costs at most what its records lose: the average price of a class is at most that of its dearest records. So the sum of
all prices is at most the loss of any release. This is the dual of the linear program over all classes.

From any prices such prices are made in one pass: each is divided by the largest share by which a generalized tuple
around the record is overpriced. Prices that begin with what a good release lost come close to the best ones; a further
pass can only raise them. Every pass looks at every generalized tuple that enough records have the values of, by all
choices of one level per attribute.

The least loss comes from an integer program. A generalized tuple that enough records have the values of is a class that
may be open. Every record takes an open class that has its values and loses what that class loses; an open class has
enough records. Of classes that the same tuples could take only the one that loses least matters. If the open classes
are known the rest is a flow, whose corners are whole numbers, so only "open" has to be an integer. The solver is HiGHS,
through SciPy.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, prod
from typing import NamedTuple

import numpy as np

from incrowd.errors import DataError, MissingPackageError
from incrowd.measures.hierarchical_distance import Weights
from incrowd.privacy.model import Requirement
from incrowd.recodings.hierarchies import Hierarchy
from incrowd.recodings.mapping import LocalMapping
from incrowd.run import Run
from incrowd.search.clustering.distances import details
from incrowd.search.clustering.rounds import Levels, level_nodes, mixed
from incrowd.search.clustering.space import Array, Parts
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import Floats

QUICK = 1_000_000  # tuples x choices of levels that are looked at where nobody asked for a bound
MOST = 1_000_000_000  # the same where somebody did
PASSES = 5
SAFE = 1 - 1e-9  # for what is lost in adding up floating-point numbers
PAIRS = 200_000  # of a tuple and a class that it could take, in an integer program
NODES = 20_000  # of the solver's search


@dataclass(frozen=True)
class Priced:
    """A table as prices and programs see it.

    Args:
        levels: All choices of one level per attribute; `hashes` are levels x tuples.
        lost: What each tuple loses at each level of each attribute, in units of detail: levels x tuples.
        detail: The detail of each node, per attribute.
        unit: How many units are the loss of one cell.
    """

    levels: Levels
    lost: Array
    detail: Sequence[Array]
    unit: int

    @classmethod
    def of(cls, table: CompressedTable, hierarchies: Sequence[Hierarchy], most: int) -> Priced | None:
        """None if there are more choices of levels, times tuples, than `most`."""
        detail, unit = details(table.attributes, hierarchies, "ncp", Weights())
        nodes = [level_nodes(hierarchy) for hierarchy in hierarchies]
        heights = np.array([*map(len, nodes)])
        if prod(heights.tolist()) * len(table.counts) > most:
            return None
        pairs = [(a, level) for a, column in enumerate(nodes) for level in column]
        hashes = np.array([mixed(level + (a << 40))[table.codes[a]] for a, level in pairs])
        leaves = [detail[a][hierarchy.leaves] for a, hierarchy in enumerate(hierarchies)]
        lost = np.array([(leaves[a] - detail[a][level])[table.codes[a]] for a, level in pairs])
        rounds = np.indices(tuple(heights.tolist())).reshape(len(heights), -1).T
        return cls(Levels(hashes, np.zeros((0, 0), np.int64), rounds, heights), lost, detail, unit)

    def losses(self, mapping: LocalMapping) -> Array:
        """What all records of each tuple lost together."""
        lost = np.zeros(len(mapping.part_tuples), np.int64)
        for a, detail in enumerate(self.detail):
            lost += detail[mapping.tuples[mapping.part_tuples, a]] - detail[mapping.classes[mapping.part_classes, a]]
        found = np.zeros(len(mapping.tuples), np.int64)
        np.add.at(found, mapping.part_tuples, lost * mapping.part_records)
        return found


def proven(
    table: CompressedTable,
    requirement: Requirement,
    hierarchies: Sequence[Hierarchy],
    mapping: LocalMapping,
    run: Run,
    most: int = QUICK,
) -> dict[str, float]:
    """The bound (as NCP) and the gap, as facts of a release; nothing if that would take long.

    No record of the mapping is left out. In a pass at most this many tuples, times choices of levels, are looked at.
    """
    priced = Priced.of(table, hierarchies, most) if run.should_continue() else None
    if priced is None:
        return {}
    lost, least_size = priced.losses(mapping), requirement.least_size
    least = bound(priced.levels, priced.lost, table.counts, lost / table.counts, least_size, run)
    total, cells = float(lost.sum()), priced.unit * table.records * len(hierarchies)
    return gap(ceil(least), total, cells)  # what is lost is a whole number of units


def gap(least: float, total: float, cells: int) -> dict[str, float]:
    """Bound and gap as facts: the bound as NCP, the gap as a share of the loss."""
    least = min(least, total)
    return {"bound": least / cells, "gap": (total - least) / total if total else 0.0}


class Around(NamedTuple):
    """The generalized tuples at one choice of levels that could be classes.

    Args:
        tuples: The tuples below them, group by group, in their given order within each.
        starts: Where each group begins.
        losses: What a record loses there, in units of detail.
    """

    tuples: Array
    starts: Array
    losses: Array


def around(levels: Levels, lost: Array, order: Array, counts: Array, least_size: int, run: Run) -> Iterator[Around]:
    """All generalized tuples that could be classes, one choice of levels after the other; `order` is that of tuples."""
    first = np.cumsum(levels.heights) - levels.heights
    hashes, lost, counts = levels.hashes[:, order], lost[:, order], counts[order]
    for number, choice in enumerate(levels.rounds):
        if number % 100 == 0:
            run.check()
            run.amount(number, len(levels.rounds), "choices of levels priced")
        keys = hashes[first + choice].sum(axis=0, dtype=np.uint64)
        sort = np.argsort(keys, kind="stable")
        starts = np.flatnonzero(np.diff(keys[sort], prepend=~keys[sort[:1]]) != 0)
        sizes = np.add.reduceat(counts[sort], starts)
        good = np.repeat(sizes >= least_size, np.diff(np.append(starts, len(sort))))
        sort, good_starts = sort[good], sizes >= least_size
        if len(sort):
            lengths = np.diff(np.append(starts, len(keys)))[good_starts]
            firsts = np.cumsum(lengths) - lengths
            yield Around(order[sort], firsts, lost[first + choice][:, sort[firsts]].sum(axis=0))


def bound(
    levels: Levels, lost: Array, counts: Array, prices: Floats, least_size: int, run: Run, passes: int = PASSES
) -> float:
    """A sum of prices: no local recoding loses less. They begin with what a record of each tuple lost in a release."""
    best = 0.0
    for _ in range(passes):
        if not run.should_continue():
            break
        dearest = _overpriced(levels, lost, counts, prices, least_size, run)
        if dearest is None:
            break
        prices = np.divide(prices, dearest, out=np.zeros_like(prices), where=dearest > 0)
        best = max(best, float(prices @ counts) * SAFE)
    return best


def _overpriced(levels: Levels, lost: Array, counts: Array, prices: Floats, least_size: int, run: Run) -> Floats | None:
    """By how much each tuple's price is too high, in the worst generalized tuple around it; None if it ends early."""
    worst, size = np.zeros(len(prices)), float(least_size)
    for group in around(levels, lost, np.argsort(-prices, kind="stable"), counts, least_size, run):
        if not run.should_continue():
            return None
        many = counts[group.tuples]
        before = np.cumsum(many) - many
        lengths = np.diff(np.append(group.starts, len(many)))
        before -= np.repeat(before[group.starts], lengths)
        taken = np.clip(least_size - before, 0, many)
        dearest = np.add.reduceat(taken * prices[group.tuples], group.starts) / size
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(dearest > 0, dearest / group.losses, 0.0)
        worst[group.tuples] = np.maximum(worst[group.tuples], np.repeat(share, lengths))
    return worst


class Program(NamedTuple):
    """Pairs of a tuple and a class that it could take, class by class, and what a record loses in each class."""

    tuples: Array
    classes: Array
    losses: Array


def optimum(priced: Priced, counts: Array, least_size: int, run: Run) -> tuple[Parts | None, float]:
    """Tuple, class and records of each part of the best release, None where it could not be proven; and a bound.

    Raises:
        MissingPackageError: SciPy is not installed.
        DataError: The table is too large.
    """
    try:
        from scipy import optimize, sparse
    except ImportError:
        raise MissingPackageError("the proven optimum needs SciPy", "optimum") from None
    program = _program(priced, counts, least_size, run)
    pairs, size, many = len(program.tuples), len(program.losses), len(counts)
    each, place = np.arange(pairs), np.arange(size)
    ones = np.ones(pairs)
    taken = sparse.csr_array((ones, (program.tuples, each)), (many, pairs + size))
    filled = sparse.csr_array((ones, (program.classes, each)), (size, pairs + size))
    filled += sparse.csr_array((-np.full(size, float(least_size)), (place, pairs + place)), filled.shape)
    most = -counts[program.tuples].astype(float)
    only_open = sparse.csr_array((ones, (each, each)), (pairs, pairs + size))
    only_open += sparse.csr_array((most, (each, pairs + program.classes)), only_open.shape)
    unit = float(max(1, program.losses.max(initial=1)))  # the solver's tolerances are for numbers around 1
    cost = np.append(program.losses[program.classes], np.zeros(size)) / unit
    rules = [
        optimize.LinearConstraint(taken, counts, counts),
        optimize.LinearConstraint(filled, 0, np.inf),
        optimize.LinearConstraint(only_open, -np.inf, 0),
    ]
    whole = np.append(np.zeros(pairs), np.ones(size))
    upper = np.append(-most, np.ones(size))
    run.check()
    options = {"node_limit": NODES, "mip_rel_gap": 0}
    found = optimize.milp(cost, integrality=whole, bounds=optimize.Bounds(0, upper), constraints=rules, options=options)
    bound = float(found.mip_dual_bound or 0.0) * unit
    if found.status != 0:
        return None, bound
    opened = found.x[pairs:] > 0.5
    upper[:pairs] *= opened[program.classes]
    lower = np.append(np.zeros(pairs), opened)
    flow = optimize.milp(
        cost, integrality=np.ones(len(cost)), bounds=optimize.Bounds(lower, np.append(upper[:pairs], opened)),
        constraints=rules[:2],
    )  # fmt: skip
    records = np.rint(flow.x[:pairs]).astype(np.int64)
    some = records > 0
    return (program.tuples[some], program.classes[some], records[some]), bound


def _program(priced: Priced, counts: Array, least_size: int, run: Run) -> Program:
    """All classes that may be open."""
    classes: dict[bytes, int] = {}
    pairs = 0
    for group in around(priced.levels, priced.lost, np.arange(len(counts)), counts, least_size, run):
        ends = np.append(group.starts[1:], len(group.tuples))
        for start, end, loss in zip(group.starts.tolist(), ends.tolist(), group.losses.tolist(), strict=True):
            key = group.tuples[start:end].astype(np.int64).tobytes()
            if key not in classes:
                pairs += end - start
            classes[key] = min(loss, classes.get(key, loss))
        if pairs > PAIRS:
            raise DataError(
                f"there are over {PAIRS:,} pairs of a combination and a class that it could take, too many to prove "
                "the optimum; set proof to 'bound', or take fewer or coarser columns"
            )
    members = [np.frombuffer(key, np.int64) for key in classes]
    lengths = [len(some) for some in members]
    return Program(
        np.concatenate(members), np.repeat(np.arange(len(members)), lengths), np.array([*classes.values()], np.int64)
    )
