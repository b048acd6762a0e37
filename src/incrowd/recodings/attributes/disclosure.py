"""Some values shown, the others suppressed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from incrowd.recodings.attributes.attribute_recoding import AttributeRecoding, Cells, Mask
from incrowd.table.arrays import filled, text_array, to_numpy
from incrowd.table.attributes import Attribute
from incrowd.table.grouping import Floats
from incrowd.table.scales import text_of
from incrowd.taxonomies.labels import ANY


@dataclass(frozen=True)
class Disclosure(AttributeRecoding):
    """Some values shown, the others suppressed."""

    name: str
    shown: tuple[str, ...]
    missing_shown: bool = False

    @classmethod
    def showing(cls, attribute: Attribute, shown: Mask) -> Disclosure:
        """The codes that are shown; the others are suppressed."""
        texts, listed = np.array(attribute.values().to_pylist(), object), shown.copy()
        missing_shown = attribute.missing is not None and bool(shown[attribute.missing])
        if attribute.missing is not None:
            listed[attribute.missing] = False
        return cls(attribute.name, tuple(texts[listed].tolist()), missing_shown)

    @property
    def labels(self) -> tuple[str | None, ...]:
        return (*self.shown, ANY, None) if self.missing_shown else (*self.shown, ANY)

    @property
    def missing_cell(self) -> int:
        return len(self.shown) + self.missing_shown

    def as_it_is(self, cell: int) -> bool:
        return cell != len(self.shown)

    def of_codes(self, attribute: Attribute) -> Cells:
        values = attribute.values()
        found = to_numpy(filled(pc.index_in(values, text_array(self.shown)), len(self.shown)))
        if attribute.missing is not None:
            found = found.copy()
            found[attribute.missing] = self.missing_cell
        return found.astype(np.int64)

    def cells(self, values: pa.Array) -> Cells:
        found = pc.index_in(text_of(values), text_array(self.shown))
        return to_numpy(filled(found, len(self.shown))).astype(np.int64)

    def losses(self, attribute: Attribute) -> Floats:
        return np.asarray(np.arange(len(self.labels)) == len(self.shown), np.float64)

    def meanings(self) -> Iterable[str]:
        yield from ("itself" for _ in self.shown)
        yield "any value not shown"
        if self.missing_shown:
            yield "missing"

    def rebuilt(self, attribute: Attribute, released: Mask) -> Disclosure:
        known = {text for text, shown in zip(attribute.values().to_pylist(), released, strict=True) if shown}
        missing = self.missing_shown and bool(released[-1])
        return Disclosure(self.name, tuple(text for text in self.shown if text in known), missing)

    def to_json(self) -> dict[str, Any]:
        return {"shown": list(self.shown), "missing_shown": self.missing_shown}

    @classmethod
    def from_json(cls, name: str, data: Mapping[str, Any]) -> Disclosure:
        return cls(name, tuple(data["shown"]), data["missing_shown"])
