"""Leaving out records: how many may be, which have to be, and what is left of a recoding then.

Nothing is left in it that only those records had.

A recoding goes out with the release. A value that only left-out records have must not be read off it, so it is no
longer one of its own: a category counts among the suppressed ones, a number belongs to the gap above the one below it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from incrowd.privacy.model import Requirements
from incrowd.recodings.attributes.any_kind import AttributeRecoding
from incrowd.recodings.attributes.cut import RuleCut
from incrowd.recodings.attributes.disclosure import Disclosure
from incrowd.recodings.attributes.intervals import Intervals
from incrowd.recodings.by_value import ByValue
from incrowd.table.attributes import Attribute, FlatAttribute, NumberAttribute
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import Codes, sort_tuples
from incrowd.taxonomies.labels import ANY


def budget_of(table: CompressedTable, suppress: float) -> int:
    """How many records a share of the table is, exactly: 0.07 of 100 are 7."""
    return int(Fraction(str(suppress)) * table.records)


def suppressed(groups: Sequence[Codes], requirements: Requirements, table: CompressedTable) -> npt.NDArray[np.bool_]:
    """The tuples to leave out so that every class that is left is good.

    Leaving out the bad classes of one quasi-identifier can make those of another bad, so it is done over and over,
    until nothing changes.

    Args:
        groups: Per quasi-identifier the class of each tuple.
        requirements: What must hold for each.
        table: The table.
    """
    out = np.zeros(len(table.counts), bool)
    before = -1
    while (now := int(out.sum())) > before:
        before = now
        for group, requirement in zip(groups, requirements, strict=True):
            classes = table.class_counts(group, int(group.max()) + 1, ~out)
            out |= ~requirement.good(classes)[group]
    return out


def withhold(table: CompressedTable, recoding: ByValue, left_out: npt.NDArray[np.bool_]) -> tuple[ByValue, int]:
    """The recoding without what only left-out tuples would reveal.

    Args:
        table: The table.
        recoding: The recoding of the table.
        left_out: The tuples to leave out. One that, with its value no longer shown, equals a released class stays in.

    Returns:
        The recoding, with the classes that are released, and the number of records left out.
    """
    if not left_out.any():
        return recoding, 0
    attributes = []
    for attribute, mapping, codes in zip(table.attributes, recoding.attributes, table.codes, strict=True):
        attributes.append(_without(attribute, mapping, np.bincount(codes[~left_out], minlength=attribute.size) > 0))
    columns = [
        mapping.of_codes(attribute)[codes]
        for mapping, attribute, codes in zip(attributes, table.attributes, table.codes, strict=True)
    ]
    kept = [column[~left_out] for column in columns]
    order, starts = sort_tuples(kept, [len(attribute.labels) for attribute in attributes])
    classes = tuple(zip(*(column[order[starts]].tolist() for column in kept), strict=True))
    withheld = ByValue(tuple(attributes), classes=classes)
    return withheld, int(table.counts[~np.asarray(withheld.released(columns))].sum())


def _without(attribute: Attribute, recoding: AttributeRecoding, released: npt.NDArray[np.bool_]) -> AttributeRecoding:
    """The recoding of one attribute of which only some codes are released; a taxonomy is public anyway."""
    if isinstance(recoding, Disclosure):
        assert isinstance(attribute, FlatAttribute)
        known = {text for text, shown in zip(attribute.texts, released, strict=False) if shown}
        missing = recoding.missing_shown and bool(released[-1])
        return Disclosure(recoding.name, tuple(text for text in recoding.shown if text in known), missing)
    if isinstance(recoding, RuleCut):
        return _without_labels(attribute, recoding, released)
    if isinstance(recoding, Intervals) and recoding.missing != "merged":
        assert isinstance(attribute, NumberAttribute)
        return _without_numbers(attribute, recoding, released)
    return recoding


def _without_labels(attribute: Attribute, recoding: RuleCut, released: npt.NDArray[np.bool_]) -> RuleCut:
    """A cut without the labels that nobody released has; what lay under them is no longer distinguished."""
    used = np.bincount(recoding.of_codes(attribute)[released], minlength=len(recoding.labels)) > 0
    if used.all():
        return recoding
    labels = tuple(label for label, kept in zip(recoding.labels, used, strict=True) if kept)
    kept_missing = recoding.missing_cell >= 0 and used[recoding.missing_cell]
    missing_cell = labels.index(recoding.labels[recoding.missing_cell]) if kept_missing else len(labels)
    return replace(
        recoding, labels=(*labels, ANY), missing_cell=-1 if attribute.missing is None else missing_cell, rest=True
    )


def _without_numbers(attribute: NumberAttribute, recoding: Intervals, released: npt.NDArray[np.bool_]) -> Intervals:
    """Intervals that nobody released lies in are joined, and begin right above a number that is shown as itself."""
    numbers = attribute.numbers
    edges = [0, *np.searchsorted(numbers, np.array(recoding.bounds)).tolist(), len(numbers)]
    used = [bool(released[start:stop].any()) for start, stop in pairwise(edges)]
    shown = set(recoding.exact)
    bounds = []
    for place, bound in enumerate(recoding.bounds, 1):
        below = numbers[edges[place] - 1].item()
        if used[place] or (used[place - 1] and below not in shown):
            bounds.append(bound)
        elif used[place - 1]:
            bounds.append(np.nextafter(below, np.inf).item() if recoding.scale.kind == "number" else below + 1)
    exact = tuple(number for number in recoding.exact if released[np.searchsorted(numbers, number)])
    return Intervals(recoding.name, recoding.scale, tuple(bounds), recoding.domain, recoding.missing, exact)
