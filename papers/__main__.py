"""The experiments of the papers from the shell, in a clone: list them, or run some with progress.

python -m papers                          # lists them
python -m papers tds-5a bug-3 -o results  # runs two
make papers                               # runs all and writes docs/papers.md
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from incrowd.cli.messages import user_errors
from incrowd.errors import PolicyError, UnknownNameError
from incrowd.report.progress import ProgressLine
from papers import EXPERIMENTS, Effort, reproduce
from papers.adult import ATTRIBUTES

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


def main(
    names: Annotated[list[str] | None, typer.Argument(help="Experiments; none to list them.")] = None,
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for data, plots and findings.")] = Path(
        "results"
    ),
    docs: Annotated[Path | None, typer.Option(help="Folder whose papers.md to update instead.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Run all of them.")] = False,
    taxonomies: Annotated[
        Path | None, typer.Option(help="A folder with COLUMN.csv taxonomies to measure classifier errors with.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer points.")] = False,
) -> None:
    """Run experiments of the papers again on the shipped census data; without names, list them."""
    with user_errors():
        if names or every:
            run_experiments(None if every else names, output, docs, taxonomies, quick=quick)
        else:
            list_experiments()


app = typer.Typer(pretty_exceptions_enable=False, add_completion=False)
app.command()(main)

if __name__ == "__main__":
    app()
