"""What `incrowd why` does: make a release, and say why a column says so little and what would help."""

from __future__ import annotations

from typing import Annotated

import typer

from incrowd.cli.groups import option
from incrowd.cli.help import TRIAL
from incrowd.cli.messages import running, user_errors
from incrowd.cli.options import Input, KeyFile, PolicyOptions
from incrowd.cli.voice import show_result

_COLUMN = "A column of the quasi-identifier; without it, the one that lost most."


def why(
    table: Input,
    options: PolicyOptions,
    column: Annotated[str | None, typer.Argument(help=_COLUMN, show_default=False)] = None,
    *,
    attack: Annotated[
        bool, option("Also play attackers: which of them learn something from each setting.", "--attack", section=TRIAL)
    ] = False,
    key: KeyFile = None,
) -> None:
    """Explain why a column became '*' or nearly so, and try what would help.

    incrowd why people.csv zip --qi age,sex,zip --k 10
    """
    with user_errors():
        from incrowd.advice.why import TIME, why
        from incrowd.formats.registry import open_source
        from incrowd.inspection.first_look import Look
        from incrowd.release.release import release_of

        policy, dialect = options.read()
        with running(policy, key) as run:
            release = release_of(open_source(table, **dialect), policy, run, look=Look())  # no row leaves
            losses = {
                a.name: part.ncp for a, part in zip(release.table.attributes, release.measures.attributes, strict=True)
            }
            run.stage("trying what would help")
            found = why(release, column or max(losses, key=losses.__getitem__), run.quietly(TIME), attack=attack)
        show_result(found)
