"""What `incrowd compare` does: from what was typed to a comparison in a folder, with a progress bar."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from incrowd.cli.messages import running
from incrowd.cli.options import PolicyOptions, TrialOptions
from incrowd.comparison.comparison import Comparison, comparison_of, settings_of
from incrowd.comparison.files import can_plot, prepare, write
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
    time_limit: float | None,
    again: bool,
) -> Comparison:
    """Compare settings on a file, and write the results to a folder.

    Args:
        table: The file.
        folder: Where the results go, and where those of earlier runs are.
        options: The policy except for its k and method.
        methods: Methods, separated by commas.
        ks: Values of k, separated by commas.
        trial: How classifiers are tested, if they are.
        time_limit: Seconds that a run may take.
        again: Whether to repeat the runs that the folder already has.
    """
    read = {k: replace(options, given={**options.given, "k": str(k)}).read() for k in _numbers(ks)}
    settings = settings_of(columns_of(methods), {k: policy for k, (policy, _) in read.items()})
    dialect = next(dialect for _, dialect in read.values())
    source = open_source(table, **dialect)
    design = None if trial is None else _design(trial, dialect)
    log = prepare(folder, source)
    with running() as run:
        comparison = comparison_of(
            source, settings, design=design, dialect=dialect, log=log, time_limit=time_limit, again=again, run=run
        )
    console = Console(stderr=True)
    for file in write(comparison, folder):
        console.print(Text(f"wrote {file}"), soft_wrap=True)
    if not can_plot():
        console.print(
            "no plot was made, because matplotlib is missing; install it with: pip install 'incrowd[plot]'",
            markup=False,
            soft_wrap=True,
        )
    return comparison


def _numbers(text: str) -> list[int]:
    words = columns_of(text)
    if not words or not all(map(is_digits, words)):
        raise PolicyError(f"The '--ks' option must be integers separated by commas, such as 5,10,50. Got '{text}'.")
    return [int(word) for word in words]


def _design(trial: TrialOptions, dialect: dict[str, Any]) -> TrialDesign:
    require_scikit_learn()
    return TrialDesign(protocol=trial.protocol, intervals=trial.intervals, **trial.words(dialect))
