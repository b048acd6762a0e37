"""What `incrowd compare` does: from what was typed to a comparison in a folder, with a progress bar."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.text import Text

from incrowd.cli.messages import console, running
from incrowd.cli.options import PolicyOptions, TrialOptions
from incrowd.comparison.comparison import Comparison, comparison_of, settings_of
from incrowd.comparison.files import prepare, write
from incrowd.comparison.processes import TrialDesign
from incrowd.errors import PolicyError
from incrowd.evaluation.trial import require_scikit_learn
from incrowd.formats.registry import open_source
from incrowd.options import columns_of
from incrowd.policy.options import is_digits


def compare_file(
    table: Path,
    folder: Path,
    options: PolicyOptions,
    methods: str,
    ks: str,
    *,
    trial: TrialOptions | None,
    attacked: bool,
    time_limit: float | None,
    again: bool,
) -> Comparison:
    read = {k: replace(options, given={**options.given, "k": str(k)}).read() for k in _numbers(ks)}
    settings = settings_of(columns_of(methods), {k: policy for k, (policy, _) in read.items()})
    dialect = next(dialect for _, dialect in read.values())
    source = open_source(table, **dialect)
    design = None if trial is None else _design(trial, dialect)
    log = prepare(folder, source)
    with running() as run:
        comparison = comparison_of(
            source,
            settings,
            design=design,
            attacked=attacked,
            dialect=dialect,
            log=log,
            time_limit=time_limit,
            again=again,
            run=run,
        )
    for file in write(comparison, folder):
        console().print(Text(f"wrote {file}"), soft_wrap=True)
    return comparison


def _numbers(text: str) -> list[int]:
    numbers = columns_of(text)
    if not numbers or not all(map(is_digits, numbers)):
        raise PolicyError(f"The '--ks' option must be integers separated by commas, such as 5,10,50. Got '{text}'.")
    return [int(number) for number in numbers]


def _design(trial: TrialOptions, dialect: dict[str, Any]) -> TrialDesign:
    require_scikit_learn()
    return TrialDesign(protocol=trial.protocol, intervals=trial.intervals, **trial.design(dialect))
