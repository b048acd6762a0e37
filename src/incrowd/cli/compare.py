"""What `incrowd compare` does: from what was typed to a comparison in a folder, with a progress bar."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from incrowd.cli.options import PolicyOptions, TrialOptions
from incrowd.comparison.comparison import Comparison, Watch, comparison_of, settings_of
from incrowd.comparison.files import can_plot, prepare, write
from incrowd.comparison.processes import TrialDesign
from incrowd.engines.sources import open_source
from incrowd.errors import PolicyError
from incrowd.evaluation.trial import require_scikit_learn
from incrowd.words import columns_of


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
        options: The policy but for its k and method.
        methods: Methods by commas.
        ks: Numbers by commas.
        trial: How classifiers are tested, if they are.
        time_limit: Seconds that a run may take.
        again: Whether to do also what the folder has already.
    """
    read = {k: replace(options, k=k).read() for k in _numbers(ks)}
    settings = settings_of(columns_of(methods), {k: policy for k, (policy, _) in read.items()})
    dialect = next(dialect for _, dialect in read.values())
    source = open_source(table, **dialect)
    design = None if trial is None else _design(trial, dialect)
    log = prepare(folder, source)
    with _progress_bar() as watch:
        comparison = comparison_of(
            source, settings, design=design, dialect=dialect, log=log, time_limit=time_limit, again=again, watch=watch
        )
    console = Console(stderr=True)
    for file in write(comparison, folder):
        console.print(Text(f"wrote {file}"), soft_wrap=True)
    if not can_plot():
        console.print("no plot: it needs matplotlib; install it with: pip install 'incrowd[plot]'", markup=False)
    return comparison


def _numbers(text: str) -> list[int]:
    words = columns_of(text)
    if not words or not all(word.isdigit() for word in words):
        raise PolicyError(f"The '--ks' option must be whole numbers by commas, such as 5,10,50. Got '{text}'.")
    return [int(word) for word in words]


def _design(trial: TrialOptions, dialect: dict[str, Any]) -> TrialDesign:
    require_scikit_learn()
    return TrialDesign(protocol=trial.protocol, intervals=trial.intervals, **trial.words(dialect))


@contextmanager
def _progress_bar() -> Iterator[Watch]:
    """A bar on stderr, on a terminal only."""
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task("reading", total=None)

        def watch(finished: int, total: int, what: str) -> None:
            progress.update(task, completed=finished, total=total, description=what)

        yield watch
