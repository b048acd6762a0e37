"""How a column was distributed, and how the release tells it: what an analyst loses who has only the release.

A released value stands for several original ones; the release tells no more than that each of them is possible. So its
records are shared out evenly among them, which is what somebody would do who knows no better, and both distributions
are compared on the original values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from incrowd.errors import PolicyError
from incrowd.report.labels import shown
from incrowd.table.attributes import NumberAttribute, TaxonomyAttribute
from incrowd.table.grouping import Codes, Floats, count

if TYPE_CHECKING:
    from incrowd.recodings.recoding import Parts, Recoding
    from incrowd.table.attributes import Attribute
    from incrowd.table.compressed import CompressedTable
    from incrowd.taxonomies.taxonomy import Taxonomy

BINS = 20  # of numbers
MIN_GROUPS = 3  # of a hierarchy that say something
MOST = 12  # categories; all others are one bar


def distribution(table: CompressedTable, recoding: Recoding, parts: Parts, attribute: Attribute) -> dict[str, Any]:
    before = table.value_counts(table.index(attribute.name)) / table.records
    after = _released_shares(table, recoding, parts, attribute)
    places, labels = _bars(attribute, before)
    shares = [np.bincount(places, weights, len(labels)) for weights in (before, after)]
    bars = [
        {"value": label, "before": round(float(first), 6), "after": round(float(second), 6)}
        for label, first, second in zip(labels, *shares, strict=True)
    ]
    distance = float(np.abs(before - after).sum() / 2)
    numbers = isinstance(attribute, NumberAttribute)
    return {"kind": "numbers" if numbers else "categories", "bars": bars, "distance": round(distance, 6)}


def _released_shares(table: CompressedTable, recoding: Recoding, parts: Parts, attribute: Attribute) -> Floats:
    """The share of each original value, as the release shows it."""
    cells = parts.cells[attribute.name].astype(np.int64)
    records = parts.records if parts.kept is None else parts.records * parts.kept
    there = records > 0
    released = count(cells[there], int(cells.max()) + 1, records[there])
    start, stop, sets = _covers(table, recoding, parts, attribute)
    shares = np.zeros(attribute.size + 1)
    alone = np.zeros(attribute.size)
    for cell in np.flatnonzero(released).tolist():
        if sets is not None:
            alone[sets[cell]] += released[cell] / len(sets[cell])
        else:
            share = released[cell] / (stop[cell] - start[cell])
            shares[start[cell]] += share
            shares[stop[cell]] -= share
    return np.asarray((np.cumsum(shares)[:-1] + alone) / max(1, int(released.sum())))


def _covers(
    table: CompressedTable, recoding: Recoding, parts: Parts, attribute: Attribute
) -> tuple[Codes, Codes, dict[int, Codes] | None]:
    """The codes that each released value stands for: a range of them where it is a node, else a set."""
    try:
        hierarchy, nodes = recoding.in_hierarchy(attribute)
    except PolicyError:  # a value that the search made itself
        of_tuple = parts.cells[attribute.name]
        of_tuple = of_tuple if parts.of_tuple is None else of_tuple[parts.of_tuple]
        pairs = np.unique(np.stack([of_tuple, table.codes[table.index(attribute.name)]]).astype(np.int64), axis=1)
        cells, starts = np.unique(pairs[0], return_index=True)
        found = np.split(pairs[1], starts[1:])
        nothing: Codes = np.empty(0, np.int64)
        return nothing, nothing, dict(zip(cells.tolist(), found, strict=True))
    first, last = hierarchy.spans()
    return first[nodes], last[nodes], None


def _bars(attribute: Attribute, before: Floats) -> tuple[Codes, list[str]]:
    """Which bar each value belongs to, and what the bars are called."""
    values = attribute.values().to_pylist()
    if len(values) <= (BINS if isinstance(attribute, NumberAttribute) else MOST):
        return np.arange(len(values)), [shown(value) for value in values]
    if isinstance(attribute, NumberAttribute):
        return _bins(attribute, values)
    if isinstance(attribute, TaxonomyAttribute) and (nodes := _groups(attribute.taxonomy, before)) is not None:
        start, stop = attribute.taxonomy.start, attribute.taxonomy.stop
        return np.repeat(np.arange(len(nodes)), stop[nodes] - start[nodes]), [
            shown(attribute.taxonomy.labels[node]) for node in nodes
        ]
    frequent = np.sort(np.argsort(-before, kind="stable")[: MOST - 1])
    places = np.full(len(values), len(frequent))
    places[frequent] = np.arange(len(frequent))
    return places, [*(shown(values[code]) for code in frequent), f"{len(values) - len(frequent):,} other values"]


def _groups(taxonomy: Taxonomy, before: Floats) -> list[int] | None:
    """Groups of the hierarchy that every value is in one of, from left to right; None where it has no such groups.

    The largest one is opened again and again, as long as there is room for what is in it.
    """
    below = np.append(0.0, np.cumsum(before))
    shares = below[taxonomy.stop] - below[taxonomy.start]
    nodes = [0]
    while True:
        room = BINS + 1 - len(nodes)
        fitting = [node for node in nodes if taxonomy.children[node] and len(taxonomy.children[node]) <= room]
        if not fitting:
            return nodes if len(nodes) >= MIN_GROUPS else None
        place = nodes.index(max(fitting, key=lambda node: (shares[node], -node)))
        nodes[place : place + 1] = taxonomy.children[nodes[place]]


def _bins(attribute: NumberAttribute, values: Sequence[str | None]) -> tuple[Codes, list[str]]:
    """Bins of equal width over the numbers that occur; empty ones are left out, missing values are a bin."""
    numbers = np.asarray(attribute.numbers).astype(np.float64)
    width = (numbers[-1] - numbers[0]) / BINS
    if attribute.scale.kind == "integer" and width:
        width = np.ceil(width)
    places = np.minimum((numbers - numbers[0]) // width if width else numbers * 0, BINS - 1).astype(np.int64)
    places = np.unique(places, return_inverse=True)[1]
    firsts = np.flatnonzero(np.diff(places, prepend=-1))
    lasts = np.append(firsts[1:], len(places)) - 1
    pairs = [
        (shown(values[first], 24), shown(values[last], 24))
        for first, last in zip(firsts.tolist(), lasts.tolist(), strict=True)
    ]
    labels = [low if low == high else f"{low} to {high}" for low, high in pairs]
    if attribute.missing is None:
        return places, labels
    return np.append(places, len(labels)), [*labels, shown(None)]
