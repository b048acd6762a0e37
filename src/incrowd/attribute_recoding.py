"""What the values of one attribute became: a cut of its taxonomy, intervals, sets, or some shown, the rest suppressed.

Each kind numbers its released values as cells and finds the cell of any value, seen or not. It holds only what the
release itself shows: the cut of a (public) taxonomy, the bounds of intervals, the values that are shown. The lowest and
the highest value that occur are not among them: outermost intervals are open-ended unless the user made the range
public.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from incrowd.errors import DataError, shorten
from incrowd.scales import Scale, text_of
from incrowd.table import (
    Attribute,
    Floats,
    NumberAttribute,
    TaxonomyAttribute,
    unknown_values_error,
)
from incrowd.taxonomy import Taxonomy, interval_label

ANY = "*"  # a suppressed value, or a number that could be any
KNOWN = "known"  # any number, but not missing

Cells = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Cut:
    """Values replaced by nodes of a taxonomy, exactly one on every path from a leaf to the root."""

    name: str
    taxonomy: Taxonomy
    nodes: tuple[int, ...]  # in the order of the leaves below them

    @property
    def labels(self) -> tuple[str | None, ...]:
        """The released values; None stands for missing values."""
        return tuple(self.taxonomy.labels[node] for node in self.nodes)

    @cached_property
    def cell_of_leaf(self) -> Cells:
        """The cell of each leaf code."""
        widths = [int(self.taxonomy.stop[node] - self.taxonomy.start[node]) for node in self.nodes]
        return np.repeat(np.arange(len(self.nodes)), widths)

    @property
    def missing_cell(self) -> int:
        """The cell of missing values, -1 where the recoding knows none."""
        return -1 if self.taxonomy.missing is None else int(self.cell_of_leaf[self.taxonomy.missing])

    def is_value(self, text: str) -> bool:
        """Whether a text is a value of its own, even if it looks like a missing one."""
        return text in self.taxonomy.leaf_codes

    def cells(self, values: pa.Array) -> Cells:
        """The cell of each value, -1 for a value that the taxonomy does not know."""
        texts = text_of(values)
        leaves = pa.array([self.taxonomy.labels[node] for node in self.taxonomy.leaves], pa.string())
        found = pc.fill_null(pc.index_in(texts, leaves), -1).to_numpy(zero_copy_only=False)
        return np.where(found < 0, -1, self.cell_of_leaf[found])

    def unknown(self, values: Sequence[Any]) -> Exception:
        """The error for values that have no cell."""
        return unknown_values_error(self.name, [str(value) for value in values], self.taxonomy)

    def losses(self, attribute: Attribute) -> Floats:
        """Generalized loss of each cell."""
        assert isinstance(attribute, TaxonomyAttribute)
        nodes = list(self.nodes)
        return attribute.loss(self.taxonomy.start[nodes], self.taxonomy.stop[nodes])

    def meanings(self) -> Iterable[str]:
        """What each released value stands for."""
        for node in self.nodes:
            leaves = self.taxonomy.leaves[self.taxonomy.start[node] : self.taxonomy.stop[node]]
            yield ", ".join(self.taxonomy.labels[leaf] or "missing" for leaf in leaves)

    def to_json(self) -> dict[str, Any]:
        """As JSON."""
        return {"cut": list(self.labels), "taxonomy": self.taxonomy.to_json()}

    @classmethod
    def from_json(cls, name: str, data: Mapping[str, Any]) -> Cut:
        """From JSON."""
        taxonomy = Taxonomy.from_json(data["taxonomy"])
        node_of = {label: node for node, label in enumerate(taxonomy.labels)}
        return cls(name, taxonomy, tuple(node_of[label] for label in data["cut"]))


@dataclass(frozen=True)
class Intervals:
    """Numbers or dates replaced by intervals.

    Args:
        name: Column name.
        scale: How values are read and shown.
        bounds: Where one interval ends and the next begins, ascending; a bound belongs to the upper interval.
        domain: Public lowest and highest value.
        missing: "none" if there were none, "merged" if a released value does not tell them from numbers, else "apart".
    """

    name: str
    scale: Scale
    bounds: tuple[Any, ...] = ()
    domain: tuple[Any, Any] | None = None
    missing: str = "none"

    @cached_property
    def labels(self) -> tuple[str | None, ...]:
        """The released values; None stands for missing values."""
        if self.missing == "merged":
            return (ANY,)
        low, high = self.domain if self.domain else (None, None)
        edges = [low, *self.bounds, high]
        shown = [self._label(a, b, last=b is high) for a, b in pairwise(edges)]
        return (*shown, None) if self.missing == "apart" else tuple(shown)

    def _label(self, low: Any, high: Any, *, last: bool) -> str:
        if low is None and high is None:
            return KNOWN if self.missing == "apart" else ANY
        whole = self.scale.kind in ("integer", "date")
        if whole and low is not None and high is not None and not last and high == low + 1:
            return self.scale.text(low)
        texts = [None if bound is None else self.scale.text(bound) for bound in (low, high)]
        label = interval_label(texts[0], texts[1])
        return label[:-1] + "]" if last and high is not None and label.endswith(")") else label

    @property
    def missing_cell(self) -> int:
        """The cell of missing values, -1 where the recoding knows none."""
        return {"none": -1, "merged": 0, "apart": len(self.bounds) + 1}[self.missing]

    def is_value(self, text: str) -> bool:
        """A missing value is never a number."""
        return False

    def cells(self, values: pa.Array) -> Cells:
        """The cell of each value; values outside the range fall in the outermost intervals."""
        numbers = self.scale.numbers(values, self.name)
        return np.searchsorted(np.array(self.bounds), numbers, side="right").astype(np.int64)

    def unknown(self, values: Sequence[Any]) -> Exception:
        """Never needed: every number has a cell."""
        return DataError(f"column '{self.name}' holds a value that its recoding does not know")

    def losses(self, attribute: Attribute) -> Floats:
        """Generalized loss of each cell."""
        assert isinstance(attribute, NumberAttribute)
        if self.missing == "merged":
            return np.ones(1)
        edges = np.searchsorted(attribute.numbers, np.array(self.bounds))
        edges = np.concatenate([[0], edges, [len(attribute.numbers)]]).astype(np.int64)
        losses = attribute.loss(edges[:-1], edges[1:])
        return np.append(losses, 0.0) if self.missing == "apart" else losses

    def meanings(self) -> Iterable[str]:
        """What each released value stands for."""
        noun = "dates" if self.scale.kind in ("date", "timestamp") else "numbers"
        for label in self.labels:
            if label in (ANY, KNOWN):
                yield f"all {noun}" + (", and missing" if self.missing == "merged" else "")
            else:
                yield "missing" if label is None else noun

    def to_json(self) -> dict[str, Any]:
        """As JSON."""
        scale = {"kind": self.scale.kind, "unit": self.scale.unit, "timezone": self.scale.timezone}
        return {
            "bounds": list(self.bounds),
            "labels": list(self.labels),
            "scale": {key: value for key, value in scale.items() if value},
            "domain": list(self.domain) if self.domain else None,
            "missing": self.missing,
        }

    @classmethod
    def from_json(cls, name: str, data: Mapping[str, Any]) -> Intervals:
        """From JSON."""
        domain = tuple(data["domain"]) if data["domain"] else None
        return cls(name, Scale(**data["scale"]), tuple(data["bounds"]), domain, data["missing"])


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

    def is_value(self, text: str) -> bool:
        """A missing value is never a category."""
        return False

    def cells(self, values: pa.Array) -> Cells:
        """The cell of each value; unseen ones are suppressed."""
        found = pc.index_in(text_of(values), pa.array(self.shown, pa.string()))
        return np.asarray(pc.fill_null(found, len(self.shown)), np.int64)

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


@dataclass(frozen=True)
class Partition:
    """Values replaced by the set that they belong to.

    Args:
        name: Column name.
        blocks: The sets; None stands for missing values.
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
        """The released values; None stands for missing values."""
        return (*self.names, ANY) if self.rest else self.names

    @cached_property
    def _cell_of(self) -> dict[str | None, int]:
        return {value: cell for cell, block in enumerate(self.blocks) for value in block}

    @property
    def _other(self) -> int:
        return len(self.blocks) if self.rest else -1

    @property
    def missing_cell(self) -> int:
        """The cell of missing values, -1 where the recoding knows none."""
        return self._cell_of.get(None, self._other)

    def is_value(self, text: str) -> bool:
        """Whether a text is a value of its own, even if it looks like a missing one."""
        return text in self._cell_of

    def cells(self, values: pa.Array) -> Cells:
        """The cell of each value; unseen ones are suppressed, or have none where a taxonomy knows all values."""
        if self.scale is None:
            texts = text_of(values).to_pylist()
        else:
            texts = [self.scale.text(number) for number in self.scale.numbers(values, self.name)]
        return np.array([self._cell_of.get(text, self._other) for text in texts], np.int64)

    def unknown(self, values: Sequence[Any]) -> Exception:
        """The error for values that have no cell."""
        return DataError(
            f"column '{self.name}' holds values that its recoding does not know: {shorten(sorted(map(str, values)))}; "
            "add them to its taxonomy and anonymize again, or mend them"
        )

    def losses(self, attribute: Attribute) -> Floats:
        """Generalized loss of each cell: values in it, or the range of its numbers; 1 for the rest."""
        if isinstance(attribute, NumberAttribute):
            losses = [self._span(block, attribute) for block in self.blocks]
        else:
            losses = [(len(block) - 1) / max(1, attribute.size - 1) for block in self.blocks]
        return np.array([*losses, 1.0] if self.rest else losses)

    def _span(self, block: tuple[str | None, ...], attribute: NumberAttribute) -> float:
        known = [value for value in block if value is not None]
        lowest, highest = attribute.extent
        if len(known) < len(block):
            return 1.0 if known else 0.0
        numbers = attribute.scale.numbers(pa.array(known, pa.string()), self.name)
        return float(numbers.max() - numbers.min()) / float(highest - lowest) if highest > lowest else 0.0

    def meanings(self) -> Iterable[str]:
        """What each released value stands for."""
        for block in self.blocks:
            yield ", ".join("missing" if value is None else value for value in block)
        if self.rest:
            yield "any value not shown"

    def to_json(self) -> dict[str, Any]:
        """As JSON."""
        data = {"blocks": [list(block) for block in self.blocks], "labels": list(self.names), "rest": self.rest}
        return data if self.scale is None else {**data, "scale": asdict(self.scale)}

    @classmethod
    def from_json(cls, name: str, data: Mapping[str, Any]) -> Partition:
        """From JSON."""
        scale = Scale(**data["scale"]) if "scale" in data else None
        return cls(name, tuple(map(tuple, data["blocks"])), tuple(data["labels"]), data["rest"], scale)


AttributeRecoding = Cut | Intervals | Disclosure | Partition
