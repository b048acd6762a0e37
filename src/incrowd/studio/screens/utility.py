"""Utility: what analyses of the release still say: distributions, correlations, measures, and models of your choice."""

from __future__ import annotations

from typing import Any

from incrowd.errors import PolicyError
from incrowd.report.charts import error_chart
from incrowd.studio import policy_settings
from incrowd.studio.screens.screen import Form, Screen
from incrowd.studio.studio import Studio

TASK = "utility"
MODELS = {
    "tree": "decision or regression tree",
    "linear": "linear regression, of numbers",
    "bayes": "naive Bayes, of classes",
    "c45": "C4.5, of classes",
}
USUAL = ("tree",)
CLASSES, NUMBERS = {"tree", "bayes", "c45"}, {"tree", "linear"}
NUMERIC = ("whole number", "number")
MOST_CLASSES = 50  # that a model tells apart
CHANGED = 0.1  # a correlation that moved by more than that is marked


def targets(studio: Studio, made: dict[str, Any]) -> list[str]:
    """The columns that a model can predict: all that are not dropped and have a few values or are numbers."""
    dropped = policy_settings.roles(made["policy"], studio.names())
    return [
        column["name"]
        for column in studio.known_columns()
        if dropped[column["name"]] not in (policy_settings.DROP, policy_settings.UNIT)
        and column["distinct"] > 1
        and (column["distinct"] <= MOST_CLASSES or column["type"] in NUMERIC)
    ]


def proposed(studio: Studio, made: dict[str, Any], known: list[str]) -> str | None:
    """What to predict first: the target of the policy, else what it protects, else what it leaves as it is."""
    roles = policy_settings.roles(made["policy"], studio.names())
    order = (policy_settings.TARGET, policy_settings.SENSITIVE, policy_settings.KEEP)
    return next((name for role in order for name in known if roles[name] == role), None)


def run(studio: Studio, form: Form) -> str:
    request = studio.of_release()
    known = targets(studio, studio.result("release") or {})
    models = [name for name in MODELS if name in form.all("model")]
    if not models:
        raise PolicyError("no model is chosen; choose at least one")
    target = known[form.place("target", len(known))]
    studio.run(TASK, {**request, "target": target, "models": models}, f"Predicting {target}")
    return "The models are being trained."


def show(studio: Studio) -> dict[str, Any]:
    made, found = studio.result("release"), studio.project.result(TASK)
    shown: dict[str, Any] = {"release": made, "job": studio.unfinished(TASK), "found": None}
    if made is None:
        return shown
    known, data = targets(studio, made), None if found is None else found["data"]
    target = data["target"] if data else proposed(studio, made, known)
    cost = made["summary"]["cost"]
    shown |= {
        "columns": sorted(cost["columns"], key=lambda each: -each["distribution"]["distance"]),
        "changes": cost["association"]["changes"],
        "changed": CHANGED,
        "measures": [each for each in cost["measures"] if each["value"] is not None],
        "targets": known,
        "target": target,
        "models": MODELS,
        "chosen": data["models"] if data else USUAL,
        "stale": not studio.is_of_release(TASK),
    }
    return shown if data is None else {**shown, "found": data, "trials": trials(data)}


def trials(found: dict[str, Any]) -> list[dict[str, Any]]:
    """For each model its errors as a picture, and what they say in a sentence."""
    rows = []
    for each in found["errors"]:
        errors = {
            "the original": each["baseline"]["value"],
            "the release": each["anonymity"]["value"],
            "neither": each["upper"]["value"],
        }
        rows.append({"name": each["classifier"], "chart": error_chart(each["classifier"], errors), **_sentence(each)})
    return rows


def _sentence(errors: dict[str, Any]) -> dict[str, Any]:
    loss, room = errors["quality_loss"], errors["impact"]["value"]
    share = None if room <= 0 else max(0.0, 1 - loss["value"] / room)
    return {"loss": loss["value"], "low": loss["low"], "high": loss["high"], "kept": share}


SCREEN = Screen(
    "utility",
    "Utility",
    "What analyses of the release still say, beside those of the original.",
    show,
    actions={"run": run},
    needs="table",
    follows=("release", TASK),
    done=lambda studio: studio.result("release") is not None,
)
