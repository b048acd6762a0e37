"""Why a column says so little, as text for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from incrowd.report.text import plain_table

if TYPE_CHECKING:
    from rich.console import Console

    from incrowd.advice.why import Why

MOST = 12  # changes that are shown


def print_why(console: Console, why: Why) -> None:
    """Print what forbids to tell more of a column, and what was tried."""
    values = "1 value" if why.released == 1 else f"{why.released:,} values"
    console.print(Text(f"'{why.column}' lost {why.loss:.1%} of its detail ({values} in the release)"))
    for refusal in why.refusals:
        console.print(Text(f"- {refusal.text}, on {', '.join(refusal.attributes)}"))
    if not why.trials:
        console.print(Text("nothing could be tried in time"))
        return
    console.print()
    table = plain_table("what was tried, each searched for in earnest")
    for title in ("change", f"loss of {why.column}", "loss in all", "left out"):
        table.add_column(Text(title), justify="left" if title == "change" else "right")
    table.add_row("as it is", f"{why.loss:.3f}", f"{why.total:.3f}", "")
    for trial in why.trials[:MOST]:
        left_out = f"{trial.left_out:,}" if trial.left_out else ""
        table.add_row(Text(trial.change), f"{trial.column_loss:.3f}", f"{trial.loss:.3f}", left_out)
    console.print(table)
    if not why.helpful:
        console.print(Text(f"none of these tells more of '{why.column}'"))
