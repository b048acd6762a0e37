"""The values of the columns that others may know, counted once by a job and kept in the project folder."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.studio import policy_settings
from incrowd.studio.studio import CSV_OPTIONS, Studio
from incrowd.table.numbers import number_of
from incrowd.taxonomies.rules import Bounds, Coding, Intervals, Rule
from incrowd.taxonomies.taxonomy import Taxonomy


@dataclass(frozen=True)
class Values:
    """The values of a column.

    Args:
        values: The distinct ones, in alphabetical order; missing ones are not among them.
        counts: The records of each.
        missing: Records without a value.
        distinct: How many distinct ones there are, also where not all are listed.
        comma: Whether they are numbers with a decimal comma.
    """

    values: tuple[str, ...]
    counts: tuple[int, ...]
    missing: int
    distinct: int
    comma: bool = False

    @property
    def is_whole(self) -> bool:
        return len(self.values) == self.distinct

    @cached_property
    def records(self) -> dict[str, int]:
        return dict(zip(self.values, self.counts, strict=True))

    @cached_property
    def numbers(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
        """Those values that are numbers, ascending, and the records of each."""
        found = [(number, count) for text, count in self.records.items() if (number := self._number(text)) is not None]
        found.sort()
        return np.array([number for number, _ in found]), np.array([count for _, count in found], np.int64)

    def _number(self, text: str) -> float | None:
        return number_of(text.replace(".", "").replace(",", ".") if self.comma else text)

    def tree(self, rule: Rule) -> Taxonomy:
        if self.comma and isinstance(rule, Intervals | Bounds | Coding):
            rule = replace(rule, comma=True)
        return rule.build(self.values)


def key_of(studio: Studio) -> str:
    """What the values are counted from: the table, and how it is read."""
    settings = studio.project.settings()
    return studio.digest_of(settings.get("csv", {}), settings.get("missing_values", []))


def count(studio: Studio, *, again: bool = False) -> None:
    """Start counting, unless that is done or being done."""
    settings, key = studio.project.settings(), key_of(studio)
    names = set(studio.names())
    wanted = [name for name in policy_settings.quasi_columns(settings) if name in names]
    known, last = studio.project.result("values"), studio.jobs.latest("values")
    if known is not None and known["data"]["key"] == key and set(wanted) <= set(known["data"]["columns"]):
        return
    request = {
        "columns": wanted,
        "dialect": {option: value for option, value in settings.get("csv", {}).items() if option in CSV_OPTIONS},
        "missing_values": [text for text in settings.get("missing_values", []) if isinstance(text, str)],
        "key": key,
    }
    waiting = last is not None and last.state != "done" and not (again and last.is_over)
    if last is not None and waiting and all(last.request.get(name) == value for name, value in request.items()):
        return  # it is running, or it was cancelled or failed and should not begin again by itself
    if wanted:
        studio.run("values", request, "Counting the values")


def values_of(studio: Studio, column: str) -> Values | None:
    found = studio.project.result("values")
    if found is None or found["data"]["key"] != key_of(studio) or column not in found["data"]["columns"]:
        return None
    path = studio.project.folder / "results" / "values" / Path(found["data"]["columns"][column]["file"]).name
    try:
        return _read(path, path.stat().st_mtime_ns)
    except (OSError, ValueError, KeyError):
        return None


@lru_cache(maxsize=8)
def _read(path: Path, changed: int) -> Values:
    """A file of values; `changed` tells one version of it from another."""
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return Values(
        tuple(found["values"]), tuple(found["counts"]), found["missing"], found["distinct"], found.get("comma", False)
    )
