"""The reference of the command line, and the lists of what is registered, made from the code."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import typer
from docs.site.docstrings import escaped, summary_of

from incrowd.cli.commands import app
from incrowd.engines.registry import ENGINES
from incrowd.formats.registry import FORMATS
from incrowd.measures.registry import MEASURES
from incrowd.policy.options import OPTIONS
from incrowd.privacy.registry import MODELS
from incrowd.search.registry import METHODS


def command_reference() -> str:
    """Every command with its options."""
    program: Any = typer.main.get_command(app)
    lines = ["# Commands", "", "Made from the program; `incrowd COMMAND -h` prints the same.", ""]
    lines += _table(
        ("command", "what it does"),
        [(f"[{name}](#incrowd-{name})", _first(command.help)) for name, command in program.commands.items()],
    )
    for name, command in program.commands.items():
        lines += _command(name, command)
    return "\n".join(lines) + "\n"


def _first(text: str) -> str:
    return escaped(" ".join(text.split("\n\n")[0].split()))


def _command(name: str, command: Any) -> Iterator[str]:
    yield from (f"## incrowd {name}", "")
    for paragraph in command.help.split("\n\n"):
        told = " ".join(paragraph.split())
        yield from (f"    {told}" if told.startswith("incrowd ") else escaped(told), "")
    sections: dict[str, list[Any]] = {}
    for param in command.params:
        if param.param_type_name == "option" and not param.hidden:
            sections.setdefault(getattr(param, "rich_help_panel", None) or "Options", []).append(param)
    arguments = [param for param in command.params if param.param_type_name == "argument"]
    rows = [(f"`{param.metavar or param.name.upper()}`", escaped(param.help or "")) for param in arguments]
    if rows:
        yield from ("**Arguments**", "", *_table(("argument", "meaning"), rows))
    for title, options in sections.items():
        cells = [(_names(option), escaped(option.help or "")) for option in options]
        yield from (f"**{title}**", "", *_table(("option", "meaning"), cells))


def _names(option: Any) -> str:
    noun = "" if option.is_flag else f" {option.metavar or 'TEXT'}"
    return ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts)) + (f"`{noun}`" if noun else "")


def lists() -> str:
    """Methods with their options, privacy models, measures, formats and engines."""
    lines = ["# Methods, promises, measures, formats, engines", "", "Made from what is registered in the code.", ""]
    lines += [
        "## Methods",
        "",
        "`incrowd methods NAME` prints the same. [Which to choose](../docs/how-it-works.md)",
        "",
    ]
    for name, method in METHODS.items():
        lines += [f"### {name}", "", escaped(method.about), ""]
        if method.options:
            rows = [(f"`{option}`", escaped(each.about)) for option, each in method.options.items()]
            lines += _table(("option", "meaning"), rows)
    lines += ["## Privacy models", "", "[How to say them, and which when](../docs/protection.md)", ""]
    models = [
        (escaped(name), f"`{model.option_name}`", f"`{model.option.example}`", summary_of(model))
        for name, model in MODELS.items()
    ]
    lines += _table(("model", "option", "example", "meaning"), models)
    lines += ["## Options of a policy", "", "[How to write a policy](../docs/policy.md)", ""]
    options = [
        (
            f"`{word}`",
            f"`{option.flag(word)}`" if option.section else "",
            escaped(option.about),
            escaped(option.kind.form),
        )
        for word, option in OPTIONS.items()
    ]
    lines += _table(("option", "in the shell", "meaning", "must be"), options)
    lines += ["## Measures", ""]
    measures = [(f"`{name}`", escaped(each.title), escaped(each.about)) for name, each in MEASURES.items()]
    lines += _table(("name", "title", "meaning"), measures)
    lines += ["## Formats", ""]
    formats = [
        (escaped(each.about), " ".join(f"`{suffix}`" for suffix in each.suffixes), "yes" if each.writer else "no")
        for each in FORMATS.values()
    ]
    lines += _table(("format", "suffixes", "can be written"), formats)
    lines += ["## Engines", ""]
    lines += _table(("engine", "what it does"), [(f"`{name}`", escaped(each.about)) for name, each in ENGINES.items()])
    return "\n".join(lines) + "\n"


def _table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    cells = [[cell.replace("|", "\\|") if "`" in cell else cell for cell in row] for row in rows]
    lines = [f"| {' | '.join(titles)} |", "|" + " --- |" * len(titles)]
    return [*lines, *(f"| {' | '.join(row)} |" for row in cells), ""]
