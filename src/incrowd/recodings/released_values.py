"""The released values of one column, and which of them cover a value: all that new rows need of a local recoding.

Everything here is read from what a recipient sees, the released values, and from what is public: a given taxonomy, a
rule, a scale. A column is cut into pieces that the released values cannot tell apart, so that each value lies in one
piece and each released value covers a range of pieces.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from incrowd.errors import DataError
from incrowd.recodings.attributes.cut import RuleCut, public_rule
from incrowd.recodings.centres import Centres
from incrowd.recodings.hierarchies import Hierarchy, Nodes, ancestors, check_values
from incrowd.schemas.shapes import SchemaError
from incrowd.table.arrays import filled, text_array, to_numpy
from incrowd.table.attributes import unknown_values_error
from incrowd.table.exact_numbers import places, together
from incrowd.table.scales import Scale, text_of
from incrowd.taxonomies.labels import ANY, KNOWN, Interval, parse_interval
from incrowd.taxonomies.rules import Rule, rule_of
from incrowd.taxonomies.taxonomy import Taxonomy

Pieces = npt.NDArray[np.int64]
Labels = tuple[str | None, ...]


class ReleasedValues(ABC):
    """What both kinds can be asked; the first label is the most general value, whether or not it was released."""

    if TYPE_CHECKING:

        @property
        def name(self) -> str: ...

        @property
        def labels(self) -> Labels:
            """The released values; None is a missing one."""

    @property
    @abstractmethod
    def spans(self) -> tuple[Pieces, Pieces]:
        """The pieces that each released value covers: the first, and one more than the last."""

    @property
    @abstractmethod
    def sizes(self) -> Pieces:
        """How general each released value is: 1 for a single value, more for one that covers another."""

    @property
    @abstractmethod
    def missing_cell(self) -> int:
        """The piece of missing values."""

    @abstractmethod
    def cells(self, values: pa.Array) -> Pieces:
        """The piece of each value, none of which is missing; -1 for one that the taxonomy does not know."""

    @abstractmethod
    def as_it_is(self, place: int) -> bool:
        """Whether a released value means itself alone."""

    def is_value(self, text: str) -> bool:
        """Whether a text is a value in its own right, even if it looks like a missing one."""
        return False

    def unknown(self, values: Sequence[Any]) -> Exception:
        return DataError(f"column '{self.name}' holds a value that its recoding does not know")

    def meaning(self, place: int) -> str:
        if self.as_it_is(place):
            return "missing" if self.labels[place] is None else "itself"
        return "any value" if place == 0 else "a value in it"

    @abstractmethod
    def to_json(self) -> dict[str, Any]: ...

    def covering(self, pieces: Pieces, labels: Pieces) -> Pieces:
        """The least general released value that covers a piece and all that another released value covers."""
        start, stop = self.spans
        order = np.argsort(self.sizes, kind="stable")
        pairs, number = np.unique(np.stack([pieces, labels], axis=1), axis=0, return_inverse=True)
        low, high = np.minimum(pairs[:, 0], start[pairs[:, 1]]), np.maximum(pairs[:, 0] + 1, stop[pairs[:, 1]])
        found = np.empty(len(pairs), np.int64)
        for begin in range(0, len(pairs), room := max(1, 2**24 // len(order))):
            some = slice(begin, begin + room)
            covers = (start[order] <= low[some, None]) & (stop[order] >= high[some, None])
            found[some] = order[covers.argmax(axis=1)]  # the most general one covers everything
        return found[number.ravel()]


@dataclass(frozen=True)
class TreeValues(ReleasedValues):
    """Released values that are nodes of a tree, in preorder; a piece is what lies below a node and no lower one.

    Args:
        name: Column name.
        labels: The released values.
        parents: The closest released value above each, -1 for the first.
        by: How the nodes above a value are found: in a given taxonomy, by a rule, in the calendar of a scale; None if
            each value lies right below the root.
    """

    name: str
    labels: Labels
    parents: tuple[int, ...]
    by: Taxonomy | Rule | Scale | None = None

    @cached_property
    def spans(self) -> tuple[Pieces, Pieces]:
        stop = np.arange(1, len(self.labels) + 1)
        for place in range(len(stop) - 1, 0, -1):
            stop[self.parents[place]] = max(stop[self.parents[place]], stop[place])
        return np.arange(len(stop)), stop

    @property
    def sizes(self) -> Pieces:
        start, stop = self.spans
        if not isinstance(self.by, Taxonomy):
            return stop - start
        nodes = [self.by.labels.index(label) if label is not None else -1 for label in self.labels]
        leaves = np.where(np.array(nodes) < 0, 1, (self.by.stop - self.by.start)[nodes]).astype(np.int64)
        leaves[0] += 1  # missing values
        return leaves

    @property
    def missing_cell(self) -> int:
        return self.labels.index(None) if None in self.labels else 0

    @cached_property
    def _place_of(self) -> dict[str | None, int]:
        return {label: place for place, label in enumerate(self.labels)}

    def cells(self, values: pa.Array) -> Pieces:
        if isinstance(self.by, Taxonomy):
            found = to_numpy(filled(pc.index_in(text_of(values), text_array(self.by.leaf_codes)), -1))
            return np.where(found < 0, -1, self._of_leaf[found])
        if self.by is None:
            found = filled(pc.index_in(text_of(values), text_array(self.labels)), 0)
            return to_numpy(found).astype(np.int64)
        paths = (next(p for p in map(self._place_of.get, path) if p is not None) for path in self._paths(values))
        return np.fromiter(paths, np.int64)

    def _paths(self, values: pa.Array) -> Any:
        """The labels from each value to the root, which is always one of them."""
        if isinstance(self.by, Rule):
            return ((text, *self.by.ancestors(text), self.labels[0]) for text in text_of(values).to_pylist())
        assert isinstance(self.by, Scale)
        texts = map(self.by.text, self.by.numbers(values, self.name))
        return ((text, *ancestors("calendar", text, ())) for text in texts)

    @cached_property
    def _of_leaf(self) -> Pieces:
        """The closest released value at or above each leaf of the taxonomy."""
        assert isinstance(self.by, Taxonomy)
        of_node = np.zeros(len(self.by.labels), np.int64)
        for node in range(1, len(of_node)):
            of_node[node] = self._place_of.get(self.by.labels[node], of_node[self.by.parent[node]])
        return of_node[list(self.by.leaves)]

    def as_it_is(self, place: int) -> bool:
        label = self.labels[place]
        if label is None or isinstance(self.by, Taxonomy):
            return label is None or label in self.by.leaf_codes  # type: ignore[union-attr]
        if isinstance(self.by, Rule):
            return RuleCut(self.name, self.by, self.labels).as_it_is(place)
        if place == 0 or self.by is None:
            return place > 0
        return "[" not in label and len(label) >= len("2020-12-31") + 2 * (self.by.kind == "timestamp")

    def is_value(self, text: str) -> bool:
        return isinstance(self.by, Taxonomy) and text in self.by.leaf_codes

    def unknown(self, values: Sequence[Any]) -> Exception:
        assert isinstance(self.by, Taxonomy)
        return unknown_values_error(self.name, [str(value) for value in values], self.by)

    def meaning(self, place: int) -> str:
        if not isinstance(self.by, Taxonomy) or self.as_it_is(place):
            return super().meaning(place)
        node = self.by.labels.index(self.labels[place])
        leaves = self.by.leaves[self.by.start[node] : self.by.stop[node]]
        return ", ".join(str(self.by.labels[leaf]) for leaf in leaves)

    def to_json(self) -> dict[str, Any]:
        data = {"name": self.name, "labels": list(self.labels)}
        if isinstance(self.by, Taxonomy):
            return {**data, "kind": "taxonomy", "taxonomy": self.by.to_json()}
        if self.by is None:
            return {**data, "kind": "values"}
        found = {"rule": self.by.options()} if isinstance(self.by, Rule) else {"scale": self.by.to_json()}
        return {**data, "kind": "rule" if "rule" in found else "calendar", "parents": list(self.parents), **found}


@dataclass(frozen=True)
class LineValues(ReleasedValues):
    """Released numbers, dates and intervals; pieces lie between their bounds, and the last is of missing values."""

    name: str
    labels: Labels
    scale: Scale

    @cached_property
    def _cuts(self) -> tuple[Any, Any, dict[str, Any]]:
        """The numbers right before which a piece begins, those right after which one does, and numbers by text."""
        intervals = [self._interval(label) for label in self.labels if label is not None]
        before = {text for i in intervals for text in (i.low, None if i.closed else i.high)} - {None}
        after = {i.high for i in intervals if i.closed} - {None}
        texts = sorted({str(text) for text in before | after})
        numbers = self.scale.numbers(text_array(texts), self.name) if texts else np.empty(0, np.int64)
        number_of = dict(zip(texts, range(len(texts)), strict=True))
        begins, ends = (np.unique(numbers[[number_of[str(text)] for text in side]]) for side in (before, after))
        return begins, ends, {text: numbers[[place]] for text, place in number_of.items()}

    def _interval(self, label: str) -> Interval:
        try:
            found = parse_interval(label)
        except ValueError:
            raise SchemaError(f"labels of '{self.name}'", "be values, or intervals such as [20-30)") from None
        return Interval(label, label, closed=True) if found is None else found

    @cached_property
    def spans(self) -> tuple[Pieces, Pieces]:
        before, after, number_of = self._cuts
        end = len(before) + len(after) + 1  # the piece of missing values
        found = []
        for label in self.labels:
            interval = Interval(None, None) if label is None else self._interval(label)
            low = 0 if interval.low is None else int(self._pieces(number_of[interval.low])[0])
            high = end
            if interval.high is not None:
                number = number_of[interval.high]
                high = int(places(before, number, "right")[0])
                high += int(places(after, number, "right" if interval.closed else "left")[0])
            found.append((end, end + 1) if label is None else (low, high + (label == ANY)))
        start, stop = np.array(found, np.int64).T
        if (start >= stop).any():
            raise SchemaError(f"labels of '{self.name}'", "be intervals that begin before they end")
        return start, stop

    def _pieces(self, numbers: Any) -> Pieces:
        before, after, _ = self._cuts
        return places(before, numbers, "right") + places(after, numbers, "left")

    @property
    def sizes(self) -> Pieces:
        start, stop = self.spans
        return stop - start

    @property
    def missing_cell(self) -> int:
        before, after, _ = self._cuts
        return len(before) + len(after) + 1

    def cells(self, values: pa.Array) -> Pieces:
        return self._pieces(self.scale.numbers(values, self.name))

    def as_it_is(self, place: int) -> bool:
        label = self.labels[place]
        return label is None or (label != KNOWN and parse_interval(label) is None)

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "labels": list(self.labels), "kind": "intervals", "scale": self.scale.to_json()}


@dataclass(frozen=True)
class NearestValues(ReleasedValues):
    """Released numbers that stand for classes; a piece is what is nearest to one of them, of two to the lower one.

    The last piece is of missing values.
    """

    name: str
    labels: Labels
    scale: Scale

    @cached_property
    def _numbers(self) -> Any:
        """The released numbers, without the most general label and missing values."""
        texts = [label for label in self.labels[1:] if label is not None]
        return self.scale.numbers(text_array(texts), self.name) if texts else np.empty(0, np.int64)

    @property
    def missing_cell(self) -> int:
        return max(1, len(self._numbers))

    @property
    def spans(self) -> tuple[Pieces, Pieces]:
        is_missing = np.array([label is None for label in self.labels])
        start = np.cumsum(~is_missing) - 2
        start[is_missing] = self.missing_cell
        stop = start + 1
        start[0], stop[0] = 0, self.missing_cell + 1
        return start, stop

    @property
    def sizes(self) -> Pieces:
        start, stop = self.spans
        return stop - start

    def cells(self, values: pa.Array) -> Pieces:
        wider = self.scale if self.scale.kind == "date" else replace(self.scale, kind="number")
        known, numbers = together(self._numbers, wider.numbers(values, self.name))
        if len(known) < 2:
            return np.zeros(len(numbers), np.int64)
        above = np.clip(np.searchsorted(known, numbers), 1, len(known) - 1)
        return np.asarray(above - (numbers - known[above - 1] <= known[above] - numbers), np.int64)

    def as_it_is(self, place: int) -> bool:
        return place > 0

    def meaning(self, place: int) -> str:
        return super().meaning(place) if place == 0 or self.labels[place] is None else "the number of a crowd"

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "labels": list(self.labels), "kind": "nearest", "scale": self.scale.to_json()}


def released_values(hierarchy: Hierarchy, nodes: Nodes) -> ReleasedValues:
    """What a release shows of a column: some nodes of its hierarchy, ascending, the root among them."""
    labels = tuple(hierarchy.label(node) for node in nodes.tolist())
    if isinstance(hierarchy, Centres):
        return NearestValues(hierarchy.name, labels, hierarchy.shown)
    if hierarchy.kind in ("ranges", "intervals"):
        assert hierarchy.scale is not None
        return LineValues(hierarchy.name, labels, hierarchy.scale)
    place_of = {node: place for place, node in enumerate(nodes.tolist())}
    parents = [-1]
    for node in nodes.tolist()[1:]:
        while (node := int(hierarchy.taxonomy.parent[node])) not in place_of:
            pass
        parents.append(place_of[node])
    by: Taxonomy | Rule | Scale | None = hierarchy.scale
    if hierarchy.rule is not None:
        by = public_rule(hierarchy.rule, labels)
    elif hierarchy.kind == "taxonomy":
        by = hierarchy.taxonomy.without_missing()
    return TreeValues(hierarchy.name, labels, tuple(parents), by)


def released_values_from(data: Mapping[str, Any]) -> ReleasedValues:
    """What `to_json` gave."""
    name, labels = data["name"], tuple(data["labels"])
    if data["kind"] == "intervals":
        line = LineValues(name, labels, Scale(**data["scale"]))
        if labels[0] != ANY or not len(line.spans):
            raise SchemaError(f"labels of '{name}'", f"begin with '{ANY}'")
        return line
    if data["kind"] == "nearest":
        nearest = NearestValues(name, labels, Scale(**data["scale"]))
        if labels[0] != ANY:
            raise SchemaError(f"labels of '{name}'", f"begin with '{ANY}'")
        check_values(nearest.scale, [text for text in labels[1:] if text is not None], name)
        return nearest
    if data["kind"] == "values":
        return TreeValues(name, labels, (-1, *[0] * (len(labels) - 1)))
    if data["kind"] != "taxonomy":
        by = rule_of(name, data["rule"]) if "rule" in data else Scale(**data["scale"])
        return TreeValues(name, labels, tuple(data["parents"]), by)
    tree = Taxonomy.from_json(data["taxonomy"], f"the taxonomy of '{name}'")
    node_of = {label: node for node, label in enumerate(tree.labels)}
    nodes = [node_of.get(label, -1) for label in labels if label is not None]
    if nodes[:1] != [0] or nodes != sorted(set(nodes)) or None in labels[:-1] or tree.missing is not None:
        raise SchemaError(f"labels of '{name}'", "be nodes of its taxonomy in order, from its root, and then null")
    missing = [len(tree.labels)] if labels[-1] is None else []
    hierarchy = Hierarchy(name, tree.with_missing() if missing else tree)
    return released_values(hierarchy, np.array([*nodes, *missing], np.int32))
