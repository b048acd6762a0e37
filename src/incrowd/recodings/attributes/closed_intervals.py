"""Numbers or dates replaced by closed intervals, with room between them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from incrowd.errors import DataError
from incrowd.recodings.attributes.cells import Cells
from incrowd.table.attributes import Attribute, NumberAttribute
from incrowd.table.exact_numbers import as_json, from_json, places
from incrowd.table.grouping import Floats
from incrowd.table.scales import Scale
from incrowd.taxonomies.labels import ANY, interval_label


@dataclass(frozen=True)
class ClosedIntervals:
    """Numbers or dates replaced by the interval that they lie in; all that lies in none has one cell, `*`.

    The intervals need not touch. So where records are left out, intervals can begin and end at numbers of released
    records, and no left-out record falls into an interval that it was not put into.

    Args:
        name: Column name.
        scale: How values are read and shown.
        ends: The lowest and the highest number of each interval, ascending.
        missing_shown: Whether missing values have a cell of their own; else they go to `*`.
    """

    name: str
    scale: Scale
    ends: tuple[tuple[Any, Any], ...]
    missing_shown: bool = False
    rest = True  # the last cell is for all else

    @cached_property
    def labels(self) -> tuple[str | None, ...]:
        """The released values; None stands for missing values."""
        return (*(self._label(low, high) for low, high in self.ends), *[None] * self.missing_shown, ANY)

    def _label(self, low: Any, high: Any) -> str:
        text = self.scale.text(low)
        return text if low == high else interval_label(text, self.scale.text(high), closed=True)

    @property
    def missing_cell(self) -> int:
        """The cell of missing values."""
        return len(self.ends)

    def as_it_is(self, cell: int) -> bool:
        """Whether a released value stands for itself alone."""
        if cell < len(self.ends):
            return bool(self.ends[cell][0] == self.ends[cell][1])
        return self.labels[cell] is None

    def is_value(self, text: str) -> bool:
        """A missing value is never a number."""
        return False

    def of_codes(self, attribute: Attribute) -> Cells:
        """The cell of each code of the attribute."""
        assert isinstance(attribute, NumberAttribute)
        cells = self._places(attribute.numbers)
        return cells if attribute.missing is None else np.append(cells, self.missing_cell)

    def _places(self, numbers: Any) -> Cells:
        above = places([high for _, high in self.ends], numbers)  # the first interval that does not end below
        begun = places([low for low, _ in self.ends], numbers, side="right") - 1  # the last one that has begun
        return np.where(above == begun, above, len(self.labels) - 1)

    def cells(self, values: pa.Array) -> Cells:
        """The cell of each value."""
        return self._places(self.scale.numbers(values, self.name))

    def unknown(self, values: Sequence[Any]) -> Exception:
        """Never needed: every number has a cell."""
        return DataError(f"column '{self.name}' holds a value that its recoding does not know")

    def losses(self, attribute: Attribute) -> Floats:
        """Generalized loss of each cell: its width over the range of the column."""
        assert isinstance(attribute, NumberAttribute)
        lowest, highest = map(float, attribute.extent)
        widths = np.array([float(high) - float(low) for low, high in self.ends], np.float64)
        lost = widths / (highest - lowest) if highest > lowest else np.zeros(len(widths))
        return np.concatenate([lost, [0.0] * self.missing_shown, [1.0]])

    def meanings(self) -> Iterable[str]:
        """What each released value stands for."""
        for cell, label in enumerate(self.labels[:-1]):
            yield "missing" if label is None else "itself" if self.as_it_is(cell) else label
        yield "any value not shown"

    def to_json(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "ends": [as_json(pair) for pair in self.ends],
            "labels": list(self.labels),
            "scale": self.scale.to_json(),
            "missing_shown": self.missing_shown,
        }

    @classmethod
    def from_json(cls, name: str, data: Mapping[str, Any]) -> ClosedIntervals:
        """From JSON."""
        ends = tuple((low, high) for low, high in map(from_json, data["ends"]))
        return cls(name, Scale(**data["scale"]), ends, data["missing_shown"])
