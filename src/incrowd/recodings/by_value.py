"""A recoding by value: what every value of every attribute became, whatever else its record has (global recoding)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from incrowd.recodings.attributes.any_kind import AttributeRecoding
from incrowd.recodings.attributes.closed_intervals import ClosedIntervals
from incrowd.recodings.attributes.cut import Cut, RuleCut
from incrowd.recodings.attributes.disclosure import Disclosure
from incrowd.recodings.attributes.intervals import Intervals
from incrowd.recodings.attributes.partition import Partition
from incrowd.recodings.hierarchies import Hierarchy, hierarchy_of
from incrowd.recodings.recoding import Mask, Parts, RecodingMixin
from incrowd.recodings.schema import DOCUMENT
from incrowd.recodings.withholding import rebuilt
from incrowd.schemas.shapes import SchemaError
from incrowd.table.arrays import to_arrow
from incrowd.table.attributes import Attribute
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import Codes, Counts, sort_tuples

_KINDS: dict[str, type[AttributeRecoding]] = {
    "cut": Cut,
    "rule": RuleCut,
    "intervals": Intervals,
    "closed intervals": ClosedIntervals,
    "disclosure": Disclosure,
    "partition": Partition,
}


@dataclass(frozen=True)
class ByValue(RecodingMixin):
    """One mapping per attribute.

    Args:
        attributes: The recoding of each attribute.
        dropped: Columns that are left out of the release.
        missing: What happens to missing values: "category", "drop" or "error".
        missing_values: Texts that count as missing.
        missing_label: What a missing value is released as where it is kept apart; None for an empty cell.
        classes: The classes that are released, as tuples of cells, where records are suppressed: a record that falls
            in none of them is left out. None where no record is suppressed. (Not the suppressed classes: those would
            reveal people who are not in the release.)
    """

    attributes: tuple[AttributeRecoding, ...]
    dropped: tuple[str, ...] = ()
    missing: str = "category"
    missing_values: tuple[str, ...] = ()
    missing_label: str | None = None
    classes: tuple[tuple[int, ...], ...] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that it recodes."""
        return tuple(attribute.name for attribute in self.attributes)

    @property
    def is_confidential(self) -> bool:
        """It shows no more than the release."""
        return False

    @property
    def by_row(self) -> bool:
        """Every row is recoded by itself."""
        return True

    @cached_property
    def _by_name(self) -> dict[str, AttributeRecoding]:
        return {attribute.name: attribute for attribute in self.attributes}

    def __getitem__(self, name: str) -> AttributeRecoding:
        return self._by_name[name]

    def labels(self, name: str) -> tuple[str | None, ...]:
        """The released values of a column."""
        every = self.all_labels(name)
        return tuple(every[cell] for cell in self._released_cells(name))

    def labels_of(self, name: str, cells: Sequence[int]) -> tuple[str | None, ...]:
        """The labels of some cells."""
        labels = self.all_labels(name)
        return tuple(labels[cell] for cell in cells)

    def all_labels(self, name: str) -> tuple[str | None, ...]:
        """The released values of a column, and those that no released record has where records are left out."""
        return tuple(self.missing_label if label is None else label for label in self[name].labels)

    def unchanged(self, name: str) -> tuple[str | None, ...] | None:
        """The values that a row may be recoded to, if all that are released stand for themselves."""
        recoding, labels, own = self[name], self.all_labels(name), self[name].labels
        released = set(self._released_cells(name))
        if getattr(recoding, "rest", False):  # a cell for new rows
            released.discard(len(labels) - 1)
        for cell in released:
            if not recoding.as_it_is(cell) or (own[cell] is None and self.missing_label is not None):
                return None
        return tuple(label if cell in released else None for cell, label in enumerate(labels))

    def _released_cells(self, name: str) -> Sequence[int]:
        """The cells of a column that the released classes have."""
        if self.classes is None:
            return range(len(self[name].labels))
        place = self.names.index(name)
        return sorted({cells[place] for cells in self.classes})

    @cached_property
    def constant(self) -> tuple[str, ...]:
        """Columns with one released value, where no row may be left out."""
        if self.missing != "category" or self.classes is not None:
            return ()
        return tuple(name for name in self.names if len(self.labels(name)) == 1 and self.labels(name)[0] is not None)

    @property
    def exact_ranges(self) -> tuple[str, ...]:
        """None: an interval is one of the whole column, and ends where the next one begins."""
        return ()

    def cells(self, name: str, values: pa.Array) -> Any:
        """The cell of each of some distinct values of a column; -1 for values that have none."""
        recoding = self[name]
        missing = self.missing_among(name, values)
        cells = np.full(len(values), recoding.missing_cell)
        cells[~missing] = recoding.cells(values.filter(to_arrow(~missing)))
        return cells

    def missing_cell(self, name: str) -> int:
        """The cell of missing values."""
        return self[name].missing_cell

    def is_value(self, name: str, text: str) -> bool:
        """Whether a text is a value of its own, even if it looks like a missing one."""
        return self[name].is_value(text)

    def unknown(self, name: str, values: Sequence[Any]) -> Exception:
        """The error for values that have no cell."""
        return self[name].unknown(values)

    def split_tuples(self, cells: Sequence[Codes]) -> Codes:
        """None are dealt."""
        return np.full(len(cells[0]), -1)

    @property
    def key(self) -> bytes:
        """None is needed."""
        return b""

    def part_sizes(self) -> tuple[Codes, Counts]:
        """There are none."""
        return np.zeros(1, np.int64), np.empty(0, np.int64)

    def release(self, cells: Sequence[Codes], dealt: Codes) -> tuple[Sequence[Codes], Mask | None]:
        """The cells themselves, of the classes that are released."""
        return cells, self.released(cells)

    def class_numbers(self, cells: Sequence[Codes], dealt: Codes) -> Codes:
        """Not needed: the compressed table says what is in a class."""
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
        """Every tuple is one part."""
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

    def without(self, table: CompressedTable, left_out: Mask) -> ByValue:
        """The recoding that leaves out some tuples, rebuilt from what the others have.

        One that, with its value no longer shown, equals a released class stays in.
        """
        attributes = []
        for attribute, mapping, codes in zip(table.attributes, self.attributes, table.codes, strict=True):
            attributes.append(rebuilt(attribute, mapping, np.bincount(codes[~left_out], minlength=attribute.size) > 0))
        return replace(self, attributes=tuple(attributes)).with_classes(table, left_out)

    def with_classes(self, table: CompressedTable, left_out: Mask) -> ByValue:
        """The recoding with the classes that tuples have that are not left out; it says nothing of the others."""
        shown = ~left_out & (table.counts > 0)  # a class has records
        columns = [
            mapping.of_codes(attribute)[codes[shown]]
            for mapping, attribute, codes in zip(self.attributes, table.attributes, table.codes, strict=True)
        ]
        order, starts = sort_tuples(columns, [len(attribute.labels) for attribute in self.attributes])
        classes = tuple(zip(*(column[order[starts]].tolist() for column in columns), strict=True))
        return replace(self, classes=classes)

    def in_hierarchy(self, attribute: Attribute) -> tuple[Hierarchy, Codes]:
        """The hierarchy of an attribute, and the node that has the label of each released value."""
        hierarchy, recoding = hierarchy_of(attribute), self[attribute.name]
        rest = isinstance(recoding, Intervals | ClosedIntervals | RuleCut | Partition) and recoding.rest
        labels = (*recoding.labels[:-1], hierarchy.label(0)) if rest else recoding.labels
        return hierarchy, hierarchy.nodes_labelled(labels)

    def meanings(self, name: str) -> list[str]:
        """What each of the released values of a column stands for, in the order of `labels`."""
        told = list(self[name].meanings())
        return [told[cell] for cell in self._released_cells(name)]

    def to_json(self) -> dict[str, Any]:
        """As JSON-able data."""
        kind_of = {kind: word for word, kind in _KINDS.items()}
        fields = {
            "kind": "by value",
            "columns": [*self.names, *self.dropped],
            "leaves_out": self.classes is not None,
            "dropped": list(self.dropped),
            "missing": self.missing,
            "missing_values": list(self.missing_values),
            "missing_label": self.missing_label,
            "classes": None if self.classes is None else [list(cells) for cells in self.classes],
            "attributes": [{"name": a.name, "kind": kind_of[type(a)], **a.to_json()} for a in self.attributes],
        }
        return DOCUMENT.sealed(fields)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ByValue:
        """A recoding from what `to_json` gave, checked by the schema.

        Raises:
            SchemaError: Its parts do not fit together.
        """
        attributes = tuple(_KINDS[item["kind"]].from_json(item["name"], item) for item in data["attributes"])
        classes = None if data["classes"] is None else tuple(map(tuple, data["classes"]))
        for cells in classes or ():
            if any(cell >= len(attribute.labels) for cell, attribute in zip(cells, attributes, strict=True)):
                raise SchemaError("classes", "have cells that the attributes have")
        kept = tuple(data["missing_values"]), data["missing_label"], classes
        return cls(attributes, tuple(data["dropped"]), data["missing"], *kept)
