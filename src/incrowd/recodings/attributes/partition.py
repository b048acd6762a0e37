"""The recoding of one attribute to sets of its values: what the partitioning schemes of the optimal search release."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from incrowd.errors import DataError
from incrowd.recodings.attributes.attribute_recoding import AttributeRecoding, Cells, Mask
from incrowd.schemas.shapes import SchemaError
from incrowd.table.arrays import text_array
from incrowd.table.attributes import Attribute, TaxonomyAttribute, categorical
from incrowd.table.grouping import Floats
from incrowd.table.scales import Scale, text_of
from incrowd.taxonomies.labels import ANY, set_label


@dataclass(frozen=True)
class Partition(AttributeRecoding):
    """Values replaced by the set that they belong to.

    Args:
        blocks: The sets; None for missing values.
        names: What each set is called; None for missing values alone.
        rest: Whether there is one more cell, for values in none of the sets.
        scale: How values are read, of numbers and dates.
    """

    name: str
    blocks: tuple[tuple[str | None, ...], ...]
    names: tuple[str | None, ...]
    rest: bool = False
    scale: Scale | None = None

    @property
    def labels(self) -> tuple[str | None, ...]:
        return (*self.names, ANY) if self.rest else self.names

    @cached_property
    def _cell_of(self) -> dict[str | None, int]:
        return {value: cell for cell, block in enumerate(self.blocks) for value in block}

    @property
    def _other(self) -> int:
        return len(self.blocks) if self.rest else -1

    @property
    def missing_cell(self) -> int:
        return self._cell_of.get(None, self._other)

    def as_it_is(self, cell: int) -> bool:
        return cell < len(self.blocks) and self.blocks[cell] == (self.names[cell],)

    def is_value(self, text: str) -> bool:
        return text in self._cell_of

    def of_codes(self, attribute: Attribute) -> Cells:
        return np.array([self._cell_of.get(text, self._other) for text in attribute.values().to_pylist()], np.int64)

    def cells(self, values: pa.Array) -> Cells:
        if self.scale is None:
            texts = text_of(values).to_pylist()
        else:
            texts = [self.scale.text(number) for number in self.scale.numbers(values, self.name)]
        return np.array([self._cell_of.get(text, self._other) for text in texts], np.int64)

    def unknown(self, values: Sequence[Any]) -> Exception:
        return DataError(
            f"column '{self.name}' holds '{min(map(str, values))}', which its recoding does not know; add it to its "
            "taxonomy and anonymize again, or correct it"
        )

    def losses(self, attribute: Attribute) -> Floats:
        """Values in a cell, or the range of its numbers; 1 for the rest, and for `*`."""
        losses = [attribute.loss_of_set(name, block) for name, block in zip(self.names, self.blocks, strict=True)]
        return np.array([*losses, 1.0] if self.rest else losses)

    def meanings(self) -> Iterable[str]:
        for block in self.blocks:
            yield ", ".join("missing" if value is None else value for value in block)
        if self.rest:
            yield "any value not shown"

    def widened(self, attribute: Attribute, nodes: npt.NDArray[Any]) -> Partition:
        tree = categorical(attribute).taxonomy
        codes_of = {tree.labels[node]: range(tree.start[node], tree.stop[node]) for node in nodes.tolist()}
        sets = [[code for label in block for code in codes_of[label]] for block in self.blocks]
        widened = sets_of(categorical(attribute), sets, rest=self.rest)
        pairs = zip(self.names, widened.names, strict=True)
        return replace(widened, names=tuple(ANY if before == ANY else after for before, after in pairs))

    def rebuilt(self, attribute: Attribute, released: Mask) -> Partition:
        known = {text for text, kept in zip(attribute.values().to_pylist(), released, strict=True) if kept}
        blocks, names = [], []
        for block, name in zip(self.blocks, self.names, strict=True):
            kept = tuple(value for value in block if value in known)
            if not kept:
                continue
            listed = name == set_label(block)  # else it is a node of the taxonomy, and says nothing of its members
            blocks.append(block if attribute.is_public and not listed else kept)
            names.append(set_label(kept) if listed else name)
        return Partition(self.name, tuple(blocks), tuple(names), True, self.scale)

    def to_json(self) -> dict[str, Any]:
        data = {"blocks": [list(block) for block in self.blocks], "labels": list(self.names), "rest": self.rest}
        return data if self.scale is None else {**data, "scale": self.scale.to_json()}

    @classmethod
    def from_json(cls, name: str, data: Mapping[str, Any]) -> Partition:
        scale = Scale(**data["scale"]) if "scale" in data else None
        texts = [value for block in data["blocks"] for value in block if value is not None]
        if scale is not None and texts:
            numbers = scale.numbers(text_array(texts), name)
            if [scale.text(number) for number in numbers] != texts:
                raise SchemaError(f"blocks of '{name}'", "have values as incrowd writes them")
        return cls(name, tuple(map(tuple, data["blocks"])), tuple(data["labels"]), data["rest"], scale)


def node_of_set(attribute: TaxonomyAttribute, codes: Sequence[int]) -> int | None:
    """The node of a taxonomy that covers some ascending codes and no others: the leaf, or the highest there is."""
    taxonomy = attribute.taxonomy
    if len(codes) == 1:
        return taxonomy.leaves[codes[0]]
    if codes[-1] - codes[0] + 1 != len(codes):
        return None
    found = np.flatnonzero((taxonomy.start == codes[0]) & (taxonomy.stop == codes[-1] + 1))
    return int(found[0]) if len(found) else None


def name_of_set(attribute: TaxonomyAttribute, codes: Sequence[int]) -> str | None:
    """What a set of values of a taxonomy is released as: its node, or its values where it has none."""
    taxonomy, node = attribute.taxonomy, node_of_set(attribute, codes)
    return set_label([taxonomy.labels[taxonomy.leaves[c]] for c in codes]) if node is None else taxonomy.labels[node]


def sets_of(
    attribute: TaxonomyAttribute, sets: Sequence[Sequence[int]], suppressed: Sequence[int] = (), *, rest: bool = False
) -> Partition:
    """The recoding of an attribute to sets of its values, and `*`; `rest` adds a cell for values in none of them."""
    texts = attribute.values().to_pylist()
    names = [name_of_set(attribute, codes) for codes in sets]
    members = [*sets, suppressed] if suppressed else sets
    blocks = tuple(tuple(texts[code] for code in codes) for codes in members)
    return Partition(attribute.name, blocks, (*names, ANY) if suppressed else tuple(names), rest=rest)
