"""DM: bounds of both sides of many questions at once, for `pairs`.

Each bound is that of the innermost attribute (`innermost`): its cheapest partition, where classes are as fine as they
can be and suppressed only where they are not good as coarse as they can be. That is a lower bound, since a class of the
finest partitions never costs less when it grows, and never is released where all that may be around it is not good.

What a question changes is little. A join merges some classes of the finest partitions and leaves the coarsest ones;
keeping values apart cuts some crowds of the coarsest partitions and leaves the finest ones. So the costs of all blocks
of the innermost attribute (lines) are found once for a node, and for a question only what those classes or crowds add.

Under sets two values that are apart may both be together with a third one, so that the coarsest partition still joins
them. Of the attribute that is asked about, a value therefore counts as released only if there are enough records that
have a value near it, one that is not apart from it, and that the coarsest partitions of the other attributes put
together with it: whatever block it ends up in holds only such values. This too is never more than the truth.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from incrowd.run import Run
from incrowd.search.optimal import innermost_kernels, probe_kernels
from incrowd.search.optimal.blocks import Labels, bits
from incrowd.search.optimal.costs import Classes, Costs
from incrowd.search.optimal.innermost import Innermost, most_blocks
from incrowd.search.optimal.partitions import TreeSpace
from incrowd.search.optimal.ranges import Range, Ranges
from incrowd.search.optimal.slices import RunOver
from incrowd.search.optimal.walks import members_of
from incrowd.table.class_counts import ClassCounts
from incrowd.table.grouping import Counts, Floats

MOST_LINES = 6_000
MOST_CELLS = 5_000_000  # lines times tuples
MOST_WAYS = 10_000  # to put children together that are all looked at

Sides = tuple[float, float]  # bounds of making a join, and of keeping its values apart


@dataclass(frozen=True)
class Lines:
    """What the blocks of the innermost attribute cost at a node.

    Args:
        classes: Those of the other attributes, as fine as can be.
        sums: Classes x lines, records.
        paid: Of each line, what its records cost if none is suppressed.
        added: Of each line, what suppression adds.
        lost: Of each line, the records that are suppressed.
    """

    classes: Classes
    sums: Floats
    paid: Floats
    added: Floats
    lost: Floats


@dataclass(frozen=True)
class Parts:
    """The crowds of a node, cut by the values of one attribute.

    Args:
        sums: Parts x lines, records.
        order: The parts, those with the same crowds of the other attributes one after the other.
        bucket: A number for these other crowds, by part.
        label: The value of each part.
        crowds: Of an attribute under sets, parts x lines: records that each part may end up in a class with.
    """

    sums: Floats
    order: Counts
    bucket: Counts
    label: Counts
    crowds: Floats | None = None

    @property
    def given(self) -> tuple[Floats, Counts, Counts, Counts]:
        """What the kernels need."""
        return self.sums, self.order, self.bucket, self.label


def fits(costs: Costs, index: int) -> bool:
    """Whether bounds can be found this way where an attribute is solved."""
    space = costs.domains[index].space
    if costs.cost != "dm" or not isinstance(space, TreeSpace):
        return False
    lines = most_blocks(space)
    return lines <= MOST_LINES and lines * len(costs.rows) <= MOST_CELLS


class Probes:
    """Bounds nodes and their questions.

    Args:
        costs: What is to be low.
        innermost: The attribute that is solved, given the others.
        limit: Records that may be suppressed.
        ranges: The ranges of each attribute.
        run: Asked now and then whether to go on.
    """

    def __init__(self, costs: Costs, innermost: Innermost, limit: int, ranges: Sequence[Ranges], run: Run) -> None:
        self._costs, self._index, self._limit, self._ranges, self._run = costs, innermost.index, limit, ranges, run
        self._sizes = (float(smallest_good(costs)), float(costs.least), float(costs.records))
        space = costs.domains[innermost.index].space
        assert isinstance(space, TreeSpace)
        self._runs, size = innermost.runs, space.size
        self._unions = None if self._runs else unions_of(space, innermost.blocks)
        self._starts, self._members = members_of(innermost.blocks, size)
        self._count = len(innermost.blocks)
        self._firsts, self._ends = self._members[self._starts[:-1]], self._members[self._starts[1:] - 1] + 1
        self._order = np.argsort(self._firsts, kind="stable")
        self._begins = np.searchsorted(self._firsts[self._order], np.arange(size + 1))
        lengths = np.diff(self._starts)
        self._single = np.zeros(size, np.int64)  # the line of each value alone
        self._single[self._firsts[lengths == 1]] = np.flatnonzero(lengths == 1)
        self._values = np.ascontiguousarray(costs.rows[:, innermost.index])
        spaces = [domain.space for domain in costs.domains]
        self._is_set = [isinstance(space, TreeSpace) and space.mode == "set" for space in spaces]
        self._crowds = np.zeros((2, costs.width, self._count))

    def lines(self, ranges: Sequence[Range]) -> Lines:
        """What the blocks of the innermost attribute cost within some ranges of the others."""
        classes = self._costs.classes(self._without([of.fine for of in ranges]))
        crowds = self._costs.classes(self._without([of.coarse for of in ranges]), classes)
        sums, whole = self._sums(classes), self._sums(crowds, classes)
        paid, added, lost = np.zeros((3, self._count))
        probe_kernels.size_costs(sums, self._sizes[1], paid)
        probe_kernels.lost_costs(whole, *self._sizes, added, lost)
        return Lines(classes, sums, paid, added, lost)

    def bound(self, lines: Lines, best: float) -> float:
        """No allowed cost is lower; infinite if none is better than the best."""
        return self._cheapest(lines, lines.paid, lines.added, lines.lost, best)

    def sides(self, ranges: Sequence[Range], lines: Lines, index: int, best: float) -> Iterator[tuple[int, Sides]]:
        """The questions of an attribute, and the bounds of both of their sides.

        Raises:
            RunOver: The run is over.
        """
        of = ranges[index]
        rows, fine = self._costs.rows[:, index], [each.fine for each in ranges]
        label = of.fine[rows[lines.classes.firsts]]
        bucket = self._costs.classes(self._without(fine, index), lines.classes).of_row
        order = np.argsort(bucket, kind="stable")
        parts = self._parts(ranges, lines.classes, index)
        suppressed = (lines.added, lines.lost)
        if parts.crowds is not None:
            suppressed = (np.zeros(self._count), np.zeros(self._count))
            probe_kernels.near_costs(parts.sums, parts.crowds, *self._sizes, *suppressed)
        for smallest, made in of.questions.items():
            if not self._run.should_continue():
                raise RunOver
            paid = lines.paid.copy()
            for block in made:
                is_in = np.zeros(len(of.fine), bool)
                is_in[list(bits(block))] = True
                probe_kernels.joined_costs(lines.sums, order, bucket, is_in[label], self._sizes[1], paid)
            join = self._cheapest(lines, paid, *suppressed, best)
            more = self._parted(parts, of, index, smallest, *suppressed)
            yield smallest, (join, self._cheapest(lines, lines.paid, *more, best))

    def _parts(self, ranges: Sequence[Range], classes: Classes, index: int) -> Parts:
        coarse = [of.coarse for of in ranges]
        parts = self._costs.classes(self._without([*coarse[:index], ranges[index].fine, *coarse[index + 1 :]]), classes)
        bucket = self._costs.classes(self._without(coarse, index), parts).of_row
        label = ranges[index].fine[self._costs.rows[parts.firsts, index]]
        found = Parts(self._sums(parts, classes), np.argsort(bucket, kind="stable"), bucket, label)
        if not self._is_set[index]:
            return found
        crowds = np.zeros_like(found.sums)
        probe_kernels.near_crowds(*found.given, ranges[index].near, crowds)
        return replace(found, crowds=crowds)

    def _parted(
        self, parts: Parts, of: Range, index: int, smallest: int, added: Floats, lost: Floats
    ) -> tuple[Floats, Floats]:
        """What suppression adds, and what is suppressed, after values are kept apart."""
        added, lost = added.copy(), lost.copy()
        if parts.crowds is not None:
            kind = np.zeros(len(of.fine), np.int64)
            np.maximum.at(kind, of.fine, self._ranges[index].kinds(smallest))
            probe_kernels.far_costs(*parts.given, parts.crowds, of.near, kind, *self._sizes, added, lost)
            return added, lost
        parted = self._ranges[index].parted(of, smallest)
        cut = np.zeros(len(of.fine), bool)
        cut[of.coarse[parted.coarse != of.coarse]] = True
        before, after = np.where(cut[of.coarse], of.coarse, -1)[parts.label], parted.coarse[parts.label]
        given = (*parts.given[:3], before, after)
        probe_kernels.parted_costs(*given, *self._sizes, self._crowds, added, lost)
        return added, lost

    def _without(self, partitions: Sequence[Labels], other: int | None = None) -> list[Labels]:
        """Partitions in which the innermost attribute, and perhaps another one, plays no part."""
        gone = (self._index, other)
        return [np.zeros_like(labels) if index in gone else labels for index, labels in enumerate(partitions)]

    def _sums(self, classes: Classes, finer: Classes | None = None) -> Floats:
        """The records of classes, made from rows or from finer classes, in each line: classes x lines."""
        of_row = classes.of_row if finer is None else classes.of_row[finer.of_row]
        records = np.zeros((len(classes.sizes), len(self._single)))
        probe_kernels.counted(of_row, self._values, self._costs.weights, records)
        sums = np.zeros((len(records), self._count))
        if self._runs:
            probe_kernels.sum_runs(records, self._firsts, self._ends, sums)
        else:
            probe_kernels.sum_sets(records, self._starts, self._members, sums)
        return sums

    def _cheapest(self, lines: Lines, paid: Floats, added: Floats, lost: Floats, best: float) -> float:
        """What the cheapest partition of the innermost attribute costs at least."""
        costs = paid + added
        if self._runs:
            return float(probe_kernels.cheapest_runs(costs, lost, self._limit, self._begins, self._ends, self._order))
        if self._unions is not None:
            return float(probe_kernels.cheapest_sets(costs, lost, self._limit, *self._unions))
        alone = lines.paid[self._single]
        over = costs - np.add.reduceat(alone[self._members], self._starts[:-1])
        base, over = float(alone.sum()), np.where(lost <= self._limit, over, np.inf)
        places, prices, taken = np.empty(self._count, np.int64), np.empty(self._count), np.zeros(1)
        slack, all_lines = self._costs.below(best) - base, np.arange(self._count)
        left = innermost_kernels.reduce(all_lines, over, self._starts, self._members, slack, places, prices, taken)
        return base + float(taken[0]) if left else np.inf


def unions_of(space: TreeSpace, blocks: Sequence[int]) -> tuple[Counts, Counts, Counts, Counts] | None:
    """What `cheapest_sets` needs to know of a tree and its lines; None where there are too many ways."""
    tree = space.tree
    if sum(3 ** len(kids) for kids in tree.children) > MOST_WAYS:
        return None
    line_of = {block: line for line, block in enumerate(blocks)}
    lines: list[int] = []
    starts = []
    for mask, kids in zip(tree.masks, tree.children, strict=True):
        starts.append(len(lines))
        masks = [tree.masks[kid] for kid in kids]
        unions = [sum(masks[place] for place in bits(chosen)) for chosen in range(1 << len(kids))] if kids else [mask]
        lines += [line_of.get(union, -1) for union in unions]
    kid_starts = np.cumsum([0, *map(len, tree.children)])
    kids_of_all = np.array([kid for kids in tree.children for kid in kids], np.int64)
    return kid_starts, kids_of_all, np.array(starts), np.array(lines)


def smallest_good(costs: Costs) -> int:
    """The smallest number of records of a good class, one more than there are if there is none."""
    low, high = 1, costs.records + 1
    while low < high:
        middle = (low + high) // 2
        if costs.requirement.good(ClassCounts(np.array([middle])))[0]:
            high = middle
        else:
            low = middle + 1
    return low
