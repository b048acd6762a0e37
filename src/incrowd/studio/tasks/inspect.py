"""Looks at a table: what `incrowd inspect` finds, a preview, a picture of every column, and codes to count with later.

The codes of the first million rows go to a file, so that how many people stand alone on any columns can be counted
without reading the table again.
"""

from __future__ import annotations

import os
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
from incrowd.studio.tasks.pictures import picture_of
from incrowd.table.missing import listed

if TYPE_CHECKING:
    from incrowd.formats.sources import Source

PREVIEW_ROWS = 30
CODES = "codes.npy"


def work(words: Mapping[str, Any], run: Run) -> dict[str, Any]:
    """Inspect a table.

    Args:
        words: "table", "dialect" and "folder".
        run: Told what happens, and asked whether to go on.
    """
    source = open_source(words["table"], **words["dialect"])
    run.stage("reading")
    records, counted = count_values(source, run)
    found = inspection_of_counts(source, records, counted, run, words["dialect"])
    run.stage("drawing")
    tokens = (*found.missing_values, *source.missing_values)
    columns = []
    for column, told in zip(counted, found.columns, strict=True):
        run.check()
        stops = stopping(told.findings)
        columns.append(
            {**told.to_json(), "warning": told.warning, "stops": stops, "picture": picture_of(column, told, tokens)}
        )
    save_codes(Path(words["folder"]), counted)
    return {
        **found.to_json(),
        "columns": columns,
        "sizes": [len(column.values) + 1 for column in counted],
        "proposal": tomllib.loads(found.policy_toml()),
        "preview": preview(source),
        "dialect": _dialect(source),
    }


def save_codes(folder: Path, counted: list[CountedColumn]) -> None:
    """Write the codes of the first rows, columns x rows, missing as 0, for the owner alone."""
    path, hidden = folder / CODES, folder / f".{CODES}"
    rows = max((len(column.codes) for column in counted), default=0)
    with os.fdopen(os.open(hidden, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "wb") as file:
        codes = np.zeros((len(counted), rows), np.int32)
        for place, column in enumerate(counted):
            codes[place, : len(column.codes)] = column.codes + 1
        np.save(file, codes, allow_pickle=False)
    hidden.replace(path)


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
    return {word: getattr(dialect, word) for word in ("separator", "quote", "encoding", "header")}
