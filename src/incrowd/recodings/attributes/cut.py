"""Values replaced by nodes of a taxonomy, given or built by a rule: a cut."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from incrowd.errors import TaxonomyError
from incrowd.recodings.attributes.attribute_recoding import AttributeRecoding, Cells, Mask
from incrowd.schemas.shapes import SchemaError
from incrowd.table.arrays import filled, text_array, to_numpy
from incrowd.table.attributes import Attribute, TaxonomyAttribute, categorical, unknown_values_error
from incrowd.table.grouping import Floats
from incrowd.table.scales import text_of
from incrowd.taxonomies.labels import ANY
from incrowd.taxonomies.rules import MASK, Frequent, Rule, rule_of
from incrowd.taxonomies.taxonomy import Taxonomy


@dataclass(frozen=True)
class Cut(AttributeRecoding):
    """Values replaced by nodes of a taxonomy, exactly one on every path from a leaf to the root."""

    name: str
    taxonomy: Taxonomy
    nodes: tuple[int, ...]  # in the order of the leaves below them

    @property
    def labels(self) -> tuple[str | None, ...]:
        return tuple(self.taxonomy.labels[node] for node in self.nodes)

    @cached_property
    def cell_of_leaf(self) -> Cells:
        widths = [int(self.taxonomy.stop[node] - self.taxonomy.start[node]) for node in self.nodes]
        return np.repeat(np.arange(len(self.nodes)), widths)

    @property
    def missing_cell(self) -> int:
        return -1 if self.taxonomy.missing is None else int(self.cell_of_leaf[self.taxonomy.missing])

    def as_it_is(self, cell: int) -> bool:
        node = self.nodes[cell]
        return bool(self.taxonomy.leaves[self.taxonomy.start[node]] == node)

    def is_value(self, text: str) -> bool:
        return text in self.taxonomy.leaf_codes

    def of_codes(self, attribute: Attribute) -> Cells:
        return self.cell_of_leaf

    def widened(self, attribute: Attribute, nodes: npt.NDArray[Any]) -> AttributeRecoding:
        return Cut(self.name, categorical(attribute).taxonomy, tuple(nodes[list(self.nodes)].tolist()))

    def cells(self, values: pa.Array) -> Cells:
        texts = text_of(values)
        leaves = text_array(self.taxonomy.labels[node] for node in self.taxonomy.leaves)
        found = to_numpy(filled(pc.index_in(texts, leaves), -1))
        return np.where(found < 0, -1, self.cell_of_leaf[found])

    def unknown(self, values: Sequence[Any]) -> Exception:
        return unknown_values_error(self.name, [str(value) for value in values], self.taxonomy)

    def losses(self, attribute: Attribute) -> Floats:
        nodes = list(self.nodes)
        return categorical(attribute).loss(self.taxonomy.start[nodes], self.taxonomy.stop[nodes])

    def meanings(self) -> Iterable[str]:
        for node in self.nodes:
            leaves = self.taxonomy.leaves[self.taxonomy.start[node] : self.taxonomy.stop[node]]
            yield ", ".join(self.taxonomy.labels[leaf] or "missing" for leaf in leaves)

    def to_json(self) -> dict[str, Any]:
        return {"cut": list(self.labels), "taxonomy": self.taxonomy.to_json()}

    @classmethod
    def from_json(cls, name: str, data: Mapping[str, Any]) -> Cut:
        taxonomy = Taxonomy.from_json(data["taxonomy"], f"the taxonomy of '{name}'")
        node_of = {label: node for node, label in enumerate(taxonomy.labels)}
        nodes = [node_of.get(label, -1) for label in data["cut"]]
        edges = [0, *(int(taxonomy.stop[node]) for node in nodes)]
        one_after_another = all(taxonomy.start[node] == edge for node, edge in zip(nodes, edges, strict=False))
        if -1 in nodes or not one_after_another or edges[-1] != len(taxonomy.leaves):
            raise SchemaError(f"cut of '{name}'", "have exactly one node on every path of the taxonomy, in its order")
        return cls(name, taxonomy, tuple(nodes))


@dataclass(frozen=True)
class RuleCut(AttributeRecoding):
    """Values replaced by nodes of a taxonomy that a rule built out of them.

    The rule finds the node of any value, seen or not, so the taxonomy itself, which lists the values that occur, is
    not part of the recoding.
    """

    name: str
    rule: Rule
    labels: tuple[str | None, ...]
    missing_cell: int = -1  # the cell of missing values, -1 where the recoding knows none
    rest: bool = False  # whether the last label is not a node, but covers all that lies under no other

    def as_it_is(self, cell: int) -> bool:
        label = self.labels[cell]
        if label is None or label.endswith(MASK):  # which no value does
            return label is None
        try:
            return label not in self.rule.ancestors(label)
        except TaxonomyError:  # an interval, where values are numbers
            return False

    def of_codes(self, attribute: Attribute) -> Cells:
        attribute = categorical(attribute)
        if self.rule != attribute.rule:  # the tree was built by a rule that distinguishes more values
            cells = self.cells(pc.drop_null(attribute.values()))
            return cells if attribute.missing is None else np.insert(cells, attribute.missing, self.missing_cell)
        taxonomy = attribute.taxonomy
        cell_of = {label: cell for cell, label in enumerate(self.labels) if label is not None}
        of_node = np.full(len(taxonomy.labels), len(self.labels) - 1 if self.rest else -1)
        for node, label in enumerate(taxonomy.labels):  # parents come first: the lowest released label above wins
            of_node[node] = cell_of.get(label or "", of_node[taxonomy.parent[node]] if node else of_node[0])
        if attribute.missing is not None:
            of_node[taxonomy.leaves[attribute.missing]] = self.missing_cell
        return of_node[list(taxonomy.leaves)]

    def cells(self, values: pa.Array) -> Cells:
        cell_of = {label: cell for cell, label in enumerate(self.labels)}
        found = []
        for text in text_of(values).to_pylist():
            path = (text, *self.rule.ancestors(text))
            found.append(next((cell_of[label] for label in path if label in cell_of), -1))
        cells = np.array(found, np.int64)
        return np.where(cells < 0, len(self.labels) - 1, cells) if self.rest else cells

    def unknown(self, values: Sequence[Any]) -> Exception:
        return TaxonomyError(
            f"{len(values)} value(s) of column '{self.name}' are not covered by any released value, such as "
            f"'{min(map(str, values))}'; leave those rows out"
        )

    def losses(self, attribute: Attribute) -> Floats:
        attribute = categorical(attribute)
        labels = self.labels[:-1] if self.rest else self.labels
        nodes = [attribute.taxonomy.labels.index(label) for label in labels]
        losses = attribute.loss(attribute.taxonomy.start[nodes], attribute.taxonomy.stop[nodes])
        return np.append(losses, 1.0) if self.rest else losses

    def meanings(self) -> Iterable[str]:
        for label in self.labels:
            yield "missing" if label is None else "any value" if label == ANY else label

    def rebuilt(self, attribute: Attribute, released: Mask) -> RuleCut:
        used = np.bincount(self.of_codes(attribute)[released], minlength=len(self.labels)) > 0
        labels = tuple(label for label, kept in zip(self.labels, used, strict=True) if kept)
        if ANY in labels:  # the root, above everything
            return RuleCut(self.name, public_rule(self.rule, ()), (ANY,), 0)
        missing_cell = labels.index(None) if None in labels else len(labels)
        return RuleCut(self.name, public_rule(self.rule, labels), (*labels, ANY), missing_cell, rest=True)

    def to_json(self) -> dict[str, Any]:
        rule = self.rule.options()
        return {"cut": list(self.labels), "rule": rule, "missing_cell": self.missing_cell, "rest": self.rest}

    @classmethod
    def from_json(cls, name: str, data: Mapping[str, Any]) -> RuleCut:
        return cls(name, rule_of(name, data["rule"]), tuple(data["cut"]), data["missing_cell"], data["rest"])


def cut_of(attribute: TaxonomyAttribute, nodes: Sequence[int]) -> Cut | RuleCut:
    """The recoding of an attribute to a cut of its taxonomy, given by its nodes in the order of their leaves."""
    cut = Cut(attribute.name, attribute.taxonomy, tuple(nodes))
    if attribute.rule is None:
        return cut
    return RuleCut(attribute.name, public_rule(attribute.rule, cut.labels), cut.labels, cut.missing_cell)


def public_rule(rule: Rule, labels: Sequence[str | None]) -> Rule:
    """A rule without values that nobody sees in the release: frequent ones are named only where they are shown."""
    if not isinstance(rule, Frequent):
        return rule
    return Frequent(tuple(value for value in rule.values if value in labels), rule.other)
