"""What `incrowd methods` prints: all methods in a line each, or one with its options, their defaults and meaning."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incrowd.cli.help import width
from incrowd.cli.messages import user_errors
from incrowd.cli.options import complete_method
from incrowd.cli.voice import answer

if TYPE_CHECKING:
    from incrowd.search.method import Method

_NO_BREAK = "\N{NO-BREAK SPACE}"
_NAME = "A method; without one, all are listed."


def methods(
    name: Annotated[str | None, typer.Argument(help=_NAME, show_default=False, autocompletion=complete_method)] = None,
) -> None:
    """List the methods, or explain one: its options with their defaults, and what it can do.

    incrowd methods cover
    """
    from incrowd.search.registry import METHODS, method_of

    with user_errors():
        if name is None:
            answer({title: method.about for title, method in METHODS.items()}, show=_print_all)
            return
        method = method_of(name, {})
        abilities = {title.replace(" ", "_"): text for title, text in _abilities(method).items()}
        answer(
            {"name": name, "about": method.about, **abilities, "options": _json_options(method)},
            show=lambda: typer.echo("\n".join(explained(name))),
        )


def _print_all() -> None:
    from incrowd.search.registry import METHODS

    for title, method in METHODS.items():
        typer.echo(_indented(f"{title:<10} {method.about}", 11))
    typer.echo("\n'incrowd methods NAME' shows the options of one.")


def _json_options(method: Method) -> dict[str, Any]:
    defaults = method.defaults()
    return {
        name: {"about": about.about, "must_be": about.kind.form, "default": defaults.get(name)}
        for name, about in method.options.items()
    }


def _abilities(method: Method) -> dict[str, str]:
    return {
        "kind": "local: equal records may be released differently" if method.local else "global: one value, one label",
        "several quasi-identifiers": _yes(method.several),
        "records may be left out": _leaving_out(method),
        "time limit": _at_time_limit(method),
    }


def explained(name: str) -> Iterator[str]:
    from incrowd.search.registry import METHODS

    method = METHODS[name]
    yield _indented(f"{name}: {method.about}", 2)
    yield ""
    for title, text in _abilities(method).items():
        yield _indented(f"  {title:<28}{text}", 30)
    if not method.options:
        return
    yield "\noptions"
    defaults = method.defaults()
    for option, about in method.options.items():
        choices = f": {', '.join(about.kind.choices)}" if about.kind.choices else f"; {about.kind.form}"
        default = defaults.get(option)
        shown = "" if default is None else f" (default:{_NO_BREAK}{_shown(default)})"
        yield _indented(f"  --{option.replace('_', '-'):<26}{about.about}{choices}{shown}", 30)
    yield "\nIn Python and in release.toml the names have _ instead of -."


def _leaving_out(method: Method) -> str:
    if method.leaves_out:
        return method.leaves_out
    return "with --suppress" if "suppress" in method.options else "no"


def _at_time_limit(method: Method) -> str:
    if method.anytime_later:
        return "releases the best so far; fails before every class is large enough"
    return "releases the best that it has by then" if method.anytime else "fails when it is over"


def _indented(text: str, indent: int) -> str:
    return "\n".join(textwrap.wrap(text, width(), subsequent_indent=" " * indent, break_on_hyphens=False)).replace(
        _NO_BREAK, " "
    )


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return _yes(value)
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
