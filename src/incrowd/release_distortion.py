"""Distortion, modification, inconsistency and generalization portion of any release, also of one read from a file.

What a cell tells depends on its own value only, so that all of these follow from how often every value occurs in each
column, before and after. Suppressed records count as generalized to the root in every attribute.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.engines import arrow
from incrowd.engines.sources import Source, open_source
from incrowd.errors import PolicyError
from incrowd.hierarchical_distance import HEIGHT, Weights, generalization_portion, inconsistency
from incrowd.policy import make_policy
from incrowd.recodings.local.hierarchies import Hierarchy, hierarchy_of
from incrowd.recodings.local.recoding import AnyRecoding, LocalRecoding
from incrowd.recodings.recoding import encoded
from incrowd.table import CompressedTable

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


def distortion(
    original: Any,
    released: Any,
    *,
    quasi_identifier: Sequence[str],
    taxonomies: Any = None,
    weights: Weights = HEIGHT,
    missing_values: Iterable[str] = (),
    types: Mapping[str, str] | None = None,
    ranges: Mapping[str, tuple[Any, Any]] | None = None,
) -> Distortion:
    """Compare a release with its original, whoever made it.

    Args:
        original: Path of a CSV or Parquet file, or a dataframe.
        released: The same of the release.
        quasi_identifier: The columns to compare.
        taxonomies: As in `anonymize`; the hierarchies of columns without one are built from the original.
        weights: The weights of levels and attributes.
        missing_values: As in `anonymize`.
        types: As in `anonymize`.
        ranges: As in `anonymize`.

    Raises:
        PolicyError: A released value is no node of its column's hierarchy.
    """
    words: dict[str, Any] = {"missing_values": missing_values, "types": types, "ranges": ranges}
    policy = make_policy(quasi_identifiers=[list(quasi_identifier)], k=2, taxonomies=taxonomies, **words)
    before, after = open_source(original), open_source(released)
    for source in (before, after):
        policy.check_columns(source.columns, source.name)
    table = arrow.compress(before, policy)
    values = _values_of(after, policy.attributes)
    for counted in values.values():
        for text in arrow.missing_values(after, policy):
            if text in counted and text not in (None, "*"):
                counted[None] = counted.get(None, 0) + counted.pop(text)
    return _distortion(table, values, weights)


def _values_of(source: Source, columns: Sequence[str]) -> dict[str, Values]:
    """How often each value of some columns occurs, as text."""
    found: dict[str, Values] = {name: {} for name in columns}
    for batch in source.batches(columns, encoded=columns):
        for name in columns:
            column = encoded(batch.column(name), name)
            texts = [*(None if value is None else str(value) for value in column.dictionary.to_pylist()), None]
            indices = column.indices.fill_null(len(texts) - 1).to_numpy(zero_copy_only=False)
            for text, count in zip(texts, np.bincount(indices, minlength=len(texts)).tolist(), strict=True):
                if count:
                    found[name][text] = found[name].get(text, 0) + count
    return found


def release_distortion(table: CompressedTable, recoding: AnyRecoding, weights: Weights = HEIGHT) -> Distortion:
    """Distortion of a release from its compressed table and its recoding."""
    if isinstance(recoding, LocalRecoding):
        mapping = recoding.mapping
        records = np.bincount(mapping.part_classes, mapping.part_records).astype(np.int64)
        return _total(
            [
                _attribute(table, a, hierarchy, mapping.classes[:, a], records, weights)
                for a, hierarchy in enumerate(mapping.hierarchies)
            ],
        )
    cells = {a.name: recoding.cells(a.name, a.values())[table.codes[i]] for i, a in enumerate(table.attributes)}
    kept = recoding.released([cells[name] for name in recoding.names])
    counts = table.counts if kept is None else table.counts * kept
    values: dict[str, Values] = {}
    for name in recoding.names:
        counted = np.bincount(cells[name], counts).astype(np.int64).tolist()
        labels = recoding[name].labels
        values[name] = {label: n for label, n in zip(labels, counted, strict=False) if n}
    return _distortion(table, values, weights)


def _distortion(table: CompressedTable, values: Mapping[str, Values], weights: Weights) -> Distortion:
    attributes = []
    for index, attribute in enumerate(table.attributes):
        hierarchy, counted = hierarchy_of(attribute), values[attribute.name]
        node_of = {label: node for node, label in enumerate(hierarchy.taxonomy.labels)}
        if unknown := [label for label in counted if label not in node_of]:
            raise PolicyError(
                f"column '{attribute.name}' was released with values that are no nodes of its hierarchy, such as "
                f"'{unknown[0]}'; give the taxonomy that it was released with"
            )
        nodes = np.array([node_of[label] for label in counted], np.int64)
        records = np.array(list(counted.values()), np.int64)
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
    if hierarchy.kind == "ranges":
        raise PolicyError(
            f"column '{hierarchy.name}' was released as ranges of numbers, which lie in no tree; give it a taxonomy"
        )
    tree = hierarchy.taxonomy
    details = weights.details(tree.height + 1)
    suppressed = table.records - int(records.sum())
    if suppressed:
        nodes, records = np.append(nodes, 0), np.append(records, suppressed)
    original = np.bincount(tree.depth[hierarchy.leaves], table.value_counts(index))
    released = np.bincount(tree.depth[nodes], records)
    lost = sum((Fraction(int(n)) * details[d] for d, n in enumerate(original)), Fraction(0))
    lost -= sum((Fraction(int(n)) * details[d] for d, n in enumerate(released)), Fraction(0))
    return AttributeDistortion(
        hierarchy.name,
        float(lost * weights.of(hierarchy.name)),
        float(records[~np.isin(nodes, hierarchy.leaves)].sum() / table.records),
        inconsistency(tree, nodes, records),
        generalization_portion(tree, nodes, records),
    )


def _total(attributes: Sequence[AttributeDistortion]) -> Distortion:
    return Distortion(
        sum(attribute.distortion for attribute in attributes),
        sum(attribute.modification_rate for attribute in attributes) / len(attributes),
        max(attribute.inconsistency for attribute in attributes),
        tuple(attributes),
    )
