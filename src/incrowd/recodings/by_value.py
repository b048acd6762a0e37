"""A recoding by value: what every value of every attribute became, whatever else its record has (global recoding)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from incrowd.recodings.attributes.attribute_recoding import AttributeRecoding
from incrowd.recodings.attributes.cut import Cut, RuleCut
from incrowd.recodings.attributes.disclosure import Disclosure
from incrowd.recodings.attributes.intervals import ClosedIntervals, Intervals
from incrowd.recodings.attributes.partition import Partition
from incrowd.recodings.hierarchies import Hierarchy
from incrowd.recodings.kinds import hierarchy_of
from incrowd.recodings.recoding import Mask, Parts, Pieces, Recoding, policy_fields, policy_fields_from
from incrowd.recodings.schema import DOCUMENT
from incrowd.schemas.shapes import SchemaError
from incrowd.table.attributes import Attribute
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import Codes, Counts, Floats, sort_tuples

_KINDS: dict[str, type[AttributeRecoding]] = {
    "cut": Cut,
    "rule": RuleCut,
    "intervals": Intervals,
    "closed intervals": ClosedIntervals,
    "disclosure": Disclosure,
    "partition": Partition,
}


@dataclass(frozen=True, repr=False)
class ByValue(Recoding):
    """One mapping per attribute.

    Args:
        attributes: The recoding of each attribute.
        classes: The classes that are released, as tuples of cells, where records are suppressed: a record that falls
            in none of them is left out. None where no record is suppressed. (Not the suppressed classes: those would
            reveal people who are not in the release.)
    """

    attributes: tuple[AttributeRecoding, ...]
    classes: tuple[tuple[int, ...], ...] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(attribute.name for attribute in self.attributes)

    @property
    def is_confidential(self) -> bool:
        return False

    @property
    def by_row(self) -> bool:
        return True

    @property
    def by_value(self) -> bool:
        return True

    @cached_property
    def _by_name(self) -> dict[str, AttributeRecoding]:
        return {attribute.name: attribute for attribute in self.attributes}

    def __getitem__(self, name: str) -> AttributeRecoding:
        return self._by_name[name]

    def labels(self, name: str) -> tuple[str | None, ...]:
        every = self.all_labels(name)
        return tuple(every[cell] for cell in self._released_cells(name))

    def labels_of(self, name: str, cells: Sequence[int]) -> tuple[str | None, ...]:
        labels = self.all_labels(name)
        return tuple(labels[cell] for cell in cells)

    def all_labels(self, name: str) -> tuple[str | None, ...]:
        return tuple(self.missing_label if label is None else label for label in self[name].labels)

    def unchanged(self, name: str) -> tuple[str | None, ...] | None:
        recoding, labels, own = self[name], self.all_labels(name), self[name].labels
        released = set(self._released_cells(name))
        if recoding.rest:  # a cell for new rows
            released.discard(len(labels) - 1)
        for cell in released:
            if not recoding.as_it_is(cell) or (own[cell] is None and self.missing_label is not None):
                return None
        return tuple(label if cell in released else None for cell, label in enumerate(labels))

    def _released_cells(self, name: str) -> Sequence[int]:
        if self.classes is None:
            return range(len(self[name].labels))
        place = self.names.index(name)
        return sorted({cells[place] for cells in self.classes})

    @cached_property
    def constant(self) -> tuple[str, ...]:
        if self.missing != "category" or self.classes is not None:
            return ()
        return tuple(name for name in self.names if len(self.labels(name)) == 1 and self.labels(name)[0] is not None)

    def split_tuples(self, cells: Sequence[Codes]) -> Codes:
        return np.full(len(cells[0]), -1)

    @property
    def key(self) -> bytes:
        return b""

    def part_sizes(self) -> tuple[Codes, Counts]:
        return np.zeros(1, np.int64), np.empty(0, np.int64)

    def release(self, cells: Sequence[Codes], parts: Codes) -> tuple[Sequence[Codes], Mask | None]:
        return cells, self.released(cells)

    def class_numbers(self, cells: Sequence[Codes], parts: Codes) -> Codes:
        raise TypeError("the labels of a recoding by value are counted from the compressed table")

    def released(self, cells: Sequence[npt.NDArray[Any]]) -> Mask | None:
        """Which tuples, given by the cells of each attribute, are released; None if all are."""
        if self.classes is None:
            return None
        classes = np.array(self.classes, np.int64).reshape(-1, len(self.attributes))
        rows, known = np.zeros(len(cells[0]), np.int64), np.zeros(len(classes), np.int64)
        for place, column in enumerate(cells):
            width = len(self.attributes[place].labels)
            both = np.concatenate([known * width + classes[:, place], rows * width + column])
            ranks = np.unique(both, return_inverse=True)[1]  # ranks keep the keys small, however many attributes
            known, rows = ranks[: len(classes)], ranks[len(classes) :]
        return np.isin(rows, known)

    def parts(self, table: CompressedTable) -> Parts:
        cells: dict[str, Codes] = {}
        for index, attribute in enumerate(table.attributes):
            recoding = self[attribute.name]
            of_code = recoding.of_codes(attribute)
            narrow = np.min_scalar_type(-len(recoding.labels))  # -1 is no cell
            if of_code.any():
                cells[attribute.name] = of_code.astype(narrow).take(table.codes[index])
            else:  # all values became one
                cells[attribute.name] = np.zeros(len(table.counts), narrow)
        losses = {attribute.name: self[attribute.name].losses(attribute) for attribute in table.attributes}
        return Parts(table.counts, cells, losses, kept=self.released([cells[name] for name in self.names]))

    def pieces(self, table: CompressedTable) -> Pieces:
        parts, tuples = self.parts(table), np.arange(len(table.counts))
        return Pieces(
            parts.records, tuples, parts.cells, np.ones(len(tuples), bool) if parts.kept is None else parts.kept
        )

    def ends(self, attribute: Attribute) -> tuple[Codes, Codes]:
        cells, size = self[attribute.name].of_codes(attribute), len(self[attribute.name].labels)
        codes = np.flatnonzero(cells >= 0)
        first, last = np.zeros(size, np.int64), np.zeros(size, np.int64)
        first[cells[codes][::-1]], last[cells[codes]] = codes[::-1], codes  # the last one that is written stays
        return first, last

    def sums(self, attribute: Attribute, values: Floats) -> Floats:
        cells, size = self[attribute.name].of_codes(attribute), len(self[attribute.name].labels)
        known = cells >= 0
        sums = [np.bincount(cells[known], column[known], size) for column in values.T]
        return np.array(sums, np.float64).reshape(len(sums), size).T

    def without(self, table: CompressedTable, left_out: Mask) -> Self:
        """The recoding that leaves out some tuples, rebuilt from what the others have.

        One that, with its value no longer shown, equals a released class stays in.
        """
        attributes = []
        for attribute, mapping, codes in zip(table.attributes, self.attributes, table.codes, strict=True):
            attributes.append(mapping.rebuilt(attribute, np.bincount(codes[~left_out], minlength=attribute.size) > 0))
        return replace(self, attributes=tuple(attributes)).with_classes(table, left_out)

    def with_classes(self, table: CompressedTable, left_out: Mask) -> Self:
        """The recoding with the classes that tuples have that are not left out; it says nothing of the others."""
        shown = ~left_out & (table.counts > 0)  # a class has records
        columns = [
            mapping.of_codes(attribute)[codes[shown]]
            for mapping, attribute, codes in zip(self.attributes, table.attributes, table.codes, strict=True)
        ]
        order, starts = sort_tuples(columns, [len(attribute.labels) for attribute in self.attributes])
        classes = tuple(zip(*(column[order[starts]].tolist() for column in columns), strict=True))
        return replace(self, classes=classes)

    def carried_back(self, table: CompressedTable, number: Codes, nodes: Mapping[str, npt.NDArray[Any]]) -> ByValue:
        pairs = zip(self.attributes, table.attributes, strict=True)
        own = (each.widened(attribute, nodes[each.name]) if each.name in nodes else each for each, attribute in pairs)
        return replace(self, attributes=tuple(own))

    def in_hierarchy(self, attribute: Attribute) -> tuple[Hierarchy, Codes]:
        hierarchy, recoding = hierarchy_of(attribute), self[attribute.name]
        labels = (*recoding.labels[:-1], hierarchy.label(0)) if recoding.rest else recoding.labels
        return hierarchy, hierarchy.nodes_labelled(labels)

    def meanings(self, name: str) -> list[str]:
        meanings = list(self[name].meanings())
        return [meanings[cell] for cell in self._released_cells(name)]

    def to_json(self) -> dict[str, Any]:
        kind_of = {kind: word for word, kind in _KINDS.items()}
        fields = {
            "kind": "by value",
            "columns": [*self.names, *self.dropped],
            "leaves_out": self.classes is not None,
            **policy_fields(self),
            "classes": None if self.classes is None else [list(cells) for cells in self.classes],
            "attributes": [{"name": a.name, "kind": kind_of[type(a)], **a.to_json()} for a in self.attributes],
        }
        return DOCUMENT.sealed(fields)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ByValue:
        attributes = tuple(_KINDS[item["kind"]].from_json(item["name"], item) for item in data["attributes"])
        classes = None if data["classes"] is None else tuple(map(tuple, data["classes"]))
        for cells in classes or ():
            if any(cell >= len(attribute.labels) for cell, attribute in zip(cells, attributes, strict=True)):
                raise SchemaError("classes", "have cells that the attributes have")
        return cls(attributes, classes, **policy_fields_from(data))
