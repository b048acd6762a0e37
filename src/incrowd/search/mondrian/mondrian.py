"""Mondrian (LeFevre, DeWitt, Ramakrishnan, 2006; "Multi" in the KACA paper): cut the table into good boxes.

All records start in one box. A box is cut in its widest attribute that can be cut, and so on with its parts; what
cannot be cut is a class, and is released as the smallest box around its records. Width is the generalized loss of that
box, so attributes compare whatever they hold, times the weight of the attribute where there are `priorities`; of
equally wide ones the first by name is cut.

- Numbers and dates are cut in two at the median. A strict cut lies between two values, the one closest to the median of
  those that leave a good class on both sides. A relaxed one gives half of the records to each side, and may part
  records that are equal; so neighbouring boxes may overlap. Missing values are cut off before numbers are cut.
- Categories are cut into the children of the taxonomy node that holds them all, in both ways; without a taxonomy into
  single values. Each part that is not empty must be a good class.

What is good is the business of the privacy models. Those that protect a column count its values in every part; equal
records then stay together (no relaxed cuts), since which of them would go where is not known when boxes are cut.

A budget (`suppress`) is used when no box can be cut any more: outermost records are left out where that pays (see
`leaving_out`).

What goes out are not the lowest and the highest number of a class, which are somebody's, but round ones around them
(`bounds`, see `recodings.grids`); classes that look the same then are one.

Invariant: every box is a good class (with k-anonymity: of at least k records), and every record lies in one box. It
ends, since parts are smaller than the box that they come from. Strict boxes are minimal, as in the paper: none can be
cut any further. The order of rows plays no part: equal records are parted by number, and which go where is decided as
in every local recoding.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import lcm
from typing import Any

import numpy as np

from incrowd.errors import InfeasibleError, PolicyError
from incrowd.privacy.model import Requirement, Requirements, with_suppression
from incrowd.recodings.by_tuple import ByTuple
from incrowd.recodings.grids import Grid
from incrowd.recodings.mapping import LocalMapping, nodes_of
from incrowd.recodings.ranges import BOUNDS, on_grids, public_grids
from incrowd.run import Run
from incrowd.search.leaving_out import budget_of
from incrowd.search.limits import BELOW_TOP, top_groups
from incrowd.search.method import SearchResult
from incrowd.search.mondrian.boxes import Box, Ints, Judge, Part
from incrowd.search.mondrian.dimensions import Dimension, NumberDimension, TreeDimension
from incrowd.search.mondrian.leaving_out import Trimming
from incrowd.search.mondrian.proof import proven
from incrowd.search.priorities import weights_by_name
from incrowd.table.attributes import NumberAttribute
from incrowd.table.compressed import CompressedTable


def mondrian(
    table: CompressedTable,
    requirements: Requirements,
    run: Run,
    *,
    relaxed: bool = False,
    suppress: float = 0.0,
    priorities: Mapping[str, float] | None = None,
    bounds: str = BOUNDS,
    proof: str = "quick",
) -> SearchResult:
    """Cut the table into boxes.

    Raises:
        PolicyError: Equal records may be parted, and a model counts the values of a protected column; or records may be
            left out, and a model is not exact then.
    """
    (requirement,) = requirements
    _check_relaxed(requirement, relaxed)
    exact = [None] * len(table.attributes)
    grids = exact if bounds == "exact" else public_grids(table, requirement.least_size)
    dimensions = [
        NumberDimension(attribute, relaxed, grids[index])
        if isinstance(attribute, NumberAttribute)
        else TreeDimension(table, index)
        for index, attribute in enumerate(table.attributes)
    ]
    cutting = _Cutting(table, dimensions, requirement, run, priorities)
    budget = budget_of(table, suppress)
    starts, out = _starts(table, requirement, cutting.everyone, budget)
    boxes = [box for start in starts for box in cutting.boxes(start)]
    facts: dict[str, Any] = {"partitioning": "relaxed" if relaxed else "strict"}
    if budget:
        with_suppression(requirement.models)
        trimming = Trimming(table, requirement, cutting.by_name, cutting.boxes)
        boxes, more = trimming.trimmed(boxes, budget - sum(int(part.records.sum()) for part in out), run)
        out += more
        facts["suppressed_records"] = sum(int(part.records.sum()) for part in out)
    facts["boxes"] = len(boxes)
    mapping = _mapping(table, dimensions, boxes, out, grids)
    if not budget and not priorities:
        facts |= proven(table, requirement, dimensions, mapping, run, asked=proof == "bound")
    return SearchResult(ByTuple.of(mapping, run.key), facts=facts)


def _starts(
    table: CompressedTable, requirement: Requirement, everyone: Part, budget: int
) -> tuple[list[Part], list[Part]]:
    """The box of all records; where columns have a highest level, one box under each node, and those left out."""
    groups = top_groups(table)
    if not groups.any():
        return [everyone], []
    classes = table.class_counts(groups, int(groups.max()) + 1)
    good = requirement.good(classes)
    short = int(classes.records[~good].sum())
    if short > budget or (short and not requirement.upward_closed):  # then what is good depends on who is left out
        raise InfeasibleError(BELOW_TOP)
    of_place = groups[everyone.tuples]
    parts = [Part(everyone.tuples[of_place == g], everyone.records[of_place == g]) for g in range(len(good))]
    return [part for part, kept in zip(parts, good, strict=True) if kept], [
        part for part, kept in zip(parts, good, strict=True) if not kept
    ]


def _check_relaxed(requirement: Requirement, relaxed: bool) -> None:
    """Which of several equal records go where is decided later, without a look at what is protected."""
    if relaxed and requirement.columns:
        model = next(model for model in requirement.models if model.column is not None)
        raise PolicyError(
            f"The 'relaxed' parameter must be False with {model}: it parts equal records whatever their protected "
            "values are. Got True."
        )


class _Cutting:
    """Cuts boxes."""

    def __init__(
        self,
        table: CompressedTable,
        dimensions: Sequence[Dimension],
        requirement: Requirement,
        run: Run,
        priorities: Mapping[str, float] | None,
    ) -> None:
        self._run, self._table, self._judge = run, table, Judge(table, requirement)
        names = [attribute.name for attribute in table.attributes]
        places = sorted(range(len(names)), key=lambda index: names[index])
        order = np.lexsort([table.codes[index] for index in reversed(places)])  # the same in any order of columns
        self.everyone = Part(order, table.counts[order].astype(np.int64))
        self._codes = np.stack([column.astype(np.int64) for column in table.codes], axis=1)
        priority = weights_by_name(names, priorities)
        weights = [priority[name] / dimension.widest for name, dimension in zip(names, dimensions, strict=True)]
        unit = lcm(*(weight.denominator for weight in weights))  # weighted widths of all attributes are parts of it
        self.by_name = [(index, dimensions[index], int(weights[index] * unit)) for index in places]
        self._done = 0

    def boxes(self, whole: Part) -> Iterator[Part]:
        """What comes of a box when it is cut until nothing can be."""
        waiting = [whole]
        while waiting:
            box = waiting.pop()
            records = int(box.records.sum())
            could_be_two = records >= 2 * self._judge.requirement.least_size and self._run.should_continue()
            parts = _cut(self._codes[box.tuples], self._judge.box(box), self.by_name) if could_be_two else ()
            waiting += [Part(box.tuples[part.tuples], part.records) for part in reversed(parts)]
            if not parts:
                self._done = min(self._done + records, self._table.records)
                self._run.amount(self._done, self._table.records, "records in boxes")
                yield box


def _cut(codes: Ints, box: Box, by_name: Sequence[tuple[int, Dimension, int]]) -> Sequence[Part]:
    """The parts of a box, by position; none if it cannot be cut.

    Args:
        codes: tuples x attributes.
        box: The records.
        by_name: The attributes by name: position, dimension, and what its widths are multiplied by to be compared.
    """
    low, high = codes.min(axis=0).tolist(), codes.max(axis=0).tolist()
    widths = [
        (dimension.width(low[index], high[index]) * weight, index, dimension)
        for index, dimension, weight in by_name
        if low[index] < high[index]
    ]
    for _, index, dimension in sorted(widths, key=lambda entry: -entry[0]):  # by name where equal: sorting is stable
        if parts := dimension.cut(codes[:, index], box):
            return parts
    return ()


def _mapping(
    table: CompressedTable,
    dimensions: Sequence[Dimension],
    boxes: Sequence[Part],
    out: Sequence[Part],
    grids: Sequence[Grid | None],
) -> LocalMapping:
    """What is released of boxes, with bounds on `grids` if there are any, and of parts that are left out."""
    sizes = [len(box.tuples) for box in boxes]
    tuples = np.concatenate([part.tuples for part in (*boxes, *out)])
    records = np.concatenate([part.records for part in (*boxes, *out)])
    left_out = np.arange(len(tuples)) >= sum(sizes)
    starts = np.cumsum([0, *sizes[:-1]])
    hierarchies, columns = [], []
    for index, dimension in enumerate(dimensions):
        codes = table.codes[index][tuples[~left_out]].astype(np.int64)
        spans = zip(
            np.minimum.reduceat(codes, starts).tolist(), np.maximum.reduceat(codes, starts).tolist(), strict=True
        )
        hierarchy, nodes = dimension.release(list(spans))
        hierarchies.append(hierarchy)
        columns.append(np.append(np.repeat(nodes, sizes), np.zeros(left_out.sum(), np.int64)))
    hierarchies, nodes = on_grids(table, hierarchies, np.stack(columns, axis=1), grids)
    return LocalMapping.build(hierarchies, nodes_of(table, hierarchies), tuples, nodes, records, left_out)
