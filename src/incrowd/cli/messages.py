"""What a command reports, and how it ends: for mistakes of users one line on stderr and an exit code."""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup

from incrowd.cli.help import write_commands, write_help
from incrowd.cli.voice import VOICE, begin, say
from incrowd.errors import NO_MEMORY, IncrowdError, closest, end, ending_behind, forget_endings, lacks_memory

if TYPE_CHECKING:
    from rich.console import Console

    from incrowd.key import Key
    from incrowd.policy.policy import Policy
    from incrowd.run import Run

INTERRUPTED = 130
_SOON = 0.01  # seconds, after which what could only report an error is over
_ENDING = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
_UsageError: Any = typer.BadParameter.__base__  # of click, which some versions of typer bring along, others depend on


_EARLIER: list[str] = []  # files that earlier commands of the same process have written


class Command(TyperCommand):
    def format_help(self, ctx: Any, formatter: Any) -> None:
        write_help(self, ctx, formatter)


class Commands(TyperGroup):
    """Commands whose usage errors are one line, as all other errors are."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        shown = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        brief = [(name, _sentence(command.help or "")) for name, command in shown if command and not command.hidden]
        write_help(self, ctx, formatter)
        write_commands(brief, formatter)

    def main(self, args: Sequence[str] | None = None, *others: Any, standalone_mode: bool = True, **extra: Any) -> Any:
        """Run a command; ends the process unless it is part of another program."""
        run = partial(super().main, args, *others, **extra)
        if not standalone_mode:
            return run(standalone_mode=False)
        try:
            code = run(standalone_mode=False)
            sys.stdout.flush()  # while its errors can still be reported
        except _UsageError as error:
            if type(error).__name__ == "NoArgsIsHelpError":
                typer.echo(error.ctx.get_help())
            else:
                _failed(_usage(error), error, args)
            code = error.exit_code
        except OSError as error:
            if error.errno is None:
                raise
            code = _output_failed(error)
        except typer.Abort:
            code = INTERRUPTED
        sys.exit(code)

    def invoke(self, ctx: Any) -> Any:
        """Run a command; an interrupt that it does not answer itself ends it with one line as well."""
        _EARLIER[:] = _files()
        forget_endings()
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise interrupted() from None


def _failed(message: str, error: Any, arguments: Sequence[str] | None) -> None:
    """Say what was typed wrong; a program that asked for JSON gets it."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    begin(error.ctx.info_name if error.ctx else "", as_json="--json" in words)
    VOICE.fail(message, "UsageError")
    VOICE.end(error.exit_code, ())


def _sentence(text: str) -> str:
    return " ".join(text.partition("\n\n")[0].split())


_MUST = re.compile(r"Invalid value for ('.+?'): must (.*)")  # as the shapes say it


def _usage(error: Any) -> str:
    message = " ".join(error.format_message().split()).replace(". Did you mean", "; did you mean").rstrip(".")
    message = message.replace("Value error, ", "")
    if (wrong := getattr(error, "option_name", None)) is not None and type(error).__name__ == "NoSuchOption":
        message = f"no such option: {wrong}"
        options = [name for param in error.ctx.command.params for name in (*param.opts, *param.secondary_opts)]
        if close := closest(wrong.lstrip("-"), [name.lstrip("-") for name in options if name.startswith("--")]):
            message += f"; did you mean '--{close}'?"
    message = _MUST.sub(r"The \1 option must \2", message)
    program = error.ctx.command_path if error.ctx else "incrowd"
    see = " See" if message.endswith("?") else "; see"
    first = message[:1] if message.startswith("The '") else message[:1].lower()
    return f"{first}{message[1:]}{see} '{program} --help'"


def console() -> Console:
    from rich.console import Console

    # Brackets in names and values are no markup.
    return Console(stderr=True, markup=False, quiet=not VOICE.says("info"))


@contextmanager
def user_errors(kept: str | None = None) -> Iterator[None]:
    """Report what a user can correct in one line with its exit code, without a traceback.

    Args:
        kept: What an interrupted user wants to know; which files were written, if None.
    """
    try:
        with ExitStack() as signals:
            for number in _ENDING:
                signals.enter_context(_signal(number, _terminated))
            signals.enter_context(_signal(signal.SIGINT, _interrupted))
            yield
    except IncrowdError as error:
        text = " ".join(str(error).splitlines()).encode(errors="backslashreplace").decode()  # names may hold anything
        VOICE.fail(text, type(error).__name__)
        raise typer.Exit(error.exit_code) from None
    except KeyboardInterrupt:
        raise interrupted(kept) from None
    except Exception as error:
        if (ending := ending_behind(error)) is not None:
            raise _ended(ending, kept) from None
        if lacks_memory(error):
            VOICE.fail(f"{NO_MEMORY}; {_written()}")
        elif isinstance(error, OSError) and error.filename is not None:
            VOICE.fail(f"{error.filename}: {error.strerror}")
        elif isinstance(error, OSError) and error.errno is not None:
            _output_failed(error)
        else:
            raise
        raise typer.Exit(1) from None


def _output_failed(error: OSError) -> int:
    """What a command ends with if its output cannot be written: a full disk, or a reader that is gone."""
    say(f"error: cannot write to standard output: {error.strerror}; {_written()}")
    with suppress(OSError, ValueError):  # what still waits to be written would fail again when Python ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1


def files_written() -> tuple[str, ...]:
    """What the command has written so far."""
    return tuple(_files()[len(_EARLIER) :])


def _files() -> list[str]:
    files = sys.modules.get("incrowd.formats.atomic_files")  # nothing was written if it was never needed
    return [] if files is None else list(files.written())


def _written() -> str:
    names = files_written()
    return f"written and complete: {', '.join(names)}" if names else "no file was written"


def interrupted(kept: str | None = None) -> typer.Exit:
    """How an interrupted command ends, after it has said so."""
    VOICE.fail(f"interrupted; {kept or _written()}", "Interrupted")
    return typer.Exit(INTERRUPTED)


def reraise_lost_signals() -> None:
    """Heed an interrupt, too, that comes where Python can only report it, as while an object is given up: ask again."""

    def heed(found: sys.UnraisableHookArgs) -> None:
        ending = ending_behind(found.exc_value)
        if ending is None:
            sys.__unraisablehook__(found)
            return
        code = ending.code if isinstance(ending, SystemExit) else INTERRUPTED
        number = code - 128 if isinstance(code, int) and code > 128 else signal.SIGTERM
        again = threading.Timer(_SOON, os.kill, (os.getpid(), number))
        again.daemon = True
        again.start()

    sys.unraisablehook = heed


def _ended(ending: KeyboardInterrupt | SystemExit, kept: str | None) -> typer.Exit:
    """How a command ends that was told to end while a library was loading."""
    if isinstance(ending, KeyboardInterrupt):
        return interrupted(kept)
    return typer.Exit(ending.code if isinstance(ending.code, int) else 1)


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
def running(policy: Policy | None = None, key: Key | Path | None = None) -> Iterator[Run]:
    """A run with a progress line. Where a search can stop early, the line says so, and the first Ctrl-C means that."""
    from incrowd.key import Key
    from incrowd.report.progress import LogLines, ProgressLine, stopping
    from incrowd.run import Run

    with LogLines() if VOICE.says("debug") else ProgressLine(quiet=not VOICE.says("info")) as line:
        run = Run(line, key=Key.of(key), time_limit=None if policy is None else policy.time_limit)
        with stopping(run, line):
            yield run


def _interrupted(number: int, frame: object) -> NoReturn:
    end(KeyboardInterrupt())


def _terminated(number: int, frame: object) -> NoReturn:
    end(SystemExit(128 + number))
