"""Looks at a table: what `incrowd inspect` finds, a preview, a picture of every column, and codes to count with later.

The codes of the first million rows go to a file, so that how many people stand alone on any columns can be counted
without reading the table again.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from incrowd.formats.registry import open_source
from incrowd.inspection.counting import CountedColumn, count_values
from incrowd.inspection.findings import stopping
from incrowd.inspection.inspection import inspection_of_counts
from incrowd.report.labels import shown
from incrowd.run import Run
from incrowd.studio.paths import private_file
from incrowd.studio.tasks.pictures import picture_of
from incrowd.table.missing import listed

if TYPE_CHECKING:
    from incrowd.formats.sources import Source

PREVIEW_ROWS = 30
CODES = "codes.npy"


def work(request: Mapping[str, Any], run: Run) -> dict[str, Any]:
    source = open_source(request["table"], **request["dialect"])
    run.stage("reading")
    records, counted = count_values(source, run)
    found = inspection_of_counts(source, records, counted, run, request["dialect"])
    run.stage("drawing")
    tokens = (*found.missing_values, *source.missing_values)
    columns = []
    for column, inspected in zip(counted, found.columns, strict=True):
        run.check()
        stops = stopping(inspected.findings)
        columns.append(
            {
                **inspected.to_json(),
                "warning": inspected.warning,
                "stops": stops,
                "picture": picture_of(column, inspected, tokens),
            }
        )
    save_codes(Path(request["folder"]), counted)
    return {
        **found.to_json(),
        "columns": columns,
        "sizes": [len(column.values) + 1 for column in counted],
        "proposal": tomllib.loads(found.policy_toml()),
        "preview": preview(source),
        "dialect": _dialect(source),
    }


def save_codes(folder: Path, counted: list[CountedColumn]) -> None:
    """Write the codes of the first rows, columns x rows, missing as 0."""
    rows = max((len(column.codes) for column in counted), default=0)
    codes = np.zeros((len(counted), rows), np.int32)
    for place, column in enumerate(counted):
        codes[place, : len(column.codes)] = column.codes + 1
    with private_file(folder / CODES) as file:
        np.save(file, codes, allow_pickle=False)


def preview(source: Source) -> dict[str, Any]:
    batch = next(islice(source.batches(), 1), None)
    if batch is None:
        return {"columns": list(source.columns), "rows": []}
    first = batch.slice(0, PREVIEW_ROWS)
    cells = [[_cell(value) for value in listed(first.column(name))] for name in first.schema.names]
    return {"columns": list(first.schema.names), "rows": [list(row) for row in zip(*cells, strict=True)]}


def _cell(value: Any) -> str | None:
    return None if value is None or value == "" else shown(value, 60)


def _dialect(source: Source) -> dict[str, Any]:
    """How a CSV file was read; nothing for other files."""
    dialect = getattr(source, "dialect", None)
    if dialect is None:
        return {}
    return {name: getattr(dialect, name) for name in ("separator", "quote", "encoding", "header")}
