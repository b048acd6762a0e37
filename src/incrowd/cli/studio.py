"""What `incrowd studio` does: open a project folder, and serve it on this machine alone until it is interrupted."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from incrowd.cli.groups import option
from incrowd.cli.messages import console, user_errors
from incrowd.errors import MissingPackageError
from incrowd.formats.registry import FORMATS
from incrowd.options import FILES

_TABLE = f"File to begin with: {', '.join(each.about for each in FORMATS.values())}."
MOST_PORT = 65_535


def studio(
    table: Annotated[Path | None, typer.Argument(help=_TABLE, show_default=False, readable=False)] = None,
    port: Annotated[int, option("Where to listen; any that is free if 0.", "--port", section=FILES, noun="N")] = 0,
    no_browser: Annotated[bool, option("Print the link, and open no browser.", "--no-browser", section=FILES)] = False,
) -> None:
    """Open a local web page that guides you from a table to a release.

    It listens on 127.0.0.1 only, and keeps everything in a project folder next to the table.

    incrowd studio people.csv
    """
    with user_errors("what you did is kept in the project folder; start it again to go on"):
        from incrowd.errors import PolicyError

        if not 0 <= port <= MOST_PORT:
            raise PolicyError(f"The 'port' parameter must be an integer from 0 to {MOST_PORT}. Got {port}.")
        try:
            from incrowd.studio.project import Project
            from incrowd.studio.serve import serve
        except ImportError as error:
            raise MissingPackageError(f"the studio needs {error.name}", "studio") from None
        root = Path.cwd() if table is None else table.absolute().parent
        if table is not None:
            from incrowd.formats.sources import check_readable

            check_readable(table)
        project = Project.at(root, None if table is None else table.name)
        try:
            if table is not None:
                project.choose(table.name)
            terminal = console()

            def say(line: str) -> None:
                terminal.print(line, highlight=False, soft_wrap=True)

            serve(project, port, browser=not no_browser, say=say)
            say(f"stopped; everything is kept in {project.folder}")
        finally:
            project.close()
