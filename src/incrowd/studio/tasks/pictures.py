"""A small picture of the values of a column: bins of numbers and dates, or its most frequent values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from incrowd.errors import DataError
from incrowd.inspection.columns import Column
from incrowd.inspection.counting import CountedColumn
from incrowd.report.labels import shown
from incrowd.table.missing import is_missing
from incrowd.table.scales import scale_of

BINS = 24


def picture_of(column: CountedColumn, inspected: Column, tokens: Sequence[str]) -> dict[str, Any]:
    """Bars with their records: "numbers" of equal width, or "values", the most frequent first."""
    if inspected.quantiles:
        return {"kind": "numbers", "bars": _bins(column, tokens)}
    bars = [{"value": shown(value, 40), "records": count} for value, count in inspected.top]
    rest = inspected.records - inspected.missing - sum(count for _, count in inspected.top)
    more = inspected.distinct - len(inspected.top)
    return {"kind": "values", "bars": bars, "more": more, "rest": rest}


def _bins(column: CountedColumn, tokens: Sequence[str]) -> list[dict[str, Any]]:
    gone = is_missing(column.values, tokens)
    values, counts = column.values.filter(pa.array(~gone, pa.bool_())), column.counts[~gone]
    try:
        scale = scale_of(values, column.name, commas=column.commas)
    except DataError:
        return []
    if scale is None:
        return []
    exact = scale.numbers(values, column.name)
    order = np.argsort(exact, kind="stable")
    exact, counts = exact[order], counts[order]
    numbers = exact.astype(np.float64)
    low, high = numbers[0], numbers[-1]
    width = (high - low) / BINS
    if scale.kind != "number" and width:
        width = np.ceil((high - low + 1) / BINS)
    places = np.minimum(((numbers - low) // width if width else numbers * 0), BINS - 1).astype(np.int64)
    records = np.bincount(places, counts).astype(np.int64)
    firsts = np.searchsorted(places, np.arange(len(records)), side="left")
    lasts = np.searchsorted(places, np.arange(len(records)), side="right") - 1
    bars = []
    for place, number in enumerate(records.tolist()):
        if lasts[place] < firsts[place]:
            bars.append({"value": "", "records": 0})
            continue
        first, last = (scale.text(exact[end]) for end in (firsts[place], lasts[place]))
        bars.append({"value": first if first == last else f"{first} to {last}", "records": number})
    return bars
