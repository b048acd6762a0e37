"""A recoding by tuple: equal records may be released differently (local recoding).

Its file holds the original tuples and is as confidential as the original table; the codebook shows only what the
release shows.

It says what became of the records that it was made from. What new rows become follows from the released classes alone
(`by_class`), so that nothing is revealed of who was among those records.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from incrowd.key import Key
from incrowd.recodings.by_class import ByClass
from incrowd.recodings.centres import Centres
from incrowd.recodings.hierarchies import Hierarchy, Nodes
from incrowd.recodings.kinds import hierarchy_of
from incrowd.recodings.mapping import LocalMapping, TupleLookup, nodes_of, trace
from incrowd.recodings.ranges import Ranges
from incrowd.recodings.recoding import Mask, Parts, Pieces, Recoding, policy_fields, policy_fields_from
from incrowd.recodings.schema import DOCUMENT
from incrowd.table.attributes import Attribute
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import Codes, Counts, Floats, count

_KINDS: Mapping[str, type[Hierarchy]] = {"ranges": Ranges, "centres": Centres}


@dataclass(frozen=True, repr=False)
class ByTuple(Recoding):
    """A mapping of tuples to parts.

    Args:
        mapping: Which records of which tuple take which generalized tuple.
        key: Key of the hash that decides which records those are.
    """

    mapping: LocalMapping
    key: bytes

    @classmethod
    def of(cls, mapping: LocalMapping, key: Key) -> ByTuple:
        """The recoding of a mapping, with a key of its own that follows from that of the release."""
        return cls(mapping, _own_key(mapping, key))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(hierarchy.name for hierarchy in self.mapping.hierarchies)

    @property
    def is_confidential(self) -> bool:
        return True

    @property
    def by_row(self) -> bool:
        return False

    @property
    def exact_ranges(self) -> tuple[str, ...]:
        ranges = (part for part in self.mapping.hierarchies if isinstance(part, Ranges))
        return tuple(part.name for part in ranges if part.ranges and part.grid is None)

    @property
    def for_new_rows(self) -> ByClass:
        return ByClass.of(self.mapping, self._used, self)

    def __getitem__(self, name: str) -> Hierarchy:
        return self.mapping.hierarchies[self.names.index(name)]

    # Tuples

    def split_tuples(self, cells: Sequence[Codes]) -> Codes:
        tuples = self._lookup(np.stack(cells, axis=1))
        return np.where((tuples >= 0) & self.mapping.split[np.maximum(tuples, 0)], tuples, -1)

    def part_sizes(self) -> tuple[Codes, Counts]:
        return self.mapping.first_part, self.mapping.part_records

    def class_numbers(self, cells: Sequence[Codes], parts: Codes) -> Codes:
        """The class of each tuple: -1 for one that it was not made from, one past the last for the left-out."""
        tuples, mapping = self._lookup(np.stack(cells, axis=1)), self.mapping
        classes = mapping.part_classes[np.where(parts >= 0, parts, mapping.first_part[np.maximum(tuples, 0)])]
        return np.where(tuples < 0, -1, classes)

    def release(self, cells: Sequence[Codes], parts: Codes) -> tuple[Sequence[Codes], Mask | None]:
        """What each tuple is released as, as places among the nodes that are released, and the root."""
        classes = self.class_numbers(cells, parts)
        stay = classes < len(self.mapping.classes)
        classes = np.where(stay, classes, -1)
        nodes = np.where(classes[:, None] < 0, 0, self.mapping.classes[classes])
        columns = [np.searchsorted(used, nodes[:, place]) for place, used in enumerate(self._used)]
        return columns, None if stay.all() else stay

    @cached_property
    def _used(self) -> list[Nodes]:
        """The nodes that are released, and the root, per column."""
        return [np.unique(np.append(column, np.int32(0))) for column in self.mapping.classes.T]

    @cached_property
    def _lookup(self) -> TupleLookup:
        return TupleLookup(self.mapping.tuples, [h.size for h in self.mapping.hierarchies])

    # What is shown

    def labels(self, name: str) -> tuple[str | None, ...]:
        hierarchy, column = self[name], self.mapping.classes[:, self.names.index(name)]
        return tuple(self._label(hierarchy, node) for node in np.unique(column).tolist())

    def labels_of(self, name: str, cells: Sequence[int]) -> tuple[str | None, ...]:
        return tuple(self._label(self[name], node) for node in cells)

    def all_labels(self, name: str) -> tuple[str | None, ...]:
        hierarchy, used = self[name], self._used[self.names.index(name)]
        return tuple(self._label(hierarchy, node) for node in used.tolist())

    def unchanged(self, name: str) -> tuple[str | None, ...] | None:
        hierarchy, place = self[name], self.names.index(name)
        released = np.unique(self.mapping.classes[:, place])
        missing = self.missing_label is not None and hierarchy.missing_cell in released
        if missing or not np.isin(released, hierarchy.as_values).all():
            return None
        used = self._used[place]
        there = np.isin(used, released).tolist()
        return tuple(hierarchy.label(node) if kept else None for node, kept in zip(used.tolist(), there, strict=True))

    def _label(self, hierarchy: Hierarchy, node: int) -> str | None:
        label = hierarchy.label(node)
        return self.missing_label if label is None else label

    def meanings(self, name: str) -> list[str]:
        hierarchy, column = self[name], self.mapping.classes[:, self.names.index(name)]
        return [hierarchy.meaning(node) for node in np.unique(column).tolist()]

    def parts(self, table: CompressedTable) -> Parts:
        """Every released class is one part; where whole tuples are left out, every tuple is."""
        mapping, is_split = self.mapping, bool(self.mapping.split.any())
        pairs = zip(mapping.hierarchies, table.attributes, strict=True)
        losses = {hierarchy.name: hierarchy.losses(attribute) for hierarchy, attribute in pairs}
        stay = ~mapping.left_out
        if not is_split and not stay.all():
            shown = mapping.classes[np.where(stay, mapping.part_classes, 0)]
            return Parts(mapping.part_records, dict(zip(self.names, shown.T, strict=True)), losses, kept=stay)
        records = count(mapping.part_classes[stay], len(mapping.classes), mapping.part_records[stay])
        cells = dict(zip(self.names, mapping.classes.T, strict=True))
        return Parts(records, cells, losses, None if is_split else mapping.part_classes, is_split=is_split)

    def pieces(self, table: CompressedTable) -> Pieces:
        mapping, stay = self.mapping, ~self.mapping.left_out
        shown = mapping.classes[np.where(stay, mapping.part_classes, 0)]
        return Pieces(mapping.part_records, mapping.part_tuples, dict(zip(self.names, shown.T, strict=True)), stay)

    def ends(self, attribute: Attribute) -> tuple[Codes, Codes]:
        start, stop = self[attribute.name].spans()
        return start, stop - 1

    def sums(self, attribute: Attribute, values: Floats) -> Floats:
        start, stop = self[attribute.name].spans()
        below = np.concatenate([np.zeros((1, values.shape[1])), values.cumsum(axis=0)])
        return np.asarray(below[stop] - below[start])

    def without(self, table: CompressedTable, left_out: Mask) -> Self:
        mapping = self.mapping
        shown = mapping.classes[np.minimum(mapping.part_classes, len(mapping.classes) - 1)]
        parts = mapping.part_tuples, shown, mapping.part_records
        fewer = LocalMapping.build(mapping.hierarchies, mapping.tuples, *parts, left_out[mapping.part_tuples])
        return replace(self, mapping=fewer)

    def carried_back(self, table: CompressedTable, number: Codes, nodes: Mapping[str, npt.NDArray[Any]]) -> ByTuple:
        hierarchies, mapping = list(self.mapping.hierarchies), self.mapping
        classes = mapping.classes.astype(np.int64)
        for place, attribute in enumerate(table.attributes):
            if attribute.name in nodes:
                hierarchies[place] = hierarchy_of(attribute)
                classes[:, place] = nodes[attribute.name][classes[:, place]]
        parts = mapping.part_tuples, mapping.part_classes, mapping.part_records
        own, groups, records = trace(number, table.counts, *parts)
        left_out = groups == len(classes)
        shown = classes[np.where(left_out, 0, groups)]
        finer = LocalMapping.build(hierarchies, nodes_of(table, hierarchies), own, shown, records, left_out)
        own_key = hashlib.blake2b(np.ascontiguousarray(finer.tuples).tobytes(), key=self.key, digest_size=len(self.key))
        return replace(self, mapping=finer, key=own_key.digest())

    def in_hierarchy(self, attribute: Attribute) -> tuple[Hierarchy, Codes]:
        hierarchy = self[attribute.name]
        return hierarchy, np.arange(hierarchy.size)

    # JSON

    def to_json(self) -> dict[str, Any]:
        fields = {
            "kind": "by tuple",
            "columns": [*self.names, *self.dropped],
            "confidential": "holds the original tuples: keep it where the original table is kept",
            "key": self.key.hex(),
            **policy_fields(self),
            "attributes": [hierarchy.to_json() for hierarchy in self.mapping.hierarchies],
            "classes": [" ".join(map(str, nodes)) for nodes in self.mapping.classes.tolist()],
            "tuples": list(self.mapping.lines()),
        }
        return DOCUMENT.sealed(fields)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ByTuple:
        hierarchies = tuple(_KINDS.get(item["kind"], Hierarchy).from_json(item) for item in data["attributes"])
        return cls(
            LocalMapping.from_lines(hierarchies, data["classes"], data["tuples"]),
            bytes.fromhex(data["key"]),
            **policy_fields_from(data),
        )


def _own_key(mapping: LocalMapping, key: Key) -> bytes:
    """The key of one mapping: the same key with other tuples, counts or labels allocates independently."""
    digest = hashlib.blake2b(np.ascontiguousarray(mapping.tuples).tobytes())
    digest.update(np.add.reduceat(mapping.part_records, mapping.first_part[:-1]).tobytes())
    for hierarchy in mapping.hierarchies:
        digest.update(repr(hierarchy.taxonomy.labels).encode())
    return key.derived("dealing", digest.digest())
