"""A risk on the terminal: one table, before and after where there is a release, and notes below it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from incrowd.report.text import plain_table
from incrowd.risk.wording import notes, rows

if TYPE_CHECKING:
    from incrowd.risk.assessment import Risk


def print_risk(console: Console, before: Risk, after: Risk | None = None) -> None:
    """Print what an attacker could do.

    Args:
        console: Where to.
        before: The risk of a table.
        after: The risk of its release, if there is one.
    """
    shown = [rows(before)] if after is None else [rows(before), rows(after)]
    table = plain_table(f"risk on {', '.join(before.question.attributes)}")
    table.add_column("", overflow="fold")
    for title in ("found",) if after is None else ("before", "after"):
        table.add_column(title, overflow="fold")
    for title in dict.fromkeys(name for column in shown for name in column):
        table.add_row(Text(title), *(Text(column.get(title, "-")) for column in shown))
    console.print(table)
    for note in notes(after or before):
        console.print(Text(note if after is None else f"after: {note}"), soft_wrap=True)
