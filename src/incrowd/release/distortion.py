"""`distortion`: any release compared with its original."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from incrowd.engines.reading import compressed
from incrowd.engines.reading import missing_values as missing_texts
from incrowd.engines.registry import engine_of
from incrowd.formats.registry import open_source
from incrowd.formats.sources import Source
from incrowd.measures.distortion import Distortion, Values, values_distortion
from incrowd.measures.hierarchical_distance import HEIGHT, Weights
from incrowd.policy.making import make_policy
from incrowd.run import Run
from incrowd.table.missing import encoded
from incrowd.table.scales import text_of


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
    """Compare any release with its original.

    Args:
        original: Path of a file, or a dataframe.
        released: The same of the release.
        quasi_identifier: The columns to compare.
        taxonomies: As in `anonymize`; the hierarchies of columns without one are built from the original.
        weights: The weights of levels and attributes.
        missing_values: As in `anonymize`.
        types: As in `anonymize`.
        ranges: As in `anonymize`.

    Raises:
        PolicyError: A released value is not a node of its column's hierarchy.
    """
    reading: dict[str, Any] = {"missing_values": missing_values, "types": types, "ranges": ranges}
    policy = make_policy(quasi_identifiers=[list(quasi_identifier)], k=2, taxonomies=taxonomies, **reading)
    before, after = open_source(original), open_source(released)
    for source in (before, after):
        policy.check_columns(source.columns, source.name)
    table = compressed(engine_of(), before, policy, Run())
    values = _values_of(after, policy.attributes)
    for counted in values.values():
        for text in missing_texts(after, policy):
            if text in counted and text not in (None, "*"):
                counted[None] = counted.get(None, 0) + counted.pop(text)
    return values_distortion(table, values, weights)


def _values_of(source: Source, columns: Sequence[str]) -> dict[str, Values]:
    found: dict[str, Values] = {name: {} for name in columns}
    for batch in source.batches(columns, encoded=columns):
        for name in columns:
            column = encoded(batch.column(name), name)
            texts = [*text_of(column.dictionary).to_pylist(), None]
            indices = column.indices.fill_null(len(texts) - 1).to_numpy(zero_copy_only=False)
            for text, count in zip(texts, np.bincount(indices, minlength=len(texts)).tolist(), strict=True):
                if count:
                    found[name][text] = found[name].get(text, 0) + count
    return found
