"""Why a column lost so much, on the screen Release (`parts/why.html`), and what helps, taken by a click."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from incrowd.errors import DataError, PolicyError
from incrowd.studio import policy_settings
from incrowd.studio.screens.compare import with_method
from incrowd.studio.screens.hierarchy_files import with_item
from incrowd.studio.screens.screen import OUT_OF_DATE, Act, Form, Part
from incrowd.studio.studio import Studio

MUCH = 0.9  # of a column is lost: it is almost completely generalized
MOST_TRIALS = 12


def show(studio: Studio, result: Mapping[str, Any]) -> dict[str, Any]:
    made, found, job = studio.project.result("release"), studio.project.result("why"), studio.jobs.latest("why")
    of = None if made is None else made["digest"]
    answer = found["data"] if found is not None and found["data"]["of"] == of else None
    running = job is not None and job.request.get("of") == of and job.state != "done"
    columns = [
        {"name": column["name"], "loss": column["loss"], "star": column["loss"] >= MUCH}
        for column in result["summary"]["cost"]["columns"]
    ]
    return {
        "why": {
            "columns": columns,
            "answer": answer,
            "digest": "" if found is None else found["digest"],
            "trials": [] if answer is None else answer["trials"][:MOST_TRIALS],
            "helpful": 0 if answer is None else sum(trial["helps"] for trial in answer["trials"][:MOST_TRIALS]),
            "job": job if running else None,
            "asked": job.request.get("column") if running and job is not None else answer and answer["column"],
        }
    }


def ask(studio: Studio, form: Form) -> str:
    made = studio.project.result("release")
    if made is None:
        raise DataError("there is no release yet; make one first")
    names = [column["name"] for column in made["data"]["summary"]["cost"]["columns"]]
    column = names[form.place("column", len(names))]
    request = {**studio.release_task(), "column": column, "of": made["digest"]}
    studio.run("why", request, f"Trying what would help {column}")
    return "Changes that could help are being tried."


def take(studio: Studio, form: Form) -> str:
    from incrowd.studio.screens.release import run

    found, made = studio.project.result("why"), studio.result("release")
    if found is None or made is None or form.one("digest") != found["digest"]:
        raise PolicyError(OUT_OF_DATE)
    trials = found["data"]["trials"][:MOST_TRIALS]
    trial = trials[form.place("trial", len(trials))]
    settings, parked = changed(studio, trial["words"], made["method"])
    studio.change(settings, parked)
    run(studio, form)
    return f"Now using {trial['change']}. The release is being made."


def changed(studio: Studio, tried: Mapping[str, Any], method: str) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """The policy with a change that was tried, and what is parked then."""
    settings, parked = studio.project.settings(), None
    settings.pop("max_steps", None)
    if settings.get("method", "auto") == "auto" and "method" not in tried:
        settings["method"] = method
    for option, value in tried.items():
        if option == "method":
            settings, _ = with_method(settings, value)
        elif option == "k":
            settings = policy_settings.with_k(settings, value)
        elif option == "quasi_identifiers":
            settings = policy_settings.with_sets(settings, value)
        elif option == "identifiers":
            settings, parked = policy_settings.with_role(
                settings, studio.project.parked, value[-1], policy_settings.DROP
            )
        elif option == "taxonomies":
            for column, item in value.items():
                settings["taxonomies"] = with_item(studio, column, item)["taxonomies"]
        else:
            settings[option] = value
    return settings, parked


ACTIONS: Mapping[str, Act] = {"why": ask, "take": take}
PARTS: Mapping[str, Part] = {}
