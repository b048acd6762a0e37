"""Leaving out records: how many may be, which have to be, and what is left of a recoding then.

Nothing is left in it that only those records had: it is rebuilt from what the released ones have
(`recodings.withholding`).

A left-out record can then look like a released class, on all attributes: it joins that class, and is released after
all. That is why only models that are upward closed allow to leave out records: such a class stays good whoever joins
it, and no record of another class is concerned. Who was left out cannot be told from a release, only how many; the
number is that of the records that are not in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from incrowd.privacy.model import Requirements
from incrowd.recodings.by_value import ByValue
from incrowd.recodings.withholding import rebuilt
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import Codes, group, sort_tuples


def budget_of(table: CompressedTable, suppress: float) -> int:
    """How many records a share of the table is, exactly: 0.07 of 100 are 7."""
    return int(Fraction(str(suppress)) * table.records)


def suppressed(
    groups: Sequence[Codes],
    requirements: Requirements,
    table: CompressedTable,
    before: npt.NDArray[np.bool_] | None = None,
) -> npt.NDArray[np.bool_]:
    """The tuples to leave out so that every class that is left is good.

    Leaving out the bad classes of one quasi-identifier can make those of another bad, so it is done over and over,
    until nothing changes.

    Args:
        groups: Per quasi-identifier the class of each tuple.
        requirements: What must hold for each.
        table: The table.
        before: Tuples that are left out already.
    """
    out = np.zeros(len(table.counts), bool) if before is None else before.copy()
    known = -1
    while (now := int(out.sum())) > known:
        known = now
        for classes_of, requirement in zip(groups, requirements, strict=True):
            classes = table.class_counts(classes_of, int(classes_of.max()) + 1, ~out)
            out |= ~requirement.good(classes)[classes_of]
    return out


def released_after(table: CompressedTable, requirements: Requirements, recoding: ByValue) -> tuple[ByValue, int]:
    """A recoding without the records that have to be left out.

    Args:
        table: The table.
        requirements: What must hold.
        recoding: The recoding of all records.

    Returns:
        The recoding, with the classes that are released, and the number of records left out.
    """
    pairs = zip(recoding.attributes, table.attributes, table.codes, strict=True)
    cells = [mapping.of_codes(attribute)[codes] for mapping, attribute, codes in pairs]
    widths = [len(mapping.labels) for mapping in recoding.attributes]
    places = ([table.index(name) for name in requirement.attributes] for requirement in requirements)
    groups = [group([cells[i] for i in members], [widths[i] for i in members])[0] for members in places]
    return withhold(table, recoding, suppressed(groups, requirements, table))


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
        attributes.append(rebuilt(attribute, mapping, np.bincount(codes[~left_out], minlength=attribute.size) > 0))
    columns = [
        mapping.of_codes(attribute)[codes]
        for mapping, attribute, codes in zip(attributes, table.attributes, table.codes, strict=True)
    ]
    kept = [column[~left_out & (table.counts > 0)] for column in columns]  # a class has records
    order, starts = sort_tuples(kept, [len(attribute.labels) for attribute in attributes])
    classes = tuple(zip(*(column[order[starts]].tolist() for column in kept), strict=True))
    withheld = ByValue(tuple(attributes), classes=classes)
    return withheld, int(table.counts[~np.asarray(withheld.released(columns))].sum())
