"""Tries several methods with several k on one table; what is finished is kept in a log, and not done twice."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from incrowd.comparison.comparison import Comparison, comparison_of, settings_of
from incrowd.formats.registry import open_source
from incrowd.measures.registry import MEASURES
from incrowd.policy.policy import Policy
from incrowd.run import Run
from incrowd.studio.policy_words import policy_of, with_k

LOG = "runs.jsonl"


def work(words: Mapping[str, Any], run: Run) -> dict[str, Any]:
    """Compare.

    Args:
        words: "table", "policy" and its "home"; "methods", "ks", and "time_limit", the seconds of one run; "key"
            of what it is made from; "folder".
        run: Told what happens, and asked between runs whether to go on.
    """
    home, plain = Path(words["home"]), dict(words["policy"])
    policies: dict[int, Policy] = {}
    dialect: dict[str, Any] = {}
    for k in words["ks"]:
        policies[k], dialect = policy_of(with_k(plain, k), home)
    source = open_source(words["table"], **dialect)
    found = comparison_of(
        source,
        settings_of(words["methods"], policies),
        dialect=dialect,
        log=Path(words["folder"]) / LOG,
        time_limit=words["time_limit"],
        run=run,
    )
    return {**told(found), **{word: words[word] for word in ("methods", "ks", "time_limit", "key")}}


def told(comparison: Comparison) -> dict[str, Any]:
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
