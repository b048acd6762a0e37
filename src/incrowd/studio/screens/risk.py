"""Risk: what attackers could do before and after, every record's risk, who stands out, and by which columns."""

from __future__ import annotations

from typing import Any

from incrowd.studio.screens.screen import Form, Screen
from incrowd.studio.studio import Studio

TASK = "risk"
ATTACKERS = {
    "prosecutor": "knows that somebody is in the table",
    "journalist": "does not know who is in it",
}


def run(studio: Studio, form: Form) -> str:
    studio.run(TASK, studio.of_release(), "Counting the risk")
    return "The count has started."


def show(studio: Studio) -> dict[str, Any]:
    found = studio.project.result(TASK)
    shown = {"release": studio.result("release"), "job": studio.unfinished(TASK), "found": None}
    if found is None:
        return shown
    data = found["data"]
    sets = [{**each, "columns": columns(each["before"]), "attackers": attackers(each)} for each in data["sets"]]
    return {**shown, "found": {**data, "sets": sets}, "stale": not studio.is_of_release(TASK)}


def attackers(pair: dict[str, Any]) -> list[dict[str, Any]]:
    """For each attacker what it knows, and what it could do before and after; None where that is not known."""
    known = [
        {"name": name, "knows": knows, "before": pair["before"][name], "after": pair["after"][name]}
        for name, knows in ATTACKERS.items()
    ]
    both = {side: {"highest": None, "average": pair[side]["marketer"], "at_risk": None} for side in ("before", "after")}
    return [*known, {"name": "marketer", "knows": "links everybody, and counts how many links are right", **both}]


def columns(risk: dict[str, Any]) -> list[dict[str, Any]]:
    """By column, what it does for those who stand out in the original table; the column that does most first."""
    alone = risk["sample_uniques"]
    rows = [
        {"name": name, "share": share, "alone": alone["without"].get(name, 0)}
        for name, share in risk["special_uniques"]["contributions"].items()
    ]
    return sorted(rows, key=lambda row: (row["alone"], -row["share"], row["name"]))


SCREEN = Screen(
    "risk",
    "Risk",
    "What an attacker could do with the table and with the release, and who stands out.",
    show,
    actions={"run": run},
    needs="table",
    follows=("release", TASK),
    done=lambda studio: studio.is_of_release(TASK),
)
