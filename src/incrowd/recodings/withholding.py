"""Recodings rebuilt from released records alone, where some records are left out.

A recoding goes out with the release. Nothing in it may come from who was left out: no label, no bound of an interval,
no member of a set, not even whether they had missing values. So each attribute is built anew from the values that
released records have, and whatever is none of those goes to one more cell, `*`, that no released record lies in. (A
taxonomy that was given is public anyway.)
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from incrowd.recodings.attributes.any_kind import AttributeRecoding
from incrowd.recodings.attributes.closed_intervals import ClosedIntervals
from incrowd.recodings.attributes.cut import RuleCut, public_rule
from incrowd.recodings.attributes.disclosure import Disclosure
from incrowd.recodings.attributes.intervals import Intervals
from incrowd.recodings.attributes.partition import Partition
from incrowd.table.attributes import Attribute, FlatAttribute, NumberAttribute, TaxonomyAttribute
from incrowd.table.exact_numbers import places
from incrowd.taxonomies.labels import ANY, set_label

Mask = npt.NDArray[np.bool_]


def rebuilt(attribute: Attribute, recoding: AttributeRecoding, released: Mask) -> AttributeRecoding:
    """The recoding of one attribute without what only left-out records have.

    Args:
        attribute: The attribute.
        recoding: Its recoding.
        released: Which codes of the attribute released records have.
    """
    if isinstance(recoding, Disclosure):
        assert isinstance(attribute, FlatAttribute)
        known = {text for text, shown in zip(attribute.texts, released, strict=False) if shown}
        missing = recoding.missing_shown and bool(released[-1])
        return Disclosure(recoding.name, tuple(text for text in recoding.shown if text in known), missing)
    if isinstance(recoding, RuleCut):
        return _labels(attribute, recoding, released)
    if isinstance(recoding, Intervals) and recoding.missing != "merged":
        assert isinstance(attribute, NumberAttribute)
        return _numbers(attribute, recoding, released)
    if isinstance(recoding, ClosedIntervals):
        assert isinstance(attribute, NumberAttribute)
        return _narrowed(attribute, recoding, released)
    if isinstance(recoding, Partition):
        return _sets(attribute, recoding, released)
    return recoding


def _narrowed(attribute: NumberAttribute, recoding: ClosedIntervals, released: Mask) -> ClosedIntervals:
    """The intervals that released records lie in, each from the lowest of their numbers to the highest."""
    cells, numbers = recoding.of_codes(attribute), attribute.numbers
    shown = [numbers[(cells[: len(numbers)] == cell) & released[: len(numbers)]] for cell in range(len(recoding.ends))]
    missing = recoding.missing_shown and attribute.missing is not None and bool(released[-1])
    return replace(recoding, ends=tuple((part[0], part[-1]) for part in shown if len(part)), missing_shown=missing)


def _labels(attribute: Attribute, recoding: RuleCut, released: Mask) -> RuleCut:
    """A cut of the labels that released records have, and one for all else."""
    used = np.bincount(recoding.of_codes(attribute)[released], minlength=len(recoding.labels)) > 0
    labels = tuple(label for label, kept in zip(recoding.labels, used, strict=True) if kept)
    if ANY in labels:  # the root, above everything
        return RuleCut(recoding.name, public_rule(recoding.rule, ()), (ANY,), 0)
    missing_cell = labels.index(None) if None in labels else len(labels)
    return RuleCut(recoding.name, public_rule(recoding.rule, labels), (*labels, ANY), missing_cell, rest=True)


def _numbers(attribute: NumberAttribute, recoding: Intervals, released: Mask) -> Intervals:
    """Intervals that begin at the lowest number that a released record has in them, and one cell for all else."""
    name, scale, domain = recoding.name, recoding.scale, recoding.domain
    edges = [0, *places(attribute.numbers, recoding.bounds).tolist(), len(attribute.numbers)]
    ranks = [start + np.flatnonzero(released[start:stop]) for start, stop in pairwise(edges)]
    lowest = [attribute.number(int(found[0])) for found in ranks if len(found)]
    exact = tuple(number for number in recoding.exact if number in set(lowest))
    missing = "apart" if attribute.missing is not None and bool(released[attribute.missing]) else "none"
    if len(lowest) <= 1 and not exact and domain is None and missing == "none":
        return Intervals(name, scale, (), None, "merged")  # nothing is told apart
    return Intervals(name, scale, tuple(lowest[1:]), domain, missing, exact, rest=True)


def _sets(attribute: Attribute, recoding: Partition, released: Mask) -> Partition:
    """Sets of the values that released records have, and one cell for all else."""
    known = {text for text, kept in zip(attribute.values().to_pylist(), released, strict=True) if kept}
    public = isinstance(attribute, TaxonomyAttribute) and attribute.rule is None
    blocks, names = [], []
    for block, name in zip(recoding.blocks, recoding.names, strict=True):
        kept = tuple(value for value in block if value in known)
        if not kept:
            continue
        listed = name == set_label(block)  # else it is a node of the taxonomy, and says nothing of its members
        blocks.append(block if public and not listed else kept)
        names.append(set_label(kept) if listed else name)
    return Partition(recoding.name, tuple(blocks), tuple(names), True, recoding.scale)
