"""Counts the values of the columns that others may know, each into a file of its own, for the screen Hierarchies."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from incrowd.formats.registry import open_source
from incrowd.inspection.counting import CountedColumn, count_values
from incrowd.run import Run
from incrowd.table.missing import is_missing
from incrowd.table.scales import has_commas, text_of

MOST_VALUES = 200_000  # of a column; of more, the most frequent ones


def work(words: Mapping[str, Any], run: Run) -> dict[str, Any]:
    """Count the values of columns.

    Args:
        words: "table", its "dialect", the "columns", texts that stand for "missing_values", "key", which says what all
            this was counted from, and "folder", where the files go.
        run: Told what happens, and asked whether to go on.
    """
    source = open_source(words["table"], **words["dialect"])
    run.stage("reading")
    _, counted = count_values(source, run, words["columns"])
    tokens = (*words["missing_values"], *source.missing_values)
    found = {}
    for place, column in enumerate(counted):
        run.check()
        told = _values(column, tokens)
        name = f"{place}.json"
        _write(Path(words["folder"]) / name, told)
        found[column.name] = {"file": name, "distinct": told["distinct"]}
    return {"columns": found, "key": words["key"]}


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


def _write(path: Path, told: Mapping[str, Any]) -> None:
    hidden = path.with_name(f".{path.name}")
    with os.fdopen(os.open(hidden, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        json.dump(told, file, ensure_ascii=False, separators=(",", ":"))
    hidden.replace(path)
