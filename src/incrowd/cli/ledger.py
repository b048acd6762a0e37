"""What `incrowd ledger` does: list, show, forget and export what earlier releases were."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incrowd.cli.messages import console, print_json, user_errors
from incrowd.errors import PolicyError

if TYPE_CHECKING:
    from incrowd.ledger.store import Entry


class Action(StrEnum):
    """What to do with a ledger."""

    list = "list"
    show = "show"
    forget = "forget"
    export = "export"


_ACTION = "list the releases, show one, forget one that was withdrawn, or export all as JSON, without hashes."
_NUMBER = "The number of a release, for show and forget."


def ledger(
    action: Annotated[Action, typer.Argument(help=_ACTION, metavar="ACTION", show_default=False)],
    folder: Annotated[Path, typer.Argument(help="The folder of the ledger.", show_default=False, readable=False)],
    number: Annotated[int | None, typer.Argument(help=_NUMBER, metavar="NUMBER", show_default=False)] = None,
) -> None:
    """Look at the ledger: which releases went out, when, to whom, and who waits.

    incrowd ledger list ledger/
    """
    with user_errors():
        from incrowd.ledger.store import Ledger

        if action in (Action.show, Action.forget) and number is None:
            raise PolicyError(
                f"'incrowd ledger {action.value}' needs the number of a release; see 'incrowd ledger list'"
            )
        if not (folder / "ledger.json").exists():
            raise PolicyError(f"there is no ledger in {folder}; it is made by 'incrowd anonymize --ledger'")
        if action is Action.forget:
            assert number is not None
            with Ledger.locked(folder) as found:
                found.forget(number)
            console().print(f"forgot release {number}: later releases no longer keep its promises", highlight=False)
            return
        found = Ledger.read(folder)
        if action is Action.export:
            print_json({"releases": [_shown(entry) for entry in found.releases]})
        elif action is Action.show:
            assert number is not None
            print_json(_shown(found.release(number)))
        else:
            _print(found.releases)


def _shown(entry: Entry) -> dict[str, Any]:
    return {name: value for name, value in entry.to_json().items() if name != "files"}


def _print(entries: tuple[Entry, ...]) -> None:
    from rich.table import Table

    table = Table("release", "made", "recipient", "continues", "rows", "new", "waiting", "held", box=None)
    for entry in entries:
        cells = [entry.number, entry.made[:16].replace("T", " "), entry.recipient or "anyone", entry.continues or ""]
        numbers = [entry.records, entry.entered, entry.waiting, entry.held]
        table.add_row(*map(str, cells), *(f"{number:,}" for number in numbers))
    console().print(table, highlight=False)
