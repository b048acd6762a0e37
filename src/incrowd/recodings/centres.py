"""Numbers and dates of which every class shows one, such as the mean of its records: a tree, and numbers next to it.

Nodes are those of a flat tree (the root, the values, missing values), followed by the released numbers, each once, so
that classes that show the same are one. A number covers the values from the lowest to the highest that it was released
for, and loses the mean width of the classes that show it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from incrowd.recodings.hierarchies import Hierarchy, Nodes, check_values
from incrowd.recodings.ranges import flat_tree
from incrowd.table.attributes import Attribute, numeric
from incrowd.table.grouping import Floats
from incrowd.table.scales import Scale


@dataclass(frozen=True)
class Centres(Hierarchy):
    """The values of a column of numbers or dates, and numbers that stand for classes of them.

    Args:
        numbers: The released numbers, as they are written; ascending.
        shown: How they are read, which may be as numbers where all values are whole.
        covers: First code, and one more than the last, of the values that each was released for.
        spread: The width of the classes that show each, from their lowest to their highest value: the mean over
            records.
    """

    shown: Scale = field(kw_only=True)
    numbers: tuple[str, ...] = ()
    covers: tuple[tuple[int, int], ...] = ()
    spread: tuple[float, ...] = ()

    @property
    def size(self) -> int:
        return len(self.taxonomy.labels) + len(self.numbers)

    @property
    def as_values(self) -> Nodes:
        return np.append(self.leaves, np.arange(len(self.taxonomy.labels), self.size, dtype=np.int32))

    def label(self, node: int) -> str | None:
        tree = len(self.taxonomy.labels)
        return self.taxonomy.labels[node] if node < tree else self.numbers[node - tree]

    def spans(self) -> tuple[Nodes, Nodes]:
        return self._spans

    @cached_property
    def _spans(self) -> tuple[Nodes, Nodes]:
        covers = np.array(self.covers, np.int32).reshape(-1, 2)
        start = np.concatenate([self.taxonomy.start, covers[:, 0]])
        return start, np.concatenate([self.taxonomy.stop, covers[:, 1]])

    def losses(self, attribute: Attribute) -> Floats:
        """Generalized loss of each node: the width of the classes that show it over the range of the column."""
        lowest, highest = map(float, numeric(attribute).extent)
        alone = np.zeros(len(self.taxonomy.labels))
        alone[0] = float(attribute.size > 1)
        lost = np.array(self.spread) / (highest - lowest) if highest > lowest else np.zeros(len(self.spread))
        return np.concatenate([alone, np.clip(lost, 0, 1)])

    def meaning(self, node: int) -> str:
        in_tree = node < len(self.taxonomy.labels)
        return super().meaning(node) if in_tree else "the number of a crowd"

    def to_json(self) -> dict[str, Any]:
        own = {"numbers": list(self.numbers), "shown": self.shown.to_json(), "spread": list(self.spread)}
        return {**super().to_json(), **own, "covers": [list(span) for span in self.covers]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Centres:
        scale, shown = Scale(**data["scale"]), Scale(**data["shown"])
        check_values(scale, [text for text in data["values"] if text is not None], data["name"])
        check_values(shown, data["numbers"], data["name"])
        covers = tuple((start, stop) for start, stop in data["covers"])
        found = cls(data["name"], flat_tree(data["values"]), "centres", scale, shown=shown)
        return replace(found, numbers=tuple(data["numbers"]), covers=covers, spread=tuple(data["spread"]))
