"""Numbers or dates replaced by intervals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from incrowd.errors import DataError
from incrowd.recodings.attributes.cells import Cells
from incrowd.table.attributes import Attribute, NumberAttribute
from incrowd.table.exact_numbers import as_json, from_json, places
from incrowd.table.grouping import Floats
from incrowd.table.scales import Scale
from incrowd.taxonomies.labels import ANY, KNOWN, interval_label, parse_interval


@dataclass(frozen=True)
class Intervals:
    """Numbers or dates replaced by intervals.

    Args:
        name: Column name.
        scale: How values are read and shown.
        bounds: Where one interval ends and the next begins, ascending; a bound belongs to the upper interval.
        domain: Public lowest and highest value.
        missing: "none" if there were none, "merged" if a released value may stand for both, else "apart".
        exact: Numbers that are released as themselves, ascending, at most one in an interval. Of new rows a number that
            lies in the interval of such a number, and was never seen, is released as that number too.
        rest: Whether there is one more cell, for numbers between those that are released as themselves, and for missing
            values if there were none.
    """

    name: str
    scale: Scale
    bounds: tuple[Any, ...] = ()
    domain: tuple[Any, Any] | None = None
    missing: str = "none"
    exact: tuple[Any, ...] = ()
    rest: bool = False

    @cached_property
    def labels(self) -> tuple[str | None, ...]:
        """The released values; None stands for missing values."""
        if self.missing == "merged":
            return (ANY,)
        low, high = self.domain if self.domain else (None, None)
        edges = [low, *self.bounds, high]
        shown = [self.label(a, b, last=place == len(self.bounds)) for place, (a, b) in enumerate(pairwise(edges))]
        for cell, number in zip(self._exact_cells, self.exact, strict=True):
            shown[cell] = self.scale.text(number)
        return (*shown, *[None] * (self.missing == "apart"), *[ANY] * self.rest)

    @cached_property
    def _exact_cells(self) -> Cells:
        return places(self.bounds, self.exact, side="right")

    def label(self, low: Any, high: Any, *, last: bool) -> str:
        """The label of one interval, the last one or not; None for no bound."""
        if low is None and high is None:
            return KNOWN if self.missing == "apart" else ANY
        whole = self.scale.kind in ("integer", "date")
        if whole and low is not None and high is not None and high == low + (0 if last else 1):
            return self.scale.text(low)
        texts = [None if bound is None else self.scale.text(bound) for bound in (low, high)]
        return interval_label(texts[0], texts[1], closed=last and low is not None and high is not None)

    @property
    def missing_cell(self) -> int:
        """The cell of missing values, -1 where the recoding knows none."""
        none = len(self.bounds) + 1 if self.rest else -1
        return {"none": none, "merged": 0, "apart": len(self.bounds) + 1}[self.missing]

    def as_it_is(self, cell: int) -> bool:
        """Whether a released value stands for itself alone."""
        label = self.labels[cell]
        return label is None or parse_interval(label) is None

    def is_value(self, text: str) -> bool:
        """A missing value is never a number."""
        return False

    def of_codes(self, attribute: Attribute) -> Cells:
        """The cell of each code of the attribute."""
        assert isinstance(attribute, NumberAttribute)
        if self.missing == "merged":
            return np.zeros(attribute.size, np.int64)
        cells = self._places(attribute.numbers)
        return cells if attribute.missing is None else np.append(cells, self.missing_cell)

    def _places(self, numbers: Any) -> Cells:
        cells = places(self.bounds, numbers, side="right")
        if not self.rest or not self.exact:
            return cells
        only = np.full(len(self.bounds) + 1, -1)  # the place of the only number that a cell has among those
        only[self._exact_cells] = np.arange(len(self.exact))
        nearest = places(self.exact, numbers, side="right") - 1
        known = np.array([number == self.exact[at] for number, at in zip(numbers, nearest, strict=True)], bool)
        return np.where((only[cells] >= 0) & ~known, len(self.labels) - 1, cells)

    def cells(self, values: pa.Array) -> Cells:
        """The cell of each value; values outside the range fall in the outermost intervals."""
        return self._places(self.scale.numbers(values, self.name))

    def unknown(self, values: Sequence[Any]) -> Exception:
        """Never needed: every number has a cell."""
        return DataError(f"column '{self.name}' holds a value that its recoding does not know")

    def losses(self, attribute: Attribute) -> Floats:
        """Generalized loss of each cell."""
        assert isinstance(attribute, NumberAttribute)
        if self.missing == "merged":
            return np.ones(1)
        edges = places(attribute.numbers, self.bounds)
        edges = np.concatenate([[0], edges, [len(attribute.numbers)]]).astype(np.int64)
        losses = attribute.loss(edges[:-1], edges[1:])
        losses[self._exact_cells] = 0.0
        return np.concatenate([losses, [0.0] * (self.missing == "apart"), [1.0] * self.rest])

    def meanings(self) -> Iterable[str]:
        """What each released value stands for."""
        noun = "dates" if self.scale.kind in ("date", "timestamp") else "numbers"
        exact = set(self._exact_cells.tolist())
        for cell, label in enumerate(self.labels):
            if cell in exact:
                yield "itself"
            elif self.rest and cell == len(self.labels) - 1:
                yield "any value not shown"
            elif label in (ANY, KNOWN):
                yield f"all {noun}" + (", and missing" if self.missing == "merged" else "")
            else:
                yield "missing" if label is None else label

    def to_json(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "bounds": as_json(self.bounds),
            "labels": list(self.labels),
            "scale": self.scale.to_json(),
            "domain": as_json(self.domain) if self.domain else None,
            "missing": self.missing,
            "exact": as_json(self.exact),
            "rest": self.rest,
        }

    @classmethod
    def from_json(cls, name: str, data: Mapping[str, Any]) -> Intervals:
        """From JSON."""
        domain = from_json(data["domain"]) if data["domain"] else None
        exact = from_json(data["exact"])
        bounds = from_json(data["bounds"])
        return cls(name, Scale(**data["scale"]), bounds, domain, data["missing"], exact, data["rest"])
