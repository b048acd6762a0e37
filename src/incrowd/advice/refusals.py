"""What keeps a column from showing more: the records that would be left without a crowd.

The column is refined by one step of its hierarchy (numbers and dates in round intervals, text by its most frequent
value), all other columns stay as they are released, and the classes are counted again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from incrowd.errors import many
from incrowd.recodings.hierarchies import Hierarchy
from incrowd.recodings.kinds import hierarchy_of
from incrowd.table.attributes import Attribute, FlatAttribute
from incrowd.table.grouping import Codes, Counts, group

if TYPE_CHECKING:
    from incrowd.privacy.model import PrivacyModel
    from incrowd.release.release import Release

SHOWN = 6  # values of a refinement that are named


@dataclass(frozen=True)
class Refusal:
    """A requirement that keeps a column from showing more.

    Args:
        refinement: What would be shown.
        requirement: What does not allow it, such as "k=10".
        attributes: The quasi-identifier that it is about.
        records: Records that would be in classes that fail it.
        classes: Those classes.
    """

    refinement: str
    requirement: str
    attributes: tuple[str, ...]
    records: int
    classes: int

    @property
    def text(self) -> str:
        records, crowds = many(self.records, "record"), many(self.classes, "crowd")
        return f"showing {self.refinement} would put {records} in {crowds} that fail {self.requirement}"

    def to_json(self) -> dict[str, Any]:
        return {**self.__dict__, "attributes": list(self.attributes)}


def refusals_of(release: Release, column: str) -> tuple[Refusal, ...]:
    """What keeps a column from showing more, requirement by requirement, most records first.

    Empty for a local recoding that deals records with equal values to several classes: there a column is not told or
    hidden as a whole.
    """
    table, parts = release.table, release.recoding.parts(release.table)
    if parts.is_split:
        return ()
    place = table.index(column)
    words, codes = _refined(table.attributes[place], table.value_counts(place), table.codes[place])
    part_of = np.arange(len(table.counts)) if parts.of_tuple is None else parts.of_tuple
    kept = None if parts.kept is None else parts.kept[part_of]
    found = []
    for requirement in release.policy.requirements:
        if column not in requirement.attributes:
            continue
        cells = [codes if name == column else parts.cells[name][part_of] for name in requirement.attributes]
        groups, firsts = group(cells, [int(cell.max()) + 1 for cell in cells])
        counts = table.class_counts(groups, len(firsts), kept)
        for model in requirement.fitted(table.protected).models:
            bad = _bad(model, counts)
            records, classes = int(counts.records[bad].sum()), int(bad.sum())
            if records:
                found.append(Refusal(words, str(model), requirement.attributes, records, classes))
    return tuple(sorted(found, key=lambda refusal: -refusal.records))


def _bad(model: PrivacyModel, counts: Any) -> Any:
    return (model.levels(counts) < model.threshold) & (counts.records > 0)


def _refined(attribute: Attribute, counts: Counts, codes: Codes) -> tuple[str, Codes]:
    """The column told one step finer than not at all: in words, and the value of each tuple."""
    if isinstance(attribute, FlatAttribute):
        first = int(np.argmax(counts))
        return "its most frequent value separately", (codes == first).astype(np.int64)
    hierarchy = hierarchy_of(attribute)
    below = hierarchy.taxonomy.children[0]
    names = [shown_label(hierarchy, node) for node in below]
    listed = ", ".join(names[:SHOWN]) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")
    child_of = np.zeros(hierarchy.size, np.int64)
    for number, node in enumerate(below):
        child_of[node : hierarchy.end[node]] = number
    return f"{listed} separately", child_of[hierarchy.leaves[codes]]


def shown_label(hierarchy: Hierarchy, node: int) -> str:
    label = hierarchy.label(node)
    return "missing" if label is None else label
