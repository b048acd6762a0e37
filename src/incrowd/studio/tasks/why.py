"""Finds out why a column lost so much in a release, and tries what would help."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from incrowd.run import Run
from incrowd.studio.tasks.releases import again

TIME = 30.0  # seconds for all trials


def work(request: Mapping[str, Any], run: Run) -> dict[str, Any]:
    release = again(request, run)
    run.stage("trying what would help")
    with run.at_most(TIME):
        found = release.why(request["column"], run)
    helpful = {id(trial) for trial in found.helpful}
    trials = [{**trial.to_json(), "helps": id(trial) in helpful} for trial in found.trials]
    refusals = [{**refusal.to_json(), "text": refusal.text} for refusal in found.refusals]
    return {**found.to_json(), "trials": trials, "refusals": refusals, "of": request["of"]}
