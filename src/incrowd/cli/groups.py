"""Groups of options: a command takes a dataclass, and typer sees the options that are its fields."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import MISSING, dataclass, fields
from functools import partial, wraps
from pathlib import Path
from typing import Annotated, Any, Self, get_type_hints

import typer

from incrowd.options import COLUMNS, Option
from incrowd.schemas.shapes import Flag


@dataclass(frozen=True)
class OptionGroup:
    """Options that several commands share; each field is one option, annotated as typer wants it."""

    @classmethod
    def parameters(cls) -> dict[str, inspect.Parameter]:
        hints = get_type_hints(cls, include_extras=True)
        return {
            field.name: keyword(field.name, hints[field.name], field.default)
            for field in fields(cls)
            if field.default is not MISSING
        }

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        return cls(**given)


def keyword(name: str, annotation: Any, default: Any = None) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def with_options(command: Callable[..., None], without: Collection[str] = ()) -> Callable[..., None]:
    """Give a command the options of its groups, in place of the parameters that take those.

    Args:
        command: The command; a parameter that is annotated with an `OptionGroup` takes one.
        without: Options of groups that it replaces by options of its own.
    """
    groups: dict[str, tuple[type[OptionGroup], list[str]]] = {}
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        kind = parameter.annotation
        if isinstance(kind, type) and issubclass(kind, OptionGroup):
            options = {name: option for name, option in kind.parameters().items() if name not in without}
            groups[parameter.name] = kind, list(options)
            parameters += options.values()
        else:
            parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))

    @wraps(command)
    def wrapped(**given: Any) -> None:
        for parameter, (kind, options) in groups.items():
            given[parameter] = kind.of({name: given.pop(name) for name in options})
        command(**given)

    # Typer asks for both, and must not look through to the command itself.
    wrapped.__dict__.update(__signature__=inspect.Signature(parameters))
    wrapped.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    del wrapped.__dict__["__wrapped__"]
    return wrapped


def option(help_text: str, *names: str, section: str = COLUMNS, noun: str | None = None, **more: Any) -> Any:
    """An option of a section, with what it takes and what it means; what is not given is left to the policy."""
    return typer.Option(*names, help=help_text, rich_help_panel=section, metavar=noun, show_default=False, **more)


def declared(name: str, about: Option, **more: Any) -> inspect.Parameter:
    """The parameter of a command for an option that is declared elsewhere; what is typed stays text, for its kind."""
    kind = bool | None if isinstance(about.kind, Flag) else list[str] | None if about.repeated else str | None
    if about.kind.choices:
        more.setdefault("autocompletion", completes(about.kind.choices))
    more |= {"section": about.section, "noun": about.noun, "hidden": about.hidden}
    return keyword(name, Annotated[kind, option(about.about, *about.names, **more)])


def completes(words: Iterable[str]) -> Callable[[str], list[str]]:
    """How a shell completes one of some words."""
    known = tuple(words)
    return lambda incomplete: [word for word in known if word.startswith(incomplete)]


def _path(text: str) -> Path:
    """A path as it was typed; an empty one would be the current folder."""
    if not text:
        raise typer.BadParameter("give a path that is not empty")
    return Path(text)


# Whether a path can be read is not checked by typer, which would answer with a box: incrowd does with one line.
path_option = partial(option, parser=_path, noun="FILE")
