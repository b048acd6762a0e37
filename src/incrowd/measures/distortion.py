"""Distortion, modification, inconsistency and generalization portion of any release.

What a cell says depends on its own value only, so that all of these follow from how often every value occurs in each
column, before and after. Suppressed records count as generalized to the root in every attribute.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.errors import PolicyError
from incrowd.measures.hierarchical_distance import HEIGHT, Weights, generalization_portion, inconsistency
from incrowd.recodings.hierarchies import Hierarchy
from incrowd.recodings.kinds import hierarchy_of
from incrowd.recodings.recoding import Recoding
from incrowd.table.compressed import CompressedTable
from incrowd.table.grouping import count

Values = dict[str | None, int]  # released values and how many records have each


@dataclass(frozen=True)
class AttributeDistortion:
    """What became of one attribute.

    Args:
        attribute: Column name.
        distortion: Sum over records of the weighted hierarchical distance, times the attribute's weight.
        modification_rate: Share of cells that changed.
        inconsistency: Share of values that are not on the most frequent level.
        generalization_portion: Share of values above the most specific level that occurs.
    """

    attribute: str
    distortion: float
    modification_rate: float
    inconsistency: float
    generalization_portion: float


@dataclass(frozen=True)
class Distortion:
    """What became of a table; the inconsistency is the largest of its attributes."""

    distortion: float
    modification_rate: float
    inconsistency: float
    attributes: tuple[AttributeDistortion, ...]

    def to_json(self) -> dict[str, Any]:
        """As JSON-able data."""
        return asdict(self)


def release_distortion(table: CompressedTable, recoding: Recoding, weights: Weights = HEIGHT) -> Distortion:
    """Distortion of a release from its compressed table and its recoding.

    Raises:
        PolicyError: A released value is not a node of its column's hierarchy.
    """
    parts = recoding.parts(table)
    records = parts.records if parts.kept is None else parts.records * parts.kept
    attributes = []
    for index, attribute in enumerate(table.attributes):
        cells = parts.cells[attribute.name]
        counted = count(cells, len(parts.losses[attribute.name]), records)
        used = np.flatnonzero(counted)
        hierarchy, nodes = recoding.in_hierarchy(attribute)
        attributes.append(_attribute(table, index, hierarchy, nodes[used], counted[used], weights))
    return _total(attributes)


def values_distortion(table: CompressedTable, values: Mapping[str, Values], weights: Weights = HEIGHT) -> Distortion:
    """Distortion from how often every released value of each column occurs.

    Raises:
        PolicyError: A released value is not a node of its column's hierarchy.
    """
    attributes = []
    for index, attribute in enumerate(table.attributes):
        hierarchy, counted = hierarchy_of(attribute), values[attribute.name]
        nodes, records = hierarchy.nodes_labelled(counted), np.array(list(counted.values()), np.int64)
        attributes.append(_attribute(table, index, hierarchy, nodes, records, weights))
    return _total(attributes)


def _attribute(
    table: CompressedTable,
    index: int,
    hierarchy: Hierarchy,
    nodes: npt.NDArray[Any],
    records: npt.NDArray[np.int64],
    weights: Weights,
) -> AttributeDistortion:
    if hierarchy.kind in ("ranges", "centres"):
        raise PolicyError(
            f"column '{hierarchy.name}' was released as ranges or means of numbers, which are not in a tree; give it a "
            "taxonomy"
        )
    tree = hierarchy.taxonomy
    details = weights.details(tree.height + 1, hierarchy.name)
    suppressed = table.records - int(records.sum())
    if suppressed:
        nodes, records = np.append(nodes, 0), np.append(records, suppressed)
    original = np.bincount(tree.level[hierarchy.leaves], table.value_counts(index))
    released = np.bincount(tree.level[nodes], records)
    lost = sum((Fraction(int(n)) * details[d] for d, n in enumerate(original)), Fraction(0))
    lost -= sum((Fraction(int(n)) * details[d] for d, n in enumerate(released)), Fraction(0))
    return AttributeDistortion(
        hierarchy.name,
        float(lost * weights.of(hierarchy.name)),
        float(records[~np.isin(nodes, hierarchy.leaves)].sum() / table.records),
        float(inconsistency(tree, nodes, records)),
        float(generalization_portion(tree, nodes, records)),
    )


def _total(attributes: Sequence[AttributeDistortion]) -> Distortion:
    return Distortion(
        sum(attribute.distortion for attribute in attributes),
        sum(attribute.modification_rate for attribute in attributes) / len(attributes),
        max(attribute.inconsistency for attribute in attributes),
        tuple(attributes),
    )
