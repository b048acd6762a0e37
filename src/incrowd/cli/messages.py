"""What a command tells, and how it ends: one line on stderr and an exit code for what a user can mend."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

import typer
from typer.core import TyperGroup

from incrowd.errors import IncrowdError

if TYPE_CHECKING:
    from rich.console import Console

INTERRUPTED = 130
_UsageError: Any = typer.BadParameter.__base__  # of click, which some versions of typer bring along, others depend on


class Commands(TyperGroup):
    """Commands whose usage errors are one line, as all other errors are."""

    def main(self, args: Sequence[str] | None = None, *others: Any, standalone_mode: bool = True, **extra: Any) -> Any:
        """Run a command; ends the process unless it is part of another program."""
        run = partial(super().main, args, *others, **extra)
        if not standalone_mode:
            return run(standalone_mode=False)
        try:
            code = run(standalone_mode=False)
        except _UsageError as error:
            if type(error).__name__ == "NoArgsIsHelpError":
                error.show()
            else:
                typer.echo(f"error: {_usage(error)}", err=True)
            code = error.exit_code
        except typer.Abort:
            code = INTERRUPTED
        sys.exit(code)


def _usage(error: Any) -> str:
    """What was wrong, and where to read on."""
    message = " ".join(error.format_message().split()).rstrip(".?")
    program = error.ctx.command_path if error.ctx else "incrowd"
    return f"{message[:1].lower()}{message[1:]}; see '{program} --help'"


def console() -> Console:
    """Where messages go."""
    from rich.console import Console

    return Console(stderr=True, markup=False)  # brackets in names and values are no markup


def print_json(data: Any) -> None:
    """Data for machines."""
    typer.echo(json.dumps(data, indent=1, ensure_ascii=False))


@contextmanager
def user_errors(kept: str = "no file was written") -> Iterator[None]:
    """One line and the designed exit code for what a user can mend; no traceback.

    Args:
        kept: What an interrupted user wants to know.
    """
    signal.signal(signal.SIGTERM, _terminated)
    try:
        yield
    except IncrowdError as error:
        typer.echo(f"error: {' '.join(str(error).splitlines())}", err=True)  # a column name may hold a line end
        raise typer.Exit(error.exit_code) from None
    except OSError as error:
        typer.echo(f"error: {error.filename}: {error.strerror}", err=True)
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        typer.echo(f"error: interrupted; {kept}", err=True)
        raise typer.Exit(INTERRUPTED) from None


def _terminated(number: int, frame: object) -> NoReturn:
    sys.exit(128 + number)
