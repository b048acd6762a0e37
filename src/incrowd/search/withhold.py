"""What is left of a recoding where records are left out: nothing that only those records had.

A recoding goes out with the release. A value that only left-out records have must not be read off it, so it is no
longer one of its own: a category counts among the suppressed ones, a number belongs to the gap above the one below it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from incrowd.recodings.attribute import ANY, AttributeRecoding, Disclosure, Intervals, RuleCut
from incrowd.recodings.recoding import Recoding
from incrowd.table import Attribute, CompressedTable, FlatAttribute, NumberAttribute, sort_tuples

Released = tuple[tuple[int, ...], ...]


def withhold(
    table: CompressedTable, recoding: Sequence[AttributeRecoding], left_out: npt.NDArray[np.bool_]
) -> tuple[tuple[AttributeRecoding, ...], Released | None, int]:
    """The recoding without what only left-out tuples tell.

    Args:
        table: The table.
        recoding: The recoding of each attribute.
        left_out: The tuples to leave out. One that, with its value no longer told, equals a released class stays in.

    Returns:
        The recoding, the classes that are released (None if all are), and the number of records left out.
    """
    if not left_out.any():
        return tuple(recoding), None, 0
    attributes = []
    for attribute, mapping, codes in zip(table.attributes, recoding, table.codes, strict=True):
        attributes.append(_without(attribute, mapping, np.bincount(codes[~left_out], minlength=attribute.size) > 0))
    cells_of = Recoding(tuple(attributes))
    columns = [
        cells_of.cells(attribute.name, attribute.values())[codes]
        for attribute, codes in zip(table.attributes, table.codes, strict=True)
    ]
    kept = [column[~left_out] for column in columns]
    order, starts = sort_tuples(kept, [len(attribute.labels) for attribute in attributes])
    classes = tuple(zip(*(column[order[starts]].tolist() for column in kept), strict=True))
    released = Recoding(tuple(attributes), classes=classes).released(columns)
    return tuple(attributes), classes, int(table.counts[~np.asarray(released)].sum())


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
    """A cut without the labels that nobody released has; what lay under them is told from nothing."""
    missing = [] if attribute.missing is None else [attribute.missing]
    cells = np.full(attribute.size, recoding.missing_cell)
    cells[: attribute.size - len(missing)] = recoding.cells(attribute.values()[: attribute.size - len(missing)])
    used = np.bincount(cells[released], minlength=len(recoding.labels)) > 0
    if used.all():
        return recoding
    labels = tuple(label for label, kept in zip(recoding.labels, used, strict=True) if kept)
    kept_missing = recoding.missing_cell >= 0 and used[recoding.missing_cell]
    missing_cell = labels.index(recoding.labels[recoding.missing_cell]) if kept_missing else len(labels)
    return replace(recoding, labels=(*labels, ANY), missing_cell=missing_cell if missing else -1, rest=True)


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
