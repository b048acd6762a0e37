"""What `--help` prints: a line per option, in sections, without frames, so that a command fits on one screen.

The section of an option is its `rich_help_panel`. Options of a section in `BRIEFLY` are only named.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

import typer

from incrowd.options import COLUMNS, FILES, INPUT, LARGE, LEDGER, MESSAGES, PROMISES, REPORTS, RISKS, SEARCH, VALUES

if TYPE_CHECKING:
    Formatter = Any  # of click, which some versions of typer bring along, others depend on

WIDEST = 100  # characters
TRIAL, RISK = "Evaluation", "Risk"
BRIEFLY = (REPORTS, PROMISES, RISKS, INPUT, LEDGER, LARGE, MESSAGES)
_OTHER = "Options"
_FIRST = ("--qi", "--k", "-o")


def write_help(command: Any, context: Any, formatter: Formatter) -> None:
    room = width()
    options = [param for param in command.params if param.param_type_name == "option" and not param.hidden]
    arguments = [param for param in command.params if param.param_type_name == "argument"]
    required = [f"{option.opts[0]} {_noun(option)}" for option in options if option.required]
    names = [argument.metavar or argument.name.upper() for argument in arguments]
    places = [name if argument.required else f"[{name}]" for name, argument in zip(names, arguments, strict=True)]
    kinds = ["COMMAND"] if hasattr(command, "commands") else ["[OPTIONS]"]
    usage = " ".join([context.command_path, *places, *required, *kinds])
    formatter.write(f"{typer.style('Usage:', bold=True)} {usage}\n{_paragraphs(command.help or '', room)}\n")
    rows = [(name, argument.help or "") for name, argument in zip(names, arguments, strict=True)]
    sections = dict(_sections([*options, *_help_option(command, context)]))
    home = FILES if sections.get(FILES) else _OTHER  # of the arguments
    for title, listed in sections.items():
        formatter.write(_section(title, [*(rows if title == home else []), *listed], room))


def write_commands(commands: Sequence[tuple[str, str]], formatter: Formatter) -> None:
    formatter.write(_section("Commands", commands, width()))


def width() -> int:
    """How wide text is: at most `WIDEST`."""
    return min(WIDEST, get_terminal_size().columns)


def _help_option(command: Any, context: Any) -> list[Any]:
    found = command.get_help_option(context)
    return [] if found is None else [found]


def _paragraphs(text: str, width: int) -> str:
    """The paragraphs of a docstring; commands, which begin with the name of the program, are set apart."""
    parts = [" ".join(part.split()) for part in text.split("\n\n") if part.strip()]
    return "".join(
        (f"    {part}" if part.startswith("incrowd ") else textwrap.fill(part, width)) + "\n\n" for part in parts
    ).removesuffix("\n")


def _sections(options: Iterable[Any]) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """The options by section, in one order for all commands; those that are only named come last."""
    sections: dict[str, list[Any]] = {title: [] for title in (COLUMNS, VALUES, SEARCH, RISK, TRIAL, FILES)}
    for option in options:
        sections.setdefault(getattr(option, "rich_help_panel", None) or _OTHER, []).append(option)
    if sections[FILES]:  # one section less
        sections[FILES] += sections.pop(_OTHER, [])
    for title, found in sections.items():
        if title not in BRIEFLY:
            first = sorted(found, key=lambda option: option.opts[0] not in _FIRST)
            yield title, [(_names(option), option.help or "") for option in first]
    for title in BRIEFLY:
        if title in sections:
            yield title, [("", ", ".join(_names(option, nouns=False) for option in sections[title]))]


def _names(option: Any, *, nouns: bool = True) -> str:
    """How an option is typed: its short name, its first long one, and what turns it off."""
    short = [name for name in option.opts if not name.startswith("--")]
    long = "/".join([name for name in option.opts if name.startswith("--")][:1] + option.secondary_opts)
    noun = "" if option.is_flag or not nouns else f" {_noun(option)}"
    return ", ".join([*short, long] if long else short) + noun


def _noun(option: Any) -> str:
    return str(option.metavar or "TEXT")


def _section(title: str, rows: Sequence[tuple[str, str]], width: int) -> str:
    if not rows:
        return ""
    if not rows[0][0]:  # only named
        named = textwrap.wrap(f"{title}: {rows[0][1]}", width, subsequent_indent="  ", break_on_hyphens=False)
        return "\n".join(named).replace(title, typer.style(title, bold=True), 1) + "\n"
    left = min(max(len(name) for name, _ in rows) + 4, width // 3)
    lines = [typer.style(title, bold=True)]
    for name, text in rows:
        wrapped = textwrap.wrap(text, width - left, break_on_hyphens=False) or [""]
        if len(name) + 4 > left:
            lines.append(f"  {name}")
        else:
            lines.append(f"  {name:<{left - 2}}{wrapped.pop(0)}")
        lines += [" " * left + line for line in wrapped]
    return "\n".join(lines) + "\n"
