"""What `incrowd import` does: a project of another tool becomes a policy, and what has no counterpart a list."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from incrowd.cli.groups import option, path_option
from incrowd.cli.messages import user_errors
from incrowd.cli.options import Overwrite
from incrowd.cli.voice import answer
from incrowd.errors import PolicyError
from incrowd.options import FILES

ProjectFile = Annotated[
    Path,
    typer.Argument(
        help="A project of ARX (.deid), or a script of sdcMicro (.R).",
        show_default=False,
        readable=False,
        metavar="PROJECT",
    ),
]


def import_(
    project: ProjectFile,
    output: Annotated[Path, path_option("The policy to write, such as release.toml.", "-o", "--output", section=FILES)],
    table: Annotated[
        Path | None, path_option("Also write the table of the project (.csv), for you alone.", "--table", section=FILES)
    ] = None,
    sampling_fraction: Annotated[
        float | None, option("The share of the population that is in the table, if a model needs it.", noun="SHARE")
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Import a project of ARX or a script of sdcMicro as a policy, with a list of what has no counterpart.

    incrowd import project.deid -o release.toml --table input.csv

    incrowd anonymize input.csv -o release.csv --policy release.toml
    """
    with user_errors():
        from incrowd.migration.importing import read_project, write_project

        if sampling_fraction is not None and not 0 < sampling_fraction <= 1:
            raise PolicyError(
                f"The '--sampling-fraction' option must be a share above 0 and at most 1. Got {sampling_fraction}."
            )
        imported = read_project(project, sampling_fraction)
        written = write_project(project, imported, output, table=table, overwrite=overwrite)
        left = f"; {len(imported.left_out)} without a counterpart" if imported.left_out else ""
        follow = f"incrowd anonymize {quote(str(table or 'TABLE'))} -o release.csv --policy {quote(str(output))}"
        summary = f"wrote {', '.join(map(str, written))}{left}; read {output}, then: {follow}"
        answer(imported.to_json(), summary, show=lambda: typer.echo("\n".join(imported.render())))
