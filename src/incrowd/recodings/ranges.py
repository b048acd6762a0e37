"""Numbers and dates that are released as ranges of any bounds, in a local recoding: a tree, and ranges beside it.

Nodes are those of a flat tree (the root, the values, missing values), followed by the ranges that are used. A range
stands for the values that occur from its lowest to its highest, and is released as these two. Where the range of the
column is not public, ranges that reach its lowest or highest value are left open at that end.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from incrowd.recodings.hierarchies import Hierarchy, Nodes
from incrowd.table.attributes import Attribute, NumberAttribute
from incrowd.table.grouping import Floats
from incrowd.table.scales import Scale
from incrowd.taxonomies.labels import ANY, KNOWN, interval_label
from incrowd.taxonomies.taxonomy import Taxonomy


@dataclass(frozen=True)
class Ranges(Hierarchy):
    """The values of a column of numbers or dates, and ranges of them.

    Args:
        ranges: First rank, and one more than the last, of each range; ascending.
        domain: Public lowest and highest value.
    """

    ranges: tuple[tuple[int, int], ...] = ()
    domain: tuple[Any, Any] | None = None

    @classmethod
    def of(cls, attribute: NumberAttribute, spans: Iterable[tuple[int, int]]) -> Ranges:
        """The hierarchy of an attribute with the ranges among some spans of codes.

        Spans of one value are that value, and spans of everything the root, which are nodes already.
        """
        values = attribute.values().to_pylist()
        ranges = sorted({(start, stop) for start, stop in spans if 1 < stop - start < attribute.size})
        return cls(attribute.name, _flat(values), "ranges", attribute.scale, (), tuple(ranges), attribute.domain)

    def node(self, start: int, stop: int) -> int:
        """The node of a span of codes."""
        if stop - start == 1:
            return start + 1
        return 0 if stop - start == len(self.leaves) else self._node_of[start, stop]

    @cached_property
    def _node_of(self) -> dict[tuple[int, int], int]:
        return {span: node for node, span in enumerate(self.ranges, len(self.taxonomy.labels))}

    @property
    def size(self) -> int:
        """Number of nodes."""
        return len(self.taxonomy.labels) + len(self.ranges)

    def label(self, node: int) -> str | None:
        """The label of a node; None stands for missing values."""
        tree = len(self.taxonomy.labels)
        return self.taxonomy.labels[node] if node < tree else self._label(*self.ranges[node - tree])

    def _label(self, start: int, stop: int) -> str:
        assert self.scale is not None
        texts = [self.taxonomy.labels[code + 1] for code in (start, stop - 1)]
        ends = [start == 0, stop == len(self._values[0])]
        if self.domain is None:
            low, high = (None if end else text for end, text in zip(ends, texts, strict=True))
        else:
            public = [self.scale.text(bound) for bound in self.domain]
            low, high = (bound if end else text for end, bound, text in zip(ends, public, texts, strict=True))
        return KNOWN if low is None and high is None else interval_label(low, high, closed=True)

    def spans(self) -> tuple[Nodes, Nodes]:
        """The codes that each node stands for: the first, and one more than the last."""
        return self._spans

    @cached_property
    def _spans(self) -> tuple[Nodes, Nodes]:
        ranges = np.array(self.ranges, np.int32).reshape(-1, 2)
        start = np.concatenate([self.taxonomy.start, ranges[:, 0]])
        return start, np.concatenate([self.taxonomy.stop, ranges[:, 1]])

    def contain(self, nodes: Nodes, node: int) -> npt.NDArray[np.bool_]:
        """Which of some nodes stand for all that a node stands for."""
        start, stop = self.spans()
        return np.asarray((start[nodes] <= start[node]) & (stop[node] <= stop[nodes]))

    def nodes(self, values: pa.Array) -> Nodes:
        """The node of each value (none of them missing); an unseen number counts as the next lower known one."""
        assert self.scale is not None
        known, nodes = self._values
        if not len(known):
            return np.zeros(len(values), np.int32)
        place = np.searchsorted(known, self.scale.numbers(values, self.name), side="right") - 1
        return np.asarray(nodes[np.maximum(place, 0)])

    def losses(self, attribute: Attribute) -> Floats:
        """Generalized loss of each node: the width of what is released over the range of the column."""
        assert isinstance(attribute, NumberAttribute)
        lowest, highest = attribute.extent
        numbers = attribute.numbers.astype(np.float64)
        lost = []
        for start, stop in self.ranges:
            low = lowest if start == 0 else numbers[start]
            high = highest if stop == len(numbers) else numbers[stop - 1]
            lost.append((high - low) / (highest - lowest))
        alone = np.zeros(len(self.taxonomy.labels))
        alone[0] = float(attribute.size > 1)
        return np.concatenate([alone, lost])

    def meaning(self, node: int) -> str:
        """What a node stands for, in words that reveal nothing that the release does not."""
        return "a value in it" if node >= len(self.taxonomy.labels) else super().meaning(node)

    def to_json(self) -> dict[str, Any]:
        """As JSON-able data."""
        domain = list(self.domain) if self.domain else None
        return {**super().to_json(), "ranges": [list(span) for span in self.ranges], "domain": domain}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Ranges:
        """From what `to_json` gave."""
        domain = tuple(data["domain"]) if data["domain"] else None
        ranges = tuple((start, stop) for start, stop in data["ranges"])
        return cls(data["name"], _flat(data["values"]), "ranges", Scale(**data["scale"]), (), ranges, domain)


def _flat(values: list[str | None]) -> Taxonomy:
    """The root above all values."""
    return Taxonomy((ANY, *values), np.array([-1, *[0] * len(values)], np.int32))
