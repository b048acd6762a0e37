"""Hierarchies for local recoding: every attribute as one tree of values, given, or built where there is none.

Numbers get nested intervals of round widths that start at zero, dates months, years and decades, text without a
taxonomy a root above all values. The bounds of built intervals are round numbers, so that they do not reveal the lowest
and the highest value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import pairwise
from math import floor, log10
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from incrowd.errors import PolicyError
from incrowd.schemas.shapes import SchemaError
from incrowd.table.arrays import filled, text_array, to_numpy
from incrowd.table.attributes import Attribute, FlatAttribute, NumberAttribute, unknown_values_error
from incrowd.table.exact_numbers import together
from incrowd.table.grouping import Floats
from incrowd.table.scales import Scale, text_of
from incrowd.taxonomies.labels import ANY, interval_label
from incrowd.taxonomies.rules import BuiltIntervals, Rule, rule_of
from incrowd.taxonomies.taxonomy import Taxonomy

Nodes = npt.NDArray[np.int32]
Kind = Literal["taxonomy", "flat", "intervals", "calendar", "ranges", "centres"]

FINEST = 16  # the narrowest intervals are at least this part of the range of the numbers


@dataclass(frozen=True)
class Hierarchy:
    """The tree of values of one attribute; its leaf codes are the codes of the attribute.

    Args:
        kind: Whether it was given, or how it was built.
        scale: How numbers and dates are read.
        widths: The widths of built intervals.
        rule: What built the taxonomy out of the values, if a rule did, so that its leaves show values of the table.
    """

    name: str
    taxonomy: Taxonomy
    kind: Kind = "taxonomy"
    scale: Scale | None = None
    widths: tuple[float, ...] = ()
    rule: Rule | None = field(default=None, kw_only=True)

    @cached_property
    def end(self) -> Nodes:
        """For each node one more than the last of its descendants: x is y or below y if y <= x < end[y]."""
        end = np.arange(1, len(self.taxonomy.labels) + 1, dtype=np.int32)
        for node in range(len(end) - 1, 0, -1):
            parent = self.taxonomy.parent[node]
            end[parent] = max(end[parent], end[node])
        return end

    @cached_property
    def leaves(self) -> Nodes:
        return np.array(self.taxonomy.leaves, np.int32)

    @property
    def as_values(self) -> Nodes:
        """The nodes that a column of the type of the values can show."""
        return self.leaves

    @property
    def size(self) -> int:
        return len(self.taxonomy.labels)

    def label(self, node: int) -> str | None:
        return self.taxonomy.labels[node]

    def nodes_labelled(self, labels: Iterable[str | None]) -> Nodes:
        node_of = {label: node for node, label in enumerate(self.taxonomy.labels)}
        listed = list(labels)
        if unknown := [label for label in listed if label not in node_of]:
            raise PolicyError(
                f"column '{self.name}' was released with values that are not in its hierarchy, such as "
                f"'{unknown[0]}'; give the taxonomy that it was released with"
            )
        return np.array([node_of[label] for label in listed], np.int32)

    def spans(self) -> tuple[Nodes, Nodes]:
        """The codes that each node covers: the first, and one more than the last."""
        return self.taxonomy.start, self.taxonomy.stop

    def to_level(self, nodes: Nodes, level: int) -> Nodes:
        """Nodes generalized to a level (1 is the root) where they lie below it."""
        tree, out = self.taxonomy, nodes.copy()
        while (below := tree.depth[out] + 1 > level).any():
            out[below] = tree.parent[out[below]]
        return out

    @property
    def missing_cell(self) -> int:
        return -1 if self.taxonomy.missing is None else int(self.leaves[self.taxonomy.missing])

    def is_value(self, text: str) -> bool:
        return self.kind == "taxonomy" and text in self.taxonomy.leaf_codes

    @cached_property
    def _values(self) -> tuple[Any, Nodes]:
        """The values of the leaves as they are looked up, in order, and their nodes."""
        codes = [code for code in range(len(self.leaves)) if code != self.taxonomy.missing]
        texts = text_array(self.taxonomy.labels[self.leaves[code]] for code in codes)
        return (texts if self.scale is None else self.scale.numbers(texts, self.name)), self.leaves[codes]

    def cells(self, values: pa.Array) -> Nodes:
        """The node of each value (none of them missing); -1 for one that a given taxonomy does not know.

        An unseen number or date stands at the narrowest interval that has it, an unseen text at the root.
        """
        known, nodes = self._values
        if self.scale is None:
            found = to_numpy(filled(pc.index_in(text_of(values), known), -1))
            return np.where(found < 0, -1 if self.kind == "taxonomy" else 0, np.append(nodes, 0)[found])
        known, numbers = together(known, self.scale.numbers(values, self.name))
        place = np.minimum(np.searchsorted(known, numbers), max(0, len(known) - 1))
        out = nodes[place] if len(known) else np.zeros(len(numbers), np.int32)
        for row in np.flatnonzero(known[place] != numbers if len(known) else np.ones(len(numbers), bool)):
            above = ancestors(self.kind, self.scale.text(numbers[row]), self.widths, comma=self.scale.comma)
            out[row] = next(node for node in map(self._inner.get, above) if node is not None)
        return out

    @cached_property
    def _inner(self) -> dict[str | None, int]:
        return {self.taxonomy.labels[node]: node for node, below in enumerate(self.taxonomy.children) if below}

    def unknown(self, values: Sequence[Any]) -> Exception:
        return unknown_values_error(self.name, [str(value) for value in values], self.taxonomy)

    def losses(self, attribute: Attribute) -> Floats:
        """Generalized loss of each node: 0 for a value, 1 for the root."""
        start, stop = self.taxonomy.start, self.taxonomy.stop
        lost: Floats = np.ones(len(start)) if isinstance(attribute, FlatAttribute) else attribute.loss(start, stop)
        lost[self.leaves] = 0
        if attribute.size > 1:
            lost[0] = 1
        return lost

    def meaning(self, node: int) -> str:
        """What a node means, in words that reveal nothing that the release does not."""
        leaves = self.leaves[self.taxonomy.start[node] : self.taxonomy.stop[node]]
        if len(leaves) == 1 and leaves[0] == node:
            return "missing" if self.taxonomy.labels[node] is None else "itself"
        if self.kind != "taxonomy" or self.rule is not None:
            return "any value" if node == 0 else "a value in it"
        return ", ".join(self.taxonomy.labels[leaf] or "missing" for leaf in leaves)

    def to_json(self) -> dict[str, Any]:
        data: dict[str, Any] = {"name": self.name, "kind": self.kind}
        if self.kind == "taxonomy":
            rule = None if self.rule is None else self.rule.options()
            return {**data, "taxonomy": self.taxonomy.to_json(), "rule": rule}
        data["values"] = [self.taxonomy.labels[leaf] for leaf in self.leaves]
        if self.scale is not None:
            data["scale"] = self.scale.to_json()
            data["widths"] = list(self.widths)
        return data

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Hierarchy:
        name = data["name"]
        if data["kind"] == "taxonomy":
            rule = None if data["rule"] is None else rule_of(name, data["rule"])
            return cls(name, Taxonomy.from_json(data["taxonomy"], f"the taxonomy of '{name}'"), rule=rule)
        scale = Scale(**data["scale"]) if "scale" in data else None
        widths = tuple(data.get("widths", ()))
        texts = [text for text in data["values"] if text is not None]
        if scale is not None:
            if (data["kind"] == "calendar") != (scale.kind in ("date", "timestamp")):
                raise SchemaError(
                    f"scale of '{name}'", "be one of dates for a calendar, and one of numbers for intervals"
                )
            check_values(scale, texts, name)
        tree = tree_of(data["kind"], data["values"], widths, comma=scale is not None and scale.comma)
        return cls(name, tree, data["kind"], scale, widths)


def check_values(scale: Scale, texts: Sequence[str], name: str) -> None:
    """Raise SchemaError, or the error of the scale, unless texts are its values as it writes them, in order."""
    numbers = scale.numbers(text_array(texts), name) if texts else np.empty(0)
    if [scale.text(number) for number in numbers] != list(texts) or any(
        low >= high for low, high in pairwise(numbers.tolist())
    ):
        raise SchemaError(f"values of '{name}'", "be written as incrowd writes them, and ascend")


def ancestors(kind: Kind, text: str, widths: tuple[float, ...], *, comma: bool = False) -> tuple[str, ...]:
    """The labels above a number or date in a built hierarchy, up to the root."""
    if kind == "calendar":
        day, _, time = text.partition(" ")
        year, month = day.split("-")[:2]
        decade = int(year) // 10 * 10
        return (*[day] * bool(time), f"{year}-{month}", year, interval_label(str(decade), str(decade + 10)), ANY)
    return _intervals(widths, comma=comma).ancestors(text) if widths else (ANY,)


@lru_cache
def _intervals(widths: tuple[float, ...], *, comma: bool) -> BuiltIntervals:
    """The rule, checked once and not for every value."""
    return BuiltIntervals(widths, comma=comma)


def tree_of(kind: Kind, values: Sequence[str | None], widths: tuple[float, ...], *, comma: bool = False) -> Taxonomy:
    """The tree of values in order, the last one None if some are missing."""
    texts = [text for text in values if text is not None]
    if kind == "flat" or not texts:
        root = ANY if ANY not in texts else "(any)"
        if not texts:
            return Taxonomy((root, None), np.array([-1, 0], np.int32))
        tree = Taxonomy((root, *texts), np.array([-1, *[0] * len(texts)], np.int32))
    else:
        paths = ((text, *ancestors(kind, text, widths, comma=comma)) for text in texts)
        tree = Taxonomy.from_paths(paths, f"{kind} taxonomy")
    return tree.with_missing() if len(texts) < len(values) else tree


def widths_of(attribute: NumberAttribute) -> tuple[float, ...]:
    """Widths from the first of 1, 2, 5, 10, 20, ... that is at least a part of the range, doubled up to the range."""
    low, high = attribute.extent
    span = float(high) - float(low)
    finest = span / FINEST
    if finest <= 0:
        return ()
    power = floor(log10(finest))
    digit, power = next((d, p) for p in (power, power + 1) for d in (1, 2, 5) if d * 10.0**p >= finest * (1 - 1e-9))
    if attribute.scale.kind == "integer" and (power < 0 or (digit, power) == (1, 0)):
        digit, power = 2, 0  # an interval of one whole number is that number
    widths = []
    while float(f"{digit}e{power}") < span:
        widths.append(digit * 10**power if power >= 0 else float(f"{digit}e{power}"))
        digit *= 2
    return tuple(widths)
