"""Recodings out of steps: what an attribute was recoded to after some steps of a search, and how a step reads."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from incrowd.recodings.attributes.any_kind import AttributeRecoding
from incrowd.recodings.attributes.cut import cut_of
from incrowd.recodings.attributes.disclosure import Disclosure
from incrowd.recodings.attributes.intervals import Intervals
from incrowd.recodings.attributes.partition import name_of_set, node_of_set, sets_of
from incrowd.recodings.by_value import ByValue
from incrowd.recodings.levels import levels_of
from incrowd.recodings.steps import (
    Change,
    Disclose,
    Generalization,
    GeneralizeNode,
    JoinSets,
    MergeIntervals,
    RaiseLevel,
    RefineNode,
    SplitInterval,
    SplitSet,
    Step,
    Suppress,
    TakeBack,
)
from incrowd.table.attributes import Attribute, NumberAttribute, TaxonomyAttribute
from incrowd.table.grouping import Codes
from incrowd.taxonomies.labels import ANY


def replayed(attributes: Sequence[Attribute], steps: Sequence[Step], begins: str) -> ByValue:
    """The recoding of a table after some steps.

    Args:
        attributes: The attributes of the table.
        steps: The steps, in order.
        begins: Where they begin: at the most "general" values, or at the most "specific" ones.
    """
    made = refined if begins == "general" else generalized
    return ByValue(tuple(made(attribute, steps) for attribute in attributes))


def refined(attribute: Attribute, steps: Sequence[Step]) -> AttributeRecoding:
    """The recoding of an attribute after steps that refine it, starting from the most general one."""
    changes = [step.change for step in steps if step.attribute == attribute.name]
    if isinstance(attribute, TaxonomyAttribute):
        if any(isinstance(change, SplitSet) for change in changes):
            return _parted(attribute, [change for change in changes if isinstance(change, SplitSet)])
        taxonomy = attribute.taxonomy
        nodes = {0}
        for change in changes:
            assert isinstance(change, RefineNode)
            nodes.remove(change.node)
            nodes.update(taxonomy.children[change.node])
        return cut_of(attribute, sorted(nodes))  # preorder is the order of the leaves
    if isinstance(attribute, NumberAttribute):
        cuts = sorted(change.at for change in changes if isinstance(change, SplitInterval))
        apart = attribute.missing is not None and (attribute.missing in cuts or not len(attribute.numbers))
        bounds = tuple(attribute.number(cut) for cut in cuts if cut != attribute.missing)
        missing = "none" if attribute.missing is None else "apart" if apart else "merged"
        alone = len(attribute.numbers) == 1 and attribute.domain is None and missing != "merged"  # one number for all
        exact = tuple(attribute.numbers.tolist()) if alone else ()
        return Intervals(attribute.name, attribute.scale, bounds, attribute.domain, missing, exact)
    codes = sorted(change.code for change in changes if isinstance(change, Disclose))
    shown = tuple(attribute.texts[code] for code in codes if code != attribute.missing)
    return Disclosure(attribute.name, shown, attribute.missing in codes)


def generalized(attribute: Attribute, steps: Sequence[Step]) -> AttributeRecoding:
    """The recoding of an attribute after steps that generalize it, starting with every value as itself."""
    changes: list[Generalization] = []
    for step in steps:
        if step.attribute == attribute.name:
            if isinstance(step.change, RaiseLevel):
                return levels_of(attribute)[max(level for s in steps if (level := _level(s, attribute)))]
            if isinstance(step.change, TakeBack):
                changes.remove(step.change.generalization)
            elif isinstance(step.change, Generalization):
                changes.append(step.change)
    if isinstance(attribute, TaxonomyAttribute):
        if any(isinstance(change, JoinSets | Suppress) for change in changes):
            return _joined(attribute, changes)
        taxonomy = attribute.taxonomy
        nodes = set(taxonomy.leaves)
        for change in changes:
            assert isinstance(change, GeneralizeNode)
            nodes.difference_update(taxonomy.children[change.node])
            nodes.add(change.node)
        return cut_of(attribute, sorted(nodes))
    if isinstance(attribute, NumberAttribute):
        return _merged(attribute, [change for change in changes if isinstance(change, MergeIntervals)])
    suppressed = {code for change in changes if isinstance(change, Suppress) for code in change.codes}
    shown = tuple(text for code, text in enumerate(attribute.texts) if code not in suppressed)
    return Disclosure(attribute.name, shown, attribute.missing is not None and attribute.missing not in suppressed)


def _level(step: Step, attribute: Attribute) -> int:
    """The level that a step raises an attribute to, 0 if it does not."""
    raises = step.attribute == attribute.name and isinstance(step.change, RaiseLevel)
    return step.change.level if raises and isinstance(step.change, RaiseLevel) else 0


def _parted(attribute: TaxonomyAttribute, changes: Sequence[SplitSet]) -> AttributeRecoding:
    """All values in one set, then sets parted."""
    first = np.zeros(attribute.size, np.int64)  # the first value of the set of each value
    for codes in (codes for change in changes for codes in change.sets):
        first[list(codes)] = codes[0]
    return _in_sets(attribute, first)


def _joined(attribute: TaxonomyAttribute, changes: Sequence[Generalization]) -> AttributeRecoding:
    """Every value on its own, then sets of them joined, or suppressed."""
    first, suppressed = np.arange(attribute.size), set[int]()  # the first value of the set of each value
    for change in changes:
        if isinstance(change, Suppress):
            suppressed.update(change.codes)
        elif isinstance(change, JoinSets) and change.more:
            first[:] = 0
            suppressed.clear()
        elif isinstance(change, JoinSets):
            codes = [code for some in change.sets for code in some]
            first[codes] = min(codes)
    return _in_sets(attribute, first, sorted(suppressed))


def _in_sets(attribute: TaxonomyAttribute, first: Codes, suppressed: Sequence[int] = ()) -> AttributeRecoding:
    """The recoding to sets of values, given by the first value of each; a cut where each of them is a node."""
    members: dict[int, list[int]] = {}
    for code in np.setdiff1d(np.arange(attribute.size), suppressed).tolist():
        members.setdefault(int(first[code]), []).append(code)
    sets = list(members.values())
    nodes = [node_of_set(attribute, codes) for codes in sets]
    if not suppressed and None not in nodes:
        return cut_of(attribute, [node for node in nodes if node is not None])
    return sets_of(attribute, sets, suppressed)


def _merged(attribute: NumberAttribute, changes: Sequence[MergeIntervals]) -> Intervals:
    """Every number on its own, then neighbours joined."""
    ranks = len(attribute.numbers)
    begins = np.ones(attribute.size + 1, bool)  # whether an interval begins at a rank; at the end nothing does
    for change in changes:
        begins[list(change.edges[1:-1])] = False
    if attribute.missing is not None and not begins[ranks]:
        return Intervals(attribute.name, attribute.scale, (), attribute.domain, "merged")
    bounds = attribute.numbers[1:][begins[1:ranks]]
    exact = attribute.numbers[begins[:ranks] & begins[1 : ranks + 1]]
    missing = "none" if attribute.missing is None else "apart"
    return Intervals(
        attribute.name, attribute.scale, tuple(bounds.tolist()), attribute.domain, missing, tuple(exact.tolist())
    )


def describe(attribute: Attribute, change: Change) -> tuple[str | None, tuple[str | None, ...]]:
    """The more general released value of a change, and the more specific ones."""
    if isinstance(change, TakeBack):
        change = change.generalization
    if isinstance(change, RefineNode | GeneralizeNode):
        assert isinstance(attribute, TaxonomyAttribute)
        labels = attribute.taxonomy.labels
        return labels[change.node], tuple(labels[child] for child in attribute.taxonomy.children[change.node])
    if isinstance(change, SplitInterval):
        assert isinstance(attribute, NumberAttribute)
        return _interval(attribute, change.start, change.stop), (
            _interval(attribute, change.start, change.at),
            _interval(attribute, change.at, change.stop),
        )
    if isinstance(change, MergeIntervals):
        assert isinstance(attribute, NumberAttribute)
        pairs = pairwise(change.edges)
        children = (_interval(attribute, start, stop, exact=stop - start == 1) for start, stop in pairs)
        return _interval(attribute, change.edges[0], change.edges[-1]), tuple(children)
    if isinstance(change, JoinSets | SplitSet):
        assert isinstance(attribute, TaxonomyAttribute)
        parts = tuple(name_of_set(attribute, codes) for codes in change.sets)
        if isinstance(change, JoinSets) and change.more:
            return attribute.taxonomy.labels[0], (*parts, ANY)
        return name_of_set(attribute, sorted(code for codes in change.sets for code in codes)), parts
    assert not isinstance(attribute, NumberAttribute)
    texts = attribute.values().to_pylist()
    values = tuple(texts[code] for code in ((change.code,) if isinstance(change, Disclose) else change.codes))
    return ANY, (*values, ANY) if isinstance(change, Disclose) or change.more else values


def _interval(attribute: NumberAttribute, start: int, stop: int, *, exact: bool = False) -> str | None:
    ranks = len(attribute.numbers)
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
