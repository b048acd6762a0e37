"""Release: run the search with live progress, and see what came of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from incrowd.formats.registry import format_of
from incrowd.report.tables import TRIAL, trial_rows
from incrowd.studio import policy_settings
from incrowd.studio.screens import steps, why
from incrowd.studio.screens.compare import better
from incrowd.studio.screens.screen import Form, Screen
from incrowd.studio.studio import Studio

LEDGER = "this release is entered in the ledger when you export it"


def file_name(table: str) -> str:
    """What the rows of a release are called: in the format of their table."""
    known = format_of(Path(table))
    if known is None or known.writer is None or ".csv" in known.suffixes:
        return "release.csv"
    return f"release{known.suffixes[0]}"


def run(studio: Studio, form: Form) -> str:
    table = studio.project.table or ""
    request = {**studio.policy_task(), "name": file_name(table)}
    studio.run("release", request, "Making the release", fresh=True)
    return "The search has started."


def show(studio: Studio) -> dict[str, Any]:
    settings, found = studio.project.settings(), studio.result("release")
    shown = {
        "policy_problem": studio.policy_problem(settings),
        "sets": policy_settings.quasi_sets(settings),
        "method_name": settings.get("method", "auto"),
        "job": studio.unfinished("release"),
        "result": found,
    }
    if found is None:
        return shown
    made = figures(found)
    other = None if found["stale"] else better(studio, made["loss"])
    return {**shown, **made, "better": other, **steps.show(studio, found), **why.show(studio, found)}


def figures(found: dict[str, Any]) -> dict[str, Any]:
    summary = found["summary"]
    losses = [each["value"] for each in summary["cost"]["measures"] if each["name"] == "ncp"]
    return {
        "safe": summary["safe"],
        "cost": summary["cost"],
        "notes": [
            *([LEDGER] if found["policy"].get("ledger") else ()),
            *summary["done"]["notes"],
            *(hint.partition("; 'incrowd why'")[0] for hint in summary["done"]["hints"]),
        ],
        "trial": trial_rows(summary["done"].get("trial", ())),
        "trial_titles": TRIAL,
        "loss": losses[0] if losses else None,
        "rows": rows(found),
        "in_words": in_words(found),
        "dropped": [name for name in found["before"] if name not in found["after"]],
    }


def in_words(found: dict[str, Any]) -> list[dict[str, Any]]:
    """What each column lost, as an example of what its values became."""
    told = []
    for column in found["summary"]["cost"]["columns"]:
        name = column["name"]
        pairs = zip(found["before"].get(name, ()), found["after"].get(name, ()), strict=True)
        changed = next((pair for pair in pairs if pair[0] != pair[1]), None)
        told.append({**column, "example": changed if column["loss"] > 0 else None})
    return told


def rows(found: dict[str, Any]) -> dict[str, Any]:
    """A few records before and after: by column, whether it is one that others may know, and by row both values."""
    before, after = found["before"], found["after"]
    quasi = set(policy_settings.quasi_columns(found["policy"]))
    names = sorted(after, key=lambda name: name not in quasi)
    number = len(next(iter(after.values()), []))
    cells = [[(before[name][row], after[name][row]) for name in names] for row in range(number)]
    return {"names": names, "quasi": quasi, "cells": cells}


SCREEN = Screen(
    "release",
    "Release",
    "Run the search and see the result.",
    show,
    actions={"run": run, **steps.ACTIONS, **why.ACTIONS},
    parts={**steps.PARTS, **why.PARTS},
    needs="table",
    follows=("release", "steps", "why"),
    done=lambda studio: (found := studio.result("release")) is not None and not found["stale"],
)
