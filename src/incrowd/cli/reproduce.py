"""`incrowd reproduce`: list the experiments, or run some with progress."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import typer

from incrowd.cli.progress import ProgressLine
from incrowd.errors import PolicyError, UnknownNameError
from incrowd.reproduce import EXPERIMENTS, Effort, reproduce
from incrowd.reproduce.adult import ATTRIBUTES

QUICK_SECONDS = 2.0  # where a search for an optimum stops if it should be quick


def _files(folder: Path) -> dict[str, Path]:
    """The taxonomies in a folder by column."""
    files = {path.stem: path for path in sorted(folder.glob("*.csv"))}
    if not files:
        raise PolicyError(f"no taxonomies in {folder}; it must hold one COLUMN.csv for each column that has one")
    for name in files:
        if name not in ATTRIBUTES:
            raise UnknownNameError("column", name, ATTRIBUTES, "the census data")
    return files


def list_experiments() -> None:
    """Print the experiments on stdout."""
    for name, experiment in EXPERIMENTS.items():
        typer.echo(f"{name:<12}{experiment.title} ({experiment.paper})")


def run_experiments(
    names: Iterable[str] | None, output: Path, docs: Path | None, taxonomies: Path | None, *, quick: bool
) -> None:
    """Run experiments and print one sentence of each on stdout.

    Args:
        names: Which ones, None for all.
        output: Folder for what they find.
        docs: Folder whose page is updated instead.
        taxonomies: Folder with taxonomies in place of the shipped ones.
        quick: Whether to take fewer points.
    """
    if docs is not None and taxonomies is not None:
        raise PolicyError("the page is about the shipped taxonomies; give --taxonomies with -o FOLDER, not with --docs")
    trees = {} if taxonomies is None else _files(taxonomies)
    seconds = QUICK_SECONDS if quick else Effort.seconds
    with ProgressLine() as progress:
        reproduce(
            EXPERIMENTS if names is None else names,
            output=None if docs else output,
            docs=docs,
            effort=Effort(quick, seconds=seconds, taxonomies=trees, say=progress.say),
            done=lambda name, sentence: typer.echo(f"{name}: {sentence}"),
        )
