"""Attack: attackers are played against the release; what each assumes, what it achieved, and what that means."""

from __future__ import annotations

from typing import Any

from incrowd.report.charts import excess_chart
from incrowd.studio.screens.release import file_name
from incrowd.studio.screens.screen import Form, Screen
from incrowd.studio.studio import Studio


def run(studio: Studio, form: Form) -> str:
    request = {**studio.of_release(), "name": file_name(studio.project.table or "")}
    studio.run("attack", request, "Attacking the release")
    return "The attacks have started."


def show(studio: Studio) -> dict[str, Any]:
    found = studio.project.result("attack")
    shown = {"release": studio.result("release"), "job": studio.unfinished("attack"), "found": None}
    if found is None:
        return shown
    data = found["data"]
    return {
        **shown,
        "found": data,
        "stale": not studio.is_of_release("attack"),
        "attacks": [{**about, "row": row} for about, row in zip(data["attacks"], data["rows"], strict=True)],
        "leaks": sum(row["leak"] for row in data["rows"]),
        "chart": excess_chart(data["rows"], data["max_excess"]) if data["rows"] else None,
    }


SCREEN = Screen(
    "attack",
    "Attack",
    "Play attackers against the release, and see what each of them learns.",
    show,
    actions={"run": run},
    needs="table",
    follows=("release", "attack"),
    done=lambda studio: studio.is_of_release("attack"),
)
