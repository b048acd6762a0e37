"""Trains models on the original and on releases made the same way, and tests them on records that were held out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from incrowd.evaluation.trial import Trial
from incrowd.formats.registry import open_source
from incrowd.run import Run
from incrowd.studio.policy_settings import TARGET, policy_of, with_role


def work(request: Mapping[str, Any], run: Run) -> dict[str, Any]:
    """Try to predict "target" with "models", as the policy of the release releases the table; "of" is its digest."""
    settings = {name: value for name, value in request["policy"].items() if name != "max_steps"}
    if settings.get("target") != request["target"]:
        settings, _ = with_role(settings, {}, request["target"], TARGET)
    policy, dialect = policy_of(settings, Path(request["home"]))
    run.stage("reading")
    trial = Trial.of(open_source(request["table"], **dialect), policy, classifiers=request["models"])
    found = trial.evaluate(policy, run=run)
    figures = found.to_json()
    return {
        **{name: figures[name] for name in ("design", "how", "train", "test", "left_out", "errors")},
        **{name: request[name] for name in ("target", "models", "of")},
        "measured": found.measured,
    }
