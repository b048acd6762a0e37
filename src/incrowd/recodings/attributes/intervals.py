"""Numbers or dates replaced by intervals: those that touch, and closed ones with room between them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from incrowd.recodings.attributes.attribute_recoding import AttributeRecoding, Cells, Mask
from incrowd.table.attributes import Attribute, NumberAttribute, numeric
from incrowd.table.exact_numbers import as_json, from_json, places
from incrowd.table.grouping import Floats
from incrowd.table.scales import Scale
from incrowd.taxonomies.labels import ANY, KNOWN, interval_label, parse_interval


@dataclass(frozen=True)
class Intervals(AttributeRecoding):
    """Numbers or dates replaced by intervals.

    Args:
        scale: How values are read and shown.
        bounds: Where one interval ends and the next begins, ascending; a bound belongs to the upper interval.
        domain: Public lowest and highest value.
        missing: "none" if there were none, "merged" if a released value may mean both, else "apart".
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

    @classmethod
    def at(cls, attribute: NumberAttribute, cuts: Sequence[int], *, apart: bool = True) -> Intervals:
        """Intervals that begin at some ranks, ascending, without 0; an interval of one value is that value.

        Where missing values are not kept `apart` from numbers, numbers are not distinguished either.
        """
        name, scale, domain = attribute.name, attribute.scale, attribute.domain
        if attribute.missing is not None and not apart:
            return cls(name, scale, (), domain, "merged")
        edges = np.array([0, *cuts, len(attribute.numbers)])
        exact = attribute.numbers[edges[:-1][np.diff(edges) == 1]]
        bounds = attribute.numbers[np.array(cuts, np.int64)]
        missing = "none" if attribute.missing is None else "apart"
        return cls(name, scale, tuple(bounds.tolist()), domain, missing, tuple(exact.tolist()))

    @cached_property
    def labels(self) -> tuple[str | None, ...]:
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
        none = len(self.bounds) + 1 if self.rest else -1
        return {"none": none, "merged": 0, "apart": len(self.bounds) + 1}[self.missing]

    def as_it_is(self, cell: int) -> bool:
        label = self.labels[cell]
        return label is None or parse_interval(label) is None

    def of_codes(self, attribute: Attribute) -> Cells:
        attribute = numeric(attribute)
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
        return self._places(self.scale.numbers(values, self.name))

    def losses(self, attribute: Attribute) -> Floats:
        attribute = numeric(attribute)
        if self.missing == "merged":
            return np.ones(1)
        edges = places(attribute.numbers, self.bounds)
        edges = np.concatenate([[0], edges, [len(attribute.numbers)]]).astype(np.int64)
        losses = attribute.loss(edges[:-1], edges[1:])
        losses[self._exact_cells] = 0.0
        return np.concatenate([losses, [0.0] * (self.missing == "apart"), [1.0] * self.rest])

    def meanings(self) -> Iterable[str]:
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

    def rebuilt(self, attribute: Attribute, released: Mask) -> Intervals:
        """Intervals begin at the lowest number that a released record has in them."""
        if self.missing == "merged":
            return self
        attribute = numeric(attribute)
        edges = [0, *places(attribute.numbers, self.bounds).tolist(), len(attribute.numbers)]
        ranks = [start + np.flatnonzero(released[start:stop]) for start, stop in pairwise(edges)]
        lowest = [attribute.number(int(found[0])) for found in ranks if len(found)]
        exact = tuple(number for number in self.exact if number in set(lowest))
        missing = "apart" if attribute.missing is not None and bool(released[attribute.missing]) else "none"
        if len(lowest) <= 1 and not exact and self.domain is None and missing == "none":
            return Intervals(self.name, self.scale, (), None, "merged")  # nothing is distinguished
        return Intervals(self.name, self.scale, tuple(lowest[1:]), self.domain, missing, exact, rest=True)

    def to_json(self) -> dict[str, Any]:
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
        domain = from_json(data["domain"]) if data["domain"] else None
        exact = from_json(data["exact"])
        bounds = from_json(data["bounds"])
        return cls(name, Scale(**data["scale"]), bounds, domain, data["missing"], exact, data["rest"])


@dataclass(frozen=True)
class ClosedIntervals(AttributeRecoding):
    """Numbers or dates replaced by the interval that they lie in; all that lies in none has one cell, `*`.

    The intervals need not touch. So where records are left out, intervals can begin and end at numbers of released
    records, and no left-out record falls into an interval that it was not put into.

    Args:
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
        return (*(self._label(low, high) for low, high in self.ends), *[None] * self.missing_shown, ANY)

    def _label(self, low: Any, high: Any) -> str:
        text = self.scale.text(low)
        return text if low == high else interval_label(text, self.scale.text(high), closed=True)

    @property
    def missing_cell(self) -> int:
        return len(self.ends)

    def as_it_is(self, cell: int) -> bool:
        if cell < len(self.ends):
            return bool(self.ends[cell][0] == self.ends[cell][1])
        return self.labels[cell] is None

    def of_codes(self, attribute: Attribute) -> Cells:
        attribute = numeric(attribute)
        cells = self._places(attribute.numbers)
        return cells if attribute.missing is None else np.append(cells, self.missing_cell)

    def _places(self, numbers: Any) -> Cells:
        above = places([high for _, high in self.ends], numbers)  # the first interval that does not end below
        begun = places([low for low, _ in self.ends], numbers, side="right") - 1  # the last one that has begun
        return np.where(above == begun, above, len(self.labels) - 1)

    def cells(self, values: pa.Array) -> Cells:
        return self._places(self.scale.numbers(values, self.name))

    def losses(self, attribute: Attribute) -> Floats:
        lowest, highest = map(float, numeric(attribute).extent)
        widths = np.array([float(high) - float(low) for low, high in self.ends], np.float64)
        lost = widths / (highest - lowest) if highest > lowest else np.zeros(len(widths))
        return np.concatenate([lost, [0.0] * self.missing_shown, [1.0]])

    def meanings(self) -> Iterable[str]:
        for cell, label in enumerate(self.labels[:-1]):
            yield "missing" if label is None else "itself" if self.as_it_is(cell) else label
        yield "any value not shown"

    def rebuilt(self, attribute: Attribute, released: Mask) -> ClosedIntervals:
        """Each interval goes from the lowest to the highest number of its released records."""
        cells, numbers = self.of_codes(attribute), numeric(attribute).numbers
        ranks = slice(len(numbers))
        shown = [numbers[(cells[ranks] == cell) & released[ranks]] for cell in range(len(self.ends))]
        missing = self.missing_shown and attribute.missing is not None and bool(released[-1])
        return replace(self, ends=tuple((part[0], part[-1]) for part in shown if len(part)), missing_shown=missing)

    def to_json(self) -> dict[str, Any]:
        return {
            "ends": [as_json(pair) for pair in self.ends],
            "labels": list(self.labels),
            "scale": self.scale.to_json(),
            "missing_shown": self.missing_shown,
        }

    @classmethod
    def from_json(cls, name: str, data: Mapping[str, Any]) -> ClosedIntervals:
        ends = tuple((low, high) for low, high in map(from_json, data["ends"]))
        return cls(name, Scale(**data["scale"]), ends, data["missing_shown"])
