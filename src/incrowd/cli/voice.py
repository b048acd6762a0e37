"""What a command says besides its data, how much, and to whom: to people, or to a program that reads JSON.

Every command has `--json`, `--quiet` and `--log-level`. With `--json`, stdout holds one document, whatever happens, in
the form of `schemas/answer.schema.json`; else a command that did what it was asked ends with one line that says so.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, get_args, get_origin

import typer

from incrowd.cli.groups import completes, keyword, option
from incrowd.cli.standard_streams import prints_any_character
from incrowd.errors import PolicyError, UnknownNameError
from incrowd.options import MESSAGES
from incrowd.schemas.shapes import Number, SchemaError, Shape, Whole
from incrowd.version import __version__

FORMAT = 1  # of the document
LEVELS = ("error", "warning", "info", "debug")
_LEVEL = "error, warning, info (default) or debug, which logs every stage."
_OPTIONS: Mapping[str, tuple[Any, Any]] = {
    "as_json": (bool, option("Print JSON on stdout instead of tables.", "--json", section=MESSAGES)),
    "quiet": (bool, option("Say nothing but warnings and errors.", "--quiet", "-q", section=MESSAGES)),
    "log_level": (
        str,
        option(_LEVEL, "--log-level", section=MESSAGES, noun="LEVEL", autocompletion=completes(LEVELS)),
    ),
}
_KINDS: Mapping[type, Shape] = {int: Whole(), float: Number()}


@dataclass
class Voice:
    """What one command says.

    Args:
        command: Its name.
        as_json: Whether a program listens.
        level: How much it says, one of `LEVELS`.
        result: Its data, for a program.
        summary: What it did, in one line.
        notes: What people should read.
        error: Why it failed.
    """

    command: str = ""
    as_json: bool = False
    level: str = "info"
    result: Any = None
    summary: str | None = None
    notes: list[str] = field(default_factory=list)
    error: dict[str, Any] | None = None

    def says(self, level: str) -> bool:
        return LEVELS.index(level) <= LEVELS.index(self.level)

    def fail(self, message: str, kind: str = "Error") -> None:
        """Say why it fails, in one line."""
        self.error = {"kind": kind, "message": message}
        say(f"error: {message}")

    def note(self, text: str) -> None:
        """Say something that people should read."""
        self.notes.append(text)
        if self.says("info"):
            say(f"note: {text}")

    def end(self, code: int, files: tuple[str, ...]) -> None:
        """The last thing that it says: the document, or what it did."""
        if self.as_json:
            document = {"incrowd": __version__, "format": FORMAT, "command": self.command, "exit_code": code}
            document |= {"summary": self.summary, "files": list(files), "notes": self.notes}
            document |= {"result": self.result, "error": self.error}
            print_json(document)
        elif code == 0 and self.summary is not None and self.says("info"):
            sys.stdout.flush()
            say(self.summary)


VOICE = Voice()  # of the command that runs


def begin(command: str, *, as_json: bool = False, quiet: bool = False, log_level: str | None = None) -> None:
    """A command begins to speak."""
    vars(VOICE).update(vars(Voice(command, as_json)))
    if log_level is not None and log_level not in LEVELS:
        raise UnknownNameError("log level", log_level, LEVELS)
    if quiet and log_level not in (None, "warning"):
        raise PolicyError(f"--quiet is --log-level warning; leave out one of --quiet and --log-level {log_level}")
    VOICE.level = log_level or ("warning" if quiet else "info")


def say(line: str) -> None:
    """One line on stderr, if anybody can still read it."""
    with suppress(OSError):
        typer.echo(line, err=True)


def print_json(data: Any) -> None:
    typer.echo(json.dumps(data, indent=1, ensure_ascii=not prints_any_character()))


def answer(data: Any, summary: str | None = None, *, show: Callable[[], object] | None = None) -> None:
    """What a command gives: data for programs, shown to people in another way."""
    VOICE.result, VOICE.summary = data, summary
    if not VOICE.as_json and show is not None:
        show()


def show_result(result: Any, **settings: Any) -> None:
    """Answer with a result of `incrowd.display` on stdout."""

    def printed() -> None:
        from rich.console import Console

        from incrowd.report.renderers import print_result

        print_result(Console(markup=False, emoji=False), result, **settings)

    answer(result.to_json() if VOICE.as_json else None, result.headline(), show=printed)


def speaking(command: Callable[..., None], *, silent: tuple[str, ...] = ()) -> Callable[..., None]:
    """Give a command the options of its voice, and read the numbers of its others as people write them.

    Args:
        command: The command.
        silent: Those of the options that it does not have.
    """
    own = signature(command, eval_str=True).parameters.values()
    named = {name: each for name, each in _OPTIONS.items() if name not in silent}
    parameters = [*map(_read, own), *(keyword(n, Annotated[kind, o], kind() or None) for n, (kind, o) in named.items())]

    @wraps(command)
    def wrapped(**given: Any) -> None:
        from incrowd.cli.messages import files_written, user_errors

        voice = {name: given.pop(name) for name in named}
        code = 1
        try:
            with user_errors():
                begin(name_of(command), **voice)
            command(**given)
            code = 0
        except typer.Exit as ended:
            code = ended.exit_code
            raise
        finally:
            VOICE.end(code, files_written())

    wrapped.__dict__.update(__signature__=Signature(parameters))
    wrapped.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    del wrapped.__dict__["__wrapped__"]
    return wrapped


def name_of(command: Callable[..., None]) -> str:
    """What a command is called; a function that would be a word of Python has a trailing underscore."""
    return command.__name__.rstrip("_")


def _read(parameter: Parameter) -> Parameter:
    """A parameter, of which a number is read by one of our shapes, so that what is none is told in one sentence."""
    if get_origin(parameter.annotation) is not Annotated:
        return parameter.replace(kind=Parameter.KEYWORD_ONLY)
    kind, info = get_args(parameter.annotation)
    shape = next((_KINDS[each] for each in (kind, *get_args(kind)) if each in _KINDS), None)
    if shape is not None and info.parser is None:

        def parsed(text: Any) -> Any:
            value = shape.parse(text) if isinstance(text, str) else text
            try:
                shape.check(value, "")
            except SchemaError as wrong:
                raise typer.BadParameter(f"must {wrong.must}. Got {wrong.got}") from None
            return value

        info.parser = parsed
    return parameter.replace(kind=Parameter.KEYWORD_ONLY)
