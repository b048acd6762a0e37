"""Counts the values of the columns that others may know, each into a file of its own, for the screen Hierarchies."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from incrowd.formats.registry import open_source
from incrowd.inspection.counting import CountedColumn, count_values
from incrowd.run import Run
from incrowd.studio.paths import private_file
from incrowd.table.missing import is_missing
from incrowd.table.scales import has_commas, text_of

MOST_VALUES = 200_000  # of a column; of more, the most frequent ones


def work(request: Mapping[str, Any], run: Run) -> dict[str, Any]:
    """Count the values of "columns" into files in "folder"; "key" says what they were counted from."""
    source = open_source(request["table"], **request["dialect"])
    run.stage("reading")
    _, counted = count_values(source, run, request["columns"])
    tokens = (*request["missing_values"], *source.missing_values)
    found = {}
    for place, column in enumerate(counted):
        run.check()
        counted_values = _values(column, tokens)
        name = f"{place}.json"
        with private_file(Path(request["folder"]) / name) as file:
            file.write(json.dumps(counted_values, ensure_ascii=False).encode())
        found[column.name] = {"file": name, "distinct": counted_values["distinct"]}
    return {"columns": found, "key": request["key"]}


def _values(column: CountedColumn, tokens: tuple[str, ...]) -> dict[str, Any]:
    """The values in alphabetical order, with the records of each."""
    gone = is_missing(column.values, tokens)
    values = column.values.filter(pa.array(~gone, pa.bool_()))
    texts: list[str] = text_of(values).to_pylist()
    counts = column.counts[~gone]
    chosen = np.argsort(-counts, kind="stable")[:MOST_VALUES].tolist()
    pairs = sorted((texts[place], int(counts[place])) for place in chosen)
    return {
        "values": [text for text, _ in pairs],
        "counts": [count for _, count in pairs],
        "missing": column.nulls + int(column.counts[gone].sum()),
        "distinct": len(texts),
        "comma": has_commas(values, None, column.commas),
    }
