"""Numbers and dates that are released as ranges of any bounds, in a local recoding: a tree, and ranges next to it.

Nodes are those of a flat tree (the root, the values, missing values), followed by the ranges that are used. A range
covers the values that occur from its lowest to its highest, and is released as these two; or, on a grid, as the
round numbers around them (`[20-40)` for 23 to 37), and then it covers all values that occur between those. Where
the range of the column is not public, ranges that reach its lowest or highest value are left open at that end.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from incrowd.recodings.grids import Grid, cells_of, grid_of
from incrowd.recodings.hierarchies import Hierarchy, Nodes, check_values
from incrowd.table.attributes import Attribute, NumberAttribute, numeric
from incrowd.table.compressed import CompressedTable
from incrowd.table.exact_numbers import as_json, from_json, places
from incrowd.table.grouping import Floats
from incrowd.table.scales import Scale
from incrowd.taxonomies.labels import ANY, KNOWN, interval_label
from incrowd.taxonomies.taxonomy import Taxonomy

BOUNDS = "round"  # where the bounds of ranges lie unless somebody asks for "exact" ones


@dataclass(frozen=True)
class Ranges(Hierarchy):
    """The values of a column of numbers or dates, and ranges of them.

    Args:
        ranges: First rank, and one more than the last, of each range; ascending.
        domain: Public lowest and highest value.
        grid: Where bounds of ranges lie; None if they are the values themselves.
    """

    ranges: tuple[tuple[int, int], ...] = ()
    domain: tuple[Any, Any] | None = None
    grid: Grid | None = None

    @classmethod
    def of(cls, attribute: NumberAttribute, spans: Iterable[tuple[int, int]], grid: Grid | None = None) -> Ranges:
        """The hierarchy of an attribute with the ranges among some spans of codes.

        Spans of one value are that value, and spans of everything the root, which are nodes already.

        Args:
            attribute: The attribute.
            spans: First code, and one more than the last, of each; on a grid they have all values of their cells.
            grid: Where bounds of ranges lie.
        """
        values = attribute.values().to_pylist()
        ranges = sorted({(start, stop) for start, stop in spans if 1 < stop - start < attribute.size})
        return cls(
            attribute.name, flat_tree(values), "ranges", attribute.scale, (), tuple(ranges), attribute.domain, grid
        )

    def node(self, start: int, stop: int) -> int:
        if stop - start == 1:
            return start + 1
        return 0 if stop - start == len(self.leaves) else self._node_of[start, stop]

    @cached_property
    def _node_of(self) -> dict[tuple[int, int], int]:
        return {span: node for node, span in enumerate(self.ranges, len(self.taxonomy.labels))}

    @property
    def size(self) -> int:
        return len(self.taxonomy.labels) + len(self.ranges)

    def label(self, node: int) -> str | None:
        tree = len(self.taxonomy.labels)
        return self.taxonomy.labels[node] if node < tree else self._label(*self.ranges[node - tree])

    def _label(self, start: int, stop: int) -> str:
        assert self.scale is not None
        ends = [start == 0, stop == len(self._values[0])]
        public = [None, None] if self.domain is None else [self.scale.text(bound) for bound in self.domain]
        texts = [bound if end else None for end, bound in zip(ends, public, strict=True)]
        low, high = (
            text if end else self.scale.text(bound)
            for end, text, bound in zip(ends, texts, self._bounds(start, stop), strict=True)
        )
        closed = self.grid is None or ends[1]
        return KNOWN if low is None and high is None else interval_label(low, high, closed=closed)

    def _bounds(self, start: int, stop: int) -> tuple[Any, Any]:
        """The lower and the upper bound of a range; the latter belongs to it unless there is a grid."""
        numbers = self._values[0]
        if self.grid is None:
            return numbers[start], numbers[stop - 1]
        first, last = self.grid.cells(numbers[[start, stop - 1]]).tolist()
        return self.grid.bound(first), self.grid.bound(last + 1)

    def spans(self) -> tuple[Nodes, Nodes]:
        return self._spans

    @cached_property
    def _spans(self) -> tuple[Nodes, Nodes]:
        ranges = np.array(self.ranges, np.int32).reshape(-1, 2)
        start = np.concatenate([self.taxonomy.start, ranges[:, 0]])
        return start, np.concatenate([self.taxonomy.stop, ranges[:, 1]])

    def cells(self, values: pa.Array) -> Nodes:
        """The node of each value (none of them missing); an unseen number counts as the next lower known one."""
        assert self.scale is not None
        known, nodes = self._values
        if not len(known):
            return np.zeros(len(values), np.int32)
        place = places(known, self.scale.numbers(values, self.name), side="right") - 1
        return np.asarray(nodes[np.maximum(place, 0)])

    def losses(self, attribute: Attribute) -> Floats:
        """Generalized loss of each node: the width of what is released over the range of the column."""
        attribute = numeric(attribute)
        lowest, highest = map(float, attribute.extent)
        numbers = attribute.numbers.astype(np.float64)
        ranges = np.array(self.ranges, np.int64).reshape(-1, 2)
        low, high = numbers[ranges[:, 0]], numbers[ranges[:, 1] - 1]
        if self.grid is not None:
            cells = self.grid.cells(attribute.numbers)[ranges - [0, 1]]
            step = 0.0 if attribute.scale.kind == "number" else 1.0  # below a bound that does not belong to a range
            low = np.array([float(self.grid.bound(cell)) for cell in cells[:, 0].tolist()])
            high = np.array([float(self.grid.bound(cell + 1)) for cell in cells[:, 1].tolist()]) - step
        low = np.where(ranges[:, 0] == 0, lowest, low)
        high = np.where(ranges[:, 1] == len(numbers), highest, high)
        if highest > lowest:
            lost = np.clip((high - low) / (highest - lowest), 0, 1)  # floats may be coarser than the bounds
        else:  # whole numbers that floats do not tell apart
            lost = (ranges[:, 1] - ranges[:, 0] > 1).astype(np.float64)
        alone = np.zeros(len(self.taxonomy.labels))
        alone[0] = float(attribute.size > 1)
        return np.concatenate([alone, lost])

    def on_grid(self, attribute: NumberAttribute, grid: Grid) -> tuple[Ranges, npt.NDArray[np.int64]]:
        """The same with every range rounded outward to a grid, and the node there of each node.

        Ranges only grow, so different ones may become the same one, and none loses a value that it has.
        """
        tree = len(self.taxonomy.labels)
        spans = np.array(self.ranges, np.int64).reshape(-1, 2)
        cells = grid.cells(attribute.numbers)
        starts = np.searchsorted(cells, cells[spans[:, 0]], side="left").tolist()
        stops = np.searchsorted(cells, cells[spans[:, 1] - 1], side="right").tolist()
        wider = list(zip(starts, stops, strict=True))
        made = Ranges.of(attribute, wider, grid)
        return made, np.array([*range(tree), *(made.node(*span) for span in wider)])

    def meaning(self, node: int) -> str:
        return "a value in it" if node >= len(self.taxonomy.labels) else super().meaning(node)

    def to_json(self) -> dict[str, Any]:
        domain = as_json(self.domain) if self.domain else None
        grid = None if self.grid is None else self.grid.name
        return {**super().to_json(), "ranges": [list(span) for span in self.ranges], "domain": domain, "grid": grid}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Ranges:
        scale, domain = Scale(**data["scale"]), from_json(data["domain"]) if data["domain"] else None
        check_values(scale, [text for text in data["values"] if text is not None], data["name"])
        ranges = tuple((start, stop) for start, stop in data["ranges"])
        grid = Grid.named(data["grid"], scale) if data["grid"] else None
        return cls(data["name"], flat_tree(data["values"]), "ranges", scale, (), ranges, domain, grid)


def public_grids(table: CompressedTable, least_size: int) -> list[Grid | None]:
    """The grid of each column of numbers or dates; see `grids.grid_of`."""
    cells = cells_of(table.records, len(table.attributes), least_size)
    return [
        grid_of(attribute, table.value_counts(place), cells) if isinstance(attribute, NumberAttribute) else None
        for place, attribute in enumerate(table.attributes)
    ]


def on_grids(
    table: CompressedTable,
    hierarchies: Sequence[Hierarchy],
    nodes: npt.NDArray[Any],
    column_grids: Sequence[Grid | None],
) -> tuple[list[Hierarchy], npt.NDArray[Any]]:
    """Hierarchies and what is released (parts x attributes), with the bounds of ranges rounded outward to grids."""
    made, rounded = list(hierarchies), nodes.copy()
    for place, (hierarchy, grid) in enumerate(zip(hierarchies, column_grids, strict=True)):
        if isinstance(hierarchy, Ranges) and hierarchy.ranges and grid is not None:
            made[place], to = hierarchy.on_grid(numeric(table.attributes[place]), grid)
            rounded[:, place] = to[nodes[:, place]]
    return made, rounded


def flat_tree(values: list[str | None]) -> Taxonomy:
    """The root, and the values below it."""
    return Taxonomy((ANY, *values), np.array([-1, *[0] * len(values)], np.int32))
