"""What `incrowd risk` does: from what was typed to a table of risks, or to JSON."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incrowd.cli.groups import OptionGroup
from incrowd.cli.messages import print_json, running
from incrowd.errors import PolicyError
from incrowd.policy.typed import columns_of

if TYPE_CHECKING:
    from incrowd.risk.assessment import Question

_OWN: Any = {"show_default": False}
_THRESHOLD = "Count the records with a higher risk; 0.2 stands for a crowd of five."
_MAX_SIZE = "Largest sets of columns searched for special uniques."


@dataclass(frozen=True, kw_only=True)
class RiskOptions(OptionGroup):
    """What is asked of a table."""

    qi: Annotated[
        str | None,
        typer.Option("--qi", "--quasi-identifiers", help="Columns that an attacker may know, by commas.", **_OWN),
    ] = None
    threshold: Annotated[float, typer.Option(help=_THRESHOLD)] = 0.2
    sampling_fraction: Annotated[
        float | None, typer.Option(help="Share of the population that is in the table.", **_OWN)
    ] = None
    weights: Annotated[str | None, typer.Option(help="Column with survey weights.", **_OWN)] = None
    sensitive: Annotated[str | None, typer.Option(help="Columns nobody should learn, by commas.", **_OWN)] = None
    max_size: Annotated[int | None, typer.Option(help=_MAX_SIZE, **_OWN)] = None
    released: Annotated[
        Path | None, typer.Option(help="A release of the table, to show before and after.", readable=False, **_OWN)
    ] = None

    def question(self) -> Question:
        """The question that these words ask."""
        from incrowd.risk.assessment import Question

        if self.qi is None:
            raise PolicyError("say which columns an attacker may know; give --qi with their names")
        return Question.of(
            columns_of(self.qi),
            threshold=self.threshold,
            sensitive=columns_of(self.sensitive or ""),
            sampling_fraction=self.sampling_fraction,
            weights=self.weights,
            max_size=self.max_size,
        )


def assess_file(table: Path, options: RiskOptions, dialect: dict[str, Any], *, as_json: bool) -> None:
    """Assess a file, and its release if one is given, and print what was found.

    Args:
        table: The file.
        options: What is asked.
        dialect: What is known of CSV files.
        as_json: Whether machines read it.
    """
    from incrowd.formats.registry import open_source
    from incrowd.risk.assessment import BeforeAndAfter, risk_of

    question = options.question()
    with running() as run:
        before = risk_of(open_source(table, **dialect), question, run)
        after = None if options.released is None else risk_of(open_source(options.released, **dialect), question, run)
    if as_json:
        print_json(before.to_json() if after is None else BeforeAndAfter(before, after).to_json())
        return
    from rich.console import Console

    from incrowd.report.risk import print_risk

    print_risk(Console(), before, after)
