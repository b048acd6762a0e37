"""Some values shown, the others suppressed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from incrowd.errors import DataError
from incrowd.recodings.attributes.cells import Cells
from incrowd.table.arrays import filled, text_array, to_numpy
from incrowd.table.attributes import Attribute
from incrowd.table.grouping import Floats
from incrowd.table.scales import text_of
from incrowd.taxonomies.labels import ANY


@dataclass(frozen=True)
class Disclosure:
    """Some values shown, the others suppressed."""

    name: str
    shown: tuple[str, ...]
    missing_shown: bool = False

    @property
    def labels(self) -> tuple[str | None, ...]:
        """The released values; None stands for missing values."""
        return (*self.shown, ANY, None) if self.missing_shown else (*self.shown, ANY)

    @property
    def missing_cell(self) -> int:
        """The cell of missing values."""
        return len(self.shown) + self.missing_shown

    def as_it_is(self, cell: int) -> bool:
        """Whether a released value stands for itself alone."""
        return cell != len(self.shown)

    def is_value(self, text: str) -> bool:
        """A missing value is never a category."""
        return False

    def of_codes(self, attribute: Attribute) -> Cells:
        """The cell of each code of the attribute."""
        values = attribute.values()
        found = to_numpy(filled(pc.index_in(values, text_array(self.shown)), len(self.shown)))
        if attribute.missing is not None:
            found = found.copy()
            found[attribute.missing] = self.missing_cell
        return found.astype(np.int64)

    def cells(self, values: pa.Array) -> Cells:
        """The cell of each value; unseen ones are suppressed."""
        found = pc.index_in(text_of(values), text_array(self.shown))
        return to_numpy(filled(found, len(self.shown))).astype(np.int64)

    def unknown(self, values: Sequence[Any]) -> Exception:
        """Never needed: every value has a cell."""
        return DataError(f"column '{self.name}' holds a value that its recoding does not know")

    def losses(self, attribute: Attribute) -> Floats:
        """A shown value loses nothing, a suppressed one everything."""
        return np.asarray(np.arange(len(self.labels)) == len(self.shown), np.float64)

    def meanings(self) -> Iterable[str]:
        """What each released value stands for."""
        yield from ("itself" for _ in self.shown)
        yield "any value not shown"
        if self.missing_shown:
            yield "missing"

    def to_json(self) -> dict[str, Any]:
        """As JSON."""
        return {"shown": list(self.shown), "missing_shown": self.missing_shown}

    @classmethod
    def from_json(cls, name: str, data: Mapping[str, Any]) -> Disclosure:
        """From JSON."""
        return cls(name, tuple(data["shown"]), data["missing_shown"])
