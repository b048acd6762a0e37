"""What a command reports, and how it ends: for mistakes of users one line on stderr and an exit code."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

import typer
from typer.core import TyperGroup

from incrowd.errors import IncrowdError

if TYPE_CHECKING:
    from rich.console import Console

    from incrowd.policy.policy import Policy
    from incrowd.run import Run

INTERRUPTED = 130
STOPS = "(Ctrl-C: stop here and release)"
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

    def invoke(self, ctx: Any) -> Any:
        """Run a command; an interrupt that it does not answer itself ends it with one line as well."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise interrupted() from None


def _usage(error: Any) -> str:
    """What was wrong, and where to read more."""
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
    """Report what a user can correct in one line with its exit code, without a traceback.

    Args:
        kept: What an interrupted user wants to know.
    """
    try:
        with _signal(signal.SIGTERM, _terminated):
            yield
    except IncrowdError as error:
        typer.echo(f"error: {' '.join(str(error).splitlines())}", err=True)  # a column name may hold a line end
        raise typer.Exit(error.exit_code) from None
    except OSError as error:
        typer.echo(f"error: {error.filename}: {error.strerror}", err=True)
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        raise interrupted(kept) from None


def interrupted(kept: str = "no file was written") -> typer.Exit:
    """How an interrupted command ends, after it has said so."""
    typer.echo(f"error: interrupted; {kept}", err=True)
    return typer.Exit(INTERRUPTED)


@contextmanager
def _signal(number: signal.Signals, handler: Callable[[int, Any], object]) -> Iterator[None]:
    """Answer a signal in another way for a while; one that the system ignores, as in the background, stays ignored."""
    before = signal.getsignal(number)
    if before in (None, signal.SIG_IGN):
        yield
        return
    signal.signal(number, handler)
    try:
        yield
    finally:
        signal.signal(number, before)


@contextmanager
def running(policy: Policy | None = None) -> Iterator[Run]:
    """A run with a progress line. Where a search can stop early, the line says so, and the first Ctrl-C means that."""
    from incrowd.report.progress import ProgressLine
    from incrowd.run import Event, Run

    with ProgressLine() as line:

        def can_stop() -> bool:
            return run.anytime and run.searching and not run.over

        def watch(event: Event) -> None:
            line.hint = STOPS if can_stop() else ""
            line(event)

        def interrupt(number: int, frame: object) -> None:
            if can_stop() and line.hint and line.is_shown:  # the hint was shown, and this is the first time
                run.stop("interrupted")
            else:
                raise KeyboardInterrupt

        run = Run(watch) if policy is None else Run(watch, seed=policy.seed, time_limit=policy.time_limit)
        with _signal(signal.SIGINT, interrupt):
            yield run


def _terminated(number: int, frame: object) -> NoReturn:
    sys.exit(128 + number)
