"""Walks through the steps of a search: what the release would be like if the search had stopped there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from incrowd.formats.registry import open_source
from incrowd.formats.sources import Source
from incrowd.policy.methods import options_of
from incrowd.recodings.steps import Step
from incrowd.release.release import Release
from incrowd.report.labels import shown
from incrowd.run import Run
from incrowd.studio.tasks.releases import again

MOST_STOPS = 60  # of a longer search, so many steps about evenly
ROWS, LOOKED_AT = 8, 400  # rows that are shown, of so many
MOST_CHILDREN = 6


def work(request: Mapping[str, Any], run: Run) -> dict[str, Any]:
    """Look at the release after every step; "key" says which search it was."""
    release = again(request, run)
    number = len(release.steps)
    count = min(number, MOST_STOPS) + 1
    chosen = sorted({round(place * number / max(1, count - 1)) for place in range(count)})
    rows = _first_rows(release.source)
    run.stage("looking at the steps")
    stops = []
    for place, step in enumerate(chosen):
        run.check()
        run.amount(place, len(chosen), "steps")
        stops.append(_stop(release, step, rows))
    return {
        "key": request["key"],
        "stops": stops,
        "total": number,
        "begins": release.found.begins,
        "can_stop": release.found.begins == "general" and "max_steps" in options_of(release.policy.method),
        "asked": [qid.k for qid in release.policy.quasi_identifiers],
        "method": release.policy.method,
    }


def _first_rows(source: Source) -> Source:
    """The first rows, as a table of their own, so that the steps do not read the file again and again."""
    batch = next(iter(source.batches()), None)
    return source if batch is None else open_source(pa.Table.from_batches([batch.slice(0, LOOKED_AT)]))


def _stop(release: Release, step: int, rows: Source) -> dict[str, Any]:
    at = release.at(step)
    total = at.measures.total
    before, after = release.engine.preview(rows, at.recoding, ROWS)
    names = [name for name in at.recoding.names if name in after.schema.names]
    cells = [
        [
            [shown(left, 40), shown(right, 40)]
            for left, right in zip(before[name].to_pylist(), after[name].to_pylist(), strict=True)
        ]
        for name in names
    ]
    return {
        "step": step,
        "anonymity": min(part.anonymity for part in at.measures.quasi_identifiers),
        "loss": float(total.ncp),
        "crowds": int(total.values["classes"] or 0),
        "left_out": int(total.suppressed),
        "change": _change(release.steps[step - 1]) if step else None,
        "names": names,
        "rows": [list(row) for row in zip(*cells, strict=True)],
    }


def _change(step: Step) -> dict[str, Any]:
    children = [shown(child, 40) for child in step.children[:MOST_CHILDREN]]
    return {
        "column": step.attribute,
        "value": shown(step.value, 40),
        "children": children,
        "more": max(0, len(step.children) - MOST_CHILDREN),
    }
