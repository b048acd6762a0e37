"""What the values of one attribute became: a cut of its taxonomy, intervals, sets, or some shown, the rest suppressed.

Each kind numbers its released values as cells and finds the cell of any value, seen or not. It holds only what the
release itself shows: the cut of a (public) taxonomy, the bounds of intervals, the values that are shown. The lowest and
the highest value that occur are not among them: outermost intervals are open-ended unless the user made the range
public.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from incrowd.errors import DataError, TaxonomyError, shorten
from incrowd.recodings.partition import Partition
from incrowd.scales import Scale, text_of
from incrowd.table import (
    Attribute,
    Floats,
    NumberAttribute,
    TaxonomyAttribute,
    unknown_values_error,
)
from incrowd.taxonomies.rules import Rule, rule_of, words_of
from incrowd.taxonomies.taxonomy import Taxonomy, interval_label

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
class RuleCut:
    """Values replaced by nodes of a taxonomy that a rule built out of them.

    The rule finds the node of any value, seen or not, so the taxonomy itself, which lists the values that occur, is
    not part of the recoding.
    """

    name: str
    rule: Rule
    labels: tuple[str | None, ...]
    missing_cell: int = -1  # the cell of missing values, -1 where the recoding knows none
    rest: bool = False  # whether the last label is no node, but stands for all that lies under no other

    def is_value(self, text: str) -> bool:
        """A missing value is never a value of its own."""
        return False

    def cells(self, values: pa.Array) -> Cells:
        """The cell of each value, -1 for a value that lies under no released one."""
        cell_of = {label: cell for cell, label in enumerate(self.labels)}
        found = []
        for text in text_of(values).to_pylist():
            path = (text, *self.rule.ancestors(text))
            found.append(next((cell_of[label] for label in path if label in cell_of), -1))
        cells = np.array(found, np.int64)
        return np.where(cells < 0, len(self.labels) - 1, cells) if self.rest else cells

    def unknown(self, values: Sequence[Any]) -> Exception:
        """The error for values that have no cell."""
        return TaxonomyError(
            f"{len(values)} value(s) of column '{self.name}' lie under no released value: "
            f"{shorten(sorted(map(str, values)))}; leave those rows out"
        )

    def losses(self, attribute: Attribute) -> Floats:
        """Generalized loss of each cell."""
        assert isinstance(attribute, TaxonomyAttribute)
        labels = self.labels[:-1] if self.rest else self.labels
        nodes = [attribute.taxonomy.labels.index(label) for label in labels]
        losses = attribute.loss(attribute.taxonomy.start[nodes], attribute.taxonomy.stop[nodes])
        return np.append(losses, 1.0) if self.rest else losses

    def meanings(self) -> Iterable[str]:
        """What each released value stands for."""
        for label in self.labels:
            yield "missing" if label is None else "any value" if label == ANY else label

    def to_json(self) -> dict[str, Any]:
        """As JSON."""
        rule = words_of(self.rule)
        return {"cut": list(self.labels), "rule": rule, "missing_cell": self.missing_cell, "rest": self.rest}

    @classmethod
    def from_json(cls, name: str, data: Mapping[str, Any]) -> RuleCut:
        """From JSON."""
        return cls(name, rule_of(name, data["rule"]), tuple(data["cut"]), data["missing_cell"], data["rest"])


def cut_of(attribute: TaxonomyAttribute, nodes: Sequence[int]) -> Cut | RuleCut:
    """The recoding of an attribute to a cut of its taxonomy, given by its nodes in the order of their leaves."""
    cut = Cut(attribute.name, attribute.taxonomy, tuple(nodes))
    return cut if attribute.rule is None else RuleCut(attribute.name, attribute.rule, cut.labels, cut.missing_cell)


@dataclass(frozen=True)
class Intervals:
    """Numbers or dates replaced by intervals.

    Args:
        name: Column name.
        scale: How values are read and shown.
        bounds: Where one interval ends and the next begins, ascending; a bound belongs to the upper interval.
        domain: Public lowest and highest value.
        missing: "none" if there were none, "merged" if a released value does not tell them from numbers, else "apart".
        exact: Numbers that are released as themselves, ascending, at most one in an interval. Of new rows a number that
            lies in the interval of such a number, and was never seen, is released as that number too.
    """

    name: str
    scale: Scale
    bounds: tuple[Any, ...] = ()
    domain: tuple[Any, Any] | None = None
    missing: str = "none"
    exact: tuple[Any, ...] = ()

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
        return (*shown, None) if self.missing == "apart" else tuple(shown)

    @cached_property
    def _exact_cells(self) -> Cells:
        return np.searchsorted(np.array(self.bounds), np.array(self.exact), side="right").astype(np.int64)

    def label(self, low: Any, high: Any, *, last: bool) -> str:
        """The label of one interval, the last one or not; None for no bound."""
        if low is None and high is None:
            return KNOWN if self.missing == "apart" else ANY
        whole = self.scale.kind in ("integer", "date")
        if whole and low is not None and high is not None and high == low + (0 if last else 1):
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
        losses[self._exact_cells] = 0.0
        return np.append(losses, 0.0) if self.missing == "apart" else losses

    def meanings(self) -> Iterable[str]:
        """What each released value stands for."""
        noun = "dates" if self.scale.kind in ("date", "timestamp") else "numbers"
        exact = set(self._exact_cells.tolist())
        for cell, label in enumerate(self.labels):
            if cell in exact:
                yield "itself"
            elif label in (ANY, KNOWN):
                yield f"all {noun}" + (", and missing" if self.missing == "merged" else "")
            else:
                yield "missing" if label is None else label

    def to_json(self) -> dict[str, Any]:
        """As JSON."""
        scale = {"kind": self.scale.kind, "unit": self.scale.unit, "timezone": self.scale.timezone}
        return {
            "bounds": list(self.bounds),
            "labels": list(self.labels),
            "scale": {key: value for key, value in scale.items() if value},
            "domain": list(self.domain) if self.domain else None,
            "missing": self.missing,
            "exact": list(self.exact),
        }

    @classmethod
    def from_json(cls, name: str, data: Mapping[str, Any]) -> Intervals:
        """From JSON."""
        domain = tuple(data["domain"]) if data["domain"] else None
        exact = tuple(data.get("exact", ()))
        return cls(name, Scale(**data["scale"]), tuple(data["bounds"]), domain, data["missing"], exact)


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


AttributeRecoding = Cut | RuleCut | Intervals | Disclosure | Partition
