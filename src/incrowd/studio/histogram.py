"""Where bars and intervals of numbers stand in a picture, in percent of its width, so that texts keep their size.

Numbers stand along a line. Where that would make intervals too narrow to see, as with incomes, every finest interval
gets half of its width from its numbers and half an equal share.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.studio.cuts import Levels, labels

BINS = 60
NARROW = 0.012  # of the width
Numbers = npt.NDArray[np.float64]


def picture(numbers: Numbers, counts: npt.NDArray[np.int64], levels: Levels) -> dict[str, Any]:
    edges, places = _scale(numbers, levels[0] if levels else [])
    below = np.append(0, np.cumsum(counts))
    return {
        "bars": _bars(numbers, counts, edges, places),
        "levels": [_intervals(numbers, below, level, edges, places) for level in levels],
        "knots": [[round(float(place), 5), float(edge)] for edge, place in zip(edges, places, strict=True)],
        "records": int(below[-1]),
    }


def _scale(numbers: Numbers, finest: Sequence[float]) -> tuple[Numbers, Numbers]:
    """Numbers, ascending, and the share of the width at which each stands; those between stand in between."""
    low, high = float(numbers[0]), float(numbers[-1])
    high += 1.0 if (numbers == np.floor(numbers)).all() else (high - low) / 100 or 1.0  # room for the last one
    edges = np.array([low, *(float(bound) for bound in finest if low < bound < high), high])
    straight = (edges - low) / (high - low)
    if len(edges) > 2 and np.diff(straight).min() < NARROW:
        return edges, (straight + np.linspace(0.0, 1.0, len(edges))) / 2
    return edges, straight


def _bars(numbers: Numbers, counts: npt.NDArray[np.int64], edges: Numbers, places: Numbers) -> list[dict[str, Any]]:
    where = np.interp(numbers, edges, places)
    bins = min(BINS, len(numbers)) if len(numbers) > 1 else 1
    bin_of = np.minimum((where * bins + 1e-6).astype(np.int64), bins - 1)
    records = np.bincount(bin_of, counts, minlength=bins)
    top = records.max() or 1
    firsts = np.searchsorted(bin_of, np.arange(bins))
    lasts = np.searchsorted(bin_of, np.arange(bins), side="right") - 1
    found = []
    for place in range(bins):
        if records[place]:
            first, last = (f"{numbers[end]:g}" for end in (firsts[place], lasts[place]))
            found.append(
                {
                    "x": _percent(place / bins),
                    "width": _percent(0.94 / bins),
                    "height": max(1.0, round(float(100 * records[place] / top), 2)),
                    "label": first if first == last else f"{first} to {last}",
                    "records": int(records[place]),
                }
            )
    return found


def _intervals(
    numbers: Numbers, below: npt.NDArray[np.int64], level: Sequence[float], edges: Numbers, places: Numbers
) -> list[dict[str, Any]]:
    ranks = [0, *np.searchsorted(numbers, np.array(level, np.float64)).tolist(), len(numbers)]
    ends = [0.0, *np.interp(np.array(level, np.float64), edges, places).tolist(), 1.0]
    return [
        {
            "x": _percent(ends[place]),
            "width": _percent(max(ends[place + 1] - ends[place] - 0.001, 0.0)),
            "label": name,
            "records": int(below[ranks[place + 1]] - below[ranks[place]]),
            "low": None if place == 0 else level[place - 1],
            "high": None if place == len(level) else level[place],
        }
        for place, name in enumerate(labels(level))
    ]


def _percent(share: float) -> str:
    return f"{100 * share:.3f}%"
