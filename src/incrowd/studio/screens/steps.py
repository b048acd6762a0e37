"""The slider through the steps of an anytime search, on the screen Release (`parts/steps.html`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from incrowd.errors import DataError, PolicyError
from incrowd.report.charts import path_charts
from incrowd.studio.screens.screen import OUT_OF_DATE, Act, Form, Part
from incrowd.studio.studio import Studio


def key_of(studio: Studio, result: Mapping[str, Any]) -> str:
    """Which search a release came from; where it was stopped is no part of it."""
    settings = {option: value for option, value in result["policy"].items() if option not in ("max_steps", "method")}
    return studio.digest_of(result["method"], settings)


def look(studio: Studio, result: Mapping[str, Any]) -> None:
    request = {**studio.release_task(), "key": key_of(studio, result)}
    studio.run("steps", request, "Replaying the steps of the search")


def known_steps(studio: Studio, result: Mapping[str, Any]) -> dict[str, Any] | None:
    found = studio.project.result("steps")
    if found is None or found["data"]["key"] != key_of(studio, result):
        return None
    data: dict[str, Any] = found["data"]
    return {**data, "digest": found["digest"]}


def show(studio: Studio, result: Mapping[str, Any]) -> dict[str, Any]:
    if result["begins"] is None or not result["steps"]:
        return {"steps": None, "steps_job": None, "steps_can": False}
    known, job = known_steps(studio, result), studio.jobs.latest("steps")
    own = job is not None and job.request.get("key") == key_of(studio, result)
    if known is None and "release" in studio.digests and not own:
        look(studio, result)  # it is at hand; otherwise the whole search would run again, which somebody should want
        job, own = studio.jobs.latest("steps"), True
    shown = job if own and known is None else None
    return {
        "steps": known,
        "steps_job": shown,
        "steps_can": True,
        **(_stop(studio, known, _released(known, result), result) if known else {}),
    }


def _released(known: Mapping[str, Any], result: Mapping[str, Any]) -> int:
    """The stop of the slider at which the release is, or the nearest one before."""
    steps = [stop["step"] for stop in known["stops"]]
    return max(place for place, step in enumerate(steps) if step <= result["steps"] or place == 0)


def _stop(studio: Studio, known: Mapping[str, Any], place: int, result: Mapping[str, Any]) -> dict[str, Any]:
    stops = known["stops"]
    path = {
        "anonymity": [{"step": stop["step"], "value": stop["anonymity"]} for stop in stops],
        "losses": [{"step": stop["step"], "value": stop["loss"]} for stop in stops],
        "chosen": known["total"],
        "asked": min(known["asked"]),
    }
    released = stops[place]["step"] == result["steps"]
    return {
        "stop": stops[place],
        "stop_place": place,
        "path": path_charts(path, place),
        "released": released,
        "steps": known,
        "making": studio.jobs.running("release") is not None,
    }


def show_stop(studio: Studio, place: int) -> dict[str, Any]:
    result = studio.result("release")
    known = None if result is None else known_steps(studio, result)
    if result is None or known is None or place >= len(known["stops"]):
        raise PolicyError(OUT_OF_DATE)
    return {**_stop(studio, known, place, result), "result": result}


def again(studio: Studio, form: Form) -> str:
    """Look at the steps, which may mean to search once more."""
    result = studio.result("release")
    if result is None or result["begins"] is None:
        raise DataError("there is no release with steps; make one with a method such as tdr")
    look(studio, result)
    return "The steps are being replayed."


def choose(studio: Studio, form: Form) -> str:
    from incrowd.studio.screens.release import run

    result = studio.result("release")
    known = None if result is None else known_steps(studio, result)
    if result is None or known is None or form.one("digest") != known["digest"]:
        raise PolicyError(OUT_OF_DATE)
    stop = known["stops"][form.place("stop", len(known["stops"]))]
    if not known["can_stop"]:
        raise PolicyError(f"the method {known['method']} cannot stop at a step; choose tdr on the screen Protect")
    settings = {**studio.project.settings(), "method": known["method"], "max_steps": stop["step"]}
    studio.change(settings)
    run(studio, form)
    return f"The release stops after step {stop['step']:,}; it is being made."


def to_the_end(studio: Studio, form: Form) -> str:
    from incrowd.studio.screens.release import run

    settings = studio.project.settings()
    settings.pop("max_steps", None)
    studio.change(settings)
    run(studio, form)
    return "The search will run to its end."


ACTIONS: Mapping[str, Act] = {"steps": again, "choose-step": choose, "all-steps": to_the_end}
PARTS: Mapping[str, Part] = {"step": Part("parts/step.html", show_at=show_stop)}
