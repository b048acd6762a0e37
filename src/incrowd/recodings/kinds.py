"""What is done to the three kinds of attributes: each knows its levels and its tree, and replays the steps of a search.

**Levels** are what all values of an attribute become at once, from its values to the most general. Full-domain methods
(Datafly, Samarati, Incognito, mu-Argus) move an attribute as a whole from one level to the next:

- Taxonomy: level 0 is the leaves, level l the nodes `height - l` edges below the root. Paths may have unequal lengths:
  a value whose path is shorter stays itself until the others have climbed to its depth, so that every level is a cut.
  Missing values, a leaf below the root, stay themselves up to the last level.
- Numbers and dates without a taxonomy: level 0 is the values, the last level one interval, and each level in between
  halves the intervals of the next by ranks: with n values the bounds of 2^d intervals are at the ranks n i / 2^d.
  Missing values stay apart up to one more level, at which nothing is distinguished.
- Categories without a taxonomy: the values, then "*".
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Generic, TypeVar

import numpy as np

from incrowd.recodings.attributes.attribute_recoding import AttributeRecoding
from incrowd.recodings.attributes.cut import cut_of
from incrowd.recodings.attributes.disclosure import Disclosure
from incrowd.recodings.attributes.intervals import Intervals
from incrowd.recodings.attributes.partition import name_of_set, node_of_set, sets_of
from incrowd.recodings.hierarchies import Hierarchy, Kind, tree_of, widths_of
from incrowd.recodings.steps import (
    Change,
    Disclose,
    Generalization,
    GeneralizeNode,
    JoinSets,
    MergeIntervals,
    RefineNode,
    SplitInterval,
    SplitSet,
    Suppress,
)
from incrowd.table.attributes import Attribute, FlatAttribute, NumberAttribute, TaxonomyAttribute
from incrowd.table.grouping import Codes
from incrowd.taxonomies.labels import ANY
from incrowd.taxonomies.levels import cuts_up_to

A = TypeVar("A", bound=Attribute)
Described = tuple[str | None, tuple[str | None, ...]]


class AttributeKind(ABC, Generic[A]):
    """What can be done to an attribute."""

    def __init__(self, attribute: A) -> None:
        self.attribute = attribute

    @abstractmethod
    def levels(self) -> tuple[AttributeRecoding, ...]:
        """The domain generalization hierarchy: its values, and ever more general ones."""

    @abstractmethod
    def hierarchy(self) -> Hierarchy:
        """Its taxonomy, or a tree that is built."""

    @abstractmethod
    def refined(self, changes: Sequence[Any]) -> AttributeRecoding:
        """What it is recoded to after changes that refine it, starting from the most general value."""

    @abstractmethod
    def generalized(self, changes: Sequence[Generalization]) -> AttributeRecoding:
        """What it is recoded to after changes that generalize it, starting with every value as itself."""

    @abstractmethod
    def describe(self, change: Change) -> Described:
        """The more general released value of a change, and the more specific ones."""

    def _describe_shown(self, change: Change) -> Described:
        assert isinstance(change, Disclose | Suppress)
        texts = self.attribute.values().to_pylist()
        codes = (change.code,) if isinstance(change, Disclose) else change.codes
        values = tuple(texts[code] for code in codes)
        return ANY, (*values, ANY) if isinstance(change, Disclose) or change.more else values


class TaxonomyKind(AttributeKind[TaxonomyAttribute]):
    def levels(self) -> tuple[AttributeRecoding, ...]:
        tree = self.attribute.taxonomy
        if self.attribute.top:
            return tuple(cut_of(self.attribute, cut) for cut in cuts_up_to(tree, self.attribute.top))
        leaf = np.array([not below for below in tree.children])
        levels = range(tree.height, -1, -1)
        cuts = [np.flatnonzero((tree.depth == most) | (leaf & (tree.depth < most))) for most in levels]
        return tuple(cut_of(self.attribute, cut.tolist()) for cut in cuts)

    def hierarchy(self) -> Hierarchy:
        return Hierarchy(self.attribute.name, self.attribute.taxonomy, rule=self.attribute.rule)

    def refined(self, changes: Sequence[Any]) -> AttributeRecoding:
        if any(isinstance(change, SplitSet) for change in changes):
            first = np.zeros(self.attribute.size, np.int64)  # the first value of the set of each value
            for codes in (codes for change in changes for codes in change.sets):
                first[list(codes)] = codes[0]
            return self._in_sets(first)
        nodes = {0}
        for change in changes:
            nodes.remove(change.node)
            nodes.update(self.attribute.taxonomy.children[change.node])
        return cut_of(self.attribute, sorted(nodes))  # preorder is the order of the leaves

    def generalized(self, changes: Sequence[Generalization]) -> AttributeRecoding:
        if any(isinstance(change, JoinSets | Suppress) for change in changes):
            return self._joined(changes)
        taxonomy = self.attribute.taxonomy
        nodes = set(taxonomy.leaves)
        for change in changes:
            assert isinstance(change, GeneralizeNode)
            nodes.difference_update(taxonomy.children[change.node])
            nodes.add(change.node)
        return cut_of(self.attribute, sorted(nodes))

    def _joined(self, changes: Sequence[Generalization]) -> AttributeRecoding:
        first, suppressed = np.arange(self.attribute.size), set[int]()  # the first value of the set of each value
        for change in changes:
            if isinstance(change, Suppress):
                suppressed.update(change.codes)
            elif isinstance(change, JoinSets) and change.more:
                first[:] = 0
                suppressed.clear()
            elif isinstance(change, JoinSets):
                codes = [code for some in change.sets for code in some]
                first[codes] = min(codes)
        return self._in_sets(first, sorted(suppressed))

    def _in_sets(self, first: Codes, suppressed: Sequence[int] = ()) -> AttributeRecoding:
        """The recoding to sets of values, given by the first value of each; a cut where each of them is a node."""
        members: dict[int, list[int]] = {}
        for code in np.setdiff1d(np.arange(self.attribute.size), suppressed).tolist():
            members.setdefault(int(first[code]), []).append(code)
        sets = list(members.values())
        nodes = [node_of_set(self.attribute, codes) for codes in sets]
        if not suppressed and None not in nodes:
            return cut_of(self.attribute, [node for node in nodes if node is not None])
        return sets_of(self.attribute, sets, suppressed)

    def describe(self, change: Change) -> Described:
        taxonomy = self.attribute.taxonomy
        if isinstance(change, RefineNode | GeneralizeNode):
            children = taxonomy.children[change.node]
            return taxonomy.labels[change.node], tuple(taxonomy.labels[child] for child in children)
        if not isinstance(change, JoinSets | SplitSet):
            return self._describe_shown(change)
        parts = tuple(name_of_set(self.attribute, codes) for codes in change.sets)
        if isinstance(change, JoinSets) and change.more:
            return taxonomy.labels[0], (*parts, ANY)
        return name_of_set(self.attribute, sorted(code for codes in change.sets for code in codes)), parts


class NumberKind(AttributeKind[NumberAttribute]):
    def levels(self) -> tuple[AttributeRecoding, ...]:
        ranks = len(self.attribute.numbers)
        halvings = range(max(ranks - 1, 0).bit_length(), -1, -1)
        levels = [Intervals.at(self.attribute, halved(ranks, depth)) for depth in halvings]
        joined = self.attribute.missing is not None and ranks > 0
        return (*levels, Intervals.at(self.attribute, (), apart=False)) if joined else tuple(levels)

    def hierarchy(self) -> Hierarchy:
        attribute, scale = self.attribute, self.attribute.scale
        kind: Kind = "calendar" if scale.kind in ("date", "timestamp") else "intervals"
        widths = widths_of(attribute) if kind == "intervals" else ()
        tree = tree_of(kind, attribute.values().to_pylist(), widths, comma=scale.comma)
        return Hierarchy(attribute.name, tree, kind, scale, widths)

    def refined(self, changes: Sequence[Any]) -> AttributeRecoding:
        attribute, cuts = self.attribute, sorted(change.at for change in changes)
        apart = attribute.missing is not None and (attribute.missing in cuts or not len(attribute.numbers))
        bounds = tuple(attribute.number(cut) for cut in cuts if cut != attribute.missing)
        missing = "none" if attribute.missing is None else "apart" if apart else "merged"
        alone = len(attribute.numbers) == 1 and attribute.domain is None and missing != "merged"  # one number for all
        exact = tuple(attribute.numbers.tolist()) if alone else ()
        return Intervals(attribute.name, attribute.scale, bounds, attribute.domain, missing, exact)

    def generalized(self, changes: Sequence[Generalization]) -> AttributeRecoding:
        ranks = len(self.attribute.numbers)
        begins = np.ones(self.attribute.size + 1, bool)  # whether an interval begins at a rank; at the end nothing does
        for change in changes:
            assert isinstance(change, MergeIntervals)
            begins[list(change.edges[1:-1])] = False
        apart = self.attribute.missing is None or bool(begins[ranks])
        return Intervals.at(self.attribute, (np.flatnonzero(begins[1:ranks]) + 1).tolist(), apart=apart)

    def describe(self, change: Change) -> Described:
        if isinstance(change, SplitInterval):
            parts = (self._interval(change.start, change.at), self._interval(change.at, change.stop))
            return self._interval(change.start, change.stop), parts
        assert isinstance(change, MergeIntervals)
        pairs = pairwise(change.edges)
        children = (self._interval(start, stop, exact=stop - start == 1) for start, stop in pairs)
        return self._interval(change.edges[0], change.edges[-1]), tuple(children)

    def _interval(self, start: int, stop: int, *, exact: bool = False) -> str | None:
        attribute, ranks = self.attribute, len(self.attribute.numbers)
        if start == ranks:
            return None
        if stop > ranks:
            return ANY
        if exact or (ranks == 1 and attribute.domain is None):
            return attribute.scale.text(attribute.numbers[start])
        lowest, highest = attribute.domain or (None, None)
        low = lowest if start == 0 else attribute.number(start)
        high = highest if stop == ranks else attribute.number(stop)
        missing = "none" if attribute.missing is None else "apart"
        intervals = Intervals(attribute.name, attribute.scale, (), attribute.domain, missing)
        return intervals.label(low, high, last=stop == ranks)


class FlatKind(AttributeKind[FlatAttribute]):
    def levels(self) -> tuple[AttributeRecoding, ...]:
        shown = np.ones(self.attribute.size, bool)
        masks = (shown, ~shown) if self.attribute.size > 1 else (shown,)
        return tuple(Disclosure.showing(self.attribute, mask) for mask in masks)

    def hierarchy(self) -> Hierarchy:
        return Hierarchy(self.attribute.name, tree_of("flat", self.attribute.values().to_pylist(), ()), "flat")

    def refined(self, changes: Sequence[Any]) -> AttributeRecoding:
        return self._showing([change.code for change in changes])

    def generalized(self, changes: Sequence[Generalization]) -> AttributeRecoding:
        suppressed = [code for change in changes if isinstance(change, Suppress) for code in change.codes]
        return self._showing(np.setdiff1d(np.arange(self.attribute.size), suppressed).tolist())

    def _showing(self, codes: Sequence[int]) -> AttributeRecoding:
        shown = np.zeros(self.attribute.size, bool)
        shown[list(codes)] = True
        return Disclosure.showing(self.attribute, shown)

    def describe(self, change: Change) -> Described:
        return self._describe_shown(change)


_KINDS: dict[type, type[AttributeKind[Any]]] = {
    TaxonomyAttribute: TaxonomyKind,
    NumberAttribute: NumberKind,
    FlatAttribute: FlatKind,
}


def kind_of(attribute: Attribute) -> AttributeKind[Any]:
    return _KINDS[type(attribute)](attribute)


def hierarchy_of(attribute: Attribute) -> Hierarchy:
    return kind_of(attribute).hierarchy()


def halved(ranks: int, depth: int) -> list[int]:
    """Where intervals begin after halving all ranks `depth` times, without 0."""
    parts = 1 << depth
    return sorted({ranks * part // parts for part in range(1, parts)} - {0})
