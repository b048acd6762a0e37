"""What `incrowd ledger` does: list, show, forget and export what earlier releases were."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from incrowd.cli.messages import user_errors
from incrowd.cli.voice import answer, print_json, show_result
from incrowd.errors import PolicyError


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
            answer({"forgot": number}, f"forgot release {number}: later releases no longer keep its promises")
            return
        found = Ledger.read(folder)
        if action is Action.show:
            assert number is not None
            entry = found.release(number)
            answer(entry.shown(), show=lambda: print_json(entry.shown()))
        elif action is Action.export:
            answer(found.to_json(), found.headline(), show=lambda: print_json(found.to_json()))
        else:
            show_result(found)
