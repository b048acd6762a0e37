"""The values of the columns that others may know, counted once by a job and kept in the project folder."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.studio import policy_words
from incrowd.studio.studio import CSV_WORDS, Studio
from incrowd.table.numbers import number_of
from incrowd.taxonomies.rules import Bounds, Intervals, Rule
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
        if self.comma and isinstance(rule, Intervals | Bounds):
            rule = replace(rule, comma=True)
        return rule.build(self.values)


def key_of(studio: Studio) -> str:
    """What the values are counted from: the table, and how it is read."""
    words = studio.project.words()
    return studio.digest_of(words.get("csv", {}), words.get("missing_values", []))


def count(studio: Studio, *, again: bool = False) -> None:
    """Start counting, unless that is done or being done."""
    words, key = studio.project.words(), key_of(studio)
    names = set(studio.names())
    wanted = [name for name in policy_words.quasi_columns(words) if name in names]
    known, last = studio.project.result("values"), studio.jobs.latest("values")
    if known is not None and known["data"]["key"] == key and set(wanted) <= set(known["data"]["columns"]):
        return
    told = {
        "columns": wanted,
        "dialect": {word: value for word, value in words.get("csv", {}).items() if word in CSV_WORDS},
        "missing_values": [text for text in words.get("missing_values", []) if isinstance(text, str)],
        "key": key,
    }
    same = last is not None and last.state != "done" and {word: last.words.get(word) for word in told} == told
    if last is not None and same and not (again and last.is_over):
        return  # it is running, or it was cancelled or failed and should not begin again by itself
    if wanted:
        studio.run("values", told, "Counting the values")


def values_of(studio: Studio, column: str) -> Values | None:
    """The values of a column; None where they are not counted yet."""
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
    told: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return Values(
        tuple(told["values"]), tuple(told["counts"]), told["missing"], told["distinct"], told.get("comma", False)
    )
