"""Tries several methods with several k on one table; what is finished is kept in a log, and not done twice."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from incrowd.comparison.comparison import Comparison, comparison_of, settings_of
from incrowd.formats.registry import open_source
from incrowd.measures.registry import MEASURES
from incrowd.policy.policy import Policy
from incrowd.run import Run
from incrowd.studio.paths import private_file
from incrowd.studio.policy_settings import policy_of, with_k

LOG = "runs.jsonl"


def work(request: Mapping[str, Any], run: Run) -> dict[str, Any]:
    """Compare "methods" with "ks", each within "time_limit" seconds; "key" says what it was made from.

    What is finished is in "partial" as long as it goes on.
    """
    home, plain = Path(request["home"]), dict(request["policy"])
    policies: dict[int, Policy] = {}
    dialect: dict[str, Any] = {}
    for k in request["ks"]:
        policies[k], dialect = policy_of(with_k(plain, k), home)
    source, partial = open_source(request["table"], **dialect), Path(request["folder"]) / request["partial"]
    partial.unlink(missing_ok=True)

    def meanwhile(found: Comparison) -> None:
        with private_file(partial) as file:
            file.write(json.dumps(outcome(found)).encode())

    found = comparison_of(
        source,
        settings_of(request["methods"], policies),
        dialect=dialect,
        log=Path(request["folder"]) / LOG,
        time_limit=request["time_limit"],
        run=run,
        meanwhile=meanwhile,
    )
    return {**outcome(found), **{name: request[name] for name in ("methods", "ks", "time_limit", "key")}}


def outcome(comparison: Comparison) -> dict[str, Any]:
    """The runs with what each has lost, and which are dominated."""
    losses = {name: MEASURES[name].about if name in MEASURES else name for name in comparison.losses}
    runs = []
    for run in comparison.runs:
        better = {name: comparison.dominated_by(run, name) for name in losses}
        runs.append(
            {
                "method": run.method,
                "k": run.k,
                "status": run.status,
                "problem": run.problem,
                "losses": {name: run.value(name) for name in losses},
                "dominated": {name: None if other is None else str(other) for name, other in better.items()},
                "seconds": run.value("seconds"),
                "left_out": run.value("suppressed"),
                "crowds": run.value("classes"),
            }
        )
    return {"runs": runs, "about": losses}
